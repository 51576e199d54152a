"""Faults of the provider: agents can try again, only answers are counted as such, and the tally tells whose fault it was."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter

import httpx2
import pytest

from codecap.generate.gateway import Deadline, Gateway, counting
from codecap.records import Usage

from .conftest import KEY, PRICES, WAYS, Client

EVERY = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
STREAMS = pytest.mark.parametrize("way", [way for way in WAYS.values() if way.streamed], ids=lambda way: way.path)


def ask_until_answered(client: Client, way, text: str = "Hello", tries: int = 9) -> bytes:
    """As an agent's client does: again after errors that pass, and after answers that broke off."""
    for _ in range(tries):
        try:
            response = client.ask(way, text)
        except httpx2.TransportError:
            continue
        if response.status_code == 200 and "overloaded_error" not in response.text:
            return response.content
        assert response.status_code == 200 or response.status_code >= 429, response.text
    raise AssertionError("no answer")


@EVERY
def test_what_passes_by_itself_is_tried_again_and_not_counted(way, upstream, gateway_of):
    faults = ["500", "429", "529", "cut", "html"] + (["ends early"] if way.streamed else [])
    upstream.behave(*faults)
    with gateway_of(way) as gateway:
        client = Client(gateway)
        first = ask_until_answered(client, way)
        assert gateway.tally.ended_by_fault is None
        upstream.behave("cut")
        ask_until_answered(client, way, "More")
    tally = gateway.tally
    assert (tally.rounds, tally.usage) == (2, Usage(**upstream.usage))
    assert sum(tally.faults.values()) == len(faults) + 1
    assert tally.infrastructure_failed is None
    with gateway_of(way, replay_only=True) as gateway:  # the replay knows the answers, and none of the faults
        assert Client(gateway).ask(way).content == first
    assert gateway.tally.faults == {}


def test_the_servers_wait_is_passed_on_and_one_is_given_where_it_says_none(upstream, gateway_of):
    way = WAYS["messages"]
    upstream.retry_after = "7"
    with gateway_of(way) as gateway:
        upstream.behave("429")
        assert Client(gateway).ask(way).headers["retry-after"] == "7"
    with gateway_of(way, run="another") as gateway:
        upstream.behave("500")
        assert Client(gateway).ask(way).headers["retry-after"] == "1"


@pytest.mark.parametrize(("fault", "status"), [("500", 500), ("429", 503), ("cut", 503), ("html", 502), ("307", 403), ("401", 401)])
def test_a_run_that_ends_in_a_fault_is_not_held_against_the_model(fault, status, upstream, gateway_of):
    way = WAYS["responses"]
    with gateway_of(way) as gateway:
        Client(gateway).ask(way)
        upstream.behave(fault)
        response = Client(gateway).ask(way)
    assert response.status_code == status
    assert response.json()["error"]
    assert gateway.tally.ended_by_fault
    assert gateway.tally.infrastructure_failed == gateway.tally.ended_by_fault


def test_a_request_that_the_provider_does_not_take_is_the_agents_own(upstream, gateway_of):
    way = WAYS["messages"]
    with gateway_of(way) as gateway:
        Client(gateway).ask(way)
        upstream.behave("400")
        response = Client(gateway).ask(way, "too much")
    assert (response.status_code, KEY in response.text) == (400, False)
    assert gateway.tally.ended_by_fault is None
    assert list(gateway.tally.rejected.values()) == [1]


@pytest.mark.parametrize(
    ("fault", "closes", "ours"),
    [
        ("404", False, False),
        ("404 of a proxy", False, True),
        ("403", False, True),
        ("404 of the model", True, True),
        ("401", True, True),
    ],
)
def test_what_may_be_about_one_request_keeps_no_other_run_from_the_model(fault, closes, ours, upstream, endpoint_of, open_exchange):
    way, exchange = WAYS["messages"], open_exchange()
    with Gateway(exchange, endpoint_of(way.api), "one") as gateway:
        assert Client(gateway).ask(way).status_code == 200
        upstream.behave(fault)
        assert 400 <= Client(gateway).ask(way, "odd").status_code < 500
    assert (gateway.tally.infrastructure_failed is not None) == ours
    with Gateway(exchange, endpoint_of(way.api), "another") as other:
        assert (Client(other).ask(way).status_code == 200) == (not closes)


@pytest.mark.parametrize("fault", ["404", "404 of a proxy", "403"])
def test_before_anything_was_answered_it_is_about_the_endpoint(fault, upstream, endpoint_of, open_exchange):
    way, exchange = WAYS["messages"], open_exchange()
    upstream.behave(fault)
    for run in ("one", "another"):
        with Gateway(exchange, endpoint_of(way.api), run) as gateway:
            Client(gateway).ask(way)
        assert gateway.tally.infrastructure_failed
    assert len(upstream.requests) == 1


def test_after_replays_alone_nobody_can_tell_so_only_the_run_itself_ends(upstream, gateway_of, endpoint_of, open_exchange):
    way = WAYS["messages"]
    with gateway_of(way, run="one") as gateway:
        Client(gateway).ask(way)
    exchange = open_exchange()
    with Gateway(exchange, endpoint_of(way.api), "one") as gateway:
        Client(gateway).ask(way)
        upstream.behave("404")
        Client(gateway).ask(way, "odd")
    assert (gateway.tally.replayed, gateway.tally.infrastructure_failed is not None) == (1, True)
    with Gateway(exchange, endpoint_of(way.api), "another") as other:
        assert Client(other).ask(way).status_code == 200


def test_where_the_provider_takes_no_request_at_all_the_settings_are_wrong(upstream, gateway_of):
    way = WAYS["messages"]
    upstream.behave("400")
    with gateway_of(way) as gateway:
        Client(gateway).ask(way)
    assert "too long" in gateway.tally.infrastructure_failed


def test_an_error_within_a_stream_is_passed_on_as_it_is(upstream, gateway_of):
    way = WAYS["messages stream"]
    upstream.behave("overloaded")
    with gateway_of(way) as gateway:
        response = Client(gateway).ask(way)
    assert response.text.count("message_start") >= 1
    assert "overloaded_error" in response.text
    assert (gateway.tally.rounds, gateway.tally.lost) == (0, 1)
    assert "overloaded" in gateway.tally.ended_by_fault


@STREAMS
def test_a_stream_that_breaks_off_breaks_off_for_the_client(way, upstream, gateway_of):
    upstream.behave("cut")
    with gateway_of(way) as gateway, pytest.raises(httpx2.RemoteProtocolError):
        Client(gateway).ask(way)
    assert gateway.tally.lost == 1
    assert gateway.tally.lost_usd > 0


def test_a_silent_provider_and_a_client_that_asks_again_meanwhile(upstream, gateway_of):
    """The client gives up before anything came, so the gateway goes on waiting for it; when it breaks, the next one asks anew."""
    way = WAYS["chat stream"]
    upstream.behave("silent")
    with gateway_of(way, endpoint={"timeout_s": 1.0}) as gateway:
        with pytest.raises(httpx2.ReadTimeout):
            Client(gateway, timeout_s=0.3).ask(way)
        response = Client(gateway).ask(way)
        assert response.status_code == 503
        assert len(upstream.requests) == 1
        upstream.go_on.set()
        assert Client(gateway).ask(way).status_code == 200
    assert list(gateway.tally.faults) == ["no answer within 1 s"]


def test_an_unreachable_provider_and_a_missing_key(upstream, gateway_of, monkeypatch):
    way = WAYS["generate"]
    with gateway_of(way, endpoint={"base_url": "http://127.0.0.1:9/v1"}) as gateway:
        response = Client(gateway).ask(way)
    assert (response.status_code, response.json()["error"]["status"]) == (503, "UNAVAILABLE")
    monkeypatch.delenv("UPSTREAM_KEY")
    with gateway_of(way) as gateway:
        response = Client(gateway).ask(way)
    assert response.status_code == 403
    assert "UPSTREAM_KEY" in gateway.tally.infrastructure_failed


def test_tokens_that_are_not_told_are_told_as_unknown(upstream, gateway_of, open_exchange):
    way = WAYS["chat stream"]
    upstream.behave("no usage")
    with gateway_of(way) as gateway:
        Client(gateway).ask(way)
    assert (gateway.tally.rounds, gateway.tally.unmetered, gateway.tally.usage) == (1, 1, Usage())
    assert open_exchange().budget.account().spent_usd > 0  # the estimate


def test_a_server_that_does_not_count_tokens_answers_all_the_same(upstream, gateway_of):
    way = WAYS["messages"]
    with gateway_of(way) as gateway:
        upstream.behave("404")
        counted = Client(gateway).http.post("/v1/messages/count_tokens", json=way.body())
        assert (counted.status_code, Client(gateway).ask(way).status_code) == (404, 200)
        upstream.behave("404")
        Client(gateway).http.post("/v1/messages/count_tokens", json=way.body())
    assert (gateway.tally.ended_by_fault, gateway.tally.lost, gateway.tally.rounds) == (None, 0, 1)


@pytest.mark.parametrize(("lasting_s", "ours"), [(300, False), (0.1, True)])
def test_a_fault_shortly_before_the_deadline_did_not_end_the_run(lasting_s, ours, upstream, gateway_of, monkeypatch):
    monkeypatch.setattr(counting, "LASTING_S", lasting_s)
    way = WAYS["chat"]
    with gateway_of(way, deadline=Deadline(0.8)) as gateway:
        Client(gateway).ask(way)
        upstream.behave("500")
        Client(gateway).ask(way, "more")
        time.sleep(0.8)
    assert (gateway.tally.infrastructure_failed is not None) == ours


def test_a_provider_that_never_answers_is_not_held_against_the_model(upstream, gateway_of):
    way = WAYS["messages stream"]
    upstream.otherwise = "500"
    with gateway_of(way, deadline=Deadline(2.0)) as gateway:
        assert Client(gateway).ask(way).status_code == 500
        time.sleep(2.0)
        assert Client(gateway).ask(way).status_code == 403
    tally = gateway.tally
    assert (tally.rounds, tally.stopped_by) == (0, "deadline")
    assert tally.infrastructure_failed in tally.faults


@pytest.mark.parametrize("answered", [0, 1])
def test_nor_is_one_that_is_silent_from_the_first_request_to_the_deadline(answered, upstream, gateway_of):
    way = WAYS["messages stream"]
    with gateway_of(way, deadline=Deadline(0.6), drain_s=1.5, endpoint={"timeout_s": 20}) as gateway:
        for number in range(answered):
            assert Client(gateway).ask(way, str(number)).status_code == 200
        upstream.behave("silent")
        with pytest.raises(httpx2.ReadTimeout):
            Client(gateway, timeout_s=0.7).ask(way)
    assert (gateway.tally.rounds, gateway.tally.lost, gateway.tally.faults) == (answered, 1, {})
    assert gateway.tally.infrastructure_failed == (None if answered else counting.SILENT)


def test_a_model_whose_first_answer_is_not_whole_at_the_deadline_is_slow(upstream, gateway_of):
    way = WAYS["messages stream"]
    upstream.behave("held")
    made = gateway_of(way, deadline=Deadline(0.5), drain_s=1.5, endpoint={"timeout_s": 20})
    with made as gateway, Client(gateway).http.stream("POST", way.path, json=way.body()) as response:
        next(response.iter_bytes())
        time.sleep(0.6)
    assert (gateway.tally.rounds, gateway.tally.lost) == (0, 1)
    assert gateway.tally.infrastructure_failed is None


def test_more_requests_than_a_client_could_wait_for(upstream, gateway_of):
    """Each is sent and left at once; the endpoint's limit lets one through, the others wait and are never sent."""
    way = WAYS["chat"]
    upstream.behave("silent")
    with gateway_of(way, settings={"concurrency": 1}, drain_s=0.3, endpoint={"timeout_s": 20}) as gateway:
        client = Client(gateway, timeout_s=0.1)
        for number in range(20):
            with contextlib.suppress(httpx2.ReadTimeout):
                assert client.ask(way, str(number)).status_code == 429
    upstream.go_on.set()
    tally = gateway.tally
    assert (tally.calls, tally.rounds, tally.lost) == (16, 0, 1)
    assert len(upstream.requests) == 1
    assert tally.infrastructure_failed is None


def test_a_client_that_has_closed_its_own_side_is_answered(upstream, gateway_of):
    way = WAYS["chat stream"]
    body = json.dumps(way.body()).encode()
    with gateway_of(way) as gateway, socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(5)
        connection.connect(str(gateway.socket))
        head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
        connection.sendall(head % len(body) + body)
        connection.shutdown(socket.SHUT_WR)
        told = b""
        while part := connection.recv(65536):
            told += part
        assert Client(gateway).ask(way).status_code == 200
    assert gateway.tally.rounds in (1, 2)  # whoever closes its side may have given up


RUN = """
import sys, threading
from pathlib import Path
import httpx2
from codecap.exchange import Endpoint, Exchange
from codecap.generate.gateway import Gateway
durable, prices, url = sys.argv[1:]
endpoint = Endpoint(api="anthropic", model="m-1", base_url=url, key_env="UPSTREAM_KEY", timeout_s=30)
exchange = Exchange(Path(durable), {"prices": prices})
with Gateway(exchange, endpoint, "a run") as gateway:
    client = httpx2.Client(transport=httpx2.HTTPTransport(uds=str(gateway.socket)), base_url="http://gateway", timeout=30)
    for number in range(6):
        body = {"model": "m-1", "stream": True, "max_tokens": 9, "messages": [{"role": "user", "content": f"question {number}"}]}
        response = client.post("/v1/messages", json=body)
        print(response.text.count("event: message_stop"), flush=True)
print(gateway.tally.model_dump_json(include={"rounds", "paid", "usage"}), flush=True)
"""


def test_a_run_that_is_killed_twice_pays_nothing_twice(upstream, tmp_path, monkeypatch):
    """Killed the moment its client has an answer, and while one is under way."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # a killed run leaves its socket
    prices = tmp_path / "prices.yaml"
    prices.write_text(PRICES)
    command = [sys.executable, "-c", RUN, str(tmp_path / "durable"), str(prices), upstream.base_url("anthropic")]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    for _ in range(2):
        run.stdout.readline()
    os.kill(run.pid, signal.SIGKILL)
    run.wait(10)
    done = upstream.answers
    assert done >= 2
    upstream.behave("held")
    run = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert upstream.held.wait(20)
    os.kill(run.pid, signal.SIGKILL)
    run.wait(10)
    upstream.go_on.set()
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    *counts, told = ended.stdout.splitlines()
    assert counts == ["1"] * 6
    assert json.loads(told)["rounds"] == 6
    assert upstream.answers - upstream.twice == 6
    assert upstream.twice <= 1  # what was under way at the second kill is lost; the provider may have ended it nevertheless
    assert max(Counter(body["messages"][0]["content"] for _, _, body in upstream.requests).values()) == 2
