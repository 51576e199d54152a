"""The place of a system among others, and how sure it is.

Source: ranks over bootstrap samples of the videos, Goldstein and Spiegelhalter 1996, "League tables and their limitations".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from codecap.stats.bootstrap import CONFIDENCE, RESAMPLES, SEED, counted_draws

SAME = 1e-9  # of the largest mean: means that differ by less are equal, whatever the order of their sums


class Ranked(NamedTuple):
    """A place, the first being 1; equals share the better one. No ends where the system has fewer than two videos."""

    rank: int
    low: int | None
    high: int | None


def rank_intervals(
    values: np.ndarray,
    higher_is_better: bool = True,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
    seed: int = SEED,
) -> list[Ranked | None]:
    """Ranks of systems by their means, and the ends between which they lie when other videos are drawn.

    A video is drawn with the values of all systems. A system's mean is over the videos of a draw that it has a value for; a draw
    without any of some system is left out.

    Args:
        values: float64 `(videos, systems)`, NaN where there is no number.

    Returns:
        One a system; None for one without any number.
    """
    table = np.asarray(values, np.float64)
    there = np.isfinite(table)
    ranked = np.flatnonzero(there.any(axis=0))
    table, there = table[:, ranked], there[:, ranked].astype(np.float64)
    lines = there.any(axis=1)
    table, there = np.where(there[lines] > 0, table[lines], 0.0), there[lines]
    if not table.size:
        return [None] * np.asarray(values).shape[1]
    first = _ranks((table.sum(axis=0) / there.sum(axis=0))[None], higher_is_better)[0]
    drawn = _drawn_ranks(table, there, higher_is_better, resamples, seed) if len(table) > 1 else np.empty((0, len(ranked)))
    tail = 100 * (1 - confidence) / 2
    ends = np.percentile(drawn, [tail, 100 - tail], axis=0, method="inverted_cdf") if len(drawn) else None
    found: list[Ranked | None] = [None] * np.asarray(values).shape[1]
    for place, system in enumerate(ranked):
        low, high = (None, None) if ends is None or there[:, place].sum() < 2 else (int(ends[0, place]), int(ends[1, place]))
        found[system] = Ranked(int(first[place]), low, high)
    return found


def _drawn_ranks(table: np.ndarray, there: np.ndarray, higher_is_better: bool, resamples: int, seed: int) -> np.ndarray:
    """Ranks in each draw that has a value of every system: int64 `(draws, systems)`."""
    found = []
    for counts in counted_draws(len(table), resamples, seed):
        held = counts @ there
        whole = (held > 0).all(axis=1)
        found.append(_ranks((counts[whole] @ table) / held[whole], higher_is_better))
    return np.concatenate(found)


def _ranks(means: np.ndarray, higher_is_better: bool) -> np.ndarray:
    """One more than the number of better ones: int64 `(draws, systems)`."""
    signed = means if higher_is_better else -means
    slack = SAME * max(float(np.abs(signed).max(initial=0.0)), np.finfo(np.float64).tiny)
    return 1 + (signed[:, None, :] > signed[:, :, None] + slack).sum(axis=2)
