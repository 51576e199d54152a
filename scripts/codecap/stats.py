"""Uncertainty of a mean over videos, difference of two systems on the same videos, agreement of two judges.

Sources: percentile bootstrap, Efron and Tibshirani 1993, chapters 13 and 16; Pearson and Spearman correlation by SciPy. Values
that belong together (those of one video) are drawn together: Davison and Hinkley 1997, section 3.8.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

RESAMPLES = 10_000
CONFIDENCE = 0.95
SEED = 24
BLOCK = 1_000  # resamples that are drawn at a time, so that memory stays small whatever the number of videos
PAIRS_BLOCK = 100  # likewise of pairs: their weights then stay in the processor's cache


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
    from scipy import stats  # here, as it takes longer to import than most tables take to make

    return Agreement(float(stats.pearsonr(first, second).statistic), float(stats.spearmanr(first, second).statistic))


def clustered_mean(
    values: Sequence[float],
    clusters: Sequence[int],
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
    seed: int = SEED,
) -> Interval:
    """Mean of all values, and its interval when clusters are drawn, each with all of its values.

    Args:
        values: finite, at least one.
        clusters: of each value, numbers from 0 on without a gap; fewer than two have no interval.

    >>> clustered_mean([1.0, 2.0, 6.0], [0, 0, 0])
    Interval(mean=3.0, low=None, high=None)
    """
    sample, of = _finite(values), np.asarray(clusters)
    if of.max() == 0:
        return Interval(float(sample.mean()), None, None)
    sums, counts = np.bincount(of, sample), np.bincount(of)
    means = np.concatenate([(drawn @ sums) / (drawn @ counts) for drawn in _drawn(len(sums), resamples, seed)])
    return Interval(float(sample.mean()), *_percentiles(means, confidence))


def agreement_intervals(
    first: Sequence[float],
    second: Sequence[float],
    clusters: Sequence[int],
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
    seed: int = SEED,
) -> tuple[tuple[float, float] | None, tuple[float, float] | None]:
    """Percentile bootstrap intervals of Pearson's and Spearman's correlation when clusters are drawn.

    A draw in which either series is constant has no correlation and is left out; where these are more than the interval's tails
    hold, or there is one cluster only, there is no interval.

    Args:
        first, second: as for `agreement`.
        clusters: of each pair, numbers from 0 on without a gap.
    """
    pairs = np.stack([_finite(first), _finite(second)], axis=1)
    of = np.asarray(clusters)
    cells, place = np.unique(pairs, axis=0, return_inverse=True)
    held = np.zeros((of.max() + 1, len(cells)))  # how often each cluster holds each distinct pair of values
    np.add.at(held, (of, place.ravel()), 1.0)
    found: list[list[np.ndarray]] = [[], []]
    for drawn in _drawn(len(held), resamples, seed) if len(held) > 1 else ():
        weights = drawn @ held
        found[0].append(_weighted_correlation(weights, cells[None, :, 0], cells[None, :, 1]))
        found[1].append(
            _weighted_correlation(weights, _weighted_ranks(weights, cells[:, 0]), _weighted_ranks(weights, cells[:, 1]))
        )
    pearson, spearman = (_defined(np.concatenate(values), confidence) if values else None for values in found)
    return pearson, spearman


def _drawn(clusters: int, resamples: int, seed: int) -> Iterator[np.ndarray]:
    """How often each cluster is drawn, in blocks of resamples: float64 `(block, clusters)`."""
    generator = np.random.default_rng(seed)
    for first in range(0, resamples, PAIRS_BLOCK):
        block = min(PAIRS_BLOCK, resamples - first)
        drawn = generator.integers(0, clusters, (block, clusters)) + clusters * np.arange(block)[:, None]
        yield np.bincount(drawn.ravel(), minlength=block * clusters).reshape(block, clusters).astype(np.float64)


def _weighted_ranks(weights: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Ranks of values that occur `weights` times, ties sharing the middle one: float64 `(block, values)`."""
    _, place = np.unique(values, return_inverse=True)
    order = np.argsort(place, kind="stable")
    starts = np.flatnonzero(np.diff(place[order], prepend=-1))
    of_value = np.add.reduceat(weights[:, order], starts, axis=1)
    return (np.cumsum(of_value, axis=1) - of_value / 2)[:, place]


def _weighted_correlation(weights: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Pearson's correlation in each row, NaN where x or y is constant: float64 `(block,)`."""
    total = weights.sum(axis=1, keepdims=True)
    x, y = (values / max(float(np.ptp(values)), np.finfo(np.float64).tiny) for values in (x, y))
    x, y = (values - (weights * values).sum(axis=1, keepdims=True) / total for values in (x, y))
    spread_x, spread_y, shared = ((weights * product).sum(axis=1) for product in (x * x, y * y, x * y))
    constant = np.minimum(spread_x, spread_y) <= 1e-12 * total[:, 0]
    return np.where(constant, np.nan, shared / np.sqrt(np.where(constant, 1.0, spread_x * spread_y)))


def _defined(values: np.ndarray, confidence: float) -> tuple[float, float] | None:
    there = values[np.isfinite(values)]
    return _percentiles(there, confidence) if len(there) >= confidence * len(values) else None


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
