"""Which published number is meant: a system's in a column, or that of one of its videos."""

from __future__ import annotations

import difflib
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from codecap.compare.comparison import Comparison
from codecap.errors import UserError

SUCCESS = "success"  # the column of all tables that no metric gives


@dataclass(frozen=True)
class Cell:
    """A number of the tables.

    Attributes:
        column: as in `comparison.json`, or SUCCESS.
        clip_id: None for the mean over all clips.
    """

    system: str
    column: str
    clip_id: str | None = None

    def __str__(self) -> str:
        return "/".join([self.system, self.column, *([self.clip_id] if self.clip_id else [])])


def parse(text: str, comparison: Comparison) -> Cell:
    """The cell that `system/column` or `system/column/clip` names.

    Raises:
        UserError: there is none of that name; the message names those that come near.
    """
    parts = text.split("/")
    if len(parts) not in (2, 3):
        raise UserError(f"{text}: a cell is system/column or system/column/clip, as {_example(comparison)}")
    known = [
        ("system", [system.name for system in comparison.systems]),
        ("column", [column.name for column in comparison.columns] + [SUCCESS]),
        ("clip", [clip.clip_id for clip in comparison.clips]),
    ]
    for part, (what, names) in zip(parts, known, strict=False):
        if part not in names:
            near = difflib.get_close_matches(part, names, n=3) or names[:20]
            raise UserError(f"{text}: the comparison has no {what} {part!r}; there are {', '.join(near)}")
    return Cell(*parts)


def published(comparison: Comparison) -> list[Cell]:
    """All cells of the main table that hold a number, in its order."""
    return [
        Cell(row.system, name)
        for row in comparison.main
        for name, cell in {SUCCESS: row.success, **row.cells}.items()
        if cell.mean is not None
    ]


def published_of_videos(comparison: Comparison) -> list[Cell]:
    """All numbers of single videos, in the order of the tasks."""
    return [
        Cell(task.system, name, task.clip_id)
        for task in comparison.tasks
        for name, value in task.values.items()
        if value is not None
    ]


def choose(cells: Sequence[Cell], count: int, seed: int) -> list[Cell]:
    """So many different cells by chance, all where there are no more; the same seed chooses the same of the same cells.

    Raises:
        UserError: there is none.
    """
    if not cells:
        raise UserError("the comparison holds no number that could be chosen")
    return random.Random(seed).sample(list(cells), min(count, len(cells)))


def _example(comparison: Comparison) -> str:
    found: Iterable[Cell] = published(comparison)
    return str(next(iter(found), Cell("vtrace", "kss")))
