"""How much all processes together may spend, kept in one ledger beside the packs.

    ledger.jsonl    a line each: a call is reserved by an estimate before it is made, then settled at its cost, or released
    ledger.lock     held (see `locking`) while a line is read and written

A call whose end is not known (its process died, the connection was cut) may have been billed: it keeps counting with its estimate,
unless its reply turns out to be recorded. Recorded calls that the ledger lacks (it was lost, or a disk's cache was) are taken in
before anything is spent.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import logging
import os
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import BinaryIO

from codecap import stopping
from codecap.errors import UserError
from codecap.exchange.failures import BudgetSpent
from codecap.exchange.locking import locked
from codecap.exchange.prices import cents
from codecap.exchange.processes import ProcessName, is_gone, this_process
from codecap.store import explained, open_shared

LOG = logging.getLogger("codecap")

WAIT_S = 0.2  # between looks at whether calls under way have ended

Recorded = Callable[[set[str]], Iterable[tuple[str, Decimal]]]


@dataclass
class Reserved:
    """A call that has no end yet."""

    digest: str
    usd: Decimal
    until: float  # wall-clock seconds after which its process must have ended it
    by: ProcessName | None = None  # whose call it is

    def is_over(self, now: float) -> bool:
        """Whether nothing more will be heard of it: its time is up, or its process is no more."""
        return self.until <= now or is_gone(self.by)


@dataclass
class Account:
    """What the ledger says, read as far as it goes."""

    spent_usd: Decimal = Decimal(0)
    calls: int = 0
    open: dict[str, Reserved] = field(default_factory=dict)
    settled: set[str] = field(default_factory=set)  # digests of the calls that were answered
    read: int = 0  # bytes of the ledger
    first: bytes = b""  # its first line, by which it is known again

    @property
    def reserved_usd(self) -> Decimal:
        return sum((reserved.usd for reserved in self.open.values()), Decimal(0))

    def take(self, line: dict) -> None:
        reserved = self.open.pop(line["id"], None)
        if line["what"] == "reserve":
            by = line.get("by")
            self.open[line["id"]] = Reserved(line["digest"], Decimal(line["usd"]), line["until"], by and tuple(by))
        elif line["what"] == "settle" and reserved is not None:
            self.spent_usd += Decimal(line["usd"])
            self.calls += 1
            self.settled.add(reserved.digest)
        elif line["what"] == "lose" and reserved is not None:
            self.open[line["id"]] = dataclasses.replace(reserved, until=0.0)


def settled_usd(folder: Path) -> Decimal:
    """What the calls have cost whose end is known, in less time than `Budget.account` takes: of its ledger, only these are read."""
    try:
        ledger = (Path(folder) / "ledger.jsonl").open("rb")
    except FileNotFoundError:
        return Decimal(0)
    with ledger:
        settled = (json.loads(line) for line in ledger if line.startswith(b'{"what":"settle"') and line.endswith(b"\n"))
        return sum((Decimal(line["usd"]) for line in settled), Decimal(0))


class Budget:
    """A limit on USD and calls for everything that is ever asked into one folder.

    Args:
        folder: where the ledger lies.
        usd, calls: the limits; None for none.
        recorded: the calls that are recorded, but not under one of some digests, with what each cost; a digest may occur twice.
    """

    def __init__(
        self, folder: Path, usd: Decimal | None = None, calls: int | None = None, recorded: Recorded | None = None
    ) -> None:
        self.folder, self.usd, self.calls = Path(folder), usd, calls
        self._ledger = self.folder / "ledger.jsonl"
        self._account = Account()
        self._threads = threading.Lock()
        self._recorded = recorded
        self._complete = recorded is None  # whether the ledger is known to have all that is recorded
        self._looked: set[str] = set()  # settled digests for which `reserve` has given None
        self._told: set[str] = set()  # what the log says once

    def reserve(self, digest: str, usd: Decimal, lasts_s: float) -> str | None:
        """Put a call's estimated cost aside.

        Where what is left would do if calls under way turn out cheaper than estimated, their end is awaited; so is that of the
        same call by another process.

        Returns:
            The reservation's name, to be settled or released. None where such a call has ended meanwhile: look whether it is
            recorded now, and reserve again if it is not.

        Raises:
            BudgetSpent: it is not left.
        """
        waited = False
        while True:
            with self._held() as (account, write):
                now = time.time()
                same = [held for held in account.open.values() if held.digest == digest and held.by != this_process()]
                same = [held for held in same if not held.is_over(now)]
                if not same:
                    if waited or (digest in account.settled and digest not in self._looked):
                        self._looked.add(digest)
                        return None
                    name = self._reserve(account, write, digest, usd, now, lasts_s)
                    if name is not None:
                        return name
                else:
                    waited = True
                    self._tell_once("another process asks the same", same, now)
            stopping.sleep(WAIT_S)

    def _reserve(
        self, account: Account, write: Callable[..., None], digest: str, usd: Decimal, now: float, lasts_s: float
    ) -> str | None:
        """The reservation's name, or None where calls under way may leave enough. Raises BudgetSpent where they cannot."""
        told = self._too_much(account.spent_usd + account.reserved_usd + usd, account.calls + len(account.open) + 1)
        if told is None:
            name, until = uuid.uuid4().hex, round(now + lasts_s, 3)
            write({"what": "reserve", "id": name, "digest": digest, "usd": str(usd), "until": until, "by": list(this_process())})
            return name
        over: list[Reserved] = []
        under_way: list[Reserved] = []
        for held in account.open.values():
            (over if held.is_over(now) else under_way).append(held)
        at_least = account.spent_usd + sum((held.usd for held in over), Decimal(0)) + usd
        if not under_way or self._too_much(at_least, account.calls + len(over) + 1) is not None:
            raise BudgetSpent(told)
        self._tell_once("what is left of the budget depends on others", under_way, now)
        return None

    def _tell_once(self, why: str, awaited: list[Reserved], now: float) -> None:
        if why not in self._told:
            self._told.add(why)
            most_s = max(held.until for held in awaited) - now
            calls = f"{len(awaited)} {'call' if len(awaited) == 1 else 'calls'}"
            LOG.info("%s: waiting for %s under way, %.0f s at most", why, calls, most_s)

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
            now = time.time()
            over = {name: reserved for name, reserved in account.open.items() if reserved.is_over(now)}
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
    def _held(self) -> Iterator[tuple[Account, Callable[..., None]]]:
        """The account up to date, and how to write lines, while no other thread or process can."""
        with self._threads:
            if self._ledger.exists():
                with contextlib.suppress(UserError), self._ledger.open("rb") as ledger:
                    self._catch_up(ledger)  # most of it before others are kept waiting
            with locked(self.folder / "ledger.lock"), self._opened() as ledger:
                if not self._catch_up(ledger):
                    ledger.truncate(self._account.read)  # a writer was killed within a line; it holds the lock no more
                if not self._complete:
                    self._take_in_recorded(ledger)
                    self._complete = True
                yield self._account, lambda *lines: self._write(ledger, *lines)

    def _opened(self) -> BinaryIO:
        return os.fdopen(open_shared(self._ledger, os.O_RDWR | os.O_CREAT | os.O_APPEND), "ab+")

    def _take_in_recorded(self, ledger: BinaryIO) -> None:
        """Recorded calls that the ledger does not know were paid for all the same."""
        known = self._account.settled | {held.digest for held in self._account.open.values()}
        lines = []
        for digest, usd in self._recorded(known):
            name = uuid.uuid4().hex
            lines.append({"what": "reserve", "id": name, "digest": digest, "usd": str(usd), "until": 0.0})
            lines.append({"what": "settle", "id": name, "usd": str(usd)})
        if lines:
            LOG.warning("%s: lacked %d calls that are recorded; they count again", self._ledger, len(lines) // 2)
            self._write(ledger, *lines)

    def _catch_up(self, ledger: BinaryIO) -> bool:
        """Take in the whole lines that are new; false when something follows them that is none."""
        if not self._is_the_same(ledger):
            self._account, self._complete = Account(), self._recorded is None
        ledger.seek(self._account.read)
        told = ledger.read()
        whole = told.rfind(b"\n") + 1
        for line in told[:whole].splitlines(keepends=True):
            try:
                self._account.take(json.loads(line))
            except (ValueError, KeyError, TypeError, ArithmeticError) as error:
                place = f"{self._ledger}: the line at byte {self._account.read} is damaged"
                raise UserError(f"{place}; take it out, compare with `codecap cost`, and run again") from error
            self._account.first = self._account.first or line
            self._account.read += len(line)
        return whole == len(told)

    def _is_the_same(self, ledger: BinaryIO) -> bool:
        """Whether what was read is still there: the file may have been lost behind a running process."""
        ledger.seek(0)
        return ledger.read(len(self._account.first)) == self._account.first and ledger.seek(0, os.SEEK_END) >= self._account.read

    def _write(self, ledger: BinaryIO, *lines: dict) -> None:
        told = [json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines]
        try:
            ledger.write(b"".join(told))
            ledger.flush()
            os.fsync(ledger.fileno())  # what a call that is under way may cost is nowhere else
        except OSError as error:
            raise explained(error, self.folder) from error
        for line in lines:
            self._account.take(line)
        self._account.first = self._account.first or told[0]
        self._account.read += sum(map(len, told))
