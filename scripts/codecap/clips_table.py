"""The clips table: tab-separated, one header line, a clip a row; a person commits it."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from codecap.records import Clip, RecordError, in_words, write_whole

CLIP_COLUMNS = list(Clip.model_fields)


def read_clips(table: Path, folder: Path | None = None, problems: list[str] | None = None) -> list[Clip]:
    """Read a clips table (tab-separated, one header line); relative `mp4` paths are under `folder`.

    Args:
        table: the file; columns as the fields of `Clip`, those with a default may be missing.
        folder: where relative paths start; the table's own folder by default.
        problems: if given, takes the messages on wrong rows, which are left out, and all rows of a clip id that occurs twice.

    Raises:
        RecordError: a column is wrong; without `problems`, also a row.
    """
    table = Path(table)
    folder = Path(folder) if folder is not None else table.parent
    found: list[str] = []
    clips: dict[str, list[Clip]] = {}
    for number, told in _table_rows(table, found):
        try:
            clip = Clip.model_validate(told)
        except ValidationError as error:
            found.append(f"{table}:{number}: not a valid clip: {in_words(error)}")
            continue
        if clip.clip_id in clips:
            found.append(f"{table}:{number}: clip id {clip.clip_id!r} is used twice; give each clip an id of its own")
        clips.setdefault(clip.clip_id, []).append(clip.model_copy(update={"mp4": folder / clip.mp4}))
    if found and problems is None:
        raise RecordError("; ".join(found))
    if problems is not None:
        problems += found
    return [same_id[0] for same_id in clips.values() if len(same_id) == 1]


def _table_rows(table: Path, found: list[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line number and cells of each row; a row with more cells than columns is told in `found` and left out."""
    try:
        text = table.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise RecordError(f"{table}: not a text file in UTF-8; save it as tab-separated text in UTF-8") from error
    reader = csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    try:
        names = reader.fieldnames or []
    except csv.Error as error:
        raise RecordError(f"{table}:1: cannot be read as tab-separated text: {error}") from error
    unknown = [name for name in names if name not in CLIP_COLUMNS]
    missing = [name for name, field in Clip.model_fields.items() if field.is_required() and name not in names]
    if unknown:
        raise RecordError(f"{table}:1: unknown column {', '.join(unknown)}; known are {', '.join(CLIP_COLUMNS)}")
    if missing:
        raise RecordError(f"{table}:1: no column {', '.join(missing)}; the first line names the columns, separated by tabs")
    try:
        for cells in reader:
            if None in cells:
                found.append(f"{table}:{reader.line_num}: has more cells than there are columns")
            else:
                yield reader.line_num, {name: cell for name, cell in cells.items() if cell not in ("", None)}
    except csv.Error as error:
        raise RecordError(f"{table}: cannot be read as tab-separated text: {error}") from error


def write_clips(table: Path, clips: Iterable[Clip], folder: Path | None = None) -> None:
    """Write a clips table; paths under `folder` (the table's own by default) are written relative to it."""
    table = Path(table)
    folder = (Path(folder) if folder is not None else table.parent).resolve()
    lines = ["\t".join(CLIP_COLUMNS) + "\n"]
    for clip in sorted(clips, key=lambda clip: clip.clip_id):
        told = clip.model_dump(mode="json")
        mp4 = clip.mp4.resolve()
        told["mp4"] = mp4.relative_to(folder).as_posix() if mp4.is_relative_to(folder) else mp4.as_posix()
        cells = ("" if told[name] is None else re.sub(r"\s", " ", str(told[name])) for name in CLIP_COLUMNS)
        lines.append("\t".join(cells) + "\n")
    write_whole(table, lines)
