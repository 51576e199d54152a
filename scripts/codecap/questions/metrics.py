"""What answers come to: accuracy, and CapQuiz's factuality (CapP), coverage (CapR) and their harmonic mean (CapF1), in percent.

Source: CapQuiz, section 3.4. An answer is right (TP), "cannot be determined" (FN) or another option (FP):

    CapP = TP / (TP + FP)        CapR = TP / N        CapF1 = 2 CapP CapR / (CapP + CapR) = 2 TP / (N + TP + FP)

Accuracy is TP / N, over all questions of a set together; so it is CapR. **Ours**: a task that the model failed keeps nothing, so
its questions count as FN; what was not answered by our fault is in no count. Intervals are over clips, each drawn with all of its
questions, since what is asked about one clip is not independent (percentile bootstrap as in `codecap.stats`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from codecap.records import Answer, Outcome
from codecap.stats import CONFIDENCE, RESAMPLES, SEED
from codecap.stats.bootstrap import drawn_clusters, percentiles


class Counts(NamedTuple):
    """Answers of each kind; `asked` is their sum."""

    right: int = 0
    missing: int = 0  # "cannot be determined", or nothing to be shown
    wrong: int = 0

    @property
    def asked(self) -> int:
        return sum(self)


class Value(NamedTuple):
    """A number in percent with its interval; None where there is none."""

    value: float | None
    low: float | None
    high: float | None


class Values(NamedTuple):
    accuracy: Value
    cap_p: Value
    cap_r: Value
    cap_f1: Value


def kind_of(answer: Answer) -> str | None:
    """Which count of `Counts` an answer is in; None for one that we did not get."""
    if answer.correct is None:
        return None
    if answer.correct:
        return "right"
    return "wrong" if answer.status == Outcome.OK and not answer.undetermined else "missing"


def counts_of(answers: Sequence[Answer]) -> Counts:
    kinds = [kind_of(answer) for answer in answers]
    return Counts(kinds.count("right"), kinds.count("missing"), kinds.count("wrong"))


def cap_p(counts: Counts) -> float | None:
    """Factuality: of what was answered, how much is right. None where nothing was answered.

    >>> cap_p(Counts(right=6, missing=2, wrong=2)), cap_p(Counts(missing=3))
    (75.0, None)
    """
    answered = counts.right + counts.wrong
    return 100.0 * counts.right / answered if answered else None


def cap_r(counts: Counts) -> float | None:
    """Coverage, and accuracy: of what was asked, how much is right.

    >>> cap_r(Counts(right=6, missing=2, wrong=2)), cap_r(Counts())
    (60.0, None)
    """
    return 100.0 * counts.right / counts.asked if counts.asked else None


def cap_f1(counts: Counts) -> float | None:
    """The harmonic mean of both; 0 where nothing is right.

    >>> round(cap_f1(Counts(right=6, missing=2, wrong=2)), 4), cap_f1(Counts(missing=3))
    (66.6667, 0.0)
    """
    weight = counts.asked + counts.right + counts.wrong
    return 200.0 * counts.right / weight if weight else None


def values_of(tables: Sequence[Mapping[str, Counts]], resamples: int = RESAMPLES, seed: int = SEED) -> list[Values]:
    """The four numbers of each table, over all of its questions, with intervals over its clips; fewer than two clips have none.

    Args:
        tables: each has the counts of its clips. Tables of as many clips share their draws.
    """
    held = [np.array([table[clip] for clip in sorted(table)], np.float64).reshape(-1, 3) for table in tables]
    drawn: dict[int, np.ndarray] = {}
    for clips in sorted({len(counts) for counts in held}):
        places = [place for place, counts in enumerate(held) if len(counts) == clips]
        sums = _drawn_sums(np.stack([held[place] for place in places]), resamples, seed) if clips > 1 else []
        drawn |= dict(zip(places, sums, strict=False))
    return [_values(counts, drawn.get(place)) for place, counts in enumerate(held)]


def _drawn_sums(held: np.ndarray, resamples: int, seed: int) -> np.ndarray:
    """Counts of resamples of as many clips: float64 `(tables, 3, resamples)`, from `(tables, clips, 3)`."""
    tables, clips, kinds = held.shape
    flat = held.transpose(1, 0, 2).reshape(clips, tables * kinds)
    sums = np.concatenate([counts @ flat for counts in drawn_clusters(clips, resamples, seed)])
    return sums.T.reshape(tables, kinds, -1)


def _values(held: np.ndarray, drawn: np.ndarray | None) -> Values:
    whole = Counts(*(int(total) for total in held.sum(axis=0)))
    numbers = [cap_r(whole), cap_p(whole), cap_r(whole), cap_f1(whole)]
    if drawn is None:
        return Values(*(Value(number, None, None) for number in numbers))
    right, missing, wrong = drawn
    asked, answered = right + missing + wrong, right + wrong
    with np.errstate(invalid="ignore"):
        of_draws = [right / asked, right / answered, right / asked, 2 * right / (asked + answered)]
    return Values(*(Value(number, *_interval(100 * of)) for number, of in zip(numbers, of_draws, strict=True)))


def _interval(drawn: np.ndarray) -> tuple[float | None, float | None]:
    """Percentiles of the resamples in which the number exists; none where it is lacking in more than the tails hold."""
    there = drawn[np.isfinite(drawn)]
    return percentiles(there, CONFIDENCE) if len(there) >= CONFIDENCE * len(drawn) else (None, None)
