"""How much all processes together may spend, kept in one ledger beside the packs.

    ledger.jsonl    a line each: a call is reserved by an estimate before it is made, then settled at its cost, or released
    ledger.lock     held (flock) while a line is read and written

A call whose end is not known (its process died, the connection was cut) may have been billed: it keeps counting with its estimate,
unless its reply turns out to be recorded.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import BinaryIO

from codecap.errors import UserError
from codecap.exchange.failures import BudgetSpent
from codecap.exchange.locking import locked
from codecap.exchange.prices import cents
from codecap.store import explained

WAIT_S = 0.2  # between looks at whether calls under way have left something of the budget


@dataclass
class Reserved:
    """A call that has no end yet."""

    digest: str
    usd: Decimal
    until: float  # wall-clock seconds after which its process must have ended it


@dataclass
class Account:
    """What the ledger says, read as far as it goes."""

    spent_usd: Decimal = Decimal(0)
    calls: int = 0
    open: dict[str, Reserved] = field(default_factory=dict)
    settled: set[str] = field(default_factory=set)  # digests of the calls that were answered
    read: int = 0  # bytes of the ledger

    @property
    def reserved_usd(self) -> Decimal:
        return sum((reserved.usd for reserved in self.open.values()), Decimal(0))

    def take(self, line: dict) -> None:
        reserved = self.open.pop(line["id"], None)
        if line["what"] == "reserve":
            self.open[line["id"]] = Reserved(line["digest"], Decimal(line["usd"]), line["until"])
        elif line["what"] == "settle" and reserved is not None:
            self.spent_usd += Decimal(line["usd"])
            self.calls += 1
            self.settled.add(reserved.digest)
        elif line["what"] == "lose" and reserved is not None:
            self.open[line["id"]] = dataclasses.replace(reserved, until=0.0)


class Budget:
    """A limit on USD and calls for everything that is ever asked into one folder.

    Args:
        folder: where the ledger lies.
        usd, calls: the limits; None for none.
    """

    def __init__(self, folder: Path, usd: Decimal | None = None, calls: int | None = None) -> None:
        self.folder, self.usd, self.calls = Path(folder), usd, calls
        self._ledger = self.folder / "ledger.jsonl"
        self._account = Account()
        self._threads = threading.Lock()

    def reserve(self, digest: str, usd: Decimal, lasts_s: float) -> str:
        """Put a call's estimated cost aside.

        Where what is left would do if calls under way turn out cheaper than estimated, their end is awaited.

        Returns:
            The reservation's name, to be settled or released.

        Raises:
            BudgetSpent: it is not left.
        """
        while True:
            with self._held() as (account, write):
                now = time.time()
                under_way = [reserved for reserved in account.open.values() if reserved.until > now]
                told = self._too_much(account.spent_usd + account.reserved_usd + usd, account.calls + len(account.open) + 1)
                if told is None:
                    name = uuid.uuid4().hex
                    write({"what": "reserve", "id": name, "digest": digest, "usd": str(usd), "until": round(now + lasts_s, 3)})
                    return name
                at_least = account.spent_usd + sum((r.usd for r in account.open.values() if r.until <= now), Decimal(0)) + usd
                if not under_way or self._too_much(at_least, account.calls + len(account.open) - len(under_way) + 1) is not None:
                    raise BudgetSpent(told)
            time.sleep(WAIT_S)

    def settle(self, name: str, usd: Decimal) -> None:
        """The call was answered, and cost this."""
        with self._held() as (_, write):
            write({"what": "settle", "id": name, "usd": str(usd)})

    def release(self, name: str) -> None:
        """The call was not answered, and costs nothing."""
        with self._held() as (_, write):
            write({"what": "release", "id": name})

    def lose(self, name: str) -> None:
        """It is not known whether the call will be billed: it goes on counting with its estimate."""
        with self._held() as (_, write):
            write({"what": "lose", "id": name})

    def reconcile(self, cost_of: Callable[[str], Decimal | None]) -> None:
        """Settle the calls of dead processes whose replies were recorded after all, and not those of another try.

        Args:
            cost_of: the cost of a recorded request by its digest; None when it is not recorded.
        """
        if not self._ledger.exists():
            return
        with self._held() as (account, write):
            over = {name: reserved for name, reserved in account.open.items() if reserved.until <= time.time()}
            for name, reserved in over.items():
                usd = None if reserved.digest in account.settled else cost_of(reserved.digest)
                if usd is not None:
                    write({"what": "settle", "id": name, "usd": str(usd)})

    def account(self) -> Account:
        """What the ledger says now; it need not be writable."""
        if not self._ledger.exists():
            return Account()
        with self._threads, self._ledger.open("rb") as ledger:
            self._catch_up(ledger)
            return dataclasses.replace(self._account, open=dict(self._account.open))

    def _too_much(self, usd: Decimal, calls: int) -> str | None:
        if self.calls is not None and calls > self.calls:
            return f"the budget of {self.calls} calls is spent; raise exchange.budget_calls and run again: nothing is paid twice"
        if self.usd is not None and usd > self.usd:
            return (
                f"the budget of {cents(self.usd)} USD is spent (the next call would make it {cents(usd)} at most); "
                "raise exchange.budget_usd and run again: nothing is paid twice"
            )
        return None

    @contextlib.contextmanager
    def _held(self) -> Iterator[tuple[Account, Callable[[dict], None]]]:
        """The account up to date, and how to write a line, while no other thread or process can."""
        with self._threads:
            if self._ledger.exists():
                with contextlib.suppress(UserError), self._ledger.open("rb") as ledger:
                    self._catch_up(ledger)  # most of it before others are kept waiting
            with locked(self.folder / "ledger.lock"), self._ledger.open("ab+") as ledger:
                if not self._catch_up(ledger):
                    ledger.truncate(self._account.read)  # a writer was killed within a line; it holds the lock no more
                yield self._account, lambda line: self._write(ledger, line)

    def _catch_up(self, ledger: BinaryIO) -> bool:
        """Take in the whole lines that are new; false when something follows them that is none."""
        ledger.seek(self._account.read)
        told = ledger.read()
        whole = told.rfind(b"\n") + 1
        for line in told[:whole].splitlines(keepends=True):
            try:
                self._account.take(json.loads(line))
            except (ValueError, KeyError, TypeError, ArithmeticError) as error:
                place = f"{self._ledger}: the line at byte {self._account.read} is damaged"
                raise UserError(f"{place}; take it out, compare with `codecap cost`, and run again") from error
            self._account.read += len(line)
        return whole == len(told)

    def _write(self, ledger: BinaryIO, line: dict) -> None:
        told = json.dumps(line, separators=(",", ":")).encode() + b"\n"
        try:
            ledger.write(told)
            ledger.flush()
        except OSError as error:
            raise explained(error, self.folder) from error
        self._account.take(line)
        self._account.read += len(told)
