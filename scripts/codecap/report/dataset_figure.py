"""The data set's statistics as a figure of four panels, as the paper's Figure 3: geometry in SVG user units, templates draw it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codecap.publish.statistics import Counted, Spread, Statistics, in_bins, spread, statistics_of
from codecap.records import CATEGORIES, Annotation
from codecap.report.pages import RESOURCES, environment, told

WIDTH, HEIGHT = 380, 200
LEFT, RIGHT, TOP, BELOW = 34, 12, 16, 34
PLOT_WIDTH, PLOT_HEIGHT = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BELOW
NAMES_WIDTH, VALUES_WIDTH = 172, 96  # of the panel of categories; a report's page may be drawn in a wide font
MOST_BINS = 14
LETTERS = 26  # of a category's name


@dataclass(frozen=True)
class Bar:
    x: float
    y: float
    width: float
    height: float
    kind: str  # how it is coloured: all, static, dynamic
    title: str
    label: str = ""  # left of it
    value: str = ""  # right of it


@dataclass(frozen=True)
class Line:
    """A vertical line at a mean or a median."""

    x: float
    kind: str
    title: str


@dataclass(frozen=True)
class Panel:
    name: str  # a, b, c, d
    title: str
    told: str  # its numbers in words
    axis: str  # what goes to the right
    bars: list[Bar]
    lines: list[Line]
    across: list[tuple[float, str]]  # ticks to the right
    up: list[tuple[float, str]]  # ticks upwards: y, text
    keys: list[tuple[str, str]]  # kind of bar or line, and what it stands for
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    foot: int = HEIGHT - BELOW

    @property
    def keys_x(self) -> int:
        """Where the keys stand: on the side of the plot where no line is drawn through them."""
        return LEFT + 8 if any(line.x > WIDTH / 2 for line in self.lines) else WIDTH - 126


def context(clips: Iterable[Counted], annotations: Mapping[str, Annotation]) -> dict[str, Any]:
    """What the section of the report names."""
    counted = statistics_of(clips, annotations)
    return {"dataset": counted, "dataset_panels": panels(counted), "intervals": spread(counted.intervals_s)}


def write_figure(counted: Statistics, svg: Path) -> None:
    """Write the figure as a file of its own, which needs nothing beside it."""
    text = environment(RESOURCES).get_template("dataset_figure.svg.j2").render(dataset=counted, dataset_panels=panels(counted))
    svg.write_text(text, encoding="utf-8")


def panels(counted: Statistics) -> list[Panel]:
    """The four panels; those of what nobody has annotated are left out."""
    found = [_categories(counted), _durations(counted)]
    if counted.annotated:
        found += [_objects(counted), _points(counted)]
    return found


def _categories(counted: Statistics) -> Panel:
    most = max(counted.categories.values(), default=1)
    step = PLOT_HEIGHT / max(len(counted.categories), 1)
    length = WIDTH - NAMES_WIDTH - VALUES_WIDTH
    bars = []
    for place, (letter, count) in enumerate(counted.categories.items()):
        share = count / counted.clips
        name = CATEGORIES[letter]
        short = name if len(name) <= LETTERS else name[: LETTERS - 1] + "…"
        bars.append(
            Bar(
                x=NAMES_WIDTH,
                y=round(TOP + step * (place + 0.18), 2),
                width=round(length * count / most, 2),
                height=round(step * 0.64, 2),
                kind="all",
                title=f"{letter}, {name}: {count} of {counted.clips}",
                label=short,
                value=f"{count} ({share:.1%})",
            )
        )
    return Panel("a", "Videos by category", f"{counted.clips} videos", "", bars, [], [], [], [], left=NAMES_WIDTH, foot=HEIGHT - 8)


def _durations(counted: Statistics) -> Panel:
    return _histogram("b", "Duration", "seconds", {"all": counted.durations_s}, " s", lines=True)


def _objects(counted: Statistics) -> Panel:
    return _histogram("c", "Objects in a video", "objects", {"all": counted.objects}, "", lines=True)


def _points(counted: Statistics) -> Panel:
    return _histogram(
        "d", "Focal points in a video", "focal points", {"static": counted.static_points, "dynamic": counted.dynamic_points}, ""
    )


def _histogram(name: str, title: str, axis: str, series: Mapping[str, Sequence[float]], unit: str, lines: bool = False) -> Panel:
    """Bars of how many videos have a number; of two series, side by side."""
    largest = max((value for values in series.values() for value in values), default=0)
    width = bin_width(largest, whole=axis != "seconds")
    bins = max(int(largest / width + 1e-9) + 1, 1)
    counts = {kind: in_bins(values, width, bins) for kind, values in series.items()}
    most = max((count for held in counts.values() for count in held), default=0) or 1
    top = nice_top(most)
    slot = PLOT_WIDTH / bins
    bars = [bar for number in range(len(counts)) for bar in _bars(counts, number, width, top, axis)]
    spreads = {kind: spread(values) for kind, values in series.items()}
    across = (
        [(round(LEFT + slot * place, 2), f"{place * width:g}") for place in range(bins + 1)]
        if axis == "seconds"
        else [(round(LEFT + slot * (place + 0.5), 2), _range(place, width, "")) for place in range(bins)]
    )
    marks = [
        Line(round(LEFT + slot * value / width, 2), kind, f"{kind}: {value:.1f}{unit}")
        for found in spreads.values()
        if found is not None and lines and axis == "seconds"
        for kind, value in (("mean", found.mean), ("median", found.median))
    ]
    keys = [(mark.kind, mark.title) for mark in marks] or ([(kind, kind) for kind in series] if len(series) > 1 else [])
    up = [(round(TOP + PLOT_HEIGHT * (1 - part), 2), f"{top * part:g}") for part in (0, 0.5, 1)]
    return Panel(name, title, _in_words(spreads, unit), axis, bars, marks, _thinned(across), up, keys)


def _bars(counts: Mapping[str, Sequence[int]], number: int, width: float, top: int, axis: str) -> Iterator[Bar]:
    """Those of the `number`-th of some series, which share each bin's slot."""
    kind, held = list(counts.items())[number]
    slot = PLOT_WIDTH / len(held)
    whose = "" if kind == "all" else f", {kind}"
    for place, count in enumerate(held):
        height = PLOT_HEIGHT * count / top
        yield Bar(
            x=round(LEFT + slot * (place + 0.08 + 0.84 * number / len(counts)), 2),
            y=round(TOP + PLOT_HEIGHT - height, 2),
            width=round(slot * 0.84 / len(counts), 2),
            height=round(height, 2),
            kind=kind,
            title=f"{_range(place, width, axis)}{whose}: {count} video{'' if count == 1 else 's'}",
        )


def bin_width(largest: float, whole: bool) -> float:
    """The least of 1, 2, 5, 10, 20, 50, ... that takes at most 14 bins; below 1 too where numbers are not whole.

    >>> bin_width(11, whole=True), bin_width(56, whole=False), bin_width(2.4, whole=False)
    (1, 5, 0.2)
    """
    for power in range(0 if whole else -2, 7):
        for digit in (1, 2, 5):
            width = round(digit * 10**power, 2)
            if int(largest / width + 1e-9) + 1 <= MOST_BINS:
                return int(width) if width >= 1 else width
    return largest / (MOST_BINS - 1)


def nice_top(most: int) -> int:
    """The end of an axis of counts: even, so that its half is whole, and a round number.

    >>> nice_top(1), nice_top(7), nice_top(61), nice_top(105)
    (2, 8, 80, 120)
    """
    tenths = 10 ** max(math.floor(math.log10(most)), 0)
    tops = (tenths * step // 10 for step in (10, 12, 16, 20, 30, 40, 60, 80, 100, 200) if tenths * step % 20 == 0)
    return next(top for top in tops if top >= most)


def _range(place: int, width: float, axis: str) -> str:
    first = place * width
    if axis == "seconds":
        return f"{first:g} to under {first + width:g} s"
    numbers = f"{first:g}" if width == 1 else f"{first:g}–{first + width - 1:g}"
    return f"{numbers} {axis}".rstrip()


def _thinned(ticks: list[tuple[float, str]]) -> list[tuple[float, str]]:
    """Every second tick where all would run into one another."""
    letters = sum(len(text) + 2 for _, text in ticks)
    return ticks[::2] if letters * 5.5 > PLOT_WIDTH else ticks


def _in_words(spreads: Mapping[str, Spread | None], unit: str) -> str:
    parts = []
    for kind, found in spreads.items():
        if found is not None:
            whose = "" if kind == "all" else f"{kind}: "
            parts.append(f"{whose}mean {told(found.mean)}{unit}, median {told(found.median)}{unit}")
    return "; ".join(parts)
