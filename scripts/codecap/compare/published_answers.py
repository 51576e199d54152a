"""The paper's Table 2 beside our answers to questions, where any were asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from codecap.compare.answer_records import AnswerPair, QuestionAnswering
from codecap.compare.answers import POOLED
from codecap.compare.effort import level_of
from codecap.compare.estimates import Estimate, Interval
from codecap.compare.paper import PublishedCell, PublishedLine
from codecap.compare.protocol_parts import differences
from codecap.questions.sets import many

MEDIA = {"render": "Code-rendered video", "caption": "Natural language caption", "original": "Original videos"}


class Beside:
    """Finds for each line of the paper the answers that this run has beside it: those of its first set, which is all sets together
    where they were asked alike.

    Args:
        answered: None where nothing was asked.
        config: the whole configuration.
        protocol: whose questions, and who answers them, in the paper.
        effort: of the paper's systems.
    """

    def __init__(
        self, answered: QuestionAnswering | None, config: Mapping[str, Any], protocol: Mapping[str, Any], effort: str
    ) -> None:
        self._answered, self._effort = answered, effort
        self._models = config.get("models") or {}
        self._reasons = list(differences(config.get("questions") or {}, protocol["parts"]))
        self._reasons += _other_questions(answered, protocol) if answered else []

    def line(self, row: Mapping[str, str]) -> PublishedLine:
        pair = self._pair(row["asks"])
        ours = {medium: self._ours(medium, pair) for medium in MEDIA if row[medium]}
        there = any(cell is not None for cell in ours.values())
        return PublishedLine(
            heads={"Model": row["model"]},
            system=pair.code if pair is not None else None,
            reasons=[*self._reasons, *self._other_effort(pair)] if there else [],
            cells=[
                PublishedCell(
                    column=medium, label=MEDIA[medium], published=float(row[medium]), ours=cell, reasons=[*_lacking(cell)]
                )
                for medium, cell in ours.items()
            ],
        )

    def _pair(self, model: str) -> AnswerPair | None:
        """The first two systems of a model whose videos and words were asked about; those of the paper's effort come first."""
        first = self._answered.sets[0].name if self._answered else ""
        pairs = [pair for pair in self._answered.pairs if pair.model == model] if self._answered and model else []
        pairs = [pair for pair in pairs if pair.question_set == first]
        return next((pair for pair in pairs if not any(self._other_effort(pair))), pairs[0] if pairs else None)

    def _other_effort(self, pair: AnswerPair | None) -> Iterator[str]:
        for name in (pair.code, pair.words) if pair else ():
            effort = level_of(self._models.get(name) or {})
            if effort != self._effort:
                yield f"effort of {name} is {effort or 'left to the model'}; the paper's is {self._effort}"

    def _ours(self, medium: str, pair: AnswerPair | None) -> Estimate | None:
        if medium == "original":
            rows = self._answered.rows if self._answered else []
            whole = next((row for row in rows if (row.medium, row.type) == (medium, "")), None)
            return None if whole is None else _estimate(whole.accuracy, whole.questions, whole.unscored + whole.infra_error)
        if pair is None:
            return None
        return _estimate(pair.code_accuracy if medium == "render" else pair.words_accuracy, pair.questions, pair.missing)


def _estimate(told: Interval, questions: int, missing: int) -> Estimate:
    return Estimate(mean=told.value, low=told.low, high=told.high, n=questions, unscored_items=missing)


def _lacking(ours: Estimate | None) -> Iterator[str]:
    if ours is not None and ours.incomplete:
        yield f"ours is incomplete: {many(ours.unscored_items, 'question')} without an answer"


def _other_questions(answered: QuestionAnswering, protocol: Mapping[str, Any]) -> Iterator[str]:
    """Whether the questions can be the paper's: their sets, taken together, and how many videos they are about."""
    first, names = answered.sets[0], [entry.name for entry in answered.sets if entry.name != POOLED]
    if set(names) != set(protocol["sets"]):
        yield f"other questions: of {', '.join(names)}; the paper's are of {', '.join(protocol['sets'])}"
    elif first.name != POOLED:
        yield f"questions of {first.name} alone, since the sets were not asked alike; the paper's are of all sets together"
    if first.clips != protocol["clips"]:
        yield f"questions about {many(first.clips, 'video')}; the paper's are about {protocol['clips']}"
