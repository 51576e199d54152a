"""What the page that compares two systems shows: a choice of systems and columns, and scripts with the numbers of each system.

A page that is opened from the disk may run a script beside it, but not read a file: so numbers come as calls, `takeClips` of what
all systems share and `takeSystem` of one system's, which the page takes in when that system is chosen.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from codecap.compare.columns import SUCCESS
from codecap.compare.comparison import GROUPS, Column, Comparison, ItemScore, System, TaskEntry
from codecap.records import Annotation, Outcome
from codecap.report.links import column_id
from codecap.report.media import file_stem
from codecap.report.pages import decimals_of

DIGITS = 5  # of a number in the scripts: more than any table prints


def columns_compared(comparison: Comparison) -> list[Column]:
    """Columns that say which of two systems is better, the success rate first."""
    return [SUCCESS, *(column for column in comparison.columns if column.higher_is_better is not None)]


def context(comparison: Comparison) -> dict[str, Any]:
    """All that the template of the page names."""
    metrics = {column.metric: column for column in comparison.columns if column.items}
    return {
        "comparison": comparison,
        "choices": [
            (heading, [system for system in comparison.systems if system.group == group])
            for group, heading in GROUPS.items()
            if any(system.group == group for system in comparison.systems)
        ],
        "columns": columns_compared(comparison),
        "item_metrics": [(metric, metric_label(column), column.items) for metric, column in metrics.items()],
        "categories_used": sorted({clip.category for clip in comparison.clips}),
    }


def metric_label(column: Column) -> str:
    """The label of a metric whose columns are parts of it."""
    return column.label.removesuffix(f", {column.part}") if column.part else column.label


def write_scripts(
    folder: Path, comparison: Comparison, annotations: Mapping[str, Annotation], unreadable: Mapping[str, str]
) -> None:
    """Write `clips.js`, and `system-NAME.js` of each system.

    Args:
        unreadable: clips without a still, and why.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / "clips.js", "takeClips", _shared(comparison, annotations, unreadable))
    tasks: dict[str, list[TaskEntry]] = {system.name: [] for system in comparison.systems}
    for task in comparison.tasks:
        tasks[task.system].append(task)
    for system in comparison.systems:
        told = _of_system(comparison, annotations, system, tasks[system.name])
        _write(folder / f"system-{file_stem(system.name)}.js", "takeSystem", file_stem(system.name), told)


def _write(script: Path, function: str, *values: Any) -> None:
    told = ", ".join(
        json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False) for value in values
    )
    script.write_text(f"{function}({told});\n", encoding="utf-8")


def _shared(comparison: Comparison, annotations: Mapping[str, Annotation], unreadable: Mapping[str, str]) -> dict[str, Any]:
    return {
        "columns": [
            {
                "name": column.name,
                "id": column_id(column.name),
                "label": column.label,
                "unit": column.unit,
                "sign": 1 if column.higher_is_better else -1,
                "decimals": decimals_of(column),
                "proxy": column.proxy,
                "paper": column is SUCCESS or column.table != "beside",
            }
            for column in columns_compared(comparison)
        ],
        "systems": {file_stem(system.name): system.heading for system in comparison.systems},
        "clips": [
            {
                "id": clip.clip_id,
                "category": clip.category,
                "still": clip.clip_id not in unreadable,
                **_items_of(annotations.get(clip.clip_id)),
            }
            for clip in comparison.clips
        ],
    }


def _items_of(annotation: Annotation | None) -> dict[str, Any]:
    """Focal points as [id in addresses, kind, start_s, description], and objects as [name, description]."""
    if annotation is None:
        return {"focal_points": [], "objects": []}
    return {
        "focal_points": [[file_stem(at.focal_id), at.kind, round(at.start_s, 3), at.description] for at in annotation.focal_points],
        "objects": [[item.name, item.description] for item in annotation.objects],
    }


def _of_system(
    comparison: Comparison, annotations: Mapping[str, Annotation], system: System, tasks: list[TaskEntry]
) -> dict[str, Any]:
    """A system's numbers, all lists in the order of the clips.

    `values` and `items` are by column and by metric; `pairs` are the comparisons in which it is the first, by the other's name in
    addresses: column to [mean, low, high, p_value, p_holm].
    """
    by_clip = {task.clip_id: task for task in tasks}
    ordered = [by_clip[clip.clip_id] for clip in comparison.clips if clip.clip_id in by_clip]
    pairs: dict[str, dict[str, list[float | None]]] = {}
    for pair in comparison.pairs:
        if pair.first == system.name:
            told = [_short(number) for number in (pair.mean, pair.low, pair.high, pair.p_value, pair.p_holm)]
            pairs.setdefault(file_stem(pair.second), {})[pair.column] = told
    return {
        "outcomes": [task.outcome.value for task in ordered],
        "values": {column.name: [_value(task, column) for task in ordered] for column in columns_compared(comparison)},
        "items": {
            column.metric: [_item_values(task, column, annotations.get(task.clip_id)) for task in ordered]
            for column in comparison.columns
            if column.items
        },
        "pairs": pairs,
    }


def _value(task: TaskEntry, column: Column) -> float | None:
    if column.name == SUCCESS.name:
        return None if task.outcome is Outcome.INFRA_ERROR else 100.0 if task.outcome is Outcome.OK else 0.0
    return _short(task.values[column.name])


def _item_values(task: TaskEntry, column: Column, annotation: Annotation | None) -> list[float | None]:
    """Values of a clip's items in the annotation's order; those of a failed task are 0 as in the tables, where that is bad."""
    if annotation is None:
        return []
    names = [item.name for item in annotation.objects] if column.items == "objects" else _focal_ids(annotation)
    if task.outcome.scores_zero:
        return [0.0 if column.zero_when_failed else None] * len(names)
    found: dict[str | None, ItemScore] = {item.item: item for item in task.items if item.metric == column.metric}
    return [_short(found[name].value) if name in found else None for name in names]


def _focal_ids(annotation: Annotation) -> list[str]:
    return [point.focal_id for point in annotation.focal_points]


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)
