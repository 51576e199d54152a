"""The data set: videos by category, their durations, their objects and focal points (the paper's Figure 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from codecap.compare.comparison import Comparison
from codecap.publish.statistics import Statistics, in_bins, spread
from codecap.records import CATEGORIES
from codecap.report.dataset_figure import bin_width
from codecap.report.figures import style

NAME = "dataset"
TITLE = "The data set"


def draw(comparison: Comparison, counted: Statistics) -> tuple[Figure, str] | None:  # noqa: ARG001
    if not counted.clips:
        return None
    rows = 2 if counted.annotated else 1
    made = style.figure(style.PAGE_IN, 1.9 * rows)
    panels = made.subplots(rows, 2).ravel()
    _categories(panels[0], counted)
    _histogram(panels[1], "(b) Duration", "seconds", {"": counted.durations_s})
    if counted.annotated:
        _histogram(panels[2], "(c) Objects in a video", "objects", {"": counted.objects})
        points = {"static": counted.static_points, "dynamic": counted.dynamic_points}
        _histogram(panels[3], "(d) Focal points in a video", "focal points", points)
    lasting = spread(counted.intervals_s)
    told = f" Focal points last {lasting.mean:.1f} s in the mean, {lasting.median:.1f} s in the median." if lasting else ""
    return made, f"{counted.clips} videos, {counted.annotated} of them annotated.{told}"


def _categories(axes: Axes, counted: Statistics) -> None:
    letters = list(counted.categories)
    counts = [counted.categories[letter] for letter in letters]
    bars = axes.barh([style.on_two_lines(CATEGORIES[letter]) for letter in letters], counts, height=0.66, color=style.COLOURS[0])
    axes.bar_label(bars, [f"{count} ({count / counted.clips:.1%})" for count in counts], padding=3, fontsize=6.5)
    axes.set_xlim(0, 1.3 * max(counts))
    axes.invert_yaxis()
    axes.set_title("(a) Videos by category")
    axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    style.only_across(axes)


def _histogram(axes: Axes, title: str, unit: str, series: Mapping[str, Sequence[float]]) -> None:
    """How many videos have a number, in bins from 0 on; several series stand side by side."""
    largest = max((value for values in series.values() for value in values), default=0)
    whole = unit != "seconds"
    width = bin_width(largest, whole=whole)
    bins = max(int(largest / width + 1e-9) + 1, 1)
    share = 0.86 / len(series)
    for number, (name, values) in enumerate(series.items()):
        left = [width * (place + 0.07 + share * number) - (0.5 * width if whole and width == 1 else 0.0) for place in range(bins)]
        axes.bar(left, in_bins(values, width, bins), width * share, align="edge", color=style.COLOURS[number], label=name)
    found = spread(next(iter(series.values())))
    if len(series) == 1 and found is not None:
        for value, kind, dashes in ((found.mean, "mean", "-"), (found.median, "median", "--")):
            axes.axvline(value, color=style.INK, linewidth=0.9, linestyle=dashes, label=f"{kind} {value:.1f}")
    axes.legend(loc="best")
    axes.set_title(title)
    axes.set_xlabel(unit)
    axes.set_ylabel("videos")
    axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    axes.xaxis.set_major_locator(MaxNLocator(8, integer=whole, steps=[1, 2, 5, 10]))
    style.only_up(axes)
