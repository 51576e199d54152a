"""Differences of many pairs at once beside one at a time, SciPy's bootstrap and exact enumeration; the promise of coverage."""

import itertools

import numpy as np
import pytest
import scipy.stats

from codecap import stats
from codecap.stats.bootstrap import counted_draws

RANDOM = np.random.default_rng(11)


def test_many_pairs_are_as_one_at_a_time():
    values = RANDOM.normal(50, 20, (30, 4))
    pairs = list(itertools.combinations(range(4), 2))
    found = stats.paired_differences(np.stack([values[:, a] - values[:, b] for a, b in pairs], axis=1), resamples=2500)
    for (a, b), told in zip(pairs, found, strict=True):
        assert told == pytest.approx(stats.paired_difference(values[:, a], values[:, b], resamples=2500), abs=1e-9)


def test_a_paired_bootstrap_is_that_of_scipy():
    first, second = RANDOM.normal(60, 15, 50), RANDOM.normal(55, 15, 50)
    told = stats.paired_differences((first - second)[:, None])[0]
    theirs = scipy.stats.bootstrap(
        (first, second), lambda x, y, axis: np.mean(x - y, axis=axis), paired=True, method="percentile", n_resamples=10_000, rng=3
    ).confidence_interval
    width = theirs.high - theirs.low
    assert (told.low, told.high) == (pytest.approx(theirs.low, abs=0.03 * width), pytest.approx(theirs.high, abs=0.03 * width))


def test_p_values_are_near_those_of_an_exact_permutation_test():
    for shift in (0.0, 0.2, 0.4):
        differences = np.random.default_rng(5).normal(shift, 1.0, 60)
        theirs = scipy.stats.permutation_test(
            (differences, np.zeros(60)), lambda x, y, axis: np.mean(x - y, axis=axis), permutation_type="samples",
            vectorized=True, n_resamples=5000, rng=1,
        ).pvalue  # fmt: skip
        assert stats.paired_differences(differences[:, None], resamples=5000)[0].p_value == pytest.approx(theirs, abs=0.03)


@pytest.mark.parametrize("videos", [2, 5, 10])
def test_few_videos_tell_no_more_than_an_exact_test(videos):
    """All differences point one way: the smallest p-value of SciPy's exact sign-flip test, which a bootstrap would undercut."""
    differences = np.linspace(5.0, 6.0, videos)
    theirs = scipy.stats.permutation_test(
        (differences, np.zeros(videos)), lambda x, y, axis: np.mean(x - y, axis=axis), permutation_type="samples",
        vectorized=True, n_resamples=np.inf,
    ).pvalue  # fmt: skip
    assert stats.paired_differences(differences[:, None])[0].p_value == pytest.approx(theirs)
    assert stats.paired_difference(differences, np.zeros(videos)).p_value == pytest.approx(theirs)


def test_one_video_has_no_interval_and_no_video_is_refused():
    assert stats.paired_differences(np.array([[2.0, -1.0]])) == [(2.0, None, None, None), (-1.0, None, None, None)]
    for wrong in (np.empty((0, 2)), np.array([[np.nan]]), np.array([1.0])):
        with pytest.raises(ValueError, match="finite numbers"):
            stats.paired_differences(wrong)


def beta_with_failures(generator, size):
    """Scores as they are: near the top, with one task in twenty at 0."""
    return np.where(generator.random(size) < 0.05, 0.0, generator.beta(5, 2, size))


SHAPES = {
    "normal": (lambda generator, size: generator.normal(size=size), 0.0),
    "uniform": (lambda generator, size: generator.random(size), 0.5),
    "scores": (beta_with_failures, 0.95 * 5 / 7),
    "points": (lambda generator, size: generator.binomial(5, 0.6, size), 3.0),
    "skewed": (lambda generator, size: generator.gamma(2.0, size=size), 2.0),
}


@pytest.mark.parametrize("videos", [100, 323])
@pytest.mark.parametrize("shape", SHAPES)
def test_intervals_cover_what_they_say(shape, videos):
    """Of 3,000 samples of so many videos, 93 to 97 % of the intervals hold the mean.

    `bootstrap_mean` draws the same places for every sample of a size, so that all samples can be resampled by one product.
    """
    draw, mean = SHAPES[shape]
    samples = draw(np.random.default_rng(17), (videos, 3000))
    counts = np.concatenate(list(counted_draws(videos, 1000, stats.SEED)))
    low, high = np.percentile(counts @ samples / videos, [2.5, 97.5], axis=0)
    for place in (0, 1, 2999):
        told = stats.bootstrap_mean(samples[:, place], resamples=1000)
        assert (told.low, told.high) == pytest.approx((low[place], high[place]))
    assert 0.93 <= np.mean((low <= mean) & (mean <= high)) <= 0.97


def test_intervals_of_differences_cover_what_they_say():
    """Two systems whose scores on a video go together: the differences of 2,000 samples of 60 videos, as `paired_differences`."""
    generator = np.random.default_rng(23)
    hard = generator.normal(0, 15, (60, 2000))
    differences = (hard + generator.normal(62, 8, hard.shape)) - (hard + generator.normal(60, 10, hard.shape))
    told = stats.paired_differences(differences, resamples=1000)
    assert 0.93 <= np.mean([found.low <= 2.0 <= found.high for found in told]) <= 0.97
