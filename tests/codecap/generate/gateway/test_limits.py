"""Budgets and deadlines: an error in the API's own words, and the tally says which it was."""

from __future__ import annotations

import time
from decimal import Decimal

import pytest

from codecap import stopping
from codecap.exchange import PriceUnknown
from codecap.generate.gateway import Deadline, Limits

from .conftest import WAYS, Client

APIS = pytest.mark.parametrize("way", [WAYS["chat"], WAYS["messages stream"], WAYS["generate"]], ids=lambda way: way.api)


def is_an_error_of(way, response) -> bool:
    error = response.json()["error"]
    if way.api == "anthropic":
        return response.json()["type"] == "error" and error["type"] == "permission_error"
    return error["status"] == "PERMISSION_DENIED" if way.api == "google" else error["code"] == "task_over"


@APIS
@pytest.mark.parametrize(
    ("limits", "by"), [({"usd": Decimal("0.004")}, "usd"), ({"calls": 2}, "calls"), ({"rounds": 2}, "rounds")], ids=lambda x: str(x)
)
def test_limits_of_a_run(way, limits, by, upstream, gateway_of):
    with gateway_of(way, limits=Limits(**limits)) as gateway:
        client = Client(gateway)
        told = [client.ask(way, str(number)) for number in range(6)]
    answered = [response for response in told if response.status_code == 200]
    refused = told[len(answered) :]
    assert len(answered) == upstream.answers == 1 if by == "usd" else 2
    assert {response.status_code for response in refused} == {403}
    assert all(is_an_error_of(way, response) for response in refused)
    assert (gateway.tally.stopped_by, gateway.tally.rounds) == (by, len(answered))
    assert gateway.tally.infrastructure_failed is None


def test_failed_calls_count_as_calls_and_not_as_rounds(upstream, gateway_of):
    way = WAYS["chat"]
    upstream.behave("500", "500")
    with gateway_of(way, limits=Limits(calls=3)) as gateway:
        statuses = [Client(gateway).ask(way).status_code for _ in range(4)]
    assert statuses == [500, 500, 200, 403]
    assert (gateway.tally.calls, gateway.tally.rounds) == (3, 1)


@APIS
def test_the_deadline(way, upstream, gateway_of):
    with gateway_of(way, deadline=Deadline(0.6)) as gateway:
        client = Client(gateway)
        assert client.ask(way, "early").status_code == 200
        time.sleep(0.6)
        response = client.ask(way, "late")
    assert (response.status_code, upstream.answers) == (403, 1)
    assert is_an_error_of(way, response)
    assert gateway.tally.stopped_by == "deadline"


@pytest.mark.parametrize("settings", [{"budget_calls": 2}, {"budget_usd": "0.12"}], ids=["calls", "usd"])
def test_the_stores_budget_is_no_failure_of_the_model(settings, upstream, gateway_of):
    way = WAYS["messages"]  # asks for 1000 tokens at most: 0.053 USD
    with gateway_of(way, settings=settings) as gateway:
        statuses = [Client(gateway).ask(way, str(number), max_tokens=1000).status_code for number in range(9)]
    assert 403 in statuses
    assert statuses.index(403) == upstream.answers
    tally = gateway.tally
    assert tally.stopped_by == "store budget"
    assert "is spent" in tally.infrastructure_failed
    with gateway_of(way) as gateway:  # raised: what is recorded is replayed
        assert Client(gateway).ask(way, "0", max_tokens=1000).status_code == 200
    assert gateway.tally.replayed == 1


def test_what_is_not_recorded_is_not_asked_in_a_replay(upstream, gateway_of):
    way = WAYS["chat"]
    with gateway_of(way, replay_only=True) as gateway:
        assert Client(gateway).ask(way).status_code == 403
    assert upstream.requests == []
    assert gateway.tally.stopped_by == "not recorded"


def test_a_limit_in_usd_needs_a_price(gateway_of):
    with pytest.raises(PriceUnknown, match="no price for 'unheard-of'"):
        gateway_of(WAYS["chat"], endpoint={"model": "unheard-of"}, limits=Limits(usd=Decimal(1)))


def test_nothing_is_sent_when_the_process_is_to_end(upstream, gateway_of):
    way = WAYS["chat"]
    with gateway_of(way) as gateway:
        try:
            stopping.ask("a test")
            assert Client(gateway).ask(way).status_code == 403
        finally:
            stopping.forget()
    assert upstream.requests == []
    assert gateway.tally.infrastructure_failed == "the process is to end: a test"


@pytest.mark.parametrize(
    ("way", "asked", "seen"),
    [
        ("chat", {"reasoning_effort": "high"}, "high"),
        ("chat", {"reasoning_effort": "none"}, "off"),
        ("responses stream", {"reasoning": {"effort": "xhigh", "summary": "auto"}}, "xhigh"),
        ("messages", {"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}}, "high"),
        ("messages", {"thinking": {"type": "enabled", "budget_tokens": 4096}}, "4096"),
        ("messages stream", {"thinking": {"type": "disabled"}}, "off"),
        ("generate", {"generationConfig": {"thinkingConfig": {"thinkingLevel": "HIGH"}}}, "high"),
        ("generate stream", {"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}}, "off"),
        ("responses", {}, "not told"),
    ],
)
def test_efforts_are_seen(way, asked, seen, upstream, gateway_of):
    way = WAYS[way]
    with gateway_of(way, endpoint={"thinking": "off" if way.api == "google" else "high"}) as gateway:
        Client(gateway).ask(way, **asked)
    assert gateway.tally.efforts_seen == {seen: 1}
    assert gateway.tally.effort_is_right == (seen == ("off" if way.api == "google" else "high"))


def test_what_an_entry_lays_over_requests(upstream, gateway_of):
    way = WAYS["chat"]
    with gateway_of(way, endpoint={"extra": {"enable_thinking": True}}) as gateway:
        Client(gateway).ask(way)
    assert upstream.requests[0][2]["enable_thinking"] is True
