"""Spread of repeated judgements by hand, and the published example of the intraclass correlation."""

import pytest

from codecap import stats


def test_by_hand():
    told = stats.repeats([[4, 4, 5], [3, 3, 3], [0, 5, 1]])
    assert (told.targets, told.times, told.largest_spread) == (3, 3, 5)
    assert told.unanimous == pytest.approx(1 / 3) and told.mean_spread == pytest.approx((1 + 0 + 5) / 3)
    assert told.sd == pytest.approx(((1 / 3 + 0 + 7) / 3) ** 0.5)  # variances 1/3, 0 and 7


def test_reliability_of_shrout_and_fleiss():
    """Their Table 2: six targets, four judges; ICC(1,1) is .17."""
    table = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    assert stats.repeats(table).reliability == pytest.approx(0.17, abs=0.005)


def test_what_has_no_reliability():
    assert stats.repeats([[1, 2]]).reliability is None
    assert stats.repeats([[3, 3], [3, 3]]).reliability is None
    assert stats.repeats([[3, 3], [4, 4]]).reliability == pytest.approx(1.0)


@pytest.mark.parametrize("given", [[], [[1]], [[1, 2], [1, 2, 3]]])
def test_judgements_must_be_as_many(given):
    with pytest.raises(ValueError, match="as many"):
        stats.repeats(given)
