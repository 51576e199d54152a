"""Orders that votes ask for."""

from collections import Counter

from codecap.generate.tracing.stacking import stacked


def test_without_votes_the_later_lies_above():
    assert stacked([3, 1, 2], Counter()) == [1, 2, 3]


def test_votes_overrule():
    assert stacked([1, 2, 3], Counter({(1, 2): 9, (2, 1): 4, (2, 3): 7})) == [3, 2, 1]


def test_a_circle_still_gives_each_once():
    assert sorted(stacked([1, 2, 3], Counter({(1, 2): 5, (2, 3): 5, (3, 1): 5}))) == [1, 2, 3]
