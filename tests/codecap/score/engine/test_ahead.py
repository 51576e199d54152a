"""One item ahead, in order, and an error only when its turn has come."""

import threading

import pytest

from codecap.score.engine.ahead import ahead


def test_the_next_item_is_prepared_while_the_present_one_is_worked_on():
    """Work on an item waits until the next one was prepared: without the thread it would wait in vain."""
    prepared = [threading.Event() for _ in range(4)]

    def prepare(number: int) -> int:
        prepared[number].set()
        return number

    seen = []
    for number in ahead(range(4), prepare):
        if number < 3:
            assert prepared[number + 1].wait(10)
        seen.append(number)
    assert seen == [0, 1, 2, 3]


def test_never_more_than_one_item_ahead():
    begun = []
    for number in ahead(range(20), lambda number: begun.append(number) or number):
        assert max(begun) <= number + 1


def test_an_error_comes_when_its_item_would_have_come_and_what_is_left_is_not_begun():
    begun = []

    def prepare(number: int) -> int:
        begun.append(number)
        if number == 2:
            raise ValueError("the third")
        return number

    seen = []
    with pytest.raises(ValueError, match="the third"):
        for number in ahead(range(9), prepare):
            seen.append(number)
    assert seen == [0, 1]
    assert max(begun) <= 3


def test_nothing_to_do():
    assert list(ahead([], lambda item: item)) == []


def test_a_caller_that_stops_leaves_no_thread():
    before = threading.active_count()
    items = ahead(range(9), lambda number: number)
    assert next(items) == 0
    items.close()
    assert threading.active_count() <= before  # a thread of another test may have ended meanwhile
