"""Uncertainty of a mean over videos, difference of two systems on the same videos, agreement of two judges.

Sources: percentile bootstrap, Efron and Tibshirani 1993, chapters 13 and 16; Pearson and Spearman correlation by SciPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

RESAMPLES = 10_000
CONFIDENCE = 0.95
SEED = 24
BLOCK = 1_000  # resamples that are drawn at a time, so that memory stays small whatever the number of videos


class Interval(NamedTuple):
    """A mean and its bootstrap interval, which a sample of fewer than two values does not have."""

    mean: float
    low: float | None
    high: float | None


class Difference(NamedTuple):
    """Mean difference of two systems, first minus second, over the videos that both have.

    Attributes:
        p_value: how often a difference as large as this, either way, comes about when there is none; None for fewer than two.
    """

    mean: float
    low: float | None
    high: float | None
    p_value: float | None


class Agreement(NamedTuple):
    """Correlation of two series; None where one of them is constant or there are fewer than three pairs."""

    pearson: float | None
    spearman: float | None


def bootstrap_mean(
    values: Sequence[float], resamples: int = RESAMPLES, confidence: float = CONFIDENCE, seed: int = SEED
) -> Interval:
    """Percentile bootstrap interval of a mean; the same values in the same order give the same interval.

    Args:
        values: one a video, finite; at least one.

    Raises:
        ValueError: there is no value, or one is not finite.

    >>> bootstrap_mean([3.0, 3.0, 3.0])
    Interval(mean=3.0, low=3.0, high=3.0)
    >>> bootstrap_mean([3.0])
    Interval(mean=3.0, low=None, high=None)
    """
    sample = _finite(values)
    if len(sample) < 2:
        return Interval(float(sample.mean()), None, None)
    low, high = _percentiles(resampled_means(sample, resamples, seed), confidence)
    return Interval(float(sample.mean()), low, high)


def paired_difference(
    first: Sequence[float],
    second: Sequence[float],
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
    seed: int = SEED,
) -> Difference:
    """Paired bootstrap of the mean difference: videos are drawn, each with both of its values.

    The p-value is two-sided, from the differences centred on 0 (the null hypothesis), with one added to both counts so that it
    is never 0.

    Args:
        first, second: values of the same videos in the same order.

    Raises:
        ValueError: they are not as many, there are none, or one is not finite.
    """
    first, second = _finite(first), _finite(second)
    if len(first) != len(second):
        raise ValueError(f"paired bootstrap of {len(first)} and {len(second)} values; both must be of the same videos")
    difference = first - second
    mean = float(difference.mean())
    if len(difference) < 2:
        return Difference(mean, None, None, None)
    means = resampled_means(difference, resamples, seed)
    low, high = _percentiles(means, confidence)
    slack = 1e-12 * max(float(np.abs(difference).max()), 1.0)  # sums in another order differ in their last digits
    as_large = int((np.abs(means - mean) >= abs(mean) - slack).sum())
    return Difference(mean, low, high, (as_large + 1) / (resamples + 1))


def agreement(first: Sequence[float], second: Sequence[float]) -> Agreement:
    """Pearson's and Spearman's correlation of two judges' values.

    Raises:
        ValueError: they are not as many, there are none, or one is not finite.
    """
    first, second = _finite(first), _finite(second)
    if len(first) != len(second):
        raise ValueError(f"correlation of {len(first)} and {len(second)} values")
    if len(first) < 3 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return Agreement(None, None)
    return Agreement(float(stats.pearsonr(first, second).statistic), float(stats.spearmanr(first, second).statistic))


def resampled_means(sample: np.ndarray, resamples: int = RESAMPLES, seed: int = SEED) -> np.ndarray:
    """Means of samples drawn with replacement, each as large as the sample: float64 `(resamples,)`."""
    generator = np.random.default_rng(seed)
    means = np.empty(resamples)
    for first in range(0, resamples, BLOCK):
        drawn = generator.integers(0, len(sample), (min(BLOCK, resamples - first), len(sample)))
        means[first : first + len(drawn)] = sample[drawn].mean(axis=1)
    return means


def _percentiles(means: np.ndarray, confidence: float) -> tuple[float, float]:
    tail = 100 * (1 - confidence) / 2
    low, high = np.percentile(means, [tail, 100 - tail])
    return float(low), float(high)


def _finite(values: Sequence[float]) -> np.ndarray:
    sample = np.asarray(values, np.float64)
    if sample.ndim != 1 or not len(sample):
        raise ValueError("no values to take the mean of")
    if not np.isfinite(sample).all():
        raise ValueError("a value is not finite; leave out what is unscored and say how many")
    return sample
