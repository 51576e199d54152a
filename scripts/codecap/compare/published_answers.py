"""The paper's Table 2 beside our answers to questions, where any were asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from codecap.compare.answer_records import AnswerPair, QuestionAnswering
from codecap.compare.estimates import Estimate, Interval
from codecap.compare.paper import PublishedCell, PublishedLine
from codecap.compare.protocol_parts import differences

MEDIA = {"render": "Code-rendered video", "caption": "Natural language caption", "original": "Original videos"}


class Beside:
    """Finds for each line of the paper the answers that this run has beside it.

    Args:
        answered: None where nothing was asked.
        config: the whole configuration.
        protocol: whose questions, and who answers them, in the paper.
    """

    def __init__(self, answered: QuestionAnswering | None, config: Mapping[str, Any], protocol: Mapping[str, Any]) -> None:
        self._answered = answered
        self._reasons = list(differences(config.get("questions") or {}, protocol["parts"]))
        names = [entry.name for entry in answered.sets] if answered else []
        others = sorted(set(protocol["sets"]) - set(names))
        if others:
            told = ", ".join(names) or "none"
            self._reasons.append(f"other questions: of {told}; the paper's are of {', '.join(protocol['sets'])}")

    def line(self, row: Mapping[str, str]) -> PublishedLine:
        pair = self._pair(row["asks"])
        ours = {medium: self._ours(medium, pair) for medium in MEDIA if row[medium]}
        there = any(cell is not None for cell in ours.values())
        return PublishedLine(
            heads={"Model": row["model"]},
            system=pair.code if pair is not None else None,
            reasons=self._reasons if there else [],
            cells=[
                PublishedCell(column=medium, label=MEDIA[medium], published=float(row[medium]), ours=cell)
                for medium, cell in ours.items()
            ],
        )

    def _pair(self, model: str) -> AnswerPair | None:
        """The first two systems of a model whose videos and words were asked about."""
        pairs = self._answered.pairs if self._answered else []
        return next((pair for pair in pairs if model and pair.model == model), None)

    def _ours(self, medium: str, pair: AnswerPair | None) -> Estimate | None:
        if medium == "original":
            rows = self._answered.rows if self._answered else []
            return next((_estimate(row.accuracy, row.questions) for row in rows if (row.medium, row.type) == (medium, "")), None)
        if pair is None:
            return None
        return _estimate(pair.code_accuracy if medium == "render" else pair.words_accuracy, pair.questions)


def _estimate(told: Interval, questions: int) -> Estimate:
    return Estimate(mean=told.value, low=told.low, high=told.high, n=questions)
