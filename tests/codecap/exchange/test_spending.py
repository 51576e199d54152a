"""What was spent: the records' sum is what the server was paid."""

from decimal import Decimal

import pytest

from codecap.exchange import NotReached, session
from codecap.exchange.prices import PriceTable
from codecap.exchange.spending import summed

from .conftest import RATES, saying


@pytest.fixture
def spent(server, tmp_path, prices, endpoint_of):
    """Two stages and systems, three APIs, and all that can go wrong; what the server was paid up to then for each stage."""
    paid = []
    for stage, system in (("score_renders", "still"), ("prompt_objects", "blank")):
        with session(tmp_path, {"prices": prices, "tries": 2}, stage=stage, system=system) as exchange:
            server.behave("500", "well", "no JSON", "well", "cut stream")
            for api in ("openai", "anthropic", "google"):
                for number in range(4):
                    exchange.ask(endpoint_of(api), saying(f"{stage} {number}"))
                    exchange.ask(endpoint_of(api), saying(f"{stage} {number}"))
            exchange.ask(endpoint_of(model="unknown"), saying(stage))
            server.behave("400")
            with pytest.raises(NotReached):
                exchange.ask(endpoint_of(), saying("refused"))
        paid.append((server.account.calls, server.account.millionths(**RATES)))
    return paid


def test_sums_are_what_the_server_was_paid(server, spent, tmp_path, prices):
    found = summed(tmp_path, PriceTable.read(prices), by=("stage", "system"))
    assert [held.group for held in found.sums] == [("prompt_objects", "blank"), ("score_renders", "still")]
    assert [held.calls for held in found.sums] == [spent[1][0] - spent[0][0], spent[0][0]]
    assert found.total.calls == server.account.calls == 26
    assert found.total.unpriced == 2
    unpriced = sum(held.usd for held in summed(tmp_path, PriceTable.read(prices), by=("endpoint",)).sums if held.unpriced)
    assert unpriced == 0
    kinds = {"input_uncached": "uncached", "input_cache_read": "read", "input_cache_write": "written", "output": "output"}
    assert {kind: found.total.tokens[name] for name, kind in kinds.items()} == {
        kind: getattr(server.account, kind) for kind in kinds.values()
    }


def test_priced_calls_add_up_to_the_millionth(server, tmp_path, prices, endpoint_of):
    with session(tmp_path, {"prices": prices}) as exchange:
        for number in range(7):
            exchange.ask(endpoint_of("anthropic"), saying(f"{number}" * number))
    found = summed(tmp_path, PriceTable.read(prices), by=("day",))
    assert found.total.usd == Decimal(server.account.millionths(**RATES)) / 1_000_000
    assert found.total.usd == exchange.budget.account().spent_usd


def test_what_was_not_answered_is_told_apart(spent, tmp_path, prices):
    found = summed(tmp_path, PriceTable.read(prices))
    assert found.failed == 2 * 2  # a 500 and a 400
    assert found.unread == 2  # no JSON
    assert found.open_calls == 2 * 2  # no JSON and the cut stream may have been billed
    assert found.open_usd > 0
    assert found.torn == []


def test_a_torn_pack_is_told_and_the_rest_is_summed(spent, tmp_path, prices):
    pack = sorted((tmp_path / "exchange" / "packs").glob("*.pack"))[0]
    with pack.open("ab") as file:
        file.write(b"ccx1 half a he")
    found = summed(tmp_path, PriceTable.read(prices))
    assert found.torn == [pack]
    assert found.total.calls == 26


def test_nothing_was_asked(tmp_path, prices):
    found = summed(tmp_path / "none", PriceTable.read(prices))
    assert (found.total.calls, found.total.usd, found.sums) == (0, 0, [])
    assert list(tmp_path.glob("none*")) == []


def test_a_call_that_was_killed_before_it_was_settled_counts_once(server, tmp_path, prices, endpoint_of):
    with session(tmp_path, {"prices": prices}) as exchange:
        server.behave("cut stream")
        exchange.ask(endpoint_of(), saying("cut, then answered"))
        exchange.ask(endpoint_of(), saying("killed"))
    ledger = tmp_path / "exchange" / "ledger.jsonl"
    ledger.write_bytes(b"".join(ledger.read_bytes().splitlines(keepends=True)[:-1]))
    found = summed(tmp_path, PriceTable.read(prices))
    assert found.total.usd == Decimal(server.account.millionths(**RATES)) / 1_000_000
    assert found.open_calls == 1  # the one that was cut: it may have been billed
