"""A set of questions: a file of JSON Lines, one `Question` a line, in UTF-8.

    {"question_id": "dvbench-001-3", "clip_id": "E_001", "type": "Chart Reasoning", "question": "Which bar is the tallest?",
     "options": ["The red one", "The blue one", "The green one"], "answer": 1, "source": "DVBench"}

`answer` is the place of the right option, from 0. Nothing in a set is trusted: what it says is shown to models and readers as text.
"""

from __future__ import annotations

import string
from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field, field_validator, model_validator

from codecap.errors import UserError
from codecap.records import ClipId, RecordError, Row, Words, read_rows, writable
from codecap.store import digest_of

MOST_OPTIONS = 10
LETTERS = string.ascii_uppercase[: MOST_OPTIONS + 1]  # one more than options: for "cannot be determined"
SKEWED = 0.6  # share of the right options that may stand in one place before it is told
FEW = 20  # questions, below which it is not

Line = Annotated[Words, Field(min_length=1)]


class QuestionError(UserError):
    """A set of questions that cannot be used; the message names the file, the place and the way out."""


class Question(Row):
    """One multiple-choice question about a clip.

    Attributes:
        question_id: unique in its set.
        type: as its set divides its questions: "attribute", "Chart Reasoning".
        options: in the order in which they are shown.
        answer: place of the right one, from 0.
        source: where it comes from, for readers.
    """

    question_id: str = Field(min_length=1, max_length=200)
    clip_id: ClipId
    type: Line
    question: Line
    options: list[Line] = Field(min_length=2, max_length=MOST_OPTIONS)
    answer: int = Field(ge=0)
    source: Words = ""

    @field_validator("question_id")
    @classmethod
    def _one_word(cls, told: str) -> str:
        if told != writable(told).strip() or any(character.isspace() for character in told):
            raise ValueError("question_id must be one word")
        return told

    @model_validator(mode="after")
    def _can_be_answered(self) -> Question:
        if self.answer >= len(self.options):
            raise ValueError(f"answer is {self.answer}, the last of {len(self.options)} options is {len(self.options) - 1}")
        if any(not option.strip() for option in self.options):
            raise ValueError("an option is empty")
        twice = [option for option, count in Counter(map(same, self.options)).items() if count > 1]
        if twice:
            raise ValueError(f"options say the same twice: {', '.join(twice)}")
        return self

    @property
    def digest(self) -> str:
        """Of what is asked: a question whose type or source alone has changed is not asked anew."""
        return digest_of([self.question, self.options, self.answer])


def same(text: str) -> str:
    """A text as it is compared with others: case and white space do not count.

    >>> same("  Two\\n rows")
    'two rows'
    """
    return " ".join(text.casefold().split())


def many(count: int, what: str) -> str:
    """
    >>> many(1, "question"), many(2, "question")
    ('1 question', '2 questions')
    """
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def read_set(path: Path) -> list[Question]:
    """The questions of a set, in their order.

    Raises:
        QuestionError: it cannot be read, holds none, or two have one id; the message names the line.
    """
    try:
        found = list(read_rows(path, Question))
    except RecordError as error:
        raise QuestionError(str(error)) from error
    except (OSError, UnicodeDecodeError) as error:
        raise QuestionError(f"{path}: cannot be read as a set of questions: {getattr(error, 'strerror', None) or error}") from error
    if not found:
        raise QuestionError(f"{path}: holds no question")
    first: dict[str, int] = {}
    for line, question in enumerate(found, start=1):
        before = first.setdefault(question.question_id, line)
        if before != line:
            raise QuestionError(f"{path}:{line}: question_id {question.question_id!r} stands in line {before} already")
    return found


def doubts(questions: Sequence[Question], clips: Container[str] | None = None) -> Iterator[str]:
    """What is odd about a set, in words; each is worth a look, none makes it unusable.

    Args:
        clips: ids of the clips that there are; None where that is not to be looked at.
    """
    by_clip: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        by_clip[question.clip_id].append(question)
    unknown = [] if clips is None else sorted(clip_id for clip_id in by_clip if clip_id not in clips)
    if unknown:
        lost = sum(len(by_clip[clip_id]) for clip_id in unknown)
        yield f"{many(lost, 'question')} about {many(len(unknown), 'clip')} that the clips table does not have: {_some(unknown)}"
    for clip_id, held in by_clip.items():
        for text, count in Counter(same(question.question) for question in held).items():
            if count > 1:
                yield f"{clip_id}: {count} questions ask the same: {text[:80]}"
    places = Counter(question.answer for question in questions)
    place, count = places.most_common(1)[0] if places else (0, 0)
    if len(questions) >= FEW and count > SKEWED * len(questions):
        yield f"the right option of {count} of {len(questions)} questions is {LETTERS[place]}: who always says so is often right"


def spread_answers(questions: Sequence[Question]) -> list[Question]:
    """Move the right options so that they stand in each place equally often, the wrong ones staying in their order.

    CapQuiz, section 3.3: no answerer gains by the place that it prefers. The same questions in the same order come out alike.
    """
    moved = []
    for number, question in enumerate(questions):
        wrong = [option for place, option in enumerate(question.options) if place != question.answer]
        place = number % len(question.options)
        options = [*wrong[:place], question.options[question.answer], *wrong[place:]]
        moved.append(question.model_copy(update={"options": options, "answer": place}))
    return moved


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
