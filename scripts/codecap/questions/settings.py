"""The config's section `questions`: which sets are asked, whom, and about what; null where none is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, model_validator

from codecap.errors import UserError
from codecap.records import Row, in_words
from codecap.score.asking.rounds import MOST_REPEATS, Asking
from codecap.showing.showing import Showing

OPTIONS = 5  # of a question that is made: CapQuiz, section 3.2


class SetSettings(Row):
    """One set.

    Attributes:
        file: its questions, see `sets`.
        undetermined: offer "cannot be determined" as a last option, as CapQuiz does.
    """

    file: Path
    undetermined: bool = True


class Answerer(Asking):
    """The model that answers: keys as those of a judge."""

    most_output_tokens: int = Field(default=4096, ge=256)


class Maker(Row):
    """How questions are made (`codecap questions make`).

    Attributes:
        writers: models that see the clip and write questions; each writes of every type.
        blind: models that try to answer without the clip.
        grouper: model that says which questions ask for the same.
        per_type: questions that a writer is asked for, of a type and clip.
        types: which of the prompt's types; null: all.
        trials: how often each blind model answers a question, each time with the options in another order.
        solved_in: in how many of them it must be right for a question to count as solved by it.
        reviewers: people who must have reviewed a question.
    """

    writers: list[Asking] = Field(min_length=1)
    blind: list[Asking] = Field(min_length=1)
    grouper: Asking
    per_type: int = Field(default=3, ge=1, le=20)
    types: list[str] | None = Field(default=None, min_length=1)
    trials: int = Field(default=3, ge=1, lt=MOST_REPEATS)
    solved_in: int = Field(default=2, ge=1)
    reviewers: int = Field(default=3, ge=1)

    @model_validator(mode="after")
    def _can_be_solved(self) -> Maker:
        if self.solved_in > self.trials:
            raise ValueError(f"solved_in is {self.solved_in}, and there are {self.trials} trials")
        return self


class QuestionSettings(Row):
    """Keys of the section.

    Attributes:
        sets: by name, as tables call them.
        systems: whose videos and texts are asked about: all that take part, or those named.
        original: whether the original videos are asked about too.
        answerer: the model that answers.
        maker: see `Maker`; a run does not use it.
    """

    sets: dict[str, SetSettings] = {}
    systems: Literal["all"] | list[str] = "all"
    original: bool = True
    answerer: Answerer | None = None
    maker: Maker | None = None

    @model_validator(mode="after")
    def _somebody_answers(self) -> QuestionSettings:
        if self.sets and self.answerer is None:
            raise ValueError("answerer: sets are named, and no model that answers")
        return self


def of(config: Mapping[str, Any]) -> QuestionSettings:
    """The section of a configuration; without sets where it is null.

    Raises:
        UserError: a key is unknown or a value is wrong.
    """
    try:
        return QuestionSettings.model_validate(dict(config.get("questions") or {}))
    except ValidationError as error:
        raise UserError(f"questions: {in_words(error)}") from error


def identity_of(showing: Showing) -> dict[str, Any]:
    """What of an asker's settings changes its requests, as JSON values: no address, no name of a key."""
    told = showing.model_dump(mode="json")
    return told | {"endpoint": showing.endpoint.model_dump(mode="json", exclude={"base_url", "key_env", "timeout_s"})}
