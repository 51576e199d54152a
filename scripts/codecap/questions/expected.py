"""What answering will take, before it is paid for: requests with blank pictures, and what is answered already."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from codecap.exchange import Question as Request
from codecap.questions.asking import blank_parts, protocol_of, request, worded
from codecap.questions.planned import Medium, Questions
from codecap.records import Answer, Caption, Clip, Outcome, Render, Row, read_rows

TYPICAL_CAPTION = "word " * 800  # a caption whose length is not known yet

R = TypeVar("R", bound=Row)


def requests_of(questions: Questions, clip: Clip, medium: Medium) -> list[Request] | None:
    """The requests about a clip, for one subject; None where it has no questions."""
    settings, asked = questions.settings.answerer, questions.asked.get(clip.clip_id)
    if asked is None:
        return None
    material = worded(TYPICAL_CAPTION) if medium == "caption" else blank_parts(clip, settings)
    return [request(material, one, settings) for one in asked]


def answered(questions: Questions, results: Path, subject: str, bucket: str) -> set[str]:
    """Clips of a shard all of whose questions are answered by this very protocol."""
    medium, settings = questions.subjects[subject], questions.settings.answerer
    protocols = {protocol_of(medium, offered, settings) for offered in (True, False)}
    rows = list(_rows(results / "6_score" / "answers" / subject / f"{bucket}.jsonl", Answer))
    other = {row.clip_id for row in rows if row.retry or (row.protocol and row.protocol not in protocols)}
    return {row.clip_id for row in rows} - other


def without_source(questions: Questions, results: Path, subject: str, bucket: str) -> set[str]:
    """Clips about which nothing is asked, since there is nothing to be shown."""
    medium = questions.subjects[subject]
    made: Iterable[Render | Caption] = ()
    if medium == "render":
        made = _rows(results / "5_render" / subject / f"{bucket}.jsonl", Render)
    if medium == "caption":
        made = _rows(results / "4_generate" / subject / f"{bucket}.jsonl", Caption)
    return {row.clip_id for row in made if row.outcome is not Outcome.OK}


def _rows(path: Path, kind: type[R]) -> Iterator[R]:
    return read_rows(path, kind) if path.is_file() else iter(())
