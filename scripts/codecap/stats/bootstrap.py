"""Means over videos and differences of two systems on the same videos, by the percentile bootstrap.

Sources: Efron and Tibshirani 1993, chapters 13 and 16. Values that belong together (those of one video) are drawn together: Davison
and Hinkley 1997, section 3.8.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

RESAMPLES = 10_000
CONFIDENCE = 0.95
SEED = 24
BLOCK = 1_000  # resamples that are drawn at a time, so that memory stays small whatever the number of videos
CLUSTERS_BLOCK = 100  # likewise of clusters: their weights then stay in the processor's cache
SAME_DIGITS = 12  # what a sum in another order may change lies behind them


class Interval(NamedTuple):
    """A mean and its bootstrap interval, which a sample of fewer than two values does not have."""

    mean: float
    low: float | None
    high: float | None


class Difference(NamedTuple):
    """Mean difference of two systems, first minus second, over the videos that both have.

    Attributes:
        p_value: how often a difference as large as this, either way, comes about when there is none; None for fewer than two. Never
            below `least_p_value`.
    """

    mean: float
    low: float | None
    high: float | None
    p_value: float | None


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
    sample = finite(values)
    if len(sample) < 2:
        return Interval(float(sample.mean()), None, None)
    low, high = percentiles(resampled_means(sample, resamples, seed), confidence)
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
    first, second = finite(first), finite(second)
    if len(first) != len(second):
        raise ValueError(f"paired bootstrap of {len(first)} and {len(second)} values; both must be of the same videos")
    difference = first - second
    mean = float(difference.mean())
    if len(difference) < 2:
        return Difference(mean, None, None, None)
    means = resampled_means(difference, resamples, seed)
    low, high = percentiles(means, confidence)
    slack = 1e-12 * max(float(np.abs(difference).max()), 1.0)  # sums in another order differ in their last digits
    as_large = int((np.abs(means - mean) >= abs(mean) - slack).sum())
    return Difference(mean, low, high, max((as_large + 1) / (resamples + 1), least_p_value(len(difference))))


def least_p_value(videos: int) -> float:
    """Chance that so many differences all point one way when there is none: no fewer videos can tell more, and a bootstrap would.

    Source: the exact sign-flip test, whose smallest two-sided p-value it is (Good 2005, section 3.2).

    >>> least_p_value(2), least_p_value(5)
    (0.5, 0.0625)
    """
    return 2.0 ** (1 - videos)


def paired_differences(
    differences: np.ndarray, resamples: int = RESAMPLES, confidence: float = CONFIDENCE, seed: int = SEED
) -> list[Difference]:
    """As `paired_difference`, of many pairs of systems on the same videos at once, with the same draws for all.

    Args:
        differences: first minus second, finite, float64 `(videos, pairs)`; at least one video.
    """
    values = np.asarray(differences, np.float64)
    if values.ndim != 2 or not len(values) or not np.isfinite(values).all():
        raise ValueError("differences are a table of finite numbers, a line a video")
    means = values.mean(axis=0)
    if len(values) < 2:
        return [Difference(float(mean), None, None, None) for mean in means]
    drawn = np.concatenate([counts @ values for counts in counted_draws(len(values), resamples, seed)]) / len(values)
    tail = 100 * (1 - confidence) / 2
    lows, highs = np.percentile(drawn, [tail, 100 - tail], axis=0)
    slack = 1e-12 * np.maximum(np.abs(values).max(axis=0), 1.0)
    as_large = (np.abs(drawn - means) >= np.abs(means) - slack).sum(axis=0)
    least = least_p_value(len(values))
    rounded = (np.round(told, SAME_DIGITS) + 0.0 for told in (means, lows, highs))
    return [
        Difference(float(mean), float(low), float(high), max((int(count) + 1) / (resamples + 1), least))
        for mean, low, high, count in zip(*rounded, as_large, strict=True)
    ]


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
    sample, of = finite(values), np.asarray(clusters)
    if of.max() == 0:
        return Interval(float(sample.mean()), None, None)
    sums, counts = np.bincount(of, sample), np.bincount(of)
    means = np.concatenate([(drawn @ sums) / (drawn @ counts) for drawn in drawn_clusters(len(sums), resamples, seed)])
    return Interval(float(sample.mean()), *percentiles(means, confidence))


def resampled_means(sample: np.ndarray, resamples: int = RESAMPLES, seed: int = SEED) -> np.ndarray:
    """Means of samples drawn with replacement, each as large as the sample: float64 `(resamples,)`."""
    generator = np.random.default_rng(seed)
    means = np.empty(resamples)
    for first in range(0, resamples, BLOCK):
        drawn = generator.integers(0, len(sample), (min(BLOCK, resamples - first), len(sample)))
        means[first : first + len(drawn)] = sample[drawn].mean(axis=1)
    return means


def drawn_clusters(clusters: int, resamples: int, seed: int) -> Iterator[np.ndarray]:
    """How often each cluster is drawn, in blocks of resamples: float64 `(block, clusters)`."""
    generator = np.random.default_rng(seed)
    for first in range(0, resamples, CLUSTERS_BLOCK):
        block = min(CLUSTERS_BLOCK, resamples - first)
        drawn = generator.integers(0, clusters, (block, clusters)) + clusters * np.arange(block)[:, None]
        yield np.bincount(drawn.ravel(), minlength=block * clusters).reshape(block, clusters).astype(np.float64)


def counted_draws(videos: int, resamples: int, seed: int) -> Iterator[np.ndarray]:
    """How often each video is in the samples that `resampled_means` draws: float64 `(block, videos)`."""
    counts = _counts(videos, resamples, seed)
    for first in range(0, resamples, BLOCK):
        yield counts[first : first + BLOCK].astype(np.float64)


@functools.lru_cache(maxsize=1)  # many comparisons are of as many videos
def _counts(videos: int, resamples: int, seed: int) -> np.ndarray:
    """The same, whole: uint16 `(resamples, videos)`."""
    generator = np.random.default_rng(seed)
    counts = np.empty((resamples, videos), np.uint16)
    for first in range(0, resamples, BLOCK):
        block = min(BLOCK, resamples - first)
        drawn = generator.integers(0, videos, (block, videos)) + videos * np.arange(block)[:, None]
        counts[first : first + block] = np.bincount(drawn.ravel(), minlength=block * videos).reshape(block, videos)
    return counts


def percentiles(means: np.ndarray, confidence: float) -> tuple[float, float]:
    """The ends that leave out as much on either side."""
    tail = 100 * (1 - confidence) / 2
    low, high = np.percentile(means, [tail, 100 - tail])
    return float(low), float(high)


def finite(values: Sequence[float]) -> np.ndarray:
    """Values as float64 `(values,)`.

    Raises:
        ValueError: there is none, or one is not finite.
    """
    sample = np.asarray(values, np.float64)
    if sample.ndim != 1 or not len(sample):
        raise ValueError("no values to take the mean of")
    if not np.isfinite(sample).all():
        raise ValueError("a value is not finite; leave out what is unscored and say how many")
    return sample
