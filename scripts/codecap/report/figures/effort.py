"""Fidelity and cost by thinking effort (the paper's Figure 5): a panel a series, scores on the left axis, dollars on the right."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from codecap.compare.columns import chief
from codecap.compare.comparison import Column, Comparison, EffortSeries
from codecap.publish.statistics import Statistics
from codecap.report.figures import style

NAME = "effort"
TITLE = "Thinking effort against fidelity and cost"
A_ROW = 3  # panels


def draw(comparison: Comparison, counted: Statistics) -> tuple[Figure, str] | None:  # noqa: ARG001
    columns = chief(comparison.columns)
    series = [told for told in comparison.series if len(told.levels) > 1]
    if not series or not columns:
        return None
    across = min(len(series), A_ROW)
    rows = -(-len(series) // across)
    made = style.figure(style.COLUMN_IN if across == 1 else style.PAGE_IN, 2.1 * rows + 0.3)
    panels = np.atleast_1d(made.subplots(rows, across, squeeze=False)).ravel()
    for place, (axes, told) in enumerate(zip(panels, series, strict=False)):
        _panel(axes, comparison, told, columns)
        axes.set_title(f"({chr(97 + place)}) {style.short(told.name)}")
    for axes in panels[len(series) :]:
        axes.remove()
    handles = [Line2D([], [], color=style.COLOURS[n], marker=style.MARKERS[n]) for n in range(len(columns))]
    labels = [column.label + (" (stand-in)" if column.proxy else "") for column in columns]
    style.legend_below(made, [*handles, Patch(color=style.GRID)], [*labels, "US dollars a caption"], columns=3)
    return made, "Left axis: scores with 95 % bootstrap intervals over videos. Right axis: mean cost of a caption, in US dollars."


def _panel(axes: Axes, comparison: Comparison, series: EffortSeries, columns: list[Column]) -> None:
    rows, spent = {row.system: row for row in comparison.main}, {told.system: told for told in comparison.spent}
    names = [level.system for level in series.levels]
    places = range(len(names))
    money = axes.twinx()
    money.bar(places, [spent[name].cost_usd.mean or 0.0 for name in names], 0.5, color=style.GRID)
    for place, name in zip(places, names, strict=True):
        cost = spent[name].cost_usd.mean
        told = "no price" if cost is None else f"{cost:.3f}"
        money.annotate(told, (place, 0.0), (0, 2), textcoords="offset points", ha="center", fontsize=5.5, color=style.INK)
    money.set_ylabel("US dollars")
    money.margins(y=0.35)
    money.set_ylim(bottom=0)
    money.grid(False)
    money.spines["right"].set_visible(True)
    axes.set_zorder(money.get_zorder() + 1)  # the lines in front of the bars
    axes.patch.set_visible(False)
    for number, column in enumerate(columns):
        cells = [rows[name].cells[column.name] for name in names]
        there = [(place, cell) for place, cell in zip(places, cells, strict=True) if cell.mean is not None]
        means = [cell.mean for _, cell in there]
        lengths = style.ends(means, [cell.low for _, cell in there], [cell.high for _, cell in there])
        axes.errorbar(
            [place for place, _ in there], means, yerr=lengths, color=style.COLOURS[number], marker=style.MARKERS[number],
            elinewidth=0.7,
        )  # fmt: skip
    axes.set_xticks(places, [level.level or "unset" for level in series.levels])
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.margins(y=0.2)  # the lowest point stands above the bars' numbers
    axes.set_ylabel("score")
    style.only_up(axes)
