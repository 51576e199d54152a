"""The bootstrap against exact enumeration, normal theory and its own promise of coverage; correlations by hand."""

import itertools

import numpy as np
import pytest
import scipy.stats

from codecap import stats


def test_constant_data_have_an_interval_of_no_width():
    assert stats.bootstrap_mean([2.5] * 7) == (2.5, 2.5, 2.5)


def test_one_value_has_no_interval():
    assert stats.bootstrap_mean([0.4]) == (0.4, None, None)
    assert stats.paired_difference([0.4], [0.1])[1:] == (None, None, None)


@pytest.mark.parametrize("values", [[], [1.0, float("nan")], [1.0, float("inf")]])
def test_what_is_not_a_number_is_refused(values):
    with pytest.raises(ValueError, match="value"):
        stats.bootstrap_mean(values)


def test_the_same_seed_gives_the_same_interval_and_another_one_nearly():
    values = np.random.default_rng(3).normal(size=40)
    assert stats.bootstrap_mean(values) == stats.bootstrap_mean(list(values))
    other = stats.bootstrap_mean(values, seed=99)
    assert other != stats.bootstrap_mean(values)
    assert other.low == pytest.approx(stats.bootstrap_mean(values).low, abs=0.02)


def test_against_all_resamples_of_four_values():
    """Four values have 4^4 resamples, so that the percentiles of their means are known exactly."""
    values = [0.0, 1.0, 3.0, 8.0]
    every = [np.mean(drawn) for drawn in itertools.product(values, repeat=4)]
    low, high = np.percentile(every, [2.5, 97.5])
    found = stats.bootstrap_mean(values)
    assert found.mean == 3.0
    assert (found.low, found.high) == (pytest.approx(low, abs=0.25), pytest.approx(high, abs=0.25))


def test_width_is_that_of_normal_theory_on_a_large_sample():
    values = np.random.default_rng(1).normal(10.0, 2.0, 2_000)
    low, high = stats.bootstrap_mean(values)[1:]
    half = 1.96 * values.std() / np.sqrt(len(values))
    assert (high - low) / 2 == pytest.approx(half, rel=0.05)


def test_coverage_is_what_it_says():
    """Of 400 samples of an exponential distribution of mean 1, about 95 % of the intervals hold 1 (fewer: it is skewed)."""
    generator = np.random.default_rng(5)
    inside = 0
    for _ in range(400):
        _, low, high = stats.bootstrap_mean(generator.exponential(size=60), resamples=1_000)
        inside += low <= 1.0 <= high
    assert 0.90 <= inside / 400 <= 0.97


def test_a_paired_difference_sees_what_two_intervals_do_not():
    base = np.random.default_rng(2).normal(50, 20, 30)
    better = base + 1.0
    told = stats.paired_difference(better, base)
    assert (told.mean, told.low, told.high) == pytest.approx((1.0, 1.0, 1.0))
    first, second = stats.bootstrap_mean(better), stats.bootstrap_mean(base)
    assert first.low < second.high  # the two intervals overlap
    assert told.p_value == pytest.approx(1 / 10_001)


def test_p_value_of_no_difference_is_large_and_uniform_enough():
    generator = np.random.default_rng(8)
    small = [
        stats.paired_difference(generator.normal(size=40), generator.normal(size=40), resamples=500).p_value <= 0.05
        for _ in range(300)
    ]
    assert 0.02 <= np.mean(small) <= 0.10
    assert stats.paired_difference([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]).p_value == 1.0


def test_paired_values_must_be_of_the_same_videos():
    with pytest.raises(ValueError, match="same videos"):
        stats.paired_difference([1.0, 2.0], [1.0])


def test_correlations_by_hand():
    told = stats.agreement([1, 2, 3, 4], [1, 4, 9, 16])
    # deviations -1.5..1.5 and -6.5, -3.5, 1.5, 8.5: sum of products 25, of squares 5 and 129
    assert told.pearson == pytest.approx(25 / np.sqrt(5 * 129))
    assert told.spearman == pytest.approx(1.0)
    assert stats.agreement([1, 2, 3, 4], [4, 3, 1, 2]).spearman == pytest.approx(1 - 6 * (9 + 1 + 4 + 4) / (4 * 15))
    assert stats.agreement([1, 1, 1], [1, 2, 3]) == (None, None)


def test_intervals_of_correlations_are_those_of_a_plain_loop_over_scipy():
    random = np.random.default_rng(1)
    clusters = np.repeat(np.arange(9), [1, 2, 3, 4, 5, 1, 2, 3, 4])
    first = random.integers(0, 6, len(clusters)) * 20.0
    second = np.clip(first + 20.0 * random.integers(-2, 3, len(clusters)), 0, 100)
    found = stats.agreement_intervals(first, second, clusters, resamples=300, seed=8)
    drawn = np.random.default_rng(8).integers(0, 9, (300, 9))
    samples = [np.concatenate([np.flatnonzero(clusters == cluster) for cluster in row]) for row in drawn]
    for interval, correlation in zip(found, (scipy.stats.pearsonr, scipy.stats.spearmanr), strict=True):
        values = [correlation(first[sample], second[sample]).statistic for sample in samples]
        assert interval == pytest.approx(np.percentile(values, [2.5, 97.5]))


def test_draws_without_variation_have_no_correlation():
    mostly_constant = stats.agreement_intervals([0, 0, 0, 100], [0, 100, 0, 100], [0, 1, 2, 3], resamples=500)
    assert mostly_constant == (None, None)  # (3/4)^4 = 32 % of the draws lack the only value that differs
    assert stats.agreement_intervals([0, 50, 100], [0, 50, 100], [0, 0, 0]) == (None, None)  # one cluster


def test_a_mean_over_clusters_of_one_is_the_plain_bootstrap():
    values = np.random.default_rng(2).random(20)
    assert stats.clustered_mean(values, range(20), resamples=400) == pytest.approx(stats.bootstrap_mean(values, resamples=400))
    doubled = stats.clustered_mean(np.repeat(values, 2), np.repeat(np.arange(20), 2), resamples=400)
    assert doubled == pytest.approx(stats.bootstrap_mean(values, resamples=400))
