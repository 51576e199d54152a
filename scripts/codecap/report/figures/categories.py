"""Scores by category (the paper's Figure 4): its two columns, the best systems of the run."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from codecap.compare.columns import chief
from codecap.compare.comparison import Column, Comparison
from codecap.compare.estimates import Estimate
from codecap.compare.pairs import RANKED
from codecap.compare.printed import in_order
from codecap.publish.statistics import Statistics
from codecap.records import CATEGORIES
from codecap.report.figures import style

NAME = "categories"
TITLE = "Scores by category"
MOST_SYSTEMS = 8  # that bars of one category can be told apart by


def draw(comparison: Comparison, counted: Statistics) -> tuple[Figure, str] | None:  # noqa: ARG001
    columns = chief(comparison.columns)
    categories = sorted({row.category for row in comparison.by_category})
    ordered = [row.system for group, rows in in_order(comparison, comparison.columns) if group in RANKED for row in rows]
    systems = ordered[:MOST_SYSTEMS]
    if not columns or not categories or not systems:
        return None
    cells = {(row.category, row.system): row.cells for row in comparison.by_category}
    made = style.figure(style.PAGE_IN, 1.9 * len(columns) + 0.4)
    panels = np.atleast_1d(made.subplots(len(columns), 1, sharex=True))
    for axes, column in zip(panels, columns, strict=True):
        told = {system: [cells[category, system][column.name] for category in categories] for system in systems}
        _bars(axes, column, told)
    panels[-1].set_xticks(range(len(categories)), [style.on_two_lines(CATEGORIES[letter]) for letter in categories])
    headings = {system.name: system.heading for system in comparison.systems}
    handles, _ = panels[0].get_legend_handles_labels()
    style.legend_below(made, handles, [style.short(headings[system]) for system in systems], columns=4)
    left_out = f" The first {len(systems)} of {len(ordered)} systems, by group and rank." if len(ordered) > len(systems) else ""
    return made, f"Means over the videos of a category, with 95 % bootstrap intervals.{left_out}"


def _bars(axes: Axes, column: Column, told: dict[str, list[Estimate]]) -> None:
    width = 0.84 / len(told)
    for number, cells in enumerate(told.values()):
        places = [place - 0.42 + width * (number + 0.5) for place in range(len(cells))]
        measured = [(place, cell) for place, cell in zip(places, cells, strict=True) if cell.mean is not None]
        means = [cell.mean for _, cell in measured]
        lengths = style.ends(means, [cell.low for _, cell in measured], [cell.high for _, cell in measured])
        axes.bar(
            [place for place, _ in measured], means, width, yerr=lengths, label=str(number),
            error_kw={"elinewidth": 0.6, "ecolor": style.INK}, **style.look(number),
        )  # fmt: skip
    axes.set_title(column.label + (" (stand-in)" if column.proxy else ""))
    if column.lowest is not None and column.highest is not None:
        axes.set_ylim(max(column.lowest, 0.0), column.highest)
    axes.set_ylabel(column.unit or "score")
    style.only_up(axes)
