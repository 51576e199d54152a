"""A published number and the same made again, side by side, with the causes where they differ."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from codecap import stats
from codecap.compare.comparison import Column, TaskEntry
from codecap.compare.means import estimate
from codecap.compare.tasks import VideoValue
from codecap.errors import UserError
from codecap.records import Row
from codecap.reproducing.cells import SUCCESS, Cell
from codecap.reproducing.changes import Changes
from codecap.reproducing.folder import Folder
from codecap.reproducing.recomputing import NotRecomputed, Workbench, success_of

TOLERANCE = 1e-9  # of the number, or of 1 where that is more: the order of a sum
MOST_CAUSES = 12  # that are printed of one cell

Verdict = Literal["same", "changed", "differs", "not recomputed"]


class Reproduced(Row):
    """One cell again.

    Attributes:
        verdict: "same"; "changed": the same number, but an artefact is not what was published; "differs"; "not recomputed":
            something that it is made of is not there.
        low, high: ends of a mean's interval, of the published one and of that made again.
        clips: how many of its videos have a number.
        causes: what has changed, or what cannot be had.
        remarks: what has changed without an effect on the number.
    """

    cell: str
    verdict: Verdict
    published: float | None
    published_low: float | None = None
    published_high: float | None = None
    recomputed: float | None = None
    low: float | None = None
    high: float | None = None
    clips: int = 0
    causes: list[str] = []
    remarks: list[str] = []


def reproduce(folder: Folder, cells: Iterable[Cell], scratch: Path, tolerance: float = TOLERANCE) -> Iterator[Reproduced]:
    """Make cells again, one after another.

    Args:
        scratch: a folder for what is found on the way.
        tolerance: by how much a number may differ and count as the same, as a share of it (of 1 where that is more). More than the
            default is for numbers that were made on other hardware.
    """
    bench, changes = Workbench(folder, scratch), Changes(folder)
    columns = {column.name: column for column in folder.comparison.columns}
    with bench.replaying():
        for cell in cells:
            yield _reproduced(folder, bench, changes, cell, columns.get(cell.column), tolerance)


def _reproduced(
    folder: Folder, bench: Workbench, changes: Changes, cell: Cell, column: Column | None, tolerance: float
) -> Reproduced:
    tasks = folder.tasks(cell.system) if cell.clip_id is None else [folder.task(cell.system, cell.clip_id)]
    published = _published(folder, cell, column, tasks[0])
    told = {"cell": str(cell), **dict(zip(("published", "published_low", "published_high"), published, strict=True))}
    if column is not None:
        try:
            folder.metric_of(column.metric)
        except UserError as error:
            return Reproduced(**told, verdict="not recomputed", causes=[str(error)])
    values, missing = _values(bench, column, tasks)
    artefacts = [told for task in tasks for told in changes.of_artefacts(column, task)]
    making = [] if column is None else [*changes.of_making(column), *_protocol(bench, column)]
    if missing:
        return Reproduced(**told, verdict="not recomputed", clips=len(values), causes=_once([*artefacts, *missing, *making]))
    found = estimate(values, folder.comparison.resamples, stats.SEED)
    ends = (found.low, found.high) if cell.clip_id is None else (None, None)
    told |= {"recomputed": found.mean, "low": ends[0], "high": ends[1], "clips": found.n}
    if not all(map(functools.partial(_alike, tolerance), published, (found.mean, *ends))):
        borne_out = all(_alike(tolerance, _of_video(column, task), value.value) for task, value in zip(tasks, values, strict=True))
        summed = ["comparison: the published number is not what the numbers of its videos come to"] if borne_out else []
        unknown = ["nothing that is noted has changed: this machine makes another number of it"]
        causes = [*summed, *artefacts, *making] or unknown
        return Reproduced(**told, verdict="differs", causes=_once(causes))
    return Reproduced(**told, verdict="changed" if artefacts else "same", causes=_once(artefacts), remarks=_once(making))


def _values(bench: Workbench, column: Column | None, tasks: Sequence[TaskEntry]) -> tuple[list[VideoValue], list[str]]:
    """The values of some tasks, and why others have none."""
    values, missing = [], []
    for task in tasks:
        try:
            values.append(bench.value(column, task))
        except NotRecomputed as why:
            missing.append(f"{task.system}/{task.clip_id}: {why}")
    return values, missing


def _published(
    folder: Folder, cell: Cell, column: Column | None, task: TaskEntry
) -> tuple[float | None, float | None, float | None]:
    """A published number and the ends of its interval, which a single video's does not have."""
    if cell.clip_id is not None:
        return _of_video(column, task), None, None
    row = next(row for row in folder.comparison.main if row.system == cell.system)
    told = row.success if cell.column == SUCCESS else row.cells[cell.column]
    return told.mean, told.low, told.high


def _of_video(column: Column | None, task: TaskEntry) -> float | None:
    """A video's published number."""
    return success_of(task.outcome).value if column is None else task.values[column.name]


def _protocol(bench: Workbench, column: Column) -> list[str]:
    """Where a number is made by another protocol here than there: another device or precision, another backend."""
    others = sorted(bench.protocols.get(column.metric, set()) - {column.protocol, ""})
    return [f"protocol: made here by {other!r}, published by {column.protocol!r}" for other in others]


def _alike(tolerance: float, first: float | None, second: float | None) -> bool:
    if first is None or second is None:
        return first is second
    return abs(first - second) <= tolerance * max(1.0, abs(first))


def _once(told: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(told))


def in_words(found: Reproduced) -> list[str]:
    """A cell's lines on a terminal: the two numbers, and below them the causes.

    >>> in_words(Reproduced(cell="vtrace/kss", verdict="same", published=0.5, recomputed=0.5, clips=5))
    ['same            vtrace/kss  published 0.5, made again 0.5, 5 videos']
    """
    videos = f"{found.clips} video{'' if found.clips == 1 else 's'}"
    numbers = [
        f"published {_number(found.published, found.published_low, found.published_high)}",
        *([] if found.verdict == "not recomputed" else [f"made again {_number(found.recomputed, found.low, found.high)}"]),
    ]
    lines = [f"{found.verdict:16}{found.cell}  {', '.join([*numbers, videos])}"]
    lines += [f"    {cause}" for cause in found.causes[:MOST_CAUSES]]
    if len(found.causes) > MOST_CAUSES:
        lines.append(f"    and {len(found.causes) - MOST_CAUSES} more (--json has all)")
    return lines + [f"    without effect on the number: {remark}" for remark in found.remarks[:MOST_CAUSES]]


def _number(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return "no number"
    return f"{value:.6g}" if low is None or high is None else f"{value:.6g} [{low:.6g}, {high:.6g}]"
