"""From what people gave to rows: CSV files of a scoring sheet, or of another origin, checked line by line.

A sheet's file has the columns sheet, item, score, rater, scored_at and needs the sheet's key. A file of another origin has system,
clip_id, focal_id, score and, if there was more than one person, rater (the file's name is the rater's by default).
"""

from __future__ import annotations

import csv
import io
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from codecap.errors import UserError
from codecap.humans.material import Material
from codecap.humans.sheet import SheetKey
from codecap.humans.shown import shown_digest
from codecap.records import HumanScore, read_record, read_rows, write_rows
from codecap.report.media import file_stem

SHEET_COLUMNS = ("sheet", "item", "score", "rater", "scored_at")
PLAIN_COLUMNS = ("system", "clip_id", "focal_id", "score")
MOST_TOLD = 10  # problems in one message
LONGEST_NAME = 80

Line = Mapping[str, str]
Place = tuple[str, str, str, str]  # rater, system, clip, focal point


class _Wrong(Exception):
    """What is wrong with one line."""


def import_sheets(files: Sequence[Path], key: Path, folder: Path) -> dict[Path, int]:
    """Read the files of a sheet and write the rows of each person.

    Returns:
        The files written, and how many scores each holds.

    Raises:
        UserError: all that is wrong in one message, with file and line; nothing is written then.
    """
    told = read_record(key, SheetKey)
    items = {item.item: item for item in told.items}

    def score_of(line: Line) -> HumanScore:
        if line["sheet"] != told.sheet:
            raise _Wrong(f"of sheet {line['sheet']!r}, but {key.name} is the key of sheet {told.sheet!r}")
        item = items.get(line["item"])
        if item is None:
            raise _Wrong(f"item {line['item']!r} is not on the sheet")
        return HumanScore(
            system=item.system,
            clip_id=item.clip_id,
            focal_id=item.focal_id,
            score=_score(line["score"]),
            rater=_rater(line["rater"]),
            scored_at=_time(line["scored_at"]),
            sheet=told.sheet,
            shown=item.shown,
        )

    return _write(_read_all(files, SHEET_COLUMNS, (), score_of), folder, told.sheet)


def import_plain(files: Sequence[Path], material: Material, folder: Path) -> dict[Path, int]:
    """Read files that name system, clip and focal point; they are taken to be about the renders that the run has now.

    Raises:
        UserError: as above; also for a system, clip or focal point that the run does not have, and a task without a video.
    """

    def score_of(line: Line, file: Path) -> HumanScore:
        system, clip_id, focal_id = line["system"], line["clip_id"], line["focal_id"]
        if system not in material.systems:
            raise _Wrong(f"no system {system!r} in this run")
        if clip_id not in material.clips:
            raise _Wrong(f"no clip {clip_id!r} in this run")
        point = material.points.get(clip_id, {}).get(focal_id)
        if point is None:
            raise _Wrong(f"clip {clip_id} has no focal point {focal_id!r}")
        if not material.shows(system, clip_id):
            raise _Wrong(f"there is no video of system {system} on clip {clip_id}: a failed task is not scored by people")
        shown = shown_digest(material.clips[clip_id], material.renders[system, clip_id], point)
        rater = _rater(line.get("rater") or file.stem)
        return HumanScore(system=system, clip_id=clip_id, focal_id=focal_id, score=_score(line["score"]), rater=rater, shown=shown)

    rows: list[tuple[str, HumanScore]] = []
    problems: list[str] = []
    for file in files:
        rows += _read(file, PLAIN_COLUMNS, ("rater",), lambda line, file=file: score_of(line, file), problems)
    return _write(_checked(rows, problems), folder, "table")


def _read_all(
    files: Sequence[Path], columns: Sequence[str], optional: Sequence[str], score_of: Callable[[Line], HumanScore]
) -> list[HumanScore]:
    problems: list[str] = []
    return _checked([row for file in files for row in _read(file, columns, optional, score_of, problems)], problems)


def _read(
    file: Path, columns: Sequence[str], optional: Sequence[str], score_of: Callable[[Line], HumanScore], problems: list[str]
) -> Iterator[tuple[str, HumanScore]]:
    """Each good line's place ("scores.csv:3") and score; what is wrong with the others goes to `problems`."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise UserError(f"{file}: not a text file in UTF-8; save it as CSV in UTF-8") from None
    except IsADirectoryError:
        raise UserError(f"{file}: is a folder, not a CSV file") from None
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        if sorted(header) not in (sorted(columns), sorted((*columns, *optional))):
            more = f" and, if there are several people, {', '.join(optional)}" if optional else ""
            there = ", ".join(header) or "none"
            if sorted(header) == sorted(SHEET_COLUMNS):
                raise UserError(f"{file}: is of a scoring sheet; name the sheet's key with --key")
            raise UserError(f"{file}:1: the columns must be {', '.join(columns)}{more}, separated by commas; there are: {there}")
        for cells in reader:
            place = f"{file}:{reader.line_num}"
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(header):
                problems.append(f"{place}: {len(cells)} cells, not {len(header)}")
                continue
            try:
                yield place, score_of({name: cell.strip() for name, cell in zip(header, cells, strict=True)})
            except _Wrong as wrong:
                problems.append(f"{place}: {wrong}")
    except csv.Error as error:
        raise UserError(f"{file}:{reader.line_num}: not CSV: {error}") from error


def _checked(rows: Sequence[tuple[str, HumanScore]], problems: list[str]) -> list[HumanScore]:
    """The scores, when nothing is wrong and nobody scored a point twice."""
    first: dict[Place, str] = {}
    for place, row in rows:
        before = first.setdefault(_place(row), place)
        if before != place:
            problems.append(f"{place}: {row.rater} has scored this already, in {before}")
    if problems:
        more = f"\n  and {len(problems) - MOST_TOLD} more" if len(problems) > MOST_TOLD else ""
        raise UserError("nothing was imported:\n  " + "\n  ".join(problems[:MOST_TOLD]) + more)
    if not rows:
        raise UserError("nothing was imported: there is no score in the files")
    return [row for _, row in rows]


def _write(scores: Sequence[HumanScore], folder: Path, origin: str) -> dict[Path, int]:
    """Write one file a person and origin. A newer export replaces the older one of the same origin, if it holds all its points."""
    mine: dict[str, list[HumanScore]] = defaultdict(list)
    for score in scores:
        mine[score.rater].append(score)
    written = {folder / f"{origin}-{file_stem(rater)}.jsonl": rows for rater, rows in mine.items()}
    now = {_place(row) for row in scores}
    for path in sorted(folder.glob("*.jsonl")):
        before = {_place(row) for row in read_rows(path, HumanScore)}
        if path in written and (lost := sorted(before - now)):
            raise UserError(
                f"{path} holds {len(lost)} scores that are not in what is imported (the first: {_told(lost[0])}); import all files "
                "of this person together, or remove that file first"
            )
        if path not in written and (twice := sorted(before & now)):
            raise UserError(
                f"{path} holds {len(twice)} of these scores already (the first: {_told(twice[0])}); remove one of the two, or "
                "give the person another name"
            )
    for path, rows in written.items():
        write_rows(path, HumanScore, sorted(rows, key=_place))
    return {path: len(rows) for path, rows in written.items()}


def _place(row: HumanScore) -> Place:
    return row.rater, row.system, row.clip_id, row.focal_id


def _told(place: Place) -> str:
    return f"{place[0]}, system {place[1]}, clip {place[2]}, focal point {place[3]}"


def _score(text: str) -> int:
    if not re.fullmatch(r"[0-5]", text):
        raise _Wrong(f"score {text!r} is not one of 0, 1, 2, 3, 4, 5")
    return int(text)


def _rater(text: str) -> str:
    name = " ".join(text.split())
    if not name or len(name) > LONGEST_NAME:
        raise _Wrong(f"a rater's name has 1 to {LONGEST_NAME} characters; this one has {len(name)}")
    return name


def _time(text: str) -> str:
    try:
        return datetime.fromisoformat(text).isoformat()
    except ValueError:
        raise _Wrong(f"scored_at {text!r} is no time, as 2026-01-31T12:00:00Z") from None
