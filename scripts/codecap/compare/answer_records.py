"""What answers to questions say of systems, as records."""

from __future__ import annotations

from typing import Literal

from codecap.compare.estimates import Interval
from codecap.records import Row


class QuestionSetEntry(Row):
    """A set as it was asked: its questions about clips of this run."""

    name: str
    questions: int
    clips: int
    types: dict[str, int]  # questions of each


class AnswerRow(Row):
    """The answers to a set, or to its questions of one type, from what one system has made."""

    question_set: str
    medium: Literal["render", "caption", "original"]
    system: str  # "" for the original videos
    label: str
    type: str  # "" for all types together
    questions: int
    clips: int
    right: int
    wrong: int
    undetermined: int  # "cannot be determined" was chosen
    failed: int  # there was nothing to be shown, by the model's fault: as if undetermined
    unscored: int  # no answer could be had or read
    infra_error: int  # there was nothing to be shown, by ours
    accuracy: Interval  # all in percent
    cap_p: Interval
    cap_r: Interval
    cap_f1: Interval

    @property
    def incomplete(self) -> bool:
        return bool(self.unscored or self.infra_error)


class AnswerPair(Row):
    """Code against words of the same model: accuracy on the questions that both have an answer to, and the mean difference.

    Attributes:
        missing: questions that both were asked, and that one of them has no answer to.
    """

    question_set: str
    model: str
    code: str
    code_label: str
    words: str
    words_label: str
    questions: int
    clips: int
    missing: int = 0
    code_accuracy: Interval
    words_accuracy: Interval
    difference: Interval  # code - words, in percentage points

    @property
    def incomplete(self) -> bool:
        return bool(self.missing)

    @property
    def separated(self) -> bool:
        low, high = self.difference.low, self.difference.high
        return low is not None and high is not None and (low > 0 or high < 0)


class QuestionAnswering(Row):
    sets: list[QuestionSetEntry]
    rows: list[AnswerRow]
    pairs: list[AnswerPair]
    protocols: dict[str, dict[str, str]]  # by set and medium
