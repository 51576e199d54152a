"""A process that is asked to stop sends nothing new, keeps what is under way, and pays nothing twice when it goes on."""

import threading
import time

import pytest

from codecap import stopping
from codecap.exchange import patience, session
from codecap.score.asking.rounds import ask_all

from .conftest import saying


@pytest.fixture(autouse=True)
def unasked():
    stopping.forget()
    yield
    stopping.forget()


def stopped_after(seconds: float, work) -> float:
    """Seconds from the wish to stop to its end."""
    asked = []

    def ask():
        asked.append(time.monotonic())
        stopping.ask("time limit near")

    timer = threading.Timer(seconds, ask)
    timer.start()
    with pytest.raises(stopping.Stopped, match="time limit near"):
        work()
    timer.join()
    return time.monotonic() - asked[0]


def test_a_wait_between_two_tries_ends_at_once(server, open_exchange, endpoint_of, monkeypatch):
    monkeypatch.setattr(patience, "FIRST_WAIT_S", 50.0)
    server.behave("500")
    exchange = open_exchange()
    assert stopped_after(0.5, lambda: exchange.ask(endpoint_of(), saying("a"))) < 2
    assert exchange.budget.account().open == {}
    assert server.account.calls == 0


def test_a_wait_that_the_server_asked_for_ends_at_once(server, open_exchange, endpoint_of):
    server.behave("429 with Retry-After")
    server.retry_after_s = 50
    exchange = open_exchange()
    assert stopped_after(0.5, lambda: exchange.ask(endpoint_of(), saying("a"))) < 2


def test_a_wait_for_its_turn_ends_at_once(server, open_exchange, endpoint_of):
    exchange = open_exchange(requests_per_minute=1)
    exchange.ask(endpoint_of(), saying("a"))
    assert stopped_after(0.5, lambda: [exchange.ask(endpoint_of(), saying(text)) for text in "bc"]) < 2


def test_what_is_recorded_is_still_replayed(open_exchange, endpoint_of):
    exchange = open_exchange()
    exchange.ask(endpoint_of(), saying("a"))
    stopping.ask("time limit near")
    assert exchange.ask(endpoint_of(), saying("a")).replayed
    with pytest.raises(stopping.Stopped):
        exchange.ask(endpoint_of(), saying("b"))


def test_answers_under_way_are_kept_and_only_the_others_are_asked_when_it_goes_on(server, tmp_path, prices, endpoint_of):
    """Twelve questions, three at once; it is asked to stop while three are under way."""
    settings = {"prices": prices, "concurrency": 3}
    server.slow_s, server.otherwise = 0.8, "slow"
    endpoint, durable = endpoint_of(), tmp_path / "durable"

    def work() -> list:
        with session(durable, settings) as exchange:
            return ask_all(endpoint, [lambda number=number: exchange.ask(endpoint, saying(f"q {number}")) for number in range(12)])

    took_s = stopped_after(1.2, work)  # the first one goes alone
    assert 0.2 < took_s < 3
    assert server.account.calls == 4
    stopping.forget()
    server.otherwise = "well"
    replies = work()
    assert sorted(reply.replayed for reply in replies) == [False] * 8 + [True] * 4
    assert (server.account.calls, server.account.twice) == (12, 0)
    with session(durable, settings) as exchange:
        account = exchange.budget.account()
    assert (account.calls, account.open) == (12, {})
