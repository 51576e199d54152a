"""The tables as CSV files: one header line, a dot for decimals, an empty cell where there is no number."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from codecap.compare.comparison import Agreement, Amount, Column, Comparison, Estimate, Interval, System, SystemRow
from codecap.records import Score, write_whole
from codecap.spreadsheets import inert

Cell = str | int | float | bool | None


def write_tables(
    folder: Path, comparison: Comparison, sets: Sequence[tuple[str, Sequence[Column]]], scores: Iterable[Score]
) -> None:
    """Write all tables; `sets` are the main table, and a second one where stand-ins must not stand beside the paper's metrics."""
    systems = {system.name: system for system in comparison.systems}
    for name, columns in sets:
        lines = [_main_line(systems[row.system], row, columns) for row in comparison.main]
        write_csv(folder / f"{name}.csv", lines)
    write_csv(folder / "by_category.csv", _by_category(comparison))
    write_csv(folder / "per_clip.csv", _per_clip(comparison))
    write_csv(folder / "per_item.csv", _per_item(comparison, scores))
    write_csv(folder / "failures.csv", _failures(comparison))
    write_csv(folder / "failure_causes.csv", _failure_causes(comparison))
    write_csv(folder / "spent.csv", _spent(comparison))
    write_csv(folder / "tool_calls.csv", _tool_calls(comparison))
    write_csv(folder / "effort.csv", _effort(comparison))
    write_csv(folder / "against_best.csv", _against_best(comparison))
    write_csv(folder / "protocols.csv", _protocols(comparison))
    if comparison.agreement is not None:
        write_csv(folder / "agreement.csv", _agreement(comparison.agreement))
        write_csv(folder / "agreement_videos.csv", [pair.model_dump() for pair in comparison.agreement.videos])


def write_csv(path: Path, lines: Sequence[dict[str, Cell]]) -> None:
    """Write lines of the same keys; a table without lines has no header either."""
    text = io.StringIO()
    if lines:
        writer = csv.DictWriter(text, fieldnames=list(lines[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: _told(value) for key, value in line.items()} for line in lines)
    write_whole(path, [text.getvalue()])


def _told(value: Cell) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else inert(str(value))


def _interval(name: str, cell: Estimate) -> dict[str, Cell]:
    return {name: cell.mean, f"{name}_low": cell.low, f"{name}_high": cell.high}


def _counts(name: str, cell: Estimate) -> dict[str, Cell]:
    return {
        f"{name}_n": cell.n,
        f"{name}_failed": cell.failed,
        f"{name}_unscored": cell.unscored,
        f"{name}_infra_error": cell.infra_error,
        f"{name}_unscored_items": cell.unscored_items,
    }


def _main_line(system: System, row: SystemRow, columns: Sequence[Column]) -> dict[str, Cell]:
    line: dict[str, Cell] = {
        "system": system.name,
        "label": system.label,
        "group": system.group,
        "harness": system.harness,
        "tasks": row.tasks,
        "ok": row.ok,
        "failed": row.failed,
        "infra_error": row.infra_error,
        "incomplete": row.incomplete(columns),
        **_interval("success_rate", row.success),
    }
    for column in columns:
        line |= _interval(column.name, row.cells[column.name])
    for column in columns:
        line |= _counts(column.name, row.cells[column.name])
    return line | {
        "salvaged": row.salvaged,
        "impure": row.impure,
        "cost_usd": row.cost_usd,
        "caption_wall_s": row.wall_s,
    }


def _by_category(comparison: Comparison) -> list[dict[str, Cell]]:
    lines = []
    for row in comparison.by_category:
        for name, cell in (("success_rate", row.success), *row.cells.items()):
            place: dict[str, Cell] = {"category": row.category, "system": row.system, "column": name}
            lines.append(place | _interval("mean", cell) | {"n": cell.n, "incomplete": cell.incomplete})
    return lines


def _per_clip(comparison: Comparison) -> list[dict[str, Cell]]:
    categories = {clip.clip_id: clip.category for clip in comparison.clips}
    lines = []
    for task in sorted(comparison.tasks, key=lambda task: task.clip_id):
        line: dict[str, Cell] = {
            "clip": task.clip_id,
            "category": categories[task.clip_id],
            "system": task.system,
            "outcome": task.outcome.value,
            "salvaged": task.salvaged,
        }
        for column in comparison.columns:
            line[column.name] = task.values[column.name]
        line["without_number"] = " ".join(name for name, state in task.states.items() if state in ("unscored", "infra_error"))
        lines.append(line)
    return lines


def _per_item(comparison: Comparison, scores: Iterable[Score]) -> list[dict[str, Cell]]:
    order = {system.name: place for place, system in enumerate(comparison.systems)}
    rows = sorted(scores, key=lambda row: (row.metric, row.clip_id, order[row.system], row.item or ""))
    return [
        {
            "metric": row.metric,
            "clip": row.clip_id,
            "system": row.system,
            "item": row.item,
            "kind": row.kind,
            "value": row.value,
            "status": str(row.status),
            "detail": row.detail,
        }
        for row in rows
    ]


def _failures(comparison: Comparison) -> list[dict[str, Cell]]:
    tasks = {row.system: row.tasks for row in comparison.main}
    return [
        {
            "system": failure.system,
            "outcome": failure.outcome.value,
            "count": failure.count,
            "share_percent": 100.0 * failure.count / tasks[failure.system],
            "clips": " ".join(failure.clips),
        }
        for failure in comparison.failures
    ]


def _failure_causes(comparison: Comparison) -> list[dict[str, Cell]]:
    """One line a system and cause; no system is all but floors and ceilings together."""
    return [
        {
            "system": told.system or "",
            "tasks": told.tasks,
            "failed": told.failed,
            "failure_rate_percent": told.rate_percent,
            "cause": cause.outcome.value,
            "count": cause.count,
            "share_percent": cause.share_percent,
        }
        for told in comparison.causes
        for cause in told.causes
    ]


def _amount(name: str, told: Amount) -> dict[str, Cell]:
    return {f"{name}_mean": told.mean, f"{name}_median": told.median, f"{name}_n": told.n}


def _spent(comparison: Comparison) -> list[dict[str, Cell]]:
    lines = []
    for told in comparison.spent:
        line: dict[str, Cell] = {"system": told.system, "captions": told.captions}
        for name in ("cost_usd", "minutes", "rounds", "tokens"):
            line |= _amount(name, getattr(told, name))
        for name, part in told.parts.items():
            line |= _amount(f"tokens_{name}", part)
        lines.append(line | _amount("tool_calls", told.tool_calls) | {"cost_usd_total": told.cost_usd.total})
    return lines


def _tool_calls(comparison: Comparison) -> list[dict[str, Cell]]:
    return [
        {"system": told.system, "captions": told.captions, "class": tool.name, "calls": tool.calls}
        | {"share_percent": tool.share_percent, "mean": tool.mean}
        for told in comparison.spent
        for tool in told.tools
    ]


def _effort(comparison: Comparison) -> list[dict[str, Cell]]:
    """One line a system of a series, with the paper's metrics and what its captions took."""
    spent = {told.system: told for told in comparison.spent}
    main = {row.system: row for row in comparison.main}
    paper = [column for column in comparison.columns if column.table != "beside"]
    lines = []
    for series in comparison.series:
        for held in series.levels:
            row, told = main[held.system], spent[held.system]
            line: dict[str, Cell] = {"series": series.name, "level": held.level, "system": held.system}
            line |= _interval("success_rate", row.success)
            for column in paper:
                line |= _interval(column.name, row.cells[column.name])
            for name in ("cost_usd", "minutes", "rounds", "tokens"):
                line |= _amount(name, getattr(told, name))
            lines.append(line)
    return lines


def _against_best(comparison: Comparison) -> list[dict[str, Cell]]:
    return [
        {
            "column": row.column,
            "system": row.system,
            "best": row.best,
            "difference": row.mean,
            "low": row.low,
            "high": row.high,
            "p_value": row.p_value,
            "n": row.n,
            "separated": row.separated,
        }
        for row in comparison.differences
    ]


def _protocols(comparison: Comparison) -> list[dict[str, Cell]]:
    return [
        {
            "column": column.name,
            "label": column.label,
            "unit": column.unit,
            "stand_in": column.proxy,
            "protocol": column.protocol,
        }
        for column in comparison.columns
    ]


def _agreement(agreement: Agreement) -> list[dict[str, Cell]]:
    """One line a pair of sets, system, level and kind; no system is all but floors and ceilings together.

    A `reason` stands where there is no correlation.
    """

    def number(name: str, told: Interval) -> dict[str, Cell]:
        return {name: told.value, f"{name}_low": told.low, f"{name}_high": told.high}

    return [
        {"first": row.first, "second": row.second, "system": row.system or "", "level": row.level, "kind": row.kind}
        | {"n": row.n, "clips": row.clips}
        | number("first_mean", row.first_mean)
        | number("second_mean", row.second_mean)
        | number("pearson", row.pearson)
        | number("spearman", row.spearman)
        | {"reason": row.reason}
        for row in agreement.rows
    ]
