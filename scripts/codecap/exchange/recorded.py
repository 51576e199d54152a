"""Records by their names: which of them may have cost something, and what an answer's record says of its tokens."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from codecap.exchange import wire
from codecap.exchange.prices import PriceTable
from codecap.records import Usage

FAILED = ".failed"  # ends the names of records that are no answers
FREE = ".free"  # and of answers that cost nothing, as counts of tokens
VIDEO_JOBS = "video_jobs"  # what records of videos have as their API, see `codecap.generate.jobs`


def may_cost(name: str) -> bool:
    return not name.endswith((FAILED, FREE))


def usage_of(record: Mapping[str, Any]) -> Usage:
    """The tokens of a recorded answer; `Usage()` where the server did not say them.

    Raises:
        Unreadable: it is no whole answer.
    """
    if record["api"] == VIDEO_JOBS:
        return Usage.model_validate(record["usage"])
    if "dialect" in record:  # it was passed through
        from codecap.exchange.wire import passed

        return passed.heard(record["dialect"], record["streamed"], record["response"]).usage
    return wire.speaking(record["api"]).read(wire.parsed(record["response"])).usage


def usd_of(record: Mapping[str, Any], usage: Usage, prices: PriceTable) -> Decimal | None:
    """What a recorded answer cost; None where the model has no price, or the server did not say its tokens."""
    if record.get("usd") is not None:  # a video's price is that of its entry
        return Decimal(record["usd"])
    if usage == Usage():
        return None
    return prices.usd(record["model"], record["host"], datetime.date.fromisoformat(record["time"][:10]), usage)
