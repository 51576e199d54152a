"""The tables of questions as CSV files: by subject and type, code against words, and every single answer."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from codecap.compare.answer_records import AnswerPair, AnswerRow, QuestionAnswering
from codecap.compare.csv_files import Cell, write_csv
from codecap.compare.estimates import Interval
from codecap.questions.metrics import kind_of
from codecap.questions.planned import ORIGINAL
from codecap.records import Answer


def write_tables(folder: Path, answered: QuestionAnswering, answers: Iterable[Answer]) -> None:
    write_csv(folder / "question_answering.csv", [_row(row, answered) for row in answered.rows])
    write_csv(folder / "question_pairs.csv", [_pair(pair) for pair in answered.pairs])
    ordered = sorted(answers, key=lambda row: (row.question_set, row.clip_id, row.question_id, row.medium, row.system))
    write_csv(folder / "answers.csv", [_answer(row) for row in ordered])


def _interval(name: str, told: Interval) -> dict[str, Cell]:
    return {name: told.value, f"{name}_low": told.low, f"{name}_high": told.high}


def _row(row: AnswerRow, answered: QuestionAnswering) -> dict[str, Cell]:
    """A line without a type is of all types together, one without a system of the original videos."""
    line: dict[str, Cell] = {"set": row.question_set, "medium": row.medium, "system": row.system, "type": row.type}
    line |= {"questions": row.questions, "clips": row.clips, "right": row.right, "wrong": row.wrong}
    line |= {"undetermined": row.undetermined, "failed": row.failed, "unscored": row.unscored, "infra_error": row.infra_error}
    line |= {"incomplete": row.incomplete}
    for name in ("accuracy", "cap_p", "cap_r", "cap_f1"):
        line |= _interval(name, getattr(row, name))
    return line | {"protocol": answered.protocols.get(row.question_set, {}).get(row.medium, "")}


def _pair(pair: AnswerPair) -> dict[str, Cell]:
    line: dict[str, Cell] = {"set": pair.question_set, "model": pair.model, "code": pair.code, "words": pair.words}
    line |= {"questions": pair.questions, "clips": pair.clips}
    line |= _interval("code_accuracy", pair.code_accuracy) | _interval("words_accuracy", pair.words_accuracy)
    line |= _interval("difference", pair.difference) | {"separated": pair.separated}
    return line | {"without_answer": pair.missing, "incomplete": pair.incomplete}


def _answer(row: Answer) -> dict[str, Cell]:
    line: dict[str, Cell] = {"set": row.question_set, "clip": row.clip_id, "question": row.question_id, "type": row.type}
    line |= {"medium": row.medium, "system": "" if row.system == ORIGINAL else row.system, "counted": kind_of(row)}
    return line | {"status": row.status, "option": row.option, "detail": row.detail}
