"""Prices: dated, exact, and only where there are any."""

import datetime
from decimal import Decimal

import pytest

from codecap.errors import UserError
from codecap.exchange.prices import TABLE, PriceTable, cents
from codecap.records import Usage

TOLD = """
models:
  - models: [a-2*]
    source: page
    host: api.example.com
    prices: [{from: 2026-01-01, input: 1, output: 1}]
  - models: [a-*]
    source: page
    prices:
      - {from: 2026-12-01, input: 4, cache_read: 0.2, output: 20}
      - from: 2026-09-30
        input: 2
        cache_read: 0.1
        cache_write: 2.5
        output: 10
        long_context: {above_tokens: 1000, input: 3, output: 15}
"""
NOVEMBER, DECEMBER = datetime.date(2026, 11, 30), datetime.date(2026, 12, 1)


@pytest.fixture
def table(tmp_path):
    (tmp_path / "prices.yaml").write_text(TOLD)
    return PriceTable.read(tmp_path / "prices.yaml")


def test_a_call_is_priced_by_its_day(table):
    usage = Usage(input_uncached=100, input_cache_read=30, input_cache_write=7, output=11, reasoning=5)
    assert table.usd("a-1", "h", NOVEMBER, usage) * 1_000_000 == 100 * 2 + Decimal("0.1") * 30 + Decimal("2.5") * 7 + 11 * 10
    assert table.usd("a-1", "h", DECEMBER, usage) * 1_000_000 == 100 * 4 + 30 * Decimal("0.2") + 7 * 4 + 11 * 20
    assert table.usd("a-1", "h", datetime.date(2026, 9, 29), usage) is None
    assert table.usd("b", "h", NOVEMBER, usage) is None


def test_a_long_request_costs_more_as_a_whole(table):
    assert table.usd("a-1", "h", NOVEMBER, Usage(input_uncached=900, input_cache_read=100)) * 1_000_000 == 1810
    assert table.usd("a-1", "h", NOVEMBER, Usage(input_uncached=901, input_cache_read=100, output=2)) * 1_000_000 == 3 * 1001 + 30


def test_the_first_entry_that_names_the_model_at_its_host_counts(table):
    assert table.usd("a-2", "api.example.com", NOVEMBER, Usage(output=1_000_000)) == 1
    assert table.usd("a-2", "other", NOVEMBER, Usage(output=1_000_000)) == 10


def test_a_tenth_of_a_cent_is_one(table):
    assert sum(table.usd("a-1", "h", NOVEMBER, Usage(input_cache_read=1)) for _ in range(10)) == Decimal("0.000001")


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ("models: 3", "one key, models"),
        ("models: [{models: [a], source: p, prices: [{from: 2026-01-01, input: -1, output: 1}]}]", "entry 1 .*input"),
        ("models: [{models: [a], source: p, prices: [{from: tomorrow, input: 1, output: 1}]}]", "entry 1 .*from"),
        ("models: [{models: [a], source: p, prices: [{from: 2026-01-01, input: 1}]}]", "entry 1 .*output"),
        (
            "models: [{models: [a], source: p, prices: [&x {from: 2026-01-01, input: 1, output: 1}, *x]}]",
            "same day",
        ),
        ("models: [", "not YAML"),
    ],
)
def test_a_wrong_table_is_told_with_its_place(tmp_path, told, why):
    path = tmp_path / "prices.yaml"
    path.write_text(told)
    with pytest.raises(UserError, match=f"(?s){path}.*{why}"):
        PriceTable.read(path)


def test_our_own_table_can_be_read_and_names_its_sources():
    table = PriceTable.read(TABLE)
    assert all(entry.source.startswith("https://") for entry in table.entries)
    for entry in table.entries:
        for dated in entry.prices:
            assert dated.output >= dated.input >= (dated.cache_read or 0)
            assert dated.long_context is None or dated.long_context.input > dated.input


def test_cents():
    assert cents(Decimal("12.3456")) == "12.35"
    assert cents(Decimal(0)) == "0.00"
    assert cents(Decimal("0.0012")) == "0.0012"
