"""What passes through: bytes as the provider sends them, tokens and costs as it counts them, and nothing twice."""

from __future__ import annotations

import threading

import pytest

from codecap.exchange.archive import Archive
from codecap.exchange.prices import PriceTable
from codecap.exchange.spending import summed
from codecap.records import Usage

from .conftest import KEY, RATES, WAYS, Client

EVERY = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
STREAMS = pytest.mark.parametrize("way", [way for way in WAYS.values() if way.streamed], ids=lambda way: way.path)


def usd(usage: dict) -> float:
    return sum(usage[name] * rate for name, rate in RATES.items()) / 1e6


def without_usage_chunk(body: bytes) -> bytes:
    events = [event for event in body.split(b"\n\n") if b'"choices": []' not in event]
    return b"\n\n".join(events)


@EVERY
def test_answers_come_as_they_were_sent_and_are_counted_as_the_provider_counts(way, upstream, gateway_of):
    with gateway_of(way) as gateway:
        told = [Client(gateway).ask(way, f"question {number}") for number in range(3)]
    assert [response.status_code for response in told] == [200] * 3
    assert [response.content for response in told] == [without_usage_chunk(sent) for sent in upstream.sent]
    assert all("\N{SNOWMAN}" in response.text for response in told)
    tally = gateway.tally
    assert tally.usage == Usage(**upstream.usage)
    assert (tally.rounds, tally.calls, tally.paid, tally.replayed, tally.unmetered, tally.lost) == (3, 3, 3, 0, 0, 0)
    assert tally.cost_usd == pytest.approx(usd(upstream.usage), abs=1e-12)
    assert (tally.stopped_by, tally.ended_by_fault, tally.faults, tally.refused) == (None, None, {}, {})
    for _, headers, _ in upstream.requests:
        assert KEY in " ".join(headers.values())
        assert "a word" not in " ".join(headers.values())


@EVERY
def test_a_run_begun_again_is_replayed_byte_for_byte_without_network_or_key(way, upstream, gateway_of, monkeypatch):
    def run(**more):
        with gateway_of(way, **more) as gateway:
            client = Client(gateway)
            told = [client.ask(way, text) for text in ("a", "b", "a", "a")]
        return [(response.content, response.headers["content-type"]) for response in told], gateway.tally

    first, paid = run()
    assert len({content for content, _ in first}) == 4  # the same asked again was answered anew
    upstream.stop()
    monkeypatch.delenv("UPSTREAM_KEY")
    again, replayed = run(replay_only=True)
    assert again == first
    assert (replayed.paid, replayed.replayed) == (0, 4)
    same = {"paid": 0, "replayed": 0}
    assert replayed.model_copy(update=same) == paid.model_copy(update=same)


@STREAMS
def test_streams_come_as_they_come(way, upstream, gateway_of):
    """The provider waits within its answer until the client has its beginning."""
    upstream.behave("held")
    with gateway_of(way) as gateway, Client(gateway).http.stream("POST", way.path, json=way.body()) as response:
        parts = response.iter_bytes()
        first = next(parts)
        assert upstream.answers == 0
        upstream.go_on.set()
        rest = b"".join(parts)
    assert first + rest == without_usage_chunk(upstream.sent[0])


def test_a_chat_streams_tokens_are_asked_for_and_told_to_who_asked(upstream, gateway_of):
    way = WAYS["chat stream"]
    with gateway_of(way) as gateway:
        plain = Client(gateway).ask(way)
        told = Client(gateway).ask(way, stream_options={"include_usage": True})
    assert '"choices": []' not in plain.text
    assert told.content == upstream.sent[1]
    assert [body["stream_options"] for _, _, body in upstream.requests] == [{"include_usage": True}] * 2


@EVERY
def test_another_run_asks_for_its_own(way, upstream, gateway_of):
    for run in ("a", "b", "a"):
        with gateway_of(way, run=run) as gateway:
            Client(gateway).ask(way)
    assert upstream.answers == 2


def test_what_changes_from_start_to_start_is_not_asked(upstream, gateway_of):
    """As Codex does, also where what a command printed is so long that it is stored apart."""
    way = WAYS["responses stream"]
    for session in ("1", "2"):
        with gateway_of(way) as gateway:
            for printed in ("short", "long " * 1000):
                output = f"Chunk ID: ab{session}\nWall time: 0.{session} seconds\nOutput:\n{printed}"
                result = {"type": "function_call_output", "id": f"fco_{session}", "call_id": "call_1", "output": output}
                Client(gateway).ask(way, input=[result], prompt_cache_key=session, client_metadata={"session": session})
    assert upstream.answers == 2
    assert gateway.tally.replayed == 2
    with gateway_of(way) as gateway:
        Client(gateway).ask(way, input=[result | {"output": output + "!"}])
        Client(gateway).ask(way, input=[result | {"call_id": "call_2"}])
    assert upstream.answers == 4


def _codex(day: str, asks: str = "Watch it.", printed: str = "") -> dict:
    lines = ("<environment_context>", "  <cwd>/work</cwd>", f"  <current_date>{day}</current_date>", "</environment_context>")
    about = "\n".join(lines)
    told = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]} for text in (about, asks)]
    result = {"type": "function_call_output", "call_id": "c", "output": printed}
    return {"input": [*told, result]}


def _claude(day: str, asks: str = "Watch it.", printed: str = "", more: str = "") -> dict:
    about = f"# Environment\nYou are here: \n - OS Version: Linux 6.1.{len(day)}-a{day[-1]}\n{more}\nToday's date is {day}."
    result = {"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": printed}]}
    said = [{"role": "user", "content": [{"type": "text", "text": asks}, result]}]
    return {"messages": [*said, {"role": "system", "content": [{"type": "text", "text": about}]}]}


@pytest.mark.parametrize(("way", "said"), [("responses stream", _codex), ("messages stream", _claude)])
def test_a_run_begun_again_on_another_day_asks_the_same(way, said, upstream, gateway_of):
    way = WAYS[way]
    for day in ("2026-11-30", "2026-12-01"):
        with gateway_of(way) as gateway:
            Client(gateway).ask(way, **said(day))
    assert (upstream.answers, gateway.tally.replayed) == (1, 1)


@pytest.mark.parametrize(("way", "said"), [("responses stream", _codex), ("messages stream", _claude)])
def test_a_day_that_a_task_or_a_command_tells_is_asked(way, said, upstream, gateway_of):
    way = WAYS[way]
    for told in ("2026-11-30", "2026-12-01"):
        lines = f"# Environment\n<environment_context>\n  <current_date>{told}</current_date>\nToday's date is {told}."
        with gateway_of(way) as gateway:
            Client(gateway).ask(way, **said("2026-11-30", printed=lines))
            Client(gateway).ask(way, **said("2026-11-30", asks=f"Of {told}.\nToday's date is {told}."))
    assert upstream.answers == 4


def test_surroundings_that_are_stored_apart_for_their_length_are_told_without_the_day_too(upstream, gateway_of):
    way = WAYS["messages"]
    for day, more in (("2026-11-30", "x" * 3000), ("2026-12-01", "x" * 3000), ("2026-12-01", "x" * 3001)):
        with gateway_of(way) as gateway:
            Client(gateway).ask(way, **_claude(day, more=more))
    assert upstream.answers == 2


@pytest.mark.parametrize("gives_up", ["within the answer", "before it"])
def test_a_client_that_gives_up_and_asks_again_is_given_the_same_answer(gives_up, upstream, gateway_of):
    way = WAYS["messages stream"]
    upstream.behave("held")
    with gateway_of(way) as gateway:
        with Client(gateway).http.stream("POST", way.path, json=way.body()) as response:
            if gives_up == "within the answer":
                next(response.iter_bytes())
        assert upstream.held.wait(5)
        threading.Timer(0.3, upstream.go_on.set).start()
        again = Client(gateway).ask(way)
    assert again.content == upstream.sent[0]
    assert (upstream.answers, gateway.tally.rounds) == (1, 1)


def test_an_answer_that_nobody_waits_for_is_counted_and_kept(upstream, gateway_of):
    way = WAYS["messages stream"]
    upstream.behave("held")
    with gateway_of(way) as gateway:
        with Client(gateway).http.stream("POST", way.path, json=way.body()) as response:
            next(response.iter_bytes())
        threading.Timer(0.3, upstream.go_on.set).start()
    assert (gateway.tally.rounds, gateway.tally.usage) == (1, Usage(**upstream.usage))
    with gateway_of(way, replay_only=True) as gateway:
        assert Client(gateway).ask(way).content == upstream.sent[0]


def test_what_is_cut_at_the_end_is_told(upstream, gateway_of):
    way = WAYS["messages stream"]
    upstream.behave("held")
    with gateway_of(way, drain_s=0.2) as gateway, Client(gateway).http.stream("POST", way.path, json=way.body()) as response:
        next(response.iter_bytes())
    tally = gateway.tally
    assert (tally.rounds, tally.lost, tally.ended_by_fault) == (0, 1, None)
    assert tally.lost_usd >= 1000 * 53 / 1e6


def test_requests_at_once_are_exchanges_apart(upstream, gateway_of):
    way = WAYS["responses stream"]
    with gateway_of(way) as gateway:
        client, told = Client(gateway), []
        threads = [threading.Thread(target=lambda: told.append(client.ask(way).content)) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
    assert sorted(told) == sorted(upstream.sent)
    assert gateway.tally.usage == Usage(**upstream.usage)


@EVERY
def test_compressed_answers_are_passed_on_plain(way, upstream, gateway_of):
    upstream.behave("gzip")
    with gateway_of(way) as gateway:
        response = Client(gateway).ask(way)
    assert response.content == without_usage_chunk(upstream.sent[0])
    assert "content-encoding" not in response.headers
    assert gateway.tally.usage == Usage(**upstream.usage)


@EVERY
def test_keys_are_nowhere(way, upstream, gateway_of, tmp_path, caplog):
    with gateway_of(way) as gateway:
        told = []
        for behaviour in ("500", "key", "401"):
            upstream.behave(behaviour)
            told.append(Client(gateway).ask(way, f"{behaviour} {KEY}").text)
    told += [caplog.text, gateway.tally.model_dump_json()]
    told += [path.read_bytes().decode("utf-8", "replace") for path in tmp_path.rglob("*") if path.is_file()]
    assert "[UPSTREAM_KEY]" in told[1]
    assert not [text for text in told if KEY in text or KEY[:14] in text]


def test_the_stores_own_sums_agree(upstream, gateway_of, open_exchange, tmp_path):
    for number, way in enumerate(WAYS.values()):
        upstream.behave("500", "well")
        with gateway_of(way, run=str(number)) as gateway:
            Client(gateway).ask(way)
            Client(gateway).ask(way)
    spending = summed(tmp_path / "durable", PriceTable.read(tmp_path / "prices.yaml"))
    assert (spending.total.calls, spending.failed, spending.unread, spending.open_calls) == (9, 9, 0, 0)
    assert spending.total.tokens == upstream.usage
    assert float(spending.total.usd) == pytest.approx(usd(upstream.usage))
    account = open_exchange().budget.account()
    assert (account.calls, account.spent_usd) == (9, spending.total.usd)


def test_counts_of_tokens_are_free_and_replayed(upstream, gateway_of, tmp_path):
    way = WAYS["messages"]
    for _ in range(2):
        with gateway_of(way) as gateway:
            response = Client(gateway).http.post("/v1/messages/count_tokens", json={"model": "m-1", "messages": []})
        assert response.json() == {"input_tokens": 42}
        assert (gateway.tally.token_counts, gateway.tally.rounds, gateway.tally.calls) == (1, 0, 0)
    assert len(upstream.requests) == 1
    assert summed(tmp_path / "durable", PriceTable.read(tmp_path / "prices.yaml")).total.calls == 0


def test_what_is_sent_again_with_every_round_is_stored_once(upstream, gateway_of, tmp_path):
    way = WAYS["messages stream"]
    png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVQI12P4//8/AAX+Av7czFnnAAAAAElFTkSuQmCC"
    source = {"type": "base64", "media_type": "image/png", "data": png}
    turn = {"role": "user", "content": [{"type": "image", "source": source}, {"type": "text", "text": "word " * 1000}]}
    with gateway_of(way) as gateway:
        for _ in range(3):
            Client(gateway).ask(way, messages=[turn])
    archive = Archive(tmp_path / "durable")
    assert list(archive.problems()) == []
    assert len(archive.media.places) == 2
    digest = next(name for name in archive.records.places)
    (record,) = archive.show(digest)
    shown = record["request"]["messages"][0]["content"]
    assert shown[0]["source"]["data"].startswith("sha256:")
    assert shown[1]["text"].startswith("sha256:")
    assert upstream.requests[0][2]["messages"] == [turn]
