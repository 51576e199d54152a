"""Asking, recording and replaying, against a server that counts what it is paid for."""

import concurrent.futures
import json
import threading
import time
from decimal import Decimal

import pytest
from loopback import Loopback

from codecap.exchange import Endpoint, Filtered, NotReached, Picture, Question, QuestionRejected, Rejected, Text, ask, session
from codecap.exchange.prices import PriceTable
from codecap.exchange.spending import summed

from .conftest import KEY, RATES, saying

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944415408d763f8ffff3f0005fe02fedccc59e70000000049"
    "454e44ae426082"
)
APIS = ["openai", "anthropic", "google"]


@pytest.mark.parametrize("api", APIS)
def test_the_same_is_paid_once_and_replayed_without_network_or_key(server, open_exchange, endpoint_of, api, monkeypatch):
    asked = Question((Text("Look:"), Picture(PNG)), system="Be brief.", schema={"type": "object", "properties": {}})
    first = open_exchange().ask(endpoint_of(api), asked)
    assert (first.text, first.stop, first.replayed) == ("You said Look:\n", "end", False)
    server.stop()
    monkeypatch.delenv("LOOPBACK_KEY")
    again = open_exchange().ask(endpoint_of(api), asked)
    assert again.replayed
    assert (again.text, again.usage, again.cost_usd, again.digest) == (first.text, first.usage, first.cost_usd, first.digest)
    assert server.account.calls == 1


@pytest.mark.parametrize("api", APIS)
def test_the_ledger_adds_up_to_what_the_server_was_paid(server, open_exchange, endpoint_of, api):
    exchange = open_exchange()
    server.behave("500", "429 with Retry-After", "cut stream", "well", "529", "filtered", "length", "empty")
    replies = [exchange.ask(endpoint_of(api), saying("word " * number)) for number in range(1, 20)]
    millionths = server.account.millionths(**RATES)
    assert exchange.budget.account().spent_usd == Decimal(millionths) / 1_000_000
    assert sum(round(reply.cost_usd * 1e6) for reply in replies) == millionths
    assert exchange.budget.account().calls == server.account.calls == 19
    assert server.account.twice == 0


@pytest.mark.parametrize("api", APIS)
def test_stops_are_told_in_the_same_words(server, open_exchange, endpoint_of, api):
    server.behave("well", "length", "refusal", "filtered")
    stops = [open_exchange().ask(endpoint_of(api), saying(f"{number}")).stop for number in range(4)]
    assert stops == ["end", "length", "refusal", "refusal"]


@pytest.mark.parametrize("api", APIS)
def test_thinking_is_no_part_of_the_text(server, open_exchange, endpoint_of, api):
    server.behave("thinking only")
    reply = open_exchange().ask(endpoint_of(api), saying("Well?"))
    assert reply.text == ""


def test_the_digest_is_of_what_is_asked_of_whom(open_exchange, endpoint_of):
    exchange, base = open_exchange(), endpoint_of()
    digest = exchange.digest(base, saying("a"))
    same = [{"base_url": "https://elsewhere.example/v1"}, {"key_env": "OTHER"}, {"timeout_s": 9}, {"images": 3}]
    assert {exchange.digest(base.model_copy(update=told), saying("a")) for told in same} == {digest}
    others = [{"model": "m-2"}, {"temperature": 0.0}, {"thinking": "low"}, {"extra": {"seed": 1}}, {"api": "google"}]
    found = [exchange.digest(base.model_copy(update=told), saying("a")) for told in others]
    questions = [
        saying("b"),
        saying("a", nonce=1),
        saying("a", system="x"),
        saying("a", schema={}),
        saying("a", most_output_tokens=9),
    ]
    found += [exchange.digest(base, question) for question in questions]
    found += [exchange.digest(base, Question((Picture(data),))) for data in (PNG, PNG + b"x")]
    assert len({digest, *found}) == len(found) + 1


def test_a_nonce_is_another_request(server, open_exchange, endpoint_of):
    exchange = open_exchange()
    replies = [exchange.ask(endpoint_of(), saying("a", nonce=nonce)) for nonce in (0, 1, 0, 1)]
    assert [reply.replayed for reply in replies] == [False, False, True, True]
    assert server.account.calls == 2


def test_identical_questions_at_once_pay_once(server, open_exchange, endpoint_of):
    exchange = open_exchange()
    server.otherwise = "slow"
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        replies = list(threads.map(lambda _: exchange.ask(endpoint_of(), saying("a")), range(8)))
    assert server.account.calls == 1
    assert sorted(reply.replayed for reply in replies) == [False] + [True] * 7


def test_what_another_process_has_just_recorded_is_not_bought(server, open_exchange, endpoint_of):
    one, other = open_exchange(), open_exchange()
    server.behave("400")
    with pytest.raises(Rejected):
        one.ask(endpoint_of(), saying("a"))  # it has looked, and found nothing
    other.ask(endpoint_of(), saying("a"))
    assert one.ask(endpoint_of(), saying("a")).replayed


def test_no_more_at_once_than_the_limit(server, open_exchange, endpoint_of):
    exchange = open_exchange(concurrency=3)
    server.otherwise = "slow"
    with concurrent.futures.ThreadPoolExecutor(12) as threads:
        list(threads.map(lambda number: exchange.ask(endpoint_of(), saying(f"{number}")), range(12)))
    assert server.most_at_once <= 3
    assert server.account.calls == 12


def test_limits_of_one_model(open_exchange, endpoint_of):
    settings = open_exchange(concurrency=3, endpoints={"m-1": {"requests_per_minute": 5}}).settings
    assert (settings.limits(endpoint_of()).concurrency, settings.limits(endpoint_of()).requests_per_minute) == (3, 5)
    assert settings.limits(endpoint_of(model="m-2")).requests_per_minute is None


@pytest.mark.parametrize("way", ["500", "529", "429 with Retry-After", "cut stream", "no JSON", "no choices", "hang", "trickle"])
def test_what_passes_by_itself_is_tried_again(server, open_exchange, endpoint_of, way):
    server.behave(way)
    reply = open_exchange().ask(endpoint_of(timeout_s=0.5), saying("a"))
    assert reply.text == "You said a"
    assert server.ways == [way, "well"]
    assert server.account.calls == 1


@pytest.mark.parametrize(
    ("way", "told"),
    [
        ("401", "LOOPBACK_KEY"),
        ("403", "LOOPBACK_KEY"),
        ("404", "base_url"),
        ("400", "endpoint's settings"),
        ("too long", "fewer or smaller pictures"),
        ("no quota", "quota or credit"),
        ("redirect", "final address"),
    ],
)
@pytest.mark.parametrize("api", APIS)
def test_what_does_not_pass_is_told_once_with_the_way_out(server, open_exchange, endpoint_of, api, way, told):
    server.behave(way)
    with pytest.raises(Rejected, match=told) as caught:
        open_exchange().ask(endpoint_of(api), saying("a"))
    assert server.ways == [way]
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    ("way", "kind"), [("400 by a filter", Filtered), ("too long", QuestionRejected), ("400", QuestionRejected)]
)
def test_what_concerns_one_question_keeps_no_other_from_being_asked(server, open_exchange, endpoint_of, way, kind):
    server.behave(way)
    exchange = open_exchange()
    with pytest.raises(QuestionRejected) as caught:
        exchange.ask(endpoint_of(), saying("a"))
    assert type(caught.value) is kind
    assert exchange.ask(endpoint_of(), saying("b")).text == "You said b"


def test_an_api_that_takes_no_videos_is_shown_none(endpoint_of):
    with pytest.raises(ValueError, match="video must be false"):
        endpoint_of("anthropic", video=True)


def test_a_wrong_key_is_not_tried_with_every_question(server, open_exchange, endpoint_of, monkeypatch):
    monkeypatch.setenv("LOOPBACK_KEY", "sk-another-key-that-is-wrong-000000")
    exchange = open_exchange()
    for number in range(5):
        with pytest.raises(Rejected, match="LOOPBACK_KEY"):
            exchange.ask(endpoint_of(), saying(f"{number}"))
    assert len(server.ways) == 1


@pytest.mark.parametrize("held", [None, "", "two words", "bad\nkey", "schlüssel-schlüssel"])
def test_a_key_that_is_none_is_told_by_its_name(open_exchange, endpoint_of, monkeypatch, held):
    if held is None:
        monkeypatch.delenv("LOOPBACK_KEY")
    else:
        monkeypatch.setenv("LOOPBACK_KEY", held)
    with pytest.raises(Rejected, match="LOOPBACK_KEY") as caught:
        open_exchange().ask(endpoint_of(), saying("a"))
    assert not held or held not in str(caught.value)


@pytest.mark.parametrize("way", ["429 with Retry-After", "429 with a date"])
def test_retry_after_is_respected(server, open_exchange, endpoint_of, way):
    server.retry_after_s = 0.6
    server.behave(way)
    open_exchange().ask(endpoint_of(), saying("a"))
    assert server.arrivals[1] - server.arrivals[0] >= 0.6  # a date has whole seconds: the server adds one


def test_a_longer_wait_than_allowed_is_not_waited_for(server, open_exchange, endpoint_of):
    server.retry_after_s = 3600
    server.behave("429 with Retry-After")
    with pytest.raises(NotReached, match="asks to wait 3600 s"):
        open_exchange(longest_wait_s=5).ask(endpoint_of(), saying("a"))


def test_a_dead_server_is_not_tried_for_ever(server, open_exchange, endpoint_of):
    server.otherwise = "500"
    exchange = open_exchange(tries=3, concurrency=1)
    for number in range(6):
        with pytest.raises(NotReached, match="run again later"):
            exchange.ask(endpoint_of(), saying(f"{number}"))
    assert len(server.ways) == 3 + 1  # all tries, then one, then none
    server.otherwise = "well"
    assert open_exchange().ask(endpoint_of(), saying("0")).text == "You said 0"


def test_an_answer_in_another_form_is_bought_once_and_the_endpoint_after_two_is_asked_no_more(server, open_exchange, endpoint_of):
    server.otherwise = "another form"
    exchange = open_exchange(concurrency=1)
    for number in range(5):
        with pytest.raises(
            NotReached, match=r"no choices\[0\]\.message; an answer came that may be billed.*check api \(openai\)"
        ) as caught:
            exchange.ask(endpoint_of(), saying(f"{number}"))
        assert type(caught.value) is NotReached  # the question is not to blame
    assert len(server.ways) == 2
    server.otherwise = "well"
    assert open_exchange().ask(endpoint_of(), saying("0")).text == "You said 0"


def test_one_answer_in_another_form_keeps_no_other_question_from_being_asked(server, open_exchange, endpoint_of):
    exchange = open_exchange(concurrency=1)
    for number in range(4):
        server.behave("another form")
        with pytest.raises(NotReached, match="may be billed"):
            exchange.ask(endpoint_of(), saying(f"{number}"))
        assert exchange.ask(endpoint_of(), saying(f"{number} again")).text == f"You said {number} again"


def test_a_server_that_says_within_an_answer_that_it_failed_gave_none(server, open_exchange, endpoint_of):
    exchange = open_exchange(concurrency=1)
    server.behave("failed and billed")
    with pytest.raises(NotReached, match="the server ended it by 'error'; such an answer may be billed"):
        exchange.ask(endpoint_of(), saying("a"))
    assert exchange.ask(endpoint_of(), saying("a")).text == "You said a"  # as by the next run
    server.behave("failed")
    assert exchange.ask(endpoint_of(), saying("b")).text == "You said b"  # nothing was billed: tried again at once
    server.otherwise = "failed and billed"
    for number in range(5):
        with pytest.raises(NotReached):
            exchange.ask(endpoint_of(), saying(f"{number}"))
    assert server.ways == ["failed and billed", "well", "failed", "well", *["failed and billed"] * 2]


@pytest.mark.parametrize(("way", "text"), [("half a character", "caf?"), ("no number", "yes")])
def test_odd_values_in_an_answer_are_read_and_summed(server, open_exchange, endpoint_of, tmp_path, prices, way, text):
    server.behave(way)
    reply = open_exchange().ask(endpoint_of(), saying("a"))
    assert (reply.text, reply.stop, open_exchange().ask(endpoint_of(), saying("a")).text) == (text, "other", text)
    assert summed(tmp_path / "durable", PriceTable.read(prices)).total.calls == 1


def test_no_server_at_all(open_exchange, endpoint_of):
    with pytest.raises(NotReached, match="no connection"):
        open_exchange(tries=2).ask(endpoint_of(base_url="http://127.0.0.1:9/v1"), saying("a"))


def test_a_failure_leaves_its_record_and_costs_nothing(server, open_exchange, endpoint_of):
    server.behave("400")
    exchange = open_exchange()
    with pytest.raises(Rejected):
        exchange.ask(endpoint_of(), saying("a"))
    ((name, payload),) = exchange.records.every()
    assert name.endswith(".failed")
    assert json.loads(payload)["status"] == 400
    assert (exchange.budget.account().calls, exchange.budget.account().open) == (0, {})


def test_a_picture_is_kept_once(open_exchange, endpoint_of):
    exchange = open_exchange()
    for number in range(3):
        exchange.ask(endpoint_of(), Question((Text(f"{number}"), Picture(PNG), Picture(PNG + b"x"))))
    kept = dict(open_exchange().media.every())
    assert sorted(kept.values()) == sorted([PNG, PNG + b"x"])
    record = json.loads(next(payload for _, payload in exchange.records.every()))
    shown = record["request"]["messages"][0]["content"][1]["image_url"]["url"]
    assert shown.rpartition("sha256:")[2] in kept


def test_what_is_asked_of_an_open_server_without_a_key(open_exchange):
    with Loopback(answer=lambda _: "hello") as running:
        endpoint = Endpoint(api="openai", model="Qwen/Qwen3-VL", base_url=running.base_url())
        reply = open_exchange().ask(endpoint, saying("a"))
    assert reply.cost_usd is None  # the table does not have it


def test_asking_needs_a_session(tmp_path, endpoint_of, prices):
    with pytest.raises(RuntimeError, match="session"):
        ask(endpoint_of(), saying("a"))
    with session(tmp_path, {"prices": prices}):
        found = []
        thread = threading.Thread(target=lambda: found.append(ask(endpoint_of(), saying("a")).text))
        thread.start()
        thread.join(5)
    assert found == ["You said a"]


def test_a_rate_is_kept(server, open_exchange, endpoint_of, monkeypatch):
    from codecap.exchange import limits

    monkeypatch.setattr(limits, "BURST_S", 0.0)
    exchange = open_exchange(requests_per_minute=600)
    started = time.monotonic()
    for number in range(6):
        exchange.ask(endpoint_of(), saying(f"{number}"))
    assert time.monotonic() - started >= 0.5  # five tenths of a second between six requests
