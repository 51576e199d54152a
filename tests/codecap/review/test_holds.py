"""Who holds a clip."""

import threading

import pytest

from codecap.review import holds
from codecap.review.holds import Hold


@pytest.fixture
def place(tmp_path):
    return tmp_path / "A_001" / ".hold"


@pytest.fixture
def later(monkeypatch):
    """Moves the clock."""
    shift = [0.0]
    real = holds.time.time
    monkeypatch.setattr(holds.time, "time", lambda: real() + shift[0])

    def move(seconds: float) -> None:
        shift[0] += seconds

    return move


def test_the_second_tab_is_told_who_holds_it(place):
    assert holds.hold(place, "ann", "one") == Hold(True, "ann", "one")
    assert holds.hold(place, "ann", "two") == Hold(False, "ann", "one")
    assert holds.hold(place, "bob", "one") == Hold(False, "ann", "one")
    assert holds.look(place, "ann", "one").mine and not holds.look(place, "ann", None).mine


def test_it_may_be_taken_over_and_the_first_one_sees_that(place):
    holds.hold(place, "ann", "one")
    assert holds.hold(place, "bob", "two", take=True).mine
    assert holds.hold(place, "ann", "one") == Hold(False, "bob", "two")


def test_it_ends_by_itself_and_lasts_when_it_is_renewed(place, later):
    holds.hold(place, "ann", "one")
    later(20)
    assert holds.hold(place, "ann", "one").mine
    later(20)
    assert not holds.hold(place, "bob", "two").mine
    later(11)
    assert holds.look(place, "bob", "two") == Hold(False, None, None)
    assert holds.hold(place, "bob", "two").mine


def test_only_its_holder_releases_it_and_nothing_stays(place):
    holds.hold(place, "ann", "one")
    holds.release(place, "bob", "one")
    assert holds.look(place, "ann", "one").mine
    holds.release(place, "ann", "one")
    assert not place.parent.exists()
    holds.release(place, "ann", "one")


def test_a_damaged_hold_is_none(place):
    holds.hold(place, "ann", "one")
    place.write_text('{"who": "ann"')
    assert holds.hold(place, "bob", "two").mine


def test_of_many_that_ask_at_once_one_holds_it(place):
    found: list[Hold] = []
    asking = [threading.Thread(target=lambda tab=f"t{n}": found.append(holds.hold(place, "ann", tab))) for n in range(6)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join(20)
    assert sum(hold.mine for hold in found) == 1 and len({hold.tab for hold in found}) == 1
