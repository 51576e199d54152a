"""How two series of numbers go together: two judges on the same points, two metrics on the same videos.

Sources: Pearson and Spearman correlation by SciPy; intervals resample clusters (clips), each with all of its values.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from codecap.stats.bootstrap import CONFIDENCE, RESAMPLES, SEED, drawn_clusters, finite, percentiles

FEWEST = 3  # pairs of a correlation
SAME = 1e-9  # of the largest: values that differ by less are equal


class Agreement(NamedTuple):
    """Correlation of two series; None where one of them is constant or there are fewer than three pairs."""

    pearson: float | None
    spearman: float | None


class Correlated(NamedTuple):
    """Two columns of a table over the lines that have both; a correlation is its value and the ends of its interval."""

    n: int
    clusters: int
    pearson: tuple[float, float | None, float | None] | None
    spearman: tuple[float, float | None, float | None] | None


def agreement(first: Sequence[float], second: Sequence[float]) -> Agreement:
    """Pearson's and Spearman's correlation of two judges' values.

    Raises:
        ValueError: they are not as many, there are none, or one is not finite.
    """
    first, second = finite(first), finite(second)
    if len(first) != len(second):
        raise ValueError(f"correlation of {len(first)} and {len(second)} values")
    if len(first) < FEWEST or np.ptp(first) == 0 or np.ptp(second) == 0:
        return Agreement(None, None)
    from scipy import stats  # here, as it takes longer to import than most tables take to make

    return Agreement(float(stats.pearsonr(first, second).statistic), float(stats.spearmanr(first, second).statistic))


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
    pairs = np.stack([finite(first), finite(second)], axis=1)
    of = np.asarray(clusters)
    cells, place = np.unique(pairs, axis=0, return_inverse=True)
    held = np.zeros((of.max() + 1, len(cells)))  # how often each cluster holds each distinct pair of values
    np.add.at(held, (of, place.ravel()), 1.0)
    found: list[list[np.ndarray]] = [[], []]
    for drawn in drawn_clusters(len(held), resamples, seed) if len(held) > 1 else ():
        weights = drawn @ held
        found[0].append(_weighted_correlation(weights, cells[None, :, 0], cells[None, :, 1]))
        found[1].append(
            _weighted_correlation(weights, _weighted_ranks(weights, cells[:, 0]), _weighted_ranks(weights, cells[:, 1]))
        )
    pearson, spearman = (_defined(np.concatenate(values), confidence) if values else None for values in found)
    return pearson, spearman


def correlations(
    values: np.ndarray,
    clusters: Sequence[int],
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
    seed: int = SEED,
) -> dict[tuple[int, int], Correlated]:
    """Correlations of all pairs of columns, with intervals over clusters.

    Spearman's is Pearson's of the ranks among all lines that have both, which are not taken anew in each draw.

    Args:
        values: float64 `(lines, columns)`, NaN where there is no number.
        clusters: of each line, numbers from 0 on without a gap.

    Returns:
        By the numbers of the two columns, the smaller first. No correlation of fewer than three lines or of a constant column.
    """
    table, of = np.asarray(values, np.float64), np.asarray(clusters)
    pairs = list(combinations(range(table.shape[1]), 2))
    kept = {pair: np.isfinite(table[:, pair]).all(axis=1) for pair in pairs}
    sums, told = {}, {}
    for pair, lines in kept.items():
        x, y = table[lines, pair[0]], table[lines, pair[1]]
        told[pair] = agreement(x, y) if _varies(x) and _varies(y) else Agreement(None, None)
        if told[pair].pearson is not None:
            from scipy.stats import rankdata

            ranks = rankdata(x), rankdata(y)
            sums[pair] = [_sums(*of_kind, of[lines], int(of.max()) + 1) for of_kind in ((x, y), ranks)]
    ends = _intervals(sums, int(of.max()) + 1 if len(of) else 0, resamples, confidence, seed)
    return {
        pair: Correlated(
            n=int(lines.sum()),
            clusters=len(np.unique(of[lines])),
            pearson=None if told[pair].pearson is None else (told[pair].pearson, *ends[pair][0]),
            spearman=None if told[pair].spearman is None else (told[pair].spearman, *ends[pair][1]),
        )
        for pair, lines in kept.items()
    }


def _varies(values: np.ndarray) -> bool:
    """Values differ by more than the order of a sum does."""
    return len(values) > 0 and bool(np.ptp(values) > SAME * max(float(np.abs(values).max()), 1.0))


def _sums(x: np.ndarray, y: np.ndarray, of: np.ndarray, clusters: int) -> np.ndarray:
    """Of each cluster: count, sums of x, y, their squares and their product, about the means: float64 `(clusters, 6)`."""
    x, y = ((values - values.mean()) / values.std() for values in (x, y))
    return np.stack([np.bincount(of, told, clusters) for told in (np.ones(len(x)), x, y, x * x, y * y, x * y)], axis=1)


def _intervals(
    sums: dict[tuple[int, int], list[np.ndarray]], clusters: int, resamples: int, confidence: float, seed: int
) -> dict[tuple[int, int], list[tuple[float | None, float | None]]]:
    """Intervals of each pair's correlations, all from the same draws of clusters."""
    if not sums:
        return {}
    wide = np.concatenate([of_kind for kinds in sums.values() for of_kind in kinds], axis=1)
    found = []
    for drawn in drawn_clusters(clusters, resamples, seed):
        count, x, y, xx, yy, xy = np.moveaxis((drawn @ wide).reshape(len(drawn), -1, 6), 2, 0)
        count = np.where(count > 0, count, np.nan)
        spread_x, spread_y, shared = xx / count - (x / count) ** 2, yy / count - (y / count) ** 2, xy / count - x * y / count**2
        constant = ~(np.minimum(spread_x, spread_y) > 1e-12)
        found.append(np.where(constant, np.nan, shared / np.sqrt(np.where(constant, 1.0, spread_x * spread_y))))
    every = np.concatenate(found)
    ends = [_defined(column, confidence) if clusters > 1 else None for column in every.T]
    told = [(None, None) if end is None else (round(end[0], 12), round(end[1], 12)) for end in ends]
    return {pair: told[2 * place : 2 * place + 2] for place, pair in enumerate(sums)}


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
    return percentiles(there, confidence) if len(there) >= confidence * len(values) else None
