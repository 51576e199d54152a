"""People have the last word: a table of the draft for each reviewer to fill in, and what is kept of it.

Source: CapQuiz, section 3.2.2: at least three people watch the clip, as often as they want, and judge each question by three
criteria. **Ours**: a question is kept where each criterion is met for more than half of its reviewers. Agreement is told as Gwet's
AC1 (Gwet 2008, British Journal of Mathematical and Statistical Psychology 61, for several raters and two categories).
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codecap.questions.sets import LETTERS, MOST_OPTIONS, Question, QuestionError, spread_answers
from codecap.records import Clip, write_whole
from codecap.spreadsheets import inert

CRITERIA = {
    "relevant": "it can only be answered from the clip",
    "correct": "exactly one option is right, it is the one that `answer` names, and the clip shows it",
    "hard": "at least one wrong option is plausible, so that one has to look closely",
}
FOR_PEOPLE = ("question_id", "clip", "type", "question", "options", "answer", "evidence")
FILLED = ("reviewer", *CRITERIA, "comment")
YES, NO = ("yes", "y", "1", "true"), ("no", "n", "0", "false")
MOST_TOLD = 10


@dataclass(frozen=True)
class Review:
    """What one person says of one question: each criterion met or not."""

    question_id: str
    reviewer: str
    met: Mapping[str, bool]


@dataclass(frozen=True)
class Decision:
    """What came of the reviews.

    Attributes:
        kept: the questions that people approved.
        dropped: the others, each with the criteria that were not met.
        agreement: Gwet's AC1 of each criterion over the questions with two reviewers or more; None where there are none.
    """

    kept: list[Question]
    dropped: dict[str, list[str]]
    agreement: dict[str, float | None]


def write_review(path: Path, questions: Sequence[Question], clips: Mapping[str, Clip], evidence: Mapping[str, str]) -> None:
    """Write the table that is copied for each reviewer: one line a question, the last columns to be filled in."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*FOR_PEOPLE, *FILLED])
    for question in questions:
        options = "; ".join(f"{letter}: {option}" for letter, option in zip(LETTERS[:MOST_OPTIONS], question.options, strict=False))
        cells = [
            question.question_id,
            str(clips[question.clip_id].mp4),
            question.type,
            question.question,
            options,
            LETTERS[question.answer],
            evidence.get(question.question_id, ""),
        ]
        writer.writerow([*map(inert, cells), *[""] * len(FILLED)])
    write_whole(path, [text.getvalue()])


def read_reviews(files: Sequence[Path], questions: Sequence[Question]) -> list[Review]:
    """The lines that reviewers filled in; those without a reviewer are passed over.

    Raises:
        QuestionError: all that is wrong in one message, with file and line.
    """
    known = {question.question_id for question in questions}
    problems: list[str] = []
    found: dict[tuple[str, str], Review] = {}
    for path in files:
        for place, row in _rows(path):
            if not (row["reviewer"] or "").strip():
                continue
            try:
                review = _review(row, known)
            except ValueError as error:
                problems.append(f"{place}: {error}")
                continue
            key = (review.question_id, review.reviewer)
            if key in found:
                problems.append(f"{place}: {review.reviewer} has reviewed {review.question_id} twice")
            found[key] = review
    if problems:
        more = f"\n  and {len(problems) - MOST_TOLD} more" if len(problems) > MOST_TOLD else ""
        raise QuestionError("the reviews cannot be used:\n  " + "\n  ".join(problems[:MOST_TOLD]) + more)
    return list(found.values())


def decide(questions: Sequence[Question], reviews: Sequence[Review], least: int) -> Decision:
    """Which questions stay.

    Args:
        least: reviewers that each question must have.

    Raises:
        QuestionError: one has fewer.
    """
    of_question: dict[str, list[Review]] = defaultdict(list)
    for review in reviews:
        of_question[review.question_id].append(review)
    short = [question.question_id for question in questions if len(of_question[question.question_id]) < least]
    if short:
        raise QuestionError(
            f"{len(short)} of {len(questions)} questions have fewer than {least} reviewers, the first: {short[0]} "
            f"({len(of_question[short[0]])}); have them reviewed, or say with --least how many are enough"
        )
    kept, dropped = [], {}
    for question in questions:
        mine = of_question[question.question_id]
        unmet = [name for name in CRITERIA if 2 * sum(review.met[name] for review in mine) <= len(mine)]
        if unmet:
            dropped[question.question_id] = unmet
        else:
            people = "person" if len(mine) == 1 else "people"
            kept.append(question.model_copy(update={"source": f"{question.source}, reviewed by {len(mine)} {people}"}))
    agreement = {name: gwet_ac1([[review.met[name] for review in held] for held in of_question.values()]) for name in CRITERIA}
    return Decision(spread_answers(kept), dropped, agreement)


def gwet_ac1(ratings: Sequence[Sequence[bool]]) -> float | None:
    """Agreement beyond chance of several people who say yes or no; None where no item has two of them.

    `(p_a - p_e) / (1 - p_e)`, where p_a is the mean over items of the share of pairs of raters who agree, and p_e = 2 q (1 - q)
    with q the mean share of yes; the items without a second rater count in q alone.

    Args:
        ratings: for each item what each of its raters says.

    >>> gwet_ac1([[True, True], [True, True], [False, False]])
    1.0
    """
    rated = [item for item in ratings if item]
    pairs = [item for item in rated if len(item) > 1]
    if not pairs:
        return None
    yes = sum(sum(item) / len(item) for item in rated) / len(rated)
    by_chance = 2 * yes * (1 - yes)
    agreed = sum(_agreeing(item) for item in pairs) / len(pairs)
    return (agreed - by_chance) / (1 - by_chance)


def _agreeing(item: Sequence[bool]) -> float:
    """Share of the pairs of an item's raters who say the same."""
    count, yes = len(item), sum(item)
    no = count - yes
    return (yes * (yes - 1) + no * (no - 1)) / (count * (count - 1))


def _rows(path: Path) -> Iterator[tuple[str, dict[str, str | None]]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise QuestionError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or 'save it as CSV in UTF-8'}") from error
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    missing = [name for name in ("question_id", *FILLED) if name not in (reader.fieldnames or [])]
    if missing:
        raise QuestionError(f"{path}:1: the columns {', '.join(missing)} are missing; reviewers fill in copies of review.csv")
    try:
        for row in reader:
            yield f"{path}:{reader.line_num}", row
    except csv.Error as error:
        raise QuestionError(f"{path}:{reader.line_num}: not CSV: {error}") from error


def _review(row: Mapping[str, str | None], known: set[str]) -> Review:
    question_id = (row["question_id"] or "").strip().removeprefix("'")
    if question_id not in known:
        raise ValueError(f"no question {question_id!r} in the draft")
    return Review(question_id, (row["reviewer"] or "").strip(), {name: _met(name, row[name]) for name in CRITERIA})


def _met(name: str, cell: str | None) -> bool:
    told = (cell or "").strip().casefold()
    if told not in (*YES, *NO):
        raise ValueError(f"{name} is {told!r}; say yes or no")
    return told in YES
