"""Ranks by hand, ties, gaps, and against a plain loop."""

import numpy as np
import pytest
import scipy.stats

from codecap import stats


def test_ranks_of_means_that_never_meet():
    base = np.random.default_rng(1).normal(0, 20, (30, 1))
    assert stats.rank_intervals(base + np.array([10.0, 30.0, 20.0])) == [(3, 3, 3), (1, 1, 1), (2, 2, 2)]
    assert stats.rank_intervals(base + np.array([10.0, 30.0]), higher_is_better=False) == [(1, 1, 1), (2, 2, 2)]


def test_equals_share_the_better_place_whatever_the_order_of_their_sums():
    one = np.random.default_rng(2).random(40)
    values = np.stack([one, one[::-1][::-1] * 3 / 3, one - 1.0], axis=1)
    assert stats.rank_intervals(values) == [(1, 1, 1), (1, 1, 1), (3, 3, 3)]


def test_intervals_are_those_of_a_plain_loop():
    values = np.random.default_rng(3).normal([50, 52, 47, 60], 12, (25, 4))
    drawn = np.random.default_rng(stats.SEED).integers(0, 25, (300, 25))
    every = [scipy.stats.rankdata(-values[sample].mean(axis=0), method="min") for sample in drawn]
    low, high = np.percentile(every, [2.5, 97.5], axis=0, method="inverted_cdf")
    told = stats.rank_intervals(values, resamples=300)
    assert [(found.low, found.high) for found in told] == list(zip(low, high, strict=True))
    assert told[3].rank == 1 and told[0].low < told[0].high


def test_a_system_is_ranked_by_the_videos_that_it_has():
    values = np.array([[1.0, 5.0, np.nan], [1.0, np.nan, np.nan], [1.0, 0.0, np.nan]])
    told = stats.rank_intervals(values)
    assert [None if found is None else found.rank for found in told] == [2, 1, None]  # 2.5 against 1
    assert stats.rank_intervals(np.array([[3.0, 4.0]])) == [(2, None, None), (1, None, None)]  # one video
    assert stats.rank_intervals(np.full((2, 2), np.nan)) == [None, None]
    assert stats.rank_intervals(np.empty((0, 1))) == [None]


def test_a_system_of_one_video_has_a_place_and_no_ends():
    values = np.random.default_rng(4).normal(50, 10, (30, 3))
    values[1:, 2] = np.nan
    *others, one = stats.rank_intervals(values)
    assert one.rank in (1, 2, 3) and (one.low, one.high) == (None, None)
    assert all(other.low is not None for other in others)


def test_a_rank_is_as_sure_as_it_says():
    """The better of two systems is found first in all draws or in most, as the paired difference separates them."""
    generator = np.random.default_rng(6)
    close = generator.normal([0.5, 0.0], 1.0, (20, 2))
    difference = stats.paired_difference(close[:, 0], close[:, 1])
    low, high = stats.rank_intervals(close)[0][1:]
    assert (low == high) == (difference.low > 0) or difference.low == pytest.approx(0, abs=0.05)
