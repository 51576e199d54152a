"""Calls of hosted models as a run keeps them: plain records, from which rows are read ever after."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from codecap.exchange import Endpoint, Filtered, Question, ask
from codecap.exchange.question import Stop
from codecap.records import Outcome, Row, Usage


class Call(Row):
    """One answer.

    Attributes:
        stop: how it ended; "filtered" where a filter of the provider kept the question back.
        text: the answer, without thinking; what the provider said where it was filtered.
        cost_usd: by the price table of the day it was asked; None when the model has no price there.
        wall_s: how long it took when it was paid for.
        digest: names its record among the exchanges; "" where it was filtered.
    """

    stop: Stop | str
    text: str
    usage: Usage = Usage()
    cost_usd: float | None = 0.0
    wall_s: float = 0.0
    digest: str = ""

    @property
    def refusal(self) -> str | None:
        """Why there is no answer, in words, where the model or a filter refused; None where there is one."""
        if self.stop == "filtered":
            return f"kept back by the provider's filter: {self.text}"
        if self.stop == "refusal":
            words = " ".join(self.text.split())
            return f"refused: {words[:200]}" if words else "refused"
        return None

    def why(self, reason: str) -> str:
        """Why its answer holds nothing that can be used, with the word by which the server ended it where that is an unknown one.

        >>> Call(stop="other: eos", text="").why("the answer is empty")
        'the answer is empty (the server ended it by eos)'
        """
        word = self.stop.removeprefix("other: ")
        return reason if word == self.stop else f"{reason} (the server ended it by {word})"

    @property
    def cut_off(self) -> bool:
        return self.stop == "length"


@dataclass(frozen=True)
class Sum:
    """What several calls took together."""

    usage: Usage
    cost_usd: float | None
    wall_s: float
    rounds: int


def call(endpoint: Endpoint, question: Question) -> Call:
    """Ask once. What the model says counts, a refusal too: nothing is asked again.

    Raises:
        codecap.exchange.NotReached: no answer could be had this time.
    """
    try:
        reply = ask(endpoint, question)
    except Filtered as why:
        return Call(stop="filtered", text=str(why))
    return Call(
        stop=reply.stop,
        text=reply.text.encode("utf-8", "replace").decode(),  # a model may say half a character
        usage=reply.usage,
        cost_usd=reply.cost_usd,
        wall_s=round(reply.wall_s, 3),
        digest=reply.digest,
    )


def summed(calls: Sequence[Call]) -> Sum:
    """The cost is None where that of a call is not known."""
    costs = [one.cost_usd for one in calls]
    return Sum(
        usage=total(one.usage for one in calls),
        cost_usd=None if None in costs else round(sum(costs), 8),
        wall_s=round(sum(one.wall_s for one in calls), 3),
        rounds=len(calls),
    )


def total(usages: Iterable[Usage]) -> Usage:
    """
    >>> total([Usage(output=3), Usage(output=4, reasoning=1)])
    Usage(input_uncached=0, input_cache_read=0, input_cache_write=0, output=7, reasoning=1)
    """
    told = list(usages)
    return Usage(**{name: sum(getattr(usage, name) for usage in told) for name in Usage.model_fields})


def outcome_of(one: Call, reason: str) -> tuple[Outcome, str]:
    """Outcome and detail of a call whose answer holds nothing that can be used."""
    refusal = one.refusal
    return (Outcome.NO_COMPLETE_HTML, one.why(reason)) if refusal is None else (Outcome.REFUSED, refusal)
