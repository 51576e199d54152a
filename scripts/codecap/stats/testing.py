"""Many comparisons at once, and what a comparison of so many videos can find at all.

Sources: Holm 1979, "A simple sequentially rejective multiple test procedure"; power of the paired t test by the noncentral t
distribution, Cohen 1988, chapter 2.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

POWER = 0.8
SIGNIFICANCE = 0.05


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values of a family of comparisons: below a level, they keep the chance of any false finding below it.

    >>> [round(p, 4) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    told = np.asarray(p_values, np.float64)
    if told.ndim != 1 or not ((told >= 0) & (told <= 1)).all():  # NaN is neither
        raise ValueError("p-values are numbers from 0 to 1")
    order = np.argsort(told, kind="stable")
    stepped = np.maximum.accumulate(told[order] * np.arange(len(told), 0, -1))
    adjusted = np.empty(len(told))
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted.tolist()


def detectable_difference(sd: float, videos: int, power: float = POWER, significance: float = SIGNIFICANCE) -> float | None:
    """The least mean difference of two systems that a two-sided paired t test finds with this chance.

    Args:
        sd: standard deviation of the differences, video by video (with `n - 1`).
        videos: that both systems have.

    Returns:
        In the unit of `sd`; None for fewer than two videos.

    >>> round(detectable_difference(20.0, 323), 2)
    3.13
    """
    return None if videos < 2 else float(sd * _effect(videos, power, significance) / np.sqrt(videos))


@functools.cache
def _effect(videos: int, power: float, significance: float) -> float:
    """The difference in standard errors that is found with this chance."""
    from scipy import optimize, stats  # here, as it takes longer to import than most tables take to make

    freedom = videos - 1
    beyond = float(stats.t.ppf(1 - significance / 2, freedom))

    def lacking(effect: float) -> float:
        """Chance of a finding less the wanted one."""
        wrong_side = np.nan_to_num(stats.nct.cdf(-beyond, freedom, effect))  # too small to be computed is as good as 0
        return float(1 - stats.nct.cdf(beyond, freedom, effect) + wrong_side - power)

    enough = beyond
    while lacking(enough) < 0:
        enough *= 1.25
    return optimize.brentq(lacking, 0.0, enough, xtol=1e-9)
