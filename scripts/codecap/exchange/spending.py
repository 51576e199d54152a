"""What was spent, summed from the records: each answer was paid for once, replays are free."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from codecap.exchange import recorded
from codecap.exchange.budget import Account, Budget, Reserved
from codecap.exchange.failures import Unreadable
from codecap.exchange.packs import Packs
from codecap.exchange.prices import PriceTable
from codecap.exchange.recorded import FAILED
from codecap.exchange.session import FOLDER
from codecap.records import Usage

GROUPS = ("endpoint", "stage", "system", "day")


@dataclass
class Sum:
    """Answers of one group.

    Attributes:
        group: what they have in common, in the order of the groups that were asked for.
        usd: of those that have a price.
        unpriced: answers whose cost is not known: no price, or the server did not say its tokens.
    """

    group: tuple[str, ...]
    calls: int = 0
    tokens: dict[str, int] = field(default_factory=lambda: dict.fromkeys(Usage.model_fields, 0))
    usd: Decimal = Decimal(0)
    unpriced: int = 0

    def add(self, usage: Usage, usd: Decimal | None) -> None:
        self.calls += 1
        for name in self.tokens:
            self.tokens[name] += getattr(usage, name)
        self.usd += usd or Decimal(0)
        self.unpriced += usd is None


@dataclass(frozen=True)
class Spending:
    """All that a store's records say.

    Attributes:
        failed: responses that were no answers; they cost nothing.
        unread: responses with status 200 that could not be read as an answer; they may have been billed.
        open_calls, open_usd: calls whose end is not known, with their estimates; they may have been billed.
        torn: packs that end with a torn record.
    """

    sums: list[Sum]
    total: Sum
    failed: int
    unread: int
    open_calls: int
    open_usd: Decimal
    torn: list[Path]


def summed(durable: Path, prices: PriceTable, by: Sequence[str] = GROUPS) -> Spending:
    """Sum a store's records.

    Args:
        durable: the config's `store.durable`.
        by: some of `GROUPS`.
    """
    folder = Path(durable) / FOLDER
    packs = Packs(folder / "packs")
    sums: dict[tuple[str, ...], Sum] = {}
    answered: set[str] = set()
    total = Sum(())
    failed = unread = 0
    for digest, payload in packs.every():
        if digest.endswith(FAILED):
            failed += 1
        if not recorded.may_cost(digest):
            continue
        record = json.loads(payload)
        try:
            usage = recorded.usage_of(record)
        except Unreadable:
            unread += 1
            continue
        answered.add(digest)
        day = record["time"][:10]
        usd = recorded.usd_of(record, usage, prices)
        told = {"endpoint": f"{record['model']} at {record['host']}", "day": day} | {
            name: record[name] for name in ("stage", "system")
        }
        group = tuple(told[name] or "-" for name in by)
        for held in (sums.setdefault(group, Sum(group)), total):
            held.add(usage, usd)
    still_open = _without_end(Budget(folder).account(), answered)
    open_usd = sum((reserved.usd for reserved in still_open), Decimal(0))
    return Spending([sums[group] for group in sorted(sums)], total, failed, unread, len(still_open), open_usd, packs.torn)


def _without_end(account: Account, answered: set[str]) -> list[Reserved]:
    """Open calls, but one of each digest whose answer is recorded and not settled yet: that one is among the sums."""
    counted, found = set(account.settled), []
    for reserved in account.open.values():
        if reserved.digest in answered and reserved.digest not in counted:
            counted.add(reserved.digest)
        else:
            found.append(reserved)
    return found


def as_rows(spending: Spending, by: Iterable[str]) -> list[dict[str, object]]:
    """The sums as plain values; amounts are exact, as texts."""
    return [
        dict(zip(by, held.group, strict=True))
        | {"calls": held.calls, **held.tokens, "usd": str(held.usd), "unpriced": held.unpriced}
        for held in spending.sums
    ]
