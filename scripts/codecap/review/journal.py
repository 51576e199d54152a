"""Journals of changes: one file a reviewer and clip, to which lines are only ever added.

A line is written through to the disk before its edit counts. Edits that belong together have one revision, and count when the last
of them is there: a line that was cut short, and edits of which the last is missing, are as if never made.
"""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from codecap import store
from codecap.errors import UserError
from codecap.records import RecordError, Row, Words, in_words
from codecap.store.putting import flush_folder

SUFFIX = ".jsonl"
LONGEST_REVIEWER = 80
ALSO_IN_NAMES = frozenset("._@+- ")


class Entry(Row):
    """One edit.

    Attributes:
        when: UTC, 2026-11-30T11:45:00Z.
        revision: of the annotation, once this edit counts.
        path, value: see `codecap.review.edits`.
        more: another edit of the same revision follows.
        batch: the page's name for the edits of a revision.
    """

    who: Words = Field(min_length=1, max_length=LONGEST_REVIEWER)
    when: str
    revision: int = Field(ge=1)
    path: str
    value: Any
    more: bool = False
    batch: str = ""


def reviewer(name: str) -> str:
    """A reviewer's name, which also names the file.

    Raises:
        UserError: it cannot.
    """
    name = name.strip()
    fits = name[:1].isalnum() and all(sign.isalnum() or sign in ALSO_IN_NAMES for sign in name)
    if not fits or len(name.encode()) > LONGEST_REVIEWER:
        raise UserError(
            f"--who {name!r}: a reviewer's name begins with a letter or digit, holds letters, digits, spaces and . _ @ + -, and is "
            f"at most {LONGEST_REVIEWER} bytes long"
        )
    return name


@dataclass(frozen=True)
class Read:
    """What a journal holds.

    Attributes:
        entries: those that count.
        size: bytes of the file up to there; what follows was cut short.
    """

    entries: tuple[Entry, ...]
    size: int


def journal_of(folder: Path, who: str) -> Path:
    return folder / f"{who}{SUFFIX}"


def read(path: Path) -> Read:
    """A journal's entries; none where there is no file.

    Raises:
        RecordError: a whole line is no entry.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return Read((), 0)
    entries: list[Entry] = []
    counted = size = place = 0
    for number, line in enumerate(io.BytesIO(content), start=1):
        place += len(line)
        if not line.endswith(b"\n"):
            break
        try:
            entries.append(Entry.model_validate_json(line))
        except ValidationError as error:
            raise RecordError(f"{path}:{number}: not an edit: {in_words(error)}; restore the file, or remove this line") from error
        if not entries[-1].more:
            counted, size = len(entries), place
    return Read(tuple(entries[:counted]), size)


def append(path: Path, entries: Sequence[Entry], size: int) -> int:
    """Add entries, and return when they are on the disk. The caller holds the clip's lease.

    Args:
        size: bytes of the file that count; what lies after them is cut off.

    Returns:
        The size then.

    Raises:
        OSError: they cannot be written; nothing of them counts.
    """
    lines = "".join(_lines(entries)).encode()
    is_new = not path.exists()
    descriptor = store.open_shared(path, os.O_WRONLY | os.O_CREAT)
    try:
        os.ftruncate(descriptor, size)
        os.lseek(descriptor, size, os.SEEK_SET)
        _write(descriptor, lines)
    except BaseException:
        with contextlib.suppress(OSError):
            os.ftruncate(descriptor, size)
        raise
    finally:
        os.close(descriptor)
    if is_new:
        flush_folder(path.parent)
    return size + len(lines)


def _write(descriptor: int, lines: bytes) -> None:
    written = 0
    while written < len(lines):
        written += os.write(descriptor, lines[written:])
    os.fsync(descriptor)


def _lines(entries: Sequence[Entry]) -> Iterable[str]:
    for number, entry in enumerate(entries, start=1):
        yield entry.model_copy(update={"more": number < len(entries)}).model_dump_json() + "\n"
