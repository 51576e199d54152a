"""CapQuiz: questions that tell captions apart, as its paper describes them; its files were not to be had when this was written.

The paper gives the parts of a question (video, one of ten types, question, five options, the right one) and no names for them. So
several usual names of a field are taken; where none of them is there, the message lists them. The "cannot be determined" of its
evaluation is no option of a question: the answerer is offered it (`undetermined` in the configuration).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import AliasChoices, Field

from codecap.questions.published import Published, Theirs, Told, WrongForm, lettered, without_letters
from codecap.questions.sets import LETTERS
from codecap.store import digest_of

LABEL = "CapQuiz"
NAMES = {
    "video": ("video", "video_id", "video_name", "video_path"),
    "type": ("type", "question_type", "category"),
    "question_id": ("question_id", "qa_id", "id"),
    "question": ("question",),
    "options": ("options", "choices"),
    "answer": ("answer", "correct_answer", "answer_letter", "answer_index"),
}


def _any(name: str, **told: Any) -> Any:
    return Field(validation_alias=AliasChoices(*NAMES[name]), **told)


class Line(Theirs):
    video: Told = _any("video", min_length=1)
    type: str = _any("type", min_length=1)
    question_id: Told = _any("question_id", default="")
    question: str = _any("question", min_length=1)
    options: list[str] | dict[str, str] = _any("options")
    answer: int | str = _any("answer")


def take(row: Mapping[str, Any]) -> Published:
    for name, known in NAMES.items():
        if name != "question_id" and not any(key in row for key in known):
            raise WrongForm(
                f"has no {name}; known names of it are {', '.join(known)}, there are {', '.join(map(str, row)) or 'none'}"
            )
    line = Line.model_validate(row)
    options, answer = _options(line)
    name = line.question_id or digest_of([line.video, line.question])[:12]
    return Published(line.video, name, line.type, line.question.strip(), options, answer)


def _options(line: Line) -> tuple[tuple[str, ...], int]:
    """In order, and the place of the right one, which is told by its place, its letter or its text."""
    held = line.options
    if isinstance(held, dict):
        if "".join(held) != LETTERS[: len(held)]:
            raise WrongForm(f"options must be lettered from A on; they are {', '.join(held)}")
        bare, _ = without_letters(list(held.values()))
        held = [f"{letter}. {option}" for letter, option in zip(held, bare, strict=True)]
    if isinstance(line.answer, str):
        return lettered(held, line.answer)
    if not 0 <= line.answer < len(held):
        raise WrongForm(f"answer is {line.answer}, the places of {len(held)} options go from 0 to {len(held) - 1}")
    return without_letters(held)[0], line.answer
