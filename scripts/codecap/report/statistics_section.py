"""What the first page says of certainty: ranks with their ends, what comparisons find, which metrics go together, stable judges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from codecap.compare.columns import SUCCESS
from codecap.compare.comparison import GROUPS, Column, Comparison
from codecap.compare.estimates import Interval
from codecap.report.pages import told
from codecap.stats import SIGNIFICANCE

CORRELATION = Column(name="r", metric="r", label="r", lowest=-1, highest=1)


@dataclass(frozen=True)
class RankCell:
    text: str
    ends: str
    incomplete: bool


@dataclass(frozen=True)
class Contests:
    """What the pairs of a group come to in one column.

    Attributes:
        separated: pairs whose interval does not hold 0.
        significant: pairs whose p-value, corrected by Holm's procedure, is below 5 %.
    """

    column: Column
    group: str
    pairs: int
    separated: int
    significant: int
    n: int
    detectable: str


def context(comparison: Comparison) -> dict[str, Any]:
    """What the section's template names."""
    columns = {column.name: column for column in (SUCCESS, *comparison.columns)}
    return {
        "rank_columns": _ranked(comparison),
        "rank_groups": _ranks(comparison),
        "contests": _contests(comparison, columns),
        **_correlated(comparison),
        "stability": _stability(comparison),
        "films": _films(comparison),
    }


def _ranked(comparison: Comparison) -> list[Column]:
    """Columns that systems are ranked in here: all of the paper's, and of the success rate."""
    ranked = {rank.column for rank in comparison.ranks}
    return [
        column
        for column in (SUCCESS, *comparison.columns)
        if column.name in ranked and (column is SUCCESS or column.table != "beside")
    ]


def _ranks(comparison: Comparison) -> list[tuple[str, list[tuple[Any, list[RankCell | None]]]]]:
    """Lines of each group: the system and its ranks, the best first by the last column of the paper's Table 1."""
    columns = _ranked(comparison)
    last = max((place for place, column in enumerate(columns) if column.table == "main"), default=len(columns) - 1)
    found = {(rank.system, rank.column): rank for rank in comparison.ranks}
    groups = []
    for group, heading in GROUPS.items():
        lines = []
        for system in comparison.systems:
            ranks = [found.get((system.name, column.name)) for column in columns]
            if system.group == group and any(ranks):
                cells = [
                    None
                    if rank is None
                    else RankCell(str(rank.rank), "" if rank.low is None else f"{rank.low} – {rank.high}", rank.incomplete)
                    for rank in ranks
                ]
                place = ranks[last].rank if ranks[last] else len(comparison.systems)
                lines.append((place, system.name, (system, cells)))
        if lines:
            groups.append((heading, [line for _, _, line in sorted(lines, key=lambda line: line[:2])]))
    return groups


def _contests(comparison: Comparison, columns: dict[str, Column]) -> list[Contests]:
    made = []
    for row in comparison.detectable:
        pairs = [pair for pair in comparison.pairs if (pair.column, pair.family) == (row.column, row.group)]
        made.append(
            Contests(
                column=columns[row.column],
                group=GROUPS[row.group],
                pairs=len(pairs),
                separated=sum(pair.separated for pair in pairs),
                significant=sum(pair.p_holm is not None and pair.p_holm < SIGNIFICANCE for pair in pairs),
                n=row.n,
                detectable=told(row.difference, columns[row.column]),
            )
        )
    return made


def _correlated(comparison: Comparison) -> dict[str, Any]:
    """A line for each of the paper's columns but the first: its correlations with those before it, and Pearson's in words."""
    found = {frozenset((row.first, row.second)): row for row in comparison.correlations}
    ranked = {name for pair in found for name in pair}
    columns = [column for column in comparison.columns if column.table != "beside" and column.name in ranked]
    lines = []
    for place, column in enumerate(columns[1:], start=1):
        rows = [found[frozenset((column.name, other.name))] for other in columns[:place]]
        cells = []
        for other, row in zip(columns, rows, strict=False):
            text, ends = _interval(row.spearman)
            pearson = " ".join(filter(None, _interval(row.pearson)))
            cells.append((text, ends, f"{column.label} and {other.label}, {row.n} videos: Pearson {pearson}"))
        lines.append((column, cells))
    return {"correlated": lines, "correlated_heads": [column.label for column in columns[:-1]]}


def _stability(comparison: Comparison) -> list[dict[str, Any]]:
    headings = {system.name: system.heading for system in comparison.systems}
    return [
        {
            "judge": row.metric,
            "system": "All systems" if row.system is None else headings[row.system],
            "points": row.points,
            "repeats": row.repeats,
            "unanimous": told(row.unanimous_percent),
            "spread": f"{row.mean_spread:.2f}",
            "largest": told(row.largest_spread),
            "sd": f"{row.sd:.2f}",
            "reliability": "–" if row.reliability is None else f"{row.reliability:.3f}",
        }
        for row in comparison.stability
    ]


def _films(comparison: Comparison) -> dict[str, Any]:
    """The paper's Table 3: for each pair of systems of one model, both means in each column of reconstruction."""
    columns = [column for column in comparison.columns if column.table == "reconstruction"]
    rows = {row.system: row for row in comparison.main}
    systems = {system.name: system for system in comparison.systems}
    lines = [
        {
            "model": pair.model,
            "method": method,
            "system": systems[name],
            "cells": [
                (told(cell.mean, column), "" if cell.low is None else f"{told(cell.low, column)} – {told(cell.high, column)}")
                for column in columns
                for cell in [rows[name].cells[column.name]]
            ],
            "first": method == "Code rendering",
        }
        for pair in comparison.reconstruction
        for method, name in (("Code rendering", pair.code), ("Caption-to-video", pair.filmed))
    ]
    return {"columns": columns, "lines": lines if columns else []}


def _interval(number: Interval) -> tuple[str, str]:
    if number.value is None:
        return "none", ""
    ends = "" if number.low is None else f"{told(number.low, CORRELATION)} – {told(number.high, CORRELATION)}"
    return told(number.value, CORRELATION), ends
