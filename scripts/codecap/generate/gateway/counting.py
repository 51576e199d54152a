"""A run's counts as they grow, and the limits that they meet."""

from __future__ import annotations

import threading
import time
from decimal import Decimal
from typing import Any

from codecap import stopping
from codecap.exchange import Endpoint
from codecap.exchange.trying import Failure, Whole
from codecap.generate.gateway.deadline import Deadline
from codecap.generate.gateway.tally import Limits, StoppedBy, Tally
from codecap.records import Usage

MOST_NAMES = 100  # different things that are counted by name: an agent could invent any number
OTHERS = "others"
LONGEST_NAME = 200  # characters
LASTING_S = 300.0  # a fault that has lasted so long at the deadline has taken the run its end
SILENT = "the model's server gave no answer at all before the deadline"


class Stop(Exception):
    """Nothing more is passed on in this run; the message says why."""


class Counts:
    """Counts of one run; used by many threads at once.

    Args:
        deadline: of the run, or None.
        priced: whether the model's price is known.
    """

    def __init__(self, endpoint: Endpoint, limits: Limits, deadline: Deadline | None, priced: bool) -> None:
        self.limits, self.deadline, self.priced = limits, deadline, priced
        self._lock = threading.Lock()
        self._usage = dict.fromkeys(Usage.model_fields, 0)
        self._usd = self._lost_usd = Decimal(0)
        self._model_s = 0.0
        self._numbers = dict.fromkeys(("calls", "rounds", "paid", "replayed", "unmetered", "lost", "token_counts", "filtered"), 0)
        self._names: dict[str, dict[str, int]] = {name: {} for name in ("refused", "rejected", "faults", "efforts_seen", "routes")}
        self._effort_told = endpoint.thinking
        self._last_fault: str | None = None  # since the last answer
        self._failing_since: float | None = None
        self._silent = False  # a request was cut before anything of its answer came
        self._last_rejection: str | None = None
        self._last_refused = False
        self._closed = False
        self._stopped: tuple[StoppedBy, str] | None = None

    def begin(self, free: bool, effort: str | None) -> None:
        """A request is passed on or replayed.

        Raises:
            Stop: it is not, for a limit is met.
        """
        with self._lock:
            if self._stopped is None:
                self._stopped = self._met()
            if self._stopped is not None:
                raise Stop(self._stopped[1])
            if not free:
                self._numbers["calls"] += 1
            if effort is not None:
                self._name("efforts_seen", effort)

    def stop(self, by: StoppedBy, told: str) -> None:
        """Pass nothing more on; the first reason stays."""
        with self._lock:
            self._stopped = self._stopped or (by, told)

    def _met(self) -> tuple[StoppedBy, str] | None:
        limits, numbers = self.limits, self._numbers
        if stopping.reason() is not None:
            return "process", f"the process is to end: {stopping.reason()}"
        if self.deadline is not None and time.monotonic() >= self.deadline.moment:
            return "deadline", "the time for this task is over"
        if limits.usd is not None and self._usd >= limits.usd:
            return "usd", f"the budget of this task, {limits.usd} USD, is spent"
        if limits.calls is not None and numbers["calls"] >= limits.calls:
            return "calls", f"the budget of this task, {limits.calls} calls, is spent"
        if limits.rounds is not None and numbers["rounds"] >= limits.rounds:
            return "rounds", f"the budget of this task, {limits.rounds} rounds, is spent"
        return None

    def answered(self, whole: Whole, free: bool) -> None:
        with self._lock:
            if self._closed:
                return
            if free:
                self._numbers["token_counts"] += 1
                return
            self._last_fault = self._last_rejection = self._failing_since = None
            self._last_refused = whole.refused
            self._numbers["rounds"] += 1
            self._numbers["replayed" if whole.replayed else "paid"] += 1
            self._model_s += whole.wall_s
            if whole.usage == Usage():
                self._numbers["unmetered"] += 1
            for name in self._usage:
                self._usage[name] += getattr(whole.usage, name)
            self._usd += whole.usd or Decimal(0)

    def failed(self, failure: Failure, free: bool, begun: bool, cut_by_us: bool) -> None:
        """No whole answer came.

        Args:
            begun: something of one came.
            cut_by_us: the run was over, which is nobody's fault.
        """
        with self._lock:
            if self._closed:
                return
            if failure.lost_usd is not None and not free:
                self._numbers["lost"] += 1
                self._lost_usd += failure.lost_usd
            if cut_by_us:
                self._silent = self._silent or not (free or begun)
                return
            ours = failure.blame == "ours"
            self._name("faults" if ours else "rejected", failure.told)
            if free:
                return
            self._numbers["filtered"] += failure.blame == "content"
            self._last_fault = failure.told if ours else None
            self._failing_since = (self._failing_since or time.monotonic()) if ours else None
            self._last_rejection = failure.told if failure.blame == "request" else None

    def refused(self, what: str) -> None:
        with self._lock:
            self._name("refused", what)

    def asked_on_route(self, path: str) -> None:
        with self._lock:
            self._name("routes", path)

    def close(self, lost_usd: list[Decimal], silent: bool) -> None:
        """The run ends before some requests do. Nothing is counted any more.

        Args:
            lost_usd: most that each of these is likely to cost.
            silent: nothing has come of the answer to one of them.
        """
        with self._lock:
            self._closed = True
            now = time.monotonic()
            if self.deadline is not None and now >= self.deadline.moment:
                if self._numbers["rounds"] == 0:
                    self._last_fault = self._last_fault or (SILENT if self._silent or silent else None)
                elif now - (self._failing_since or now) < LASTING_S:
                    self._last_fault = None
            self._numbers["lost"] += len(lost_usd)
            self._lost_usd += sum(lost_usd, Decimal(0))

    def _name(self, group: str, name: str) -> None:
        counts, name = self._names[group], _plain(name)
        name = name if name in counts or len(counts) < MOST_NAMES else OTHERS
        counts[name] = counts.get(name, 0) + 1

    def tally(self) -> Tally:
        with self._lock:
            told: dict[str, Any] = self._numbers | {name: dict(counts) for name, counts in self._names.items()}
            by, words = self._stopped or (None, "")
            nothing_taken = self._last_rejection if self._numbers["rounds"] == 0 else None
            return Tally(
                **told,
                usage=Usage(**self._usage),
                cost_usd=float(self._usd) if self.priced else None,
                model_s=round(self._model_s, 3),
                lost_usd=float(self._lost_usd),
                requests_refused=sum(told["refused"].values()),
                ended_by_fault=self._last_fault or nothing_taken,
                ended_by_refusal=self._last_refused,
                stopped_by=by,
                stopped_told=words,
                effort_told=self._effort_told,
            )


def _plain(name: str) -> str:
    """A name in one line of printable characters."""
    return "".join(character if character.isprintable() else "?" for character in name)[:LONGEST_NAME]
