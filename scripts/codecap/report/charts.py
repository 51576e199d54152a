"""Geometry of the report's plots, in SVG user units; templates draw it, the style sheet gives the colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from codecap.compare.columns import SUCCESS
from codecap.compare.comparison import CategoryRow, Column, Comparison, Estimate, System, VideoPair
from codecap.report.pages import place_on_scale, told

LABEL_WIDTH, PLOT_WIDTH, VALUE_WIDTH, ROW_HEIGHT, TOP = 140, 180, 46, 22, 8
WIDTH = LABEL_WIDTH + PLOT_WIDTH + VALUE_WIDTH
LABEL_LETTERS = 21
SCATTER_LEFT, SCATTER_TOP, SCATTER_SIDE, SCATTER_BELOW = 46, 10, 300, 42


@dataclass(frozen=True)
class Mark:
    """One system's line in a panel: its mean as a dot, its interval as a line."""

    system: str
    label: str
    full_label: str
    group: str
    y: float
    x: float | None
    x_low: float | None
    x_high: float | None
    text: str
    title: str


@dataclass(frozen=True)
class Panel:
    """One category."""

    category: str
    clips: int
    marks: list[Mark]
    ticks: list[tuple[float, str]]
    width: int
    height: int
    plot_left: int
    plot_right: int


@dataclass(frozen=True)
class Plot:
    """A column's scores by category."""

    name: str
    label: str
    unit: str
    proxy: bool
    panels: list[Panel]


@dataclass(frozen=True)
class Dot:
    """One video in a scatter plot; its colour is its system's number."""

    x: float
    y: float
    colour: int
    hollow: bool
    title: str
    system: str
    clip_id: str


@dataclass(frozen=True)
class Scatter:
    """Videos' values in two sets of scores, both from 0 to 100; ticks are (place along the axis, text)."""

    dots: list[Dot]
    ticks: list[tuple[float, float, str]]  # x of the first axis, y of the second, text
    labels: tuple[str, str]
    left: int = SCATTER_LEFT
    top: int = SCATTER_TOP
    side: int = SCATTER_SIDE
    width: int = SCATTER_LEFT + SCATTER_SIDE + 12
    height: int = SCATTER_TOP + SCATTER_SIDE + SCATTER_BELOW


def scatter(pairs: Sequence[VideoPair], systems: Sequence[System], labels: tuple[str, str]) -> Scatter:
    """A dot a video: the first set's value to the right, the second's upwards. Floors and ceilings are hollow."""
    numbers = {system.name: number for number, system in enumerate(systems)}

    def place(x: float, y: float) -> tuple[float, float]:
        return round(SCATTER_LEFT + SCATTER_SIDE * x / 100, 2), round(SCATTER_TOP + SCATTER_SIDE * (1 - y / 100), 2)

    dots = []
    for pair in pairs:
        system = systems[numbers[pair.system]]
        x, y = place(pair.first_value, pair.second_value)
        title = f"{system.heading}, {pair.clip_id}: {told(pair.first_value)} and {told(pair.second_value)}, {pair.points} points"
        dots.append(Dot(x, y, numbers[pair.system], system.group in ("floor", "ceiling"), title, pair.system, pair.clip_id))
    ticks = [(*place(value, value), str(value)) for value in (0, 20, 40, 60, 80, 100)]
    return Scatter(dots, ticks, labels)


def scale_of(column: Column, cells: Sequence[Estimate]) -> tuple[float, float]:
    """Ends of a column's axis: its range (a cosine's from 0 on) where that is known, else what its numbers span from 0."""
    if column.lowest is not None and column.highest is not None:
        return max(column.lowest, 0.0) if column.higher_is_better else column.lowest, column.highest
    ends = [end for cell in cells for end in (cell.low, cell.high, cell.mean) if end is not None]
    return min([0.0, *ends]), max([0.0, *ends]) or 1.0


def plots(comparison: Comparison) -> list[Plot]:
    """A plot by category for the success rate and every column that ranks systems."""
    made = []
    for column in [*(column for column in comparison.columns if column.higher_is_better), SUCCESS]:
        panels = [
            _panel(comparison, category, column) for category in dict.fromkeys(row.category for row in comparison.by_category)
        ]
        made.append(Plot(column.name, column.label, column.unit, column.proxy, panels))
    return made


def _panel(comparison: Comparison, category: str, column: Column) -> Panel:
    systems = {system.name: system for system in comparison.systems}
    rows = [row for row in comparison.by_category if row.category == category]
    ends = scale_of(column, [_cell(row, column) for row in comparison.by_category])
    marks = [
        _mark(systems[row.system], _cell(row, column), column, ends, TOP + ROW_HEIGHT * (line + 0.5))
        for line, row in enumerate(rows)
    ]
    ticks = [
        (round(LABEL_WIDTH + PLOT_WIDTH * part, 2), f"{ends[0] + part * (ends[1] - ends[0]):g}") for part in (0, 0.25, 0.5, 0.75, 1)
    ]
    return Panel(
        category=category,
        clips=sum(clip.category == category for clip in comparison.clips),
        marks=marks,
        ticks=ticks,
        width=WIDTH,
        height=TOP + ROW_HEIGHT * len(rows) + 22,
        plot_left=LABEL_WIDTH,
        plot_right=LABEL_WIDTH + PLOT_WIDTH,
    )


def _cell(row: CategoryRow, column: Column) -> Estimate:
    return row.success if column is SUCCESS else row.cells[column.name]


def _mark(system: System, cell: Estimate, column: Column, ends: tuple[float, float], y: float) -> Mark:
    def x_of(value: float | None) -> float | None:
        return None if value is None else round(LABEL_WIDTH + PLOT_WIDTH * place_on_scale(value, *ends) / 100, 2)

    text = told(cell.mean, column)
    interval = f", interval {told(cell.low, column)} to {told(cell.high, column)}" if cell.low is not None else ""
    return Mark(
        system=system.name,
        label=system.heading if len(system.heading) <= LABEL_LETTERS else system.heading[: LABEL_LETTERS - 1] + "…",
        full_label=system.heading,
        group=system.group,
        y=y,
        x=x_of(cell.mean),
        x_low=x_of(cell.low),
        x_high=x_of(cell.high),
        text=text,
        title=f"{system.heading}: {text}{interval}, n {cell.n}",
    )
