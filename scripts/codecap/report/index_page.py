"""What the first page shows: leaderboard, categories, failures and the gallery of clips."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from codecap.clock import FPS
from codecap.compare.columns import shown_tables
from codecap.compare.comparison import GROUPS, Column, Comparison, SystemRow
from codecap.compare.means import best_of
from codecap.records import Outcome
from codecap.report.agreement_section import pair_views
from codecap.report.cells import cell_of, missing, success_cell
from codecap.report.charts import plots, scale_of
from codecap.report.questions_section import set_views

GALLERY_SYSTEMS = 5  # on a clip's card; its page has all
GALLERY_COLUMNS = 6


@dataclass(frozen=True)
class Board:
    """One table of the leaderboard."""

    name: str
    title: str
    spans: list[tuple[str, int]]  # headings over columns that stand together
    columns: list[Column]
    groups: list[tuple[str, list[dict[str, Any]]]]


def context(comparison: Comparison) -> dict[str, Any]:
    """All that the template of the first page names."""
    return {
        "comparison": comparison,
        "boards": _boards(comparison),
        "plots": plots(comparison),
        "pairs": pair_views(comparison),
        "question_sets": set_views(comparison),
        "failures": _failures(comparison),
        "protocols": _protocols(comparison),
        "gallery": _gallery(comparison),
        "gallery_columns": _gallery_columns(comparison.columns),
        "clip_rows": [
            {"entry": clip, "duration_s": clip.frames / FPS, "failed": _failed_on(comparison, clip.clip_id)}
            for clip in comparison.clips
        ],
        "categories_used": sorted({clip.category for clip in comparison.clips}),
        "render_protocols": sorted({protocol for system in comparison.systems for protocol in system.render_protocols}),
    }


def _boards(comparison: Comparison) -> list[Board]:
    titles = {
        "main": "Main results",
        "main_beside": "Beside the paper's metrics",
        "stand_ins": "Results of stand-in backends",
        "stand_ins_beside": "Stand-ins beside the paper's metrics",
        "exact": "Numbers without a stand-in",
        "exact_beside": "Numbers without a stand-in, beside the paper's metrics",
    }
    return [_board(comparison, name, titles[name], columns) for name, columns in shown_tables(comparison.columns)]


def _board(comparison: Comparison, name: str, title: str, columns: Sequence[Column]) -> Board:
    rows = {row.system: row for row in comparison.main}
    near = {(d.column, d.system) for d in comparison.differences if not d.separated}
    scales = {column.name: scale_of(column, [row.cells[column.name] for row in rows.values()]) for column in columns}
    groups = []
    for group, heading in GROUPS.items():
        systems = [system for system in comparison.systems if system.group == group]
        if not systems:
            continue
        ranked = group in ("agentic", "non_agentic")
        mine = [rows[system.name] for system in systems]
        best = {column.name: _all_best(column, mine) if ranked and len(mine) > 1 else set() for column in columns}
        lines = [
            {
                "system": system,
                "row": rows[system.name],
                "incomplete": _incomplete(rows[system.name], columns),
                "success": success_cell(rows[system.name]),
                "cells": [
                    cell_of(
                        rows[system.name].cells[column.name],
                        column,
                        scales[column.name],
                        system.name in best[column.name],
                        (column.name, system.name) in near,
                    )
                    for column in columns
                ],
            }
            for system in systems
        ]
        lines.sort(key=lambda line: _order(line["row"], columns))
        groups.append((heading, lines))
    return Board(name, title, _spans(columns), list(columns), groups)


def _spans(columns: Sequence[Column]) -> list[tuple[str, int]]:
    headings = {"main": "Fidelity", "reconstruction": "Reconstruction", "beside": "Beside the paper's metrics"}
    return [(headings[table], len(list(of))) for table, of in groupby(columns, key=lambda column: column.table)]


def _order(row: SystemRow, columns: Sequence[Column]) -> tuple[float, str]:
    """By the paper's order: the last column of its Table 1, overall retention."""
    ranking = [column for column in columns if column.table == "main" and column.higher_is_better] or [
        column for column in columns if column.higher_is_better
    ]
    mean = row.cells[ranking[-1].name].mean if ranking else None
    return -(mean if mean is not None else float("-inf")), row.system


def _all_best(column: Column, rows: Sequence[SystemRow]) -> set[str]:
    first = best_of(column, rows)
    if first is None:
        return set()
    top = next(row.cells[column.name].mean for row in rows if row.system == first)
    return {row.system for row in rows if row.cells[column.name].mean == top}


def _incomplete(row: SystemRow, columns: Sequence[Column]) -> str:
    """Why a line is incomplete, in words; empty when it is complete."""
    reasons = [f"{row.infra_error} infra error"] if row.infra_error else []
    for column in columns:
        lacking = missing(row.cells[column.name], with_infra=False) if column.table != "beside" else ""
        if lacking:
            reasons.append(f"{column.label}: {lacking}")
    return "; ".join(reasons)


def _failures(comparison: Comparison) -> dict[str, Any]:
    used = [outcome for outcome in Outcome if any(failure.outcome is outcome for failure in comparison.failures)]
    tasks = {row.system: row.tasks for row in comparison.main}
    found = {(failure.system, failure.outcome): failure for failure in comparison.failures}
    return {
        "outcomes": used,
        "lines": [
            {
                "system": system,
                "tasks": tasks[system.name],
                "parts": [
                    (outcome, found.get((system.name, outcome)), _share(found.get((system.name, outcome)), tasks[system.name]))
                    for outcome in used
                ],
            }
            for system in comparison.systems
        ],
    }


def _share(failure: Any, tasks: int) -> float:
    return round(100.0 * failure.count / tasks, 3) if failure and tasks else 0.0


def _protocols(comparison: Comparison) -> list[tuple[str, str, bool]]:
    """Label, protocol and stand-in mark of each metric, parts of one metric together."""
    seen: dict[str, tuple[str, str, bool]] = {}
    for column in comparison.columns:
        label = column.label.removesuffix(f", {column.part}") if column.part else column.label
        seen.setdefault(column.metric, (label, column.protocol, column.proxy))
    return list(seen.values())


def _gallery_columns(columns: Sequence[Column]) -> list[Column]:
    ranking = [column for column in columns if column.higher_is_better]
    return sorted(ranking, key=lambda column: (column.table != "main", column.part != "overall"))[:GALLERY_COLUMNS]


def _gallery(comparison: Comparison) -> dict[str, Any]:
    """Values for the bars on the clips' cards: by clip, then system, then column."""
    columns = _gallery_columns(comparison.columns)
    rows = {row.system: row for row in comparison.main}
    shown = sorted(
        comparison.systems,
        key=lambda system: (list(GROUPS).index(system.group) > 1, _order(rows[system.name], comparison.columns)),
    )
    names = [system.name for system in shown]
    values: dict[str, list[Any]] = {clip.clip_id: [None] * len(names) for clip in comparison.clips}
    for task in comparison.tasks:
        numbers = [task.values[column.name] for column in columns]
        values[task.clip_id][names.index(task.system)] = {
            "o": task.outcome.value,
            "v": [None if number is None else round(number, 3) for number in numbers],
        }
    return {
        "systems": [system.heading for system in shown],
        "shown": GALLERY_SYSTEMS,
        "columns": [
            {
                "label": column.label,
                "ends": scale_of(column, [row.cells[column.name] for row in comparison.main]),
                "decimals": 2 if (column.highest or 100) - (column.lowest or 0) <= 2 else 0,
            }
            for column in columns
        ],
        "clips": values,
    }


def _failed_on(comparison: Comparison, clip_id: str) -> int:
    return sum(task.clip_id == clip_id and task.outcome is not Outcome.OK for task in comparison.tasks)
