"""What captions took: money, tokens, rounds, minutes, tool calls (the paper's Figures 5, 6 and 7)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean, median

from codecap.compare.comparison import Amount, Spent, ToolShare
from codecap.generate.agents.trace import CLASSES
from codecap.records import Caption, Outcome, Usage

PARTS = ("input_uncached", "input_cache_read", "input_cache_write", "output")  # of what is billed; `output` includes reasoning


def spent(system: str, captions: Iterable[Caption]) -> Spent:
    """What the captions of one system took.

    A failed caption counts with what it took, as it was paid for; one that we failed at does not. A number that a caption does not
    tell (no price, no tokens) is in no mean, and `n` says of how many it is.
    """
    mine = [caption for caption in captions if caption.outcome is not Outcome.INFRA_ERROR]
    metered = [caption.usage for caption in mine if caption.usage != Usage()]
    calls_tools = any(caption.tool_calls for caption in mine)
    return Spent(
        system=system,
        captions=len(mine),
        cost_usd=amount(caption.cost_usd for caption in mine),
        minutes=amount(None if caption.wall_s is None else caption.wall_s / 60 for caption in mine),
        rounds=amount(caption.rounds for caption in mine),
        tokens=amount(sum(getattr(usage, name) for name in PARTS) for usage in metered),
        parts={name: amount(getattr(usage, name) for usage in metered) for name in (*PARTS, "reasoning")},
        tool_calls=amount(sum(caption.tool_calls.values()) for caption in mine) if calls_tools else Amount(),
        tools=tools(mine),
    )


def amount(told: Iterable[float | None]) -> Amount:
    """
    >>> amount([1, None, 2, 6])
    Amount(mean=3.0, median=2.0, total=9.0, n=3)
    """
    numbers = [float(value) for value in told if value is not None]
    if not numbers:
        return Amount()
    return Amount(mean=fmean(numbers), median=median(numbers), total=sum(numbers), n=len(numbers))


def tools(captions: Sequence[Caption]) -> list[ToolShare]:
    """Tool calls by class, in the order of the classes; empty where none was called."""
    counted = dict.fromkeys(CLASSES, 0)
    for caption in captions:
        for name, calls in caption.tool_calls.items():
            counted[name] = counted.get(name, 0) + calls
    every = sum(counted.values())
    if not every:
        return []
    return [
        ToolShare(name=name, calls=calls, share_percent=100 * calls / every, mean=calls / len(captions))
        for name, calls in counted.items()
    ]
