"""How long a run has taken, replayed answers included."""

import threading
import time

import pytest

from codecap.generate.gateway import Deadline

from .conftest import WAYS, Client


def test_a_replayed_answer_counts_with_the_time_that_it_took():
    deadline = Deadline(100)
    before = deadline.moment
    deadline.replayed(1000.0, 30.0)
    assert (deadline.taken_s, before - deadline.moment) == (pytest.approx(30, abs=1), pytest.approx(30))


@pytest.mark.parametrize(
    ("spans", "seconds"),
    [
        ([(10, 10), (20, 5)], 15),  # 0 to 10, 15 to 20
        ([(10, 10), (12, 8)], 12),  # 4 to 12 overlaps
        ([(10, 2), (20, 2), (30, 25)], 25),  # the last holds both
        ([(10, 5), (10, 5)], 5),
    ],
)
@pytest.mark.parametrize("order", [1, -1])
def test_what_was_answered_at_the_same_time_counts_once(spans, seconds, order):
    deadline = Deadline(100)
    before = deadline.moment
    for ended, took_s in spans[::order]:
        deadline.replayed(ended, took_s)
    assert before - deadline.moment == pytest.approx(seconds)


def test_a_run_begun_again_has_the_time_that_its_answers_left(upstream, gateway_of):
    way = WAYS["messages stream"]
    upstream.behave("held")
    with gateway_of(way, deadline=Deadline(30)) as gateway:
        threading.Thread(target=lambda: (upstream.held.wait(10), time.sleep(0.8), upstream.go_on.set())).start()
        began = time.monotonic()
        Client(gateway).ask(way)
        took_s = time.monotonic() - began
    again = Deadline(30)
    before = again.moment
    with gateway_of(way, deadline=again) as gateway:
        Client(gateway).ask(way)
    assert gateway.tally.replayed == 1
    assert 0.79 < before - again.moment <= took_s
    over = Deadline(0.79)  # s, less than the first answer took
    with gateway_of(way, deadline=over) as gateway:
        Client(gateway).ask(way)
        assert Client(gateway).ask(way, "more").status_code == 403
    assert gateway.tally.stopped_by == "deadline" and upstream.answers == 1
