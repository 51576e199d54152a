"""How stable a judge is that was asked the same several times.

Source: intraclass correlation ICC(1,1), Shrout and Fleiss 1979, "Intraclass correlations: uses in assessing rater reliability".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Repeats(NamedTuple):
    """
    Attributes:
        targets: what was judged.
        times: each of them.
        unanimous: share of those that got the same every time, in [0, 1].
        mean_spread, largest_spread: largest less smallest value of one target.
        sd: standard deviation within a target, pooled over all.
        reliability: ICC(1,1), the share of the variance that is between targets; None for one target or where nothing varies.
    """

    targets: int
    times: int
    unanimous: float
    mean_spread: float
    largest_spread: float
    sd: float
    reliability: float | None


def repeats(given: Sequence[Sequence[float]]) -> Repeats:
    """Spread of repeated judgements.

    Args:
        given: values of each target, as many of each, at least two.

    Raises:
        ValueError: there is no target, or they were not judged as often.

    >>> repeats([[3, 3, 3], [2, 4, 3]])[:5]
    (2, 3, 0.5, 1.0, 2.0)
    """
    times = {len(values) for values in given}
    if len(times) != 1 or min(times) < 2:
        raise ValueError("repeated judgements are as many of each target, and at least two")
    table = np.asarray(given, np.float64)
    targets, count = table.shape
    spread = np.ptp(table, axis=1)
    within = float(table.var(axis=1, ddof=1).mean())
    return Repeats(
        targets=targets,
        times=count,
        unanimous=float((spread == 0).mean()),
        mean_spread=float(spread.mean()),
        largest_spread=float(spread.max()),
        sd=within**0.5,
        reliability=_reliability(table, within),
    )


def _reliability(table: np.ndarray, within: float) -> float | None:
    targets, count = table.shape
    if targets < 2:
        return None
    between = count * float(table.mean(axis=1).var(ddof=1))
    total = between + (count - 1) * within
    return (between - within) / total if total > 0 else None
