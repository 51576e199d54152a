"""What one system's page shows: its numbers and where they stand, categories, outcomes, effort and cost, and every video of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from codecap.compare.certainty import Rank
from codecap.compare.columns import SUCCESS
from codecap.compare.comparison import (
    Amount,
    CategoryRow,
    Column,
    Comparison,
    Difference,
    Spent,
    System,
    SystemRow,
    TaskEntry,
)
from codecap.records import Outcome
from codecap.report.cells import Cell, cell_of, success_cell
from codecap.report.charts import scale_of
from codecap.report.pages import told

HEADINGS = {"main": "Fidelity", "reconstruction": "Reconstruction", "beside": "Beside the paper's metrics"}
PARTS = {
    "input_uncached": "input, uncached",
    "input_cache_read": "input, read from cache",
    "input_cache_write": "input, written to cache",
    "output": "output, reasoning included",
    "reasoning": "of these, reasoning",
}


@dataclass(frozen=True)
class Line:
    """A system's number in one column.

    Attributes:
        place: "2 of 5", its place in its group, and "1 – 3", the ends of the place's interval.
        against: its difference to the best of the group, in words; "" where it is the best.
    """

    column: Column
    cell: Cell
    failed: int
    place: tuple[str, str]
    against: str


@dataclass(frozen=True)
class Took:
    """What captions took of one thing, as the page prints it."""

    label: str
    unit: str
    mean: str
    median: str
    total: str
    n: int
    part: bool = False


def context(comparison: Comparison, system: System, unreadable: Mapping[str, str]) -> dict[str, Any]:
    """All that the template of a system's page names.

    Args:
        unreadable: clips without a still, and why.
    """
    rows = {row.system: row for row in comparison.main}
    places = [other.name for other in comparison.systems]
    place = places.index(system.name)
    return {
        "comparison": comparison,
        "system": system,
        "row": rows[system.name],
        "success": success_cell(rows[system.name]),
        "sections": _sections(comparison, system, rows),
        "category_columns": [column for column in comparison.columns if column.higher_is_better],
        "category_lines": _category_lines(comparison, system),
        "outcomes_of": _outcomes(comparison, system),
        "took": _took(next((spent for spent in comparison.spent if spent.system == system.name), None)),
        "spent": next((spent for spent in comparison.spent if spent.system == system.name), None),
        "series": [series for series in comparison.series if any(held.system == system.name for held in series.levels)],
        "headings": {other.name: other.heading for other in comparison.systems},
        "tasks": _tasks(comparison, system),
        "extremes": _extreme_columns(comparison.columns),
        "unreadable": unreadable,
        "before": comparison.systems[place - 1] if place else None,
        "after": comparison.systems[place + 1] if place + 1 < len(places) else None,
    }


def _sections(comparison: Comparison, system: System, rows: Mapping[str, SystemRow]) -> list[tuple[str, list[Line]]]:
    """Lines of the table of numbers, those of the paper first."""
    against = {found.column: found for found in comparison.differences if found.system == system.name}
    headings = {other.name: other.heading for other in comparison.systems}
    made: dict[str, list[Line]] = {}
    for column in comparison.columns:
        cell = rows[system.name].cells[column.name]
        scale = scale_of(column, [row.cells[column.name] for row in rows.values()])
        found = against.get(column.name)
        line = Line(
            column=column,
            cell=cell_of(cell, column, scale),
            failed=cell.failed,
            place=_place(comparison.ranks, column, system),
            against=_against(found, column, headings) if found else "",
        )
        made.setdefault(HEADINGS[column.table], []).append(line)
    return list(made.items())


def _place(ranks: Sequence[Rank], column: Column, system: System) -> tuple[str, str]:
    """Its place in its group, and the ends of the place's interval; empty where the column ranks nobody, or there is one system."""
    mine = [rank for rank in ranks if (rank.column, rank.group) == (column.name, system.group)]
    held = next((rank for rank in mine if rank.system == system.name), None)
    if held is None or len(mine) < 2:
        return "", ""
    return f"{held.rank} of {len(mine)}", "" if held.low is None else f"{held.low} – {held.high}"


def _against(found: Difference, column: Column, headings: Mapping[str, str]) -> str:
    ends = "" if found.low is None else f" ({signed(found.low, column)} to {signed(found.high, column)})"
    told_ends = "" if found.separated else ", not separated"
    return f"{signed(found.mean, column)}{ends} against {headings[found.best]}{told_ends}"


def signed(value: float | None, column: Column) -> str:
    """A difference as a table prints it, with its sign.

    >>> signed(0.25, SUCCESS), signed(-1.26, SUCCESS), signed(0.001, SUCCESS)
    ('+0.2', '−1.3', '0.0')
    """
    text = told(value, column)
    if text.startswith("-"):
        return f"−{text[1:]}"
    return f"+{text}" if value is not None and text.strip("0.") else text


def _category_lines(comparison: Comparison, system: System) -> list[tuple[CategoryRow, Cell, list[Cell]]]:
    """Its categories, with the success rate and the columns that rank; bars are on one scale over all systems."""
    columns = [column for column in comparison.columns if column.higher_is_better]
    scales = [scale_of(column, [row.cells[column.name] for row in comparison.by_category]) for column in columns]
    return [
        (
            row,
            cell_of(row.success, SUCCESS, (0.0, 100.0)),
            [cell_of(row.cells[column.name], column, scale) for column, scale in zip(columns, scales, strict=True)],
        )
        for row in comparison.by_category
        if row.system == system.name
    ]


def _outcomes(comparison: Comparison, system: System) -> list[dict[str, Any]]:
    """Outcomes other than a video, the most frequent first, with each clip and what was said of it."""
    tasks: dict[Outcome, list[TaskEntry]] = {}
    for task in comparison.tasks:
        if task.system == system.name and task.outcome is not Outcome.OK:
            tasks.setdefault(task.outcome, []).append(task)
    order = list(Outcome)
    return [
        {"outcome": outcome, "tasks": sorted(found, key=lambda task: task.clip_id)}
        for outcome, found in sorted(tasks.items(), key=lambda pair: (-len(pair[1]), order.index(pair[0])))
    ]


def _took(spent: Spent | None) -> list[Took]:
    """What a caption took; what no caption tells has no line."""
    if spent is None:
        return []
    lines = [
        _amount("Cost", "USD", spent.cost_usd, 4),
        _amount("Time", "min", spent.minutes, 1),
        _amount("Rounds", "", spent.rounds, 1),
        _amount("Tokens", "", spent.tokens, 0),
        *(_amount(PARTS.get(name, name), "", part, 0, part=True) for name, part in spent.parts.items()),
        _amount("Tool calls", "", spent.tool_calls, 1),
    ]
    return [line for line in lines if line.n and (not line.part or line.total != "0")]


def _amount(label: str, unit: str, amount: Amount, decimals: int, part: bool = False) -> Took:
    def number(value: float | None, places: int = decimals) -> str:
        return "–" if value is None else f"{value:,.{places}f}"

    return Took(
        label=label,
        unit=unit,
        mean=number(amount.mean),
        median=number(amount.median),
        total=number(amount.total, min(decimals, 2) if unit else 0),
        n=amount.n,
        part=part,
    )


def _tasks(comparison: Comparison, system: System) -> list[tuple[str, TaskEntry]]:
    """Its tasks with the clip's category, in the order of the clips."""
    categories = {clip.clip_id: clip.category for clip in comparison.clips}
    return [(categories[task.clip_id], task) for task in comparison.tasks if task.system == system.name]


def _extreme_columns(columns: Sequence[Column]) -> list[Column]:
    """Columns that tell the best videos from the worst; the paper's last one, overall retention, first."""
    ranking = [column for column in columns if column.higher_is_better is not None]
    return sorted(ranking, key=lambda column: (column.table != "main", column.part != "overall"))
