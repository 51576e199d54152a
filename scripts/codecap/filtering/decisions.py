"""What people decided about clips: a small table that is committed, and what it makes of the filter's verdicts."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, field_validator

from codecap import config as configuration
from codecap.records import Clip, ClipId, RecordError, Row, Verdict, Words, in_words, write_whole
from codecap.store.leases import lease

MOST_TOLD = 10  # problems in one message
LARGEST_TABLE = 16_000_000  # bytes


class Decision(Row):
    """That a person wants a clip in the data set, or does not.

    Attributes:
        cut: what was looked at, see `cut_of`; of another cut of the same clip id it says nothing.
        decided_at: ISO 8601; UTC where it names no zone.
    """

    clip_id: ClipId
    cut: str = Field(min_length=1, max_length=100)
    decision: Literal["keep", "drop"]
    who: Words = Field(min_length=1, max_length=80)
    decided_at: str
    note: Words = Field(default="", max_length=1000)

    @field_validator("decided_at")
    @classmethod
    def _is_a_time(cls, told: str) -> str:
        try:
            time = datetime.fromisoformat(told)
        except ValueError:
            raise ValueError(f"{told!r} is no time, as 2026-01-31T12:00:00Z") from None
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).isoformat()


COLUMNS = list(Decision.model_fields)


def cut_of(clip: Clip) -> str:
    """What a clip shows, whatever encoder wrote it: the digest of its original and the seconds that were cut out of it.

    >>> facts = dict(clip_id="A_1", category="A", mp4="a.mp4", sha256="ff", frames=48, width_px=2, height_px=2)
    >>> cut_of(Clip(**facts, source="a.webm sha256:0123456789abcdef0123", source_start_s=1.5, source_end_s=3.5))
    '0123456789abcdef:1.500-3.500'
    """
    _, named, digest = clip.source.rpartition(" sha256:")
    end = "" if clip.source_end_s is None else f"{clip.source_end_s:.3f}"
    return f"{(digest if named else clip.sha256)[:16]}:{clip.source_start_s:.3f}-{end}"


def read_decisions(table: Path) -> dict[str, Decision]:
    """The decisions of a table, by clip id.

    Raises:
        RecordError: all that is wrong with it, each with its line.
    """
    problems: list[str] = []
    found: dict[str, Decision] = {}
    for number, decision in _rows(Path(table), problems):
        if decision.clip_id in found:
            problems.append(f"{table}:{number}: clip {decision.clip_id} is decided twice; leave one line")
        found[decision.clip_id] = decision
    _must_be_none(problems)
    return found


def write_decisions(table: Path, decisions: Iterable[Decision]) -> None:
    lines = ["\t".join(COLUMNS) + "\n"]
    for decision in sorted(decisions, key=lambda decision: decision.clip_id):
        told = decision.model_dump(mode="json")
        lines.append("\t".join(" ".join(str(told[name]).split()) for name in COLUMNS) + "\n")
    write_whole(table, lines)


def take_over(files: Iterable[Path], table: Path, clips: Mapping[str, Clip]) -> tuple[int, list[str]]:
    """Add what review sheets exported to the table; of two decisions about one clip the later one holds.

    Args:
        files: as the sheet exports them.
        clips: of the run, by id: nothing is decided about others.

    Returns:
        How many decisions are new or changed; and, for each clip of which two persons think differently, one line that says so.

    Raises:
        RecordError: all that is wrong in one message, with file and line; nothing is written then.
    """
    table = Path(table)
    table.parent.mkdir(parents=True, exist_ok=True)
    with lease(table):  # two that add at the same time do it one after the other
        standing = read_decisions(table) if table.exists() else {}
        before, problems, disputes = dict(standing), [], []
        for path in map(Path, files):
            for number, told in _rows(path, problems):
                there = standing.get(told.clip_id)
                wrong = _why_not(told, clips.get(told.clip_id))
                if wrong:
                    problems.append(f"{path}:{number}: {wrong}")
                elif there is None or there.cut != told.cut:
                    standing[told.clip_id] = told
                else:
                    if there.decision != told.decision and there.who != told.who:
                        words = f"{there.who} says {there.decision}, {told.who} says {told.decision}; the later one holds"
                        disputes.append(f"{told.clip_id}: {words}")
                    standing[told.clip_id] = max(there, told, key=lambda one: (datetime.fromisoformat(one.decided_at), one is told))
        _must_be_none(problems)
        changed = sum(before.get(clip_id) != decision for clip_id, decision in standing.items())
        if changed:
            write_decisions(table, standing.values())
    return changed, disputes


def _why_not(told: Decision, clip: Clip | None) -> str:
    """Why a decision cannot be taken over; empty where it can."""
    if clip is None:
        return f"no clip {told.clip_id!r} in this run; take the line out, or name the run's configuration with --config"
    if told.cut != cut_of(clip):
        return f"clip {told.clip_id} is another cut by now; review it again, or take the line out"
    return ""


def decided(verdict: Verdict, clip: Clip, decisions: Mapping[str, Decision]) -> Verdict:
    """The verdict that holds: a person's where there is one about this very cut, else the filter's."""
    told = decisions.get(clip.clip_id)
    if told is None:
        return verdict
    day = told.decided_at[:10]
    if told.cut != cut_of(clip):
        lapsed = f"{told.who} said {told.decision} on {day}, of another cut of it: review it again"
        return verdict.model_copy(update={"reasons": [*verdict.reasons, lapsed]})
    said = f"{told.who} said {told.decision} on {day}" + (f": {told.note}" if told.note else "")
    others = verdict.reasons if verdict.decision == told.decision else [f"the filter said {verdict.decision}", *verdict.reasons]
    return verdict.model_copy(update={"decision": told.decision, "reasons": [said, *others]})


def kept(clips: Iterable[Clip], verdicts: Mapping[str, Verdict], decisions: Mapping[str, Decision]) -> list[Clip]:
    """The clips that are kept, by the verdicts that hold."""
    judged = [(clip, decided(verdicts[clip.clip_id], clip, decisions)) for clip in clips if clip.clip_id in verdicts]
    return [clip for clip, verdict in judged if verdict.decision == "keep"]


def _rows(table: Path, problems: list[str]) -> Iterator[tuple[int, Decision]]:
    """Line number and decision of each good line; what is wrong with the others goes to `problems`."""
    try:
        with table.open("rb") as file:
            text = file.read(LARGEST_TABLE + 1).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise RecordError(f"{table}: not a text file in UTF-8; take the file as the review sheet exported it") from None
    except IsADirectoryError:
        raise RecordError(f"{table}: is a folder, not a table of decisions") from None
    if len(text) > LARGEST_TABLE:
        raise RecordError(f"{table}: larger than {LARGEST_TABLE // 1_000_000} MB; this is no table of decisions")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter="\t", quoting=csv.QUOTE_NONE)
    header = next(_cells(reader, table), [])
    if header != COLUMNS:
        raise RecordError(f"{table}:1: the columns must be {', '.join(COLUMNS)}, separated by tabs")
    for cells in _cells(reader, table):
        if len(cells) != len(COLUMNS):
            problems.append(f"{table}:{reader.line_num}: {len(cells)} cells, not {len(COLUMNS)}")
            continue
        try:
            yield reader.line_num, Decision.model_validate(dict(zip(COLUMNS, cells, strict=True)))
        except ValidationError as error:
            problems.append(f"{table}:{reader.line_num}: {in_words(error)}")


def _cells(reader: Iterator[list[str]], table: Path) -> Iterator[list[str]]:
    try:
        yield from reader
    except csv.Error as error:
        raise RecordError(f"{table}:{reader.line_num}: {error}; take the file as the review sheet exported it") from error


def _must_be_none(problems: list[str]) -> None:
    if problems:
        more = f"\n  and {len(problems) - MOST_TOLD} more" if len(problems) > MOST_TOLD else ""
        raise RecordError("the decisions cannot be used:\n  " + "\n  ".join(problems[:MOST_TOLD]) + more)


def place_of(config: Mapping[str, Any]) -> Path | None:
    """The table that the configuration names; None where it names none."""
    named = config.get("decisions")
    return None if named is None else configuration.find(named)


def of_config(config: Mapping[str, Any]) -> dict[str, Decision]:
    """The decisions that the configuration names, by clip id; none where its table is not there yet."""
    table = place_of(config)
    return read_decisions(table) if table is not None and table.exists() else {}


def digest_of(config: Mapping[str, Any]) -> str:
    """Digest of the table, so that what depends on it is made again when a person decides otherwise."""
    table = place_of(config)
    return hashlib.sha256(table.read_bytes()).hexdigest()[:16] if table is not None and table.exists() else "none"
