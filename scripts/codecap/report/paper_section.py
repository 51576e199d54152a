"""The paper's tables beside ours, line by line: the same protocol, or not comparable and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from codecap.compare.columns import SUCCESS
from codecap.compare.comparison import GROUPS, Column, Comparison
from codecap.compare.paper import PublishedCell, PublishedLine, PublishedTable
from codecap.report.pages import told

NOT_RUN = "not in this run"
SAME = "same protocol, as far as the paper tells it"
OTHER = "not comparable"


@dataclass(frozen=True)
class Line:
    """
    Attributes:
        cells: the paper's number, ours and its interval ("" without one), in the table's columns; None where the paper has none.
        verdict: in words; `reasons` says why.
    """

    heads: list[str]
    system: str | None
    heading: str  # of the system
    cells: list[tuple[str, str, str] | None]
    verdict: str
    reasons: list[str]


@dataclass(frozen=True)
class Table:
    name: str
    title: str
    heads: list[str]
    names: list[str]  # of the columns
    labels: list[str]
    groups: list[tuple[str, list[Line]]]
    beside: int  # lines that this run has a system for


def context(comparison: Comparison) -> dict[str, Any]:
    """What the section's template names; nothing to show where the run was not set beside the paper."""
    published = comparison.published
    return {
        "paper": published,
        "paper_tables": [_table(table, comparison) for table in published.tables] if published else [],
        "paper_verdicts": {"same": SAME, "not_run": NOT_RUN},
    }


def _table(table: PublishedTable, comparison: Comparison) -> Table:
    labels = {cell.column: cell.label for line in table.lines for cell in line.cells}
    columns = {column.name: column for column in (SUCCESS, *comparison.columns)}
    headings = {system.name: system.heading for system in comparison.systems}
    groups: dict[str, list[Line]] = {}
    for line in table.lines:
        groups.setdefault(line.group, []).append(_line(line, list(labels), columns, headings))
    return Table(
        name=table.name,
        title=table.title,
        heads=list(table.lines[0].heads),
        names=list(labels),
        labels=list(labels.values()),
        groups=[(GROUPS.get(group, ""), lines) for group, lines in groups.items()],
        beside=sum(line.here for line in table.lines),
    )


def _line(line: PublishedLine, names: list[str], columns: dict[str, Column], headings: dict[str, str]) -> Line:
    by_name = {cell.column: cell for cell in line.cells}
    reasons = [*line.reasons, *(f"{cell.label}: {reason}" for cell in line.cells for reason in cell.reasons)]
    verdict = NOT_RUN if not line.here else OTHER if reasons else SAME
    cells = [None if name not in by_name else _cell(by_name[name], columns.get(name)) for name in names]
    heading = headings.get(line.system or "", "")
    heads = ["–" if text == "-" else text for text in line.heads.values()]  # the paper has no harness there
    return Line(heads, line.system, heading, cells, verdict, list(dict.fromkeys(reasons)))


def _cell(cell: PublishedCell, column: Column | None) -> tuple[str, str, str]:
    decimals = 1 if column is SUCCESS else 4 if abs(cell.published) <= 1 else 2
    ours = cell.ours
    if ours is None or ours.mean is None:
        return f"{cell.published:.{decimals}f}", "", ""
    ends = "" if ours.low is None else f"{told(ours.low, column)} – {told(ours.high, column)}"
    return f"{cell.published:.{decimals}f}", told(ours.mean, column), ends
