"""What the first page shows of questions and answers: code against words, every subject's numbers, and accuracy by type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from codecap.compare.answer_records import AnswerPair, AnswerRow, QuestionAnswering, QuestionSetEntry
from codecap.compare.answers import POOLED
from codecap.compare.comparison import Column, Comparison
from codecap.compare.estimates import Interval
from codecap.report import links
from codecap.report.pages import told

PERCENT = Column(name="accuracy", metric="accuracy", label="Accuracy", unit="%", lowest=0, highest=100, higher_is_better=True)
MEDIA = {"render": "rendered video", "caption": "caption in words", "original": "the video itself"}


@dataclass(frozen=True)
class SetView:
    """One set of questions.

    Attributes:
        undetermined: "cannot be determined" was offered, so that CapP and CapR differ.
        pairs: lines of code against words of one model.
        lines: lines of a subject, all types together.
        types: lines of a subject with its accuracy in each type; no line where there is one type.
    """

    entry: QuestionSetEntry
    title: str
    undetermined: bool
    original: str
    pairs: list[dict[str, Any]]
    lines: list[dict[str, Any]]
    types: list[dict[str, Any]]
    protocols: dict[str, str]


def set_views(comparison: Comparison) -> list[SetView]:
    """One view a set, in their order; none where nothing was asked."""
    answered = comparison.answered
    if answered is None:
        return []
    groups = {system.name: system.group for system in comparison.systems}
    return [_view(answered, entry, groups) for entry in answered.sets]


def _view(answered: QuestionAnswering, entry: QuestionSetEntry, groups: Mapping[str, str]) -> SetView:
    rows = [row for row in answered.rows if row.question_set == entry.name]
    whole = [row for row in rows if not row.type]
    protocols = answered.protocols.get(entry.name, {})
    undetermined = any(" with 'cannot be determined'" in told for told in protocols.values())
    compared = [row for row in whole if row.system and groups.get(row.system) not in ("floor", "ceiling")]
    best = max((row.accuracy.value for row in compared if row.accuracy.value is not None), default=None)
    lines = [_line(row, groups, undetermined, row in compared and row.accuracy.value == best) for row in whole]
    return SetView(
        entry=entry,
        title="All sets together" if entry.name == POOLED else entry.name,
        undetermined=undetermined,
        original=next((_text(row.accuracy) for row in whole if row.medium == "original"), ""),
        pairs=[_pair(pair) for pair in answered.pairs if pair.question_set == entry.name],
        lines=lines,
        types=_types(rows, whole, entry, groups) if len(entry.types) > 1 else [],
        protocols={MEDIA[medium]: told for medium, told in protocols.items()},
    )


def _line(row: AnswerRow, groups: Mapping[str, str], undetermined: bool, best: bool) -> dict[str, Any]:
    counts = f"{row.right} right, {row.wrong} wrong"
    return _subject(row, groups) | {
        "counts": f"{counts}, {row.undetermined} undetermined" if undetermined else counts,
        "failed": row.failed,
        "missing": _missing(row),
        "best": best and row.accuracy.value is not None,
        "cells": {name: _cell(getattr(row, name)) for name in ("accuracy", "cap_p", "cap_r", "cap_f1")},
        "questions": row.questions,
        "clips": row.clips,
    }


def _types(
    rows: Sequence[AnswerRow], whole: Sequence[AnswerRow], entry: QuestionSetEntry, groups: Mapping[str, str]
) -> list[dict[str, Any]]:
    found = {(row.medium, row.system, row.type): row for row in rows}
    nothing = ("none", "")
    return [
        _subject(row, groups)
        | {
            "cells": [
                _cell(of.accuracy) if (of := found.get((row.medium, row.system, kind))) is not None else nothing
                for kind in entry.types
            ]
        }
        for row in whole
    ]


def _subject(row: AnswerRow, groups: Mapping[str, str]) -> dict[str, Any]:
    page = links.system_page(row.system) if row.system in groups else ""  # systems of texts have none
    return {"label": row.label, "medium": MEDIA[row.medium], "page": page}


def _pair(pair: AnswerPair) -> dict[str, Any]:
    return {
        "model": pair.model,
        "code_label": pair.code_label,
        "words_label": pair.words_label,
        "questions": pair.questions,
        "code": _cell(pair.code_accuracy),
        "words": _cell(pair.words_accuracy),
        "difference": _cell(pair.difference, signed=True),
        "separated": pair.separated,
    }


def _missing(row: AnswerRow) -> str:
    counts = [(row.unscored, "unscored"), (row.infra_error, "infra error")]
    return ", ".join(f"{count} {what}" for count, what in counts if count)


def _cell(number: Interval, signed: bool = False) -> tuple[str, str]:
    """A number, and its interval in words ("" without one)."""
    if number.value is None:
        return "none", ""
    ends = "" if number.low is None else f"{_text_of(number.low, signed)} – {_text_of(number.high, signed)}"
    return _text_of(number.value, signed), ends


def _text(number: Interval) -> str:
    return "" if number.value is None else told(number.value, PERCENT)


def _text_of(value: float | None, signed: bool) -> str:
    text = told(value, PERCENT)
    return f"+{text}" if signed and value is not None and round(value, 1) > 0 else text
