"""Holm's procedure and the power of a paired test, beside statsmodels and SciPy."""

import numpy as np
import pytest
import scipy.stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower

from codecap import stats


def test_holm_by_hand():
    # sorted 0.01, 0.02, 0.03, 0.04 times 4, 3, 2, 1; never falling; the order of the input is kept
    assert stats.holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert stats.holm([0.5, 0.9]) == [1.0, 1.0]
    assert stats.holm([]) == []


@pytest.mark.parametrize("count", [1, 7, 55])
def test_holm_is_that_of_statsmodels(count):
    random = np.random.default_rng(count)
    for p_values in (random.random(count), random.beta(0.2, 4, count), np.round(random.random(count), 1)):
        assert stats.holm(p_values) == pytest.approx(multipletests(p_values, method="holm")[1])


@pytest.mark.parametrize("p_values", [[0.1, float("nan")], [-0.1], [1.1]])
def test_what_is_no_p_value_is_refused(p_values):
    with pytest.raises(ValueError, match="0 to 1"):
        stats.holm(p_values)


@pytest.mark.parametrize("videos", [5, 12, 40, 323, 3230])
@pytest.mark.parametrize("power", [0.8, 0.95])
def test_a_detectable_difference_is_that_of_statsmodels(videos, power):
    effect = stats.detectable_difference(7.0, videos, power) / 7.0
    assert TTestPower().power(effect, nobs=videos, alpha=0.05, alternative="two-sided") == pytest.approx(power, abs=1e-6)


def test_a_detectable_difference_is_found_as_often_as_it_says():
    random = np.random.default_rng(4)
    differences = random.normal(stats.detectable_difference(10.0, 30), 10.0, (4000, 30))
    assert np.mean(scipy.stats.ttest_1samp(differences, 0, axis=1).pvalue < 0.05) == pytest.approx(0.8, abs=0.02)


def test_one_video_finds_nothing():
    assert stats.detectable_difference(10.0, 1) is None
    assert stats.detectable_difference(0.0, 10) == 0.0
