"""What published sets of questions have in common: files of rows, options by letter, and what is left out of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict

from codecap.questions.sets import LETTERS, QuestionError, same
from codecap.records import Row
from codecap.store import digest_of

_LETTERED = re.compile(r"\s*\(?([A-Z])[.):]\s*(.*)", re.DOTALL)  # "A. red", "(A) red", "A: red"
_LETTER = re.compile(r"\[*\(?([A-Z])[)\].:]*")  # "B", "(B)", "B.", "[[B]]"
PARQUET = "it is a Parquet file; install pyarrow (`pip install pyarrow`), or convert it to JSON Lines first"


class LeftOut(Exception):
    """A row that is no multiple-choice question with one right option; the message says what it is."""


class WrongForm(Exception):
    """A row that is not in the form of its format; the message says what is wrong."""


class Theirs(Row):
    """A row of a published file; what we have no use for is passed over."""

    model_config = ConfigDict(extra="ignore")


def _as_text(told: Any) -> Any:
    """Numbers are written as numbers in some releases, and missing values as null."""
    if told is None:
        return ""
    return str(told) if isinstance(told, int | float) and not isinstance(told, bool) else told


Told = Annotated[str, BeforeValidator(_as_text)]


@dataclass(frozen=True)
class Published:
    """A question as its publishers have it.

    Attributes:
        video: their name of the video.
        answer: place of the right option.
    """

    video: str
    question_id: str
    type: str
    question: str
    options: tuple[str, ...]
    answer: int


def rows_of(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The rows of a file, each after its place ("qa.jsonl:3"): JSON Lines, a JSON list, or Parquet.

    Raises:
        QuestionError: it cannot be read, or is none of these.
    """
    if path.suffix.lower() == ".parquet":
        yield from _parquet(path)
        return
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise QuestionError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or 'not a text file in UTF-8'}") from error
    if text.lstrip().startswith("["):
        rows = _json(text, str(path))
        if not isinstance(rows, list):
            raise QuestionError(f"{path}: must hold a list of questions")
        places = [(f"{path}: question {number}", row) for number, row in enumerate(rows, start=1)]
    else:
        lines = enumerate(text.split("\n"), start=1)  # a text in a line may hold other signs that end lines
        places = [(f"{path}:{number}", _json(line, f"{path}:{number}")) for number, line in lines if line.strip()]
    for place, row in places:
        if not isinstance(row, dict):
            raise QuestionError(f"{place}: is no JSON object")
        yield place, row


def lettered(options: Sequence[str], answer: str) -> tuple[tuple[str, ...], int]:
    """Options without their letters, and the place of the right one, which is told by its letter, its text or both.

    Where the options are lettered, a letter is one of theirs, whatever the options say.

    >>> lettered(["A. red", "B. blue"], "[[B]]")
    (('red', 'blue'), 1)
    >>> lettered(["red", "blue"], "blue")
    (('red', 'blue'), 1)
    >>> lettered(["A. B", "B. A"], "A")
    (('B', 'A'), 0)

    Raises:
        WrongForm: the answer names none of them, or its letter and its text name two.
    """
    bare, have_letters = without_letters(options)
    by_text = [place for place, option in enumerate(bare) if same(answer) in (same(option), same(options[place]))]
    letter = _LETTER.fullmatch(answer.strip())
    by_letter = LETTERS.find(letter[1]) if letter else -1
    if not 0 <= by_letter < len(bare):
        by_letter = -1
    if by_letter >= 0 and (have_letters or not by_text):
        return bare, by_letter
    if len(by_text) != 1:
        raise WrongForm(f"the answer {answer[:60]!r} is none of the {len(bare)} options")
    if by_letter not in (-1, by_text[0]):
        raise WrongForm(f"the answer {answer[:60]!r} is the letter of one option and the text of another")
    return bare, by_text[0]


def without_letters(options: Sequence[str]) -> tuple[tuple[str, ...], bool]:
    """Options without the letters before them, and whether they have any: all, in order."""
    found = [_LETTERED.fullmatch(option) for option in options]
    in_order = all(match is not None and match[1] == letter for match, letter in zip(found, LETTERS, strict=False))
    return tuple(
        (match[2] if in_order and match else option).strip() for match, option in zip(found, options, strict=True)
    ), in_order


def shuffled(question_id: str, right: str, wrong: Sequence[str]) -> tuple[tuple[str, ...], int]:
    """Options that are published with the right one apart, in an order that the question's id gives."""
    options = tuple(sorted([right, *wrong], key=lambda option: digest_of([question_id, option])))
    return options, options.index(right)


def _json(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise QuestionError(f"{place}: not JSON: {error}") from error


def _parquet(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError as error:
        raise QuestionError(f"{path}: {PARQUET}") from error
    try:
        rows = parquet.read_table(path).to_pylist()
    except (OSError, ArrowException) as error:
        raise QuestionError(f"{path}: cannot be read as a Parquet file: {error}") from error
    for number, row in enumerate(rows, start=1):
        yield f"{path}: row {number}", row
