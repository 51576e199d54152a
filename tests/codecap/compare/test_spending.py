"""What captions took, worked out by hand."""

import pytest

from codecap.compare.spending import amount, spent, tools
from codecap.records import Caption, Outcome, Usage


def caption(number: int, **told) -> Caption:
    return Caption(**({"system": "a", "clip_id": f"A_{number}", "key": "k", "outcome": Outcome.OK} | told))


def usage(uncached: int, read: int, written: int, output: int, reasoning: int = 0) -> Usage:
    return Usage(input_uncached=uncached, input_cache_read=read, input_cache_write=written, output=output, reasoning=reasoning)


CAPTIONS = [
    caption(1, cost_usd=0.30, rounds=10, wall_s=600, usage=usage(100, 900, 50, 40, 10)),
    caption(2, cost_usd=0.10, rounds=4, wall_s=120, usage=usage(10, 0, 0, 5)),
    caption(3, cost_usd=1.10, rounds=61, wall_s=3600, usage=usage(1000, 0, 0, 100), outcome=Outcome.GENERATION_TIMEOUT),
    caption(4, outcome=Outcome.REFUSED, rounds=1),  # without a price, and the server did not say its tokens
    caption(5, outcome=Outcome.INFRA_ERROR, cost_usd=9.0, rounds=99, wall_s=9, usage=usage(9, 9, 9, 9)),
]


def test_means_and_medians_are_over_the_captions_that_say_it():
    told = spent("a", CAPTIONS)
    assert told.captions == 4
    assert (told.cost_usd.mean, told.cost_usd.median, told.cost_usd.n) == (pytest.approx(1.5 / 3), 0.30, 3)
    assert told.cost_usd.total == pytest.approx(1.5)
    assert (told.minutes.mean, told.minutes.median, told.minutes.n) == (pytest.approx(72 / 3), 10, 3)
    assert (told.rounds.mean, told.rounds.median, told.rounds.n) == (76 / 4, 7, 4)
    assert (told.tokens.mean, told.tokens.median, told.tokens.n) == (pytest.approx((1090 + 15 + 1100) / 3), 1090, 3)
    assert told.parts["input_cache_read"].mean == 300 and told.parts["output"].total == 145
    assert told.parts["reasoning"].total == 10  # of the output, and not beside it


def test_shares_of_tool_calls_are_of_all_calls_and_means_of_all_captions():
    calls = [{"view_reference": 6, "write_code": 2}, {"view_reference": 1, "render_compare": 1}, {}]
    mine = [caption(number, tool_calls=told) for number, told in enumerate(calls)]
    told = spent("a", [*mine, caption(9, outcome=Outcome.INFRA_ERROR, tool_calls={"other": 99})])
    assert (told.tool_calls.mean, told.tool_calls.median, told.tool_calls.n) == (pytest.approx(10 / 3), 2, 3)
    assert [(tool.name, tool.calls, tool.share_percent, tool.mean) for tool in told.tools] == [
        ("view_reference", 7, 70.0, pytest.approx(7 / 3)),
        ("analyse_frames", 0, 0.0, 0.0),
        ("write_code", 2, 20.0, pytest.approx(2 / 3)),
        ("render_compare", 1, 10.0, pytest.approx(1 / 3)),
        ("other", 0, 0.0, 0.0),
    ]


def test_a_system_without_tools_or_prices_has_none_and_not_zero():
    told = spent("a", [caption(1), caption(2)])
    assert (told.captions, told.tools) == (2, [])
    for told_of in (told.cost_usd, told.tokens, told.rounds, told.minutes, told.tool_calls):
        assert (told_of.mean, told_of.median, told_of.total, told_of.n) == (None, None, None, 0)
    assert spent("a", []).captions == 0


def test_what_costs_nothing_costs_nothing():
    told = spent("a", [caption(1, cost_usd=0.0), caption(2, cost_usd=1.0)])
    assert (told.cost_usd.mean, told.cost_usd.n) == (0.5, 2)
    assert amount([]).n == 0 and tools([]) == []


def test_a_class_that_is_not_known_is_not_lost():
    assert [tool.calls for tool in tools([caption(1, tool_calls={"browse": 3})])][-1] == 3
