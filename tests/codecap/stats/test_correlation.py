"""Correlations of columns beside SciPy, and their intervals beside a plain loop over clips."""

import numpy as np
import pytest
import scipy.stats

from codecap import stats


def table(lines: int = 60) -> np.ndarray:
    random = np.random.default_rng(9)
    first = random.normal(size=lines)
    values = np.stack([first, first + random.normal(size=lines), random.random(lines), np.full(lines, 7.0)], axis=1)
    values[::7, 1] = np.nan
    return values


CLUSTERS = np.repeat(np.arange(15), 4)


def test_values_are_scipys_over_the_lines_that_have_both():
    values = table()
    told = stats.correlations(values, CLUSTERS, resamples=50)
    kept = np.isfinite(values[:, 1])
    found = told[0, 1]
    assert (found.n, found.clusters) == (kept.sum(), 15)
    assert found.pearson[0] == pytest.approx(scipy.stats.pearsonr(values[kept, 0], values[kept, 1]).statistic)
    assert found.spearman[0] == pytest.approx(scipy.stats.spearmanr(values[kept, 0], values[kept, 1]).statistic)
    assert set(told) == {(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)}


def test_pearsons_interval_is_that_of_a_plain_loop_over_clips():
    values = table()
    found = stats.correlations(values, CLUSTERS, resamples=300)[0, 1].pearson
    kept = np.flatnonzero(np.isfinite(values[:, 1]))
    drawn = np.random.default_rng(stats.SEED)
    every = []
    for _ in range(3):
        for row in drawn.integers(0, 15, (100, 15)):
            lines = np.concatenate([kept[CLUSTERS[kept] == cluster] for cluster in row])
            every.append(scipy.stats.pearsonr(values[lines, 0], values[lines, 1]).statistic)
    assert found[1:] == pytest.approx(np.percentile(every, [2.5, 97.5]))


def test_spearmans_interval_is_near_the_one_with_ranks_taken_anew():
    values = table(300)[:, :2]
    values = values[np.isfinite(values).all(axis=1)]
    clusters = np.arange(len(values)) // 2
    anew = stats.agreement_intervals(values[:, 0], values[:, 1], clusters, resamples=1000)[1]
    assert stats.correlations(values, clusters, resamples=1000)[0, 1].spearman[1:] == pytest.approx(anew, abs=0.03)


def test_what_has_no_correlation():
    told = stats.correlations(table(), CLUSTERS, resamples=50)[0, 3]
    assert told.pearson is None and told.spearman is None and told.n == 60
    few = stats.correlations(np.array([[1.0, 2.0], [2.0, 1.0], [np.nan, 3.0]]), [0, 1, 2])[0, 1]
    assert few == (2, 2, None, None)
    one_clip = stats.correlations(np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 3.0]]), [0, 0, 0])[0, 1]
    assert one_clip.pearson[0] == pytest.approx(0.5) and one_clip.pearson[1:] == (None, None)
    assert stats.correlations(np.empty((0, 2)), [])[0, 1] == (0, 0, None, None)
