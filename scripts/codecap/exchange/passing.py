"""Exchanges that are passed through: an agent's own requests, recorded and paid for as questions are.

A request is named by the run that makes it, by what is asked, and by how often the run was answered the same before: the same run
begun again finds its answers, another run asks for its own.
"""

from __future__ import annotations

import dataclasses
import datetime
import functools
import hashlib
import json
import threading
import time
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from codecap import stopping
from codecap.exchange import patience, recorded
from codecap.exchange.asked import asked
from codecap.exchange.doors import Door
from codecap.exchange.failures import NotReached, Rejected, Unreadable
from codecap.exchange.prices import today
from codecap.exchange.question import Endpoint
from codecap.exchange.redaction import key_of
from codecap.exchange.session import KEPT_FAILURE, Exchange
from codecap.exchange.trying import Failure, Hearer, Passed, Try, Whole
from codecap.exchange.wire import passed
from codecap.records import Usage

OUTPUT_TOKENS = 32_000  # set aside for an answer whose request names no limit
MARGIN_S = 60.0  # a reservation holds so much longer than its request may last


class Passing:
    """What a run asks of an endpoint; used by many threads at once.

    Args:
        run: names its records.
    """

    def __init__(self, exchange: Exchange, endpoint: Endpoint, run: str) -> None:
        self.exchange, self.endpoint, self.run = exchange, endpoint, run
        self._closed = threading.Event()
        self._replayed = False

    @property
    def priced(self) -> bool:
        """Whether the price table has the model today."""
        return self.exchange.prices.rates(self.endpoint.model, self.endpoint.host, today()) is not None

    def digest(self, request: Passed) -> str:
        """Digest of what is asked in this run, 64 hexadecimal digits."""
        whom = {"run": self.run, "api": self.endpoint.api, "model": self.endpoint.model, "path": request.path}
        return _sha256(whom | {"headers": dict(request.headers), "body": asked(request)})

    def name(self, request: Passed, digest: str, before: int) -> str:
        """The name of a record: of a request that the run was answered so many times before."""
        return _sha256([digest, before]) + (recorded.FREE if request.free else "")

    def replay(self, name: str) -> Whole | None:
        """The recorded answer; None where there is no whole one."""
        for payload in self.exchange.records.read(name):
            record = json.loads(payload)
            try:
                heard = passed.heard(record["dialect"], record["streamed"], record["response"])
            except Unreadable:
                continue
            self._replayed = True
            self.exchange.count_replayed()
            usd = self.exchange.cost(record, heard.usage)
            told = record["headers"], record["response"], heard.usage, usd, record["wall_s"]
            ended = datetime.datetime.fromisoformat(record["time"]).timestamp()
            return Whole(*told, replayed=True, refused=heard.refused, ended=ended)
        return None

    def ask(self, request: Passed, name: str, until: float, hearer: Hearer) -> Whole | Failure:
        """Send a request, once, and record what comes.

        Args:
            name: of its record.
            until: moment of `time.monotonic()` by which the answer must be whole.
            hearer: hears a stream as it comes.

        Raises:
            BudgetSpent, PriceUnknown: the store's budget does not allow it.
            NotReached: the run is over; `stopping.Stopped`: the process is to end. Nothing is sent.
        """
        exchange, door = self.exchange, self.exchange.door(self.endpoint)
        try:
            door.must_be_open()
            key = key_of(self.endpoint, exchange.redact)
        except NotReached as closed:
            return Failure(0, {}, "", str(closed), passes=False)
        exchange.reconcile()
        input_tokens = request.light.tokens(self.endpoint)
        output_tokens = OUTPUT_TOKENS if request.most_output_tokens is None else request.most_output_tokens
        estimate = Decimal(0) if request.free else exchange.estimate(self.endpoint, input_tokens, output_tokens)
        with door.gate.slot():
            door.gate.wait(input_tokens + (request.most_output_tokens or 0))
            reserved = None
            while not request.free and reserved is None:
                self._must_go_on(until, None)
                reserved = exchange.budget.reserve(name, estimate, max(until - time.monotonic(), 0.0) + MARGIN_S)
                if reserved is None and (whole := self.replay(name)) is not None:  # another process has asked the same
                    return whole
            self._must_go_on(until, reserved)
            record = functools.partial(self._record, request, name)
            told = Try(self.endpoint, request, hearer, estimate, exchange.redact, record).send(exchange.transport, key, until)
            self._settle(reserved, told, estimate)
        if request.free:
            return told  # some servers do not count tokens, and answer all the same
        if isinstance(told, Whole):
            door.missed, door.answered = 0, True
        elif told.blame == "ours" and not told.passes:
            return self._not_served(told, door)
        elif told.wait_s is not None:
            door.gate.pause(min(told.wait_s, patience.LONGEST_STEP_S))
        return told

    def _not_served(self, told: Failure, door: Door) -> Failure:
        """What a failure that does not pass means for other requests: an agent can ask so that the API says that there is no such
        thing. It does so after its first answer alone, so what is said before that concerns all.
        """
        if not told.doubtful or not (door.answered or self._replayed):
            door.closed = Rejected(f"{self.endpoint.name}: {told.told}")
        elif door.answered and told.explained and told.status != 403:
            return dataclasses.replace(told, blame="request")
        return told

    def close(self) -> None:
        """Send nothing more."""
        self._closed.set()

    def _must_go_on(self, until: float, reserved: str | None) -> None:
        """Raises where nothing may be sent any more; what is reserved is released then."""
        why = stopping.reason()
        over = self._closed.is_set() or time.monotonic() >= until
        if reserved is not None and (over or why is not None):
            self.exchange.budget.release(reserved)
        if why is not None:
            raise stopping.Stopped(why)
        if over:
            raise NotReached("the run is over")

    def _settle(self, reserved: str | None, told: Whole | Failure, estimate: Decimal) -> None:
        if reserved is None:
            return
        budget = self.exchange.budget
        if isinstance(told, Whole):
            budget.settle(reserved, estimate if told.usd is None else told.usd)
            self.exchange.count_paid(told.usd)
        elif told.lost_usd is None:
            budget.release(reserved)
        else:
            budget.lose(reserved)

    def _record(
        self, request: Passed, name: str, status: int, headers: dict[str, str], text: str, wall_s: float
    ) -> Callable[[Usage], Decimal | None]:
        """Write down what was asked and what came, before anyone reads it. `text` holds no keys any more."""
        whole = status == 200
        record: dict[str, Any] = {
            "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds"),
            "api": self.endpoint.api,
            "model": self.endpoint.model,
            "host": self.endpoint.host,
            "stage": self.exchange.stage,
            "system": self.exchange.system,
            "run": self.run,
            "dialect": request.dialect,
            "path": request.path,
            "streamed": request.streamed,
            "status": status,
            "headers": headers,
            "wall_s": wall_s,
            "request": request.light.body if whole else None,
            "response": text if whole else text[:KEPT_FAILURE],
        }
        if whole:
            self.exchange.media.append_new(request.light.apart)
        name = name if whole else name.removesuffix(recorded.FREE) + recorded.FAILED
        self.exchange.records.append(name, self.exchange.redact(json.dumps(record)).encode())
        return functools.partial(self.exchange.cost, record)


def _sha256(told: Any) -> str:
    return hashlib.sha256(json.dumps(told, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
