"""One way to ask a model: recorded before it is read, replayed when asked again, within limits and budget."""

from __future__ import annotations

import concurrent.futures
import contextlib
import dataclasses
import datetime
import json
import logging
import threading
import time
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from codecap import config as configuration
from codecap import stopping
from codecap.exchange import patience, recorded, tokens, wire
from codecap.exchange import settings as section
from codecap.exchange.budget import Budget
from codecap.exchange.doors import Door
from codecap.exchange.failures import Broken, NotReached, PriceUnknown, Rejected, Unreadable
from codecap.exchange.limits import Gate
from codecap.exchange.packs import Packs
from codecap.exchange.prices import PriceTable, cents, today
from codecap.exchange.question import Answer, Endpoint, Question, Reply
from codecap.exchange.recorded import FAILED
from codecap.exchange.redaction import Redactor, key_of
from codecap.records import Usage

if TYPE_CHECKING:
    from codecap.exchange.transport import Response, Transport

LOG = logging.getLogger("codecap")

FOLDER = "exchange"  # under store.durable
CAUTION = Decimal("1.25")  # input tokens are estimated: what is set aside for them must not be too little
KEPT_FAILURE = 20_000  # characters of a failed response that are recorded


class Exchange:
    """Asks, records and replays; used by many threads at once.

    Args:
        durable: the config's `store.durable`; everything lies under its folder `exchange`.
        settings: the config's section `exchange`.
        stage, system: what the calls are for, told in their records and in sums of cost.
        replay_only: answers come from the records alone; nothing is asked, and nothing is written.
    """

    def __init__(
        self,
        durable: Path,
        settings: Mapping[str, Any] | None = None,
        stage: str = "",
        system: str = "",
        replay_only: bool = False,
    ) -> None:
        self.settings = section.of(settings)
        self.replay_only = replay_only
        self.folder = Path(durable) / FOLDER
        self.stage, self.system = stage, system
        self.records = Packs(self.folder / "packs")
        self.media = Packs(self.folder / "media", synced=False)
        self.budget = Budget(self.folder, self.settings.budget_usd, self.settings.budget_calls, self._recorded)
        self.redact = Redactor()
        self.paid, self.paid_usd, self.replayed = 0, Decimal(0), 0  # answers of this session
        self._under_way: dict[str, concurrent.futures.Future[Reply]] = {}
        self._doors: dict[str, Door] = {}
        self._lock = threading.Lock()
        self._prices: PriceTable | None = None
        self._transport: Transport | None = None
        self._first = threading.Lock()
        self._reconciled = False

    def ask(self, endpoint: Endpoint, question: Question) -> Reply:
        """The answer, from the records or from the model.

        Raises:
            NotReached: there is none this time.
            PriceUnknown: a budget in USD is set, and the price table does not have the model.
            stopping.Stopped: the process is to end, so nothing more is sent. What is under way is waited for, and recorded.
        """
        call = _call(endpoint, question)
        with self._lock:
            other = self._under_way.get(call.digest)
            if other is None:
                mine = self._under_way[call.digest] = concurrent.futures.Future()
        if other is not None:
            return dataclasses.replace(other.result(), replayed=True)
        try:
            reply = self.replay(endpoint, call.digest) or self._pay(call)
        except BaseException as error:
            mine.set_exception(error)
            raise
        else:
            mine.set_result(reply)
            return reply
        finally:
            with self._lock:
                del self._under_way[call.digest]

    def digest(self, endpoint: Endpoint, question: Question) -> str:
        """Digest of a request, without asking it."""
        return _call(endpoint, question).digest

    def replay(self, endpoint: Endpoint, digest: str) -> Reply | None:
        """The recorded answer to a request; None when there is none that can be read."""
        for payload in self.records.read(digest):
            record = json.loads(payload)
            try:
                answer = wire.speaking(endpoint.api).read(wire.parsed(record["response"]))
            except Unreadable:
                continue
            usd = self.cost(record, answer.usage)
            self.count_replayed()
            return _reply(answer, digest, usd, record["wall_s"], replayed=True)
        return None

    @property
    def prices(self) -> PriceTable:
        with self._lock:
            if self._prices is None:
                self._prices = PriceTable.read(configuration.find(self.settings.prices))
            return self._prices

    def cost(self, record: Mapping[str, Any], usage: Usage) -> Decimal | None:
        """What a recorded answer cost; None where that is not known."""
        return recorded.usd_of(record, usage, self.prices)

    def count_paid(self, usd: Decimal | None) -> None:
        """An answer was bought in this session."""
        with self._lock:
            self.paid += 1
            self.paid_usd += usd or Decimal(0)

    def count_replayed(self) -> None:
        with self._lock:
            self.replayed += 1

    def _recorded_cost(self, digest: str) -> Decimal | None:
        """What a recorded call cost, 0 where that is not known; None when it is not recorded."""
        return next(self._costs(digest), None)

    def _costs(self, digest: str) -> Iterator[Decimal]:
        """Of each answer recorded under a digest; two processes that asked at the same time may both have paid."""
        for payload in self.records.read(digest):
            record = json.loads(payload)
            with contextlib.suppress(Unreadable):
                yield self.cost(record, recorded.usage_of(record)) or Decimal(0)

    def _recorded(self, known: set[str]) -> Iterator[tuple[str, Decimal]]:
        """Digest and cost of each recorded answer whose digest is not known."""
        self.records.refresh()
        for digest in [name for name in self.records.places if recorded.may_cost(name) and name not in known]:
            yield from ((digest, usd) for usd in self._costs(digest))

    def door(self, endpoint: Endpoint) -> Door:
        """The endpoint's, shared by all who ask it in this session."""
        name = f"{endpoint.api} {endpoint.address} {endpoint.model} {endpoint.key_env}"
        with self._lock:
            if name not in self._doors:
                limits = self.settings.limits(endpoint)
                self._doors[name] = Door(Gate(self.folder / "turns", f"{endpoint.host} {endpoint.model}", limits))
            return self._doors[name]

    @property
    def transport(self) -> Transport:
        with self._lock:
            if self._transport is None:
                from codecap.exchange.transport import Transport  # loaded with the first call that is paid for

                self._transport = Transport()
            return self._transport

    def reconcile(self) -> None:
        """Settle what dead processes left open and is recorded all the same; once, before the first call that is paid for."""
        with self._first:
            if not self._reconciled:
                self.budget.reconcile(self._recorded_cost)
                self._reconciled = True

    def estimate(self, endpoint: Endpoint, input_tokens: int, output_tokens: int) -> Decimal:
        """Most that a call is likely to cost; 0 where the model has no price and no budget in USD asks for one."""
        dated = self.prices.rates(endpoint.model, endpoint.host, today())
        if dated is None:
            if self.settings.budget_usd is not None:
                raise PriceUnknown(f"exchange.budget_usd is set, and there is {self.prices.how_to_add(endpoint.model)}")
            self.door(endpoint).tell_once(f"{endpoint.name}: costs are not counted: {self.prices.how_to_add(endpoint.model)}")
            return Decimal(0)
        long = dated.long_context
        rates = long if long is not None and input_tokens > long.above_tokens else dated
        dearest = max(rates.input, rates.cache_write or rates.input) * CAUTION
        return (input_tokens * dearest + output_tokens * rates.output) / 1_000_000

    def _pay(self, call: _Call) -> Reply:
        """Ask the model, again where that may help.

        Raises:
            NotReached: no answer came.
        """
        if self.replay_only:
            raise NotReached(f"{call.endpoint.name}: there is no recorded answer to this question, and nothing new is asked")
        endpoint, door = call.endpoint, self.door(call.endpoint)
        door.must_be_open()
        self.reconcile()
        key = key_of(endpoint, self.redact)
        input_tokens = tokens.of_request(endpoint, call.question)
        estimate = self.estimate(endpoint, input_tokens, call.question.most_output_tokens)
        failed, first_failure = 0, 0.0
        with door.gate.slot():
            while True:
                stopping.check()
                door.must_be_open()
                door.gate.wait(input_tokens + call.question.most_output_tokens)
                reserved = self.budget.reserve(call.digest, estimate, endpoint.timeout_s + 60)
                if reserved is None:  # another process has asked the same
                    if (reply := self.replay(endpoint, call.digest)) is not None:
                        return reply
                    continue
                if stopping.reason() is not None:
                    self.budget.release(reserved)
                    stopping.check()
                told = self._try(call, key, reserved, estimate)
                if isinstance(told, Reply):
                    door.missed, door.misread, door.answered = 0, 0, True
                    return told
                failed += 1
                now = time.monotonic()
                first_failure = first_failure or now
                self._wait_or_give_up(endpoint, door, told, failed, now - first_failure)

    def _wait_or_give_up(self, endpoint: Endpoint, door: Door, told: patience.Refusal, failed: int, since_s: float) -> None:
        """Wait before the next try.

        Args:
            failed: tries so far.
            since_s: time since the first of them failed.

        Raises:
            NotReached: there is no next try.
        """
        words = self.redact.message(f"{endpoint.name}: {told.told}")
        if not told.passes:
            raise door.rejects(told.concerns, words)
        wait_s = max(patience.step_s(failed), (told.wait_s or 0.0) + patience.spread_s())
        if door.tired or failed >= self.settings.tries or since_s + wait_s > self.settings.longest_wait_s:
            asked = f", the server asks to wait {told.wait_s:.0f} s" if told.wait_s is not None else ""
            missed = NotReached(f"{words} (after {failed} {'try' if failed == 1 else 'tries'}{asked}); run again later")
            door.miss(missed)
            raise missed
        LOG.info("%s; again in %.1f s", words, wait_s)
        if told.wait_s is not None:
            door.gate.pause(wait_s)  # it holds for all of the endpoint's requests
        else:
            stopping.sleep(wait_s)

    def _try(self, call: _Call, key: str | None, reserved: str, estimate: Decimal) -> Reply | patience.Refusal:
        """Send the request once, record what comes, then read it."""
        endpoint, speaker = call.endpoint, call.speaker
        body = speaker.body(endpoint, call.question, wire.in_base64)
        try:
            response = self.transport.post(speaker.url(endpoint), speaker.headers(key), body, endpoint.timeout_s)
        except Broken as error:
            (self.budget.lose if error.sent else self.budget.release)(reserved)
            return patience.Refusal(True, "endpoint", str(error))
        except Rejected as error:
            self.budget.release(reserved)
            return patience.Refusal(False, "endpoint", str(error))
        record = self._record(call, response)
        told: dict[str, Any] = {}
        try:
            told = wire.parsed(record["response"])
            answer = speaker.read(told) if response.status == 200 else None
        except Unreadable as error:
            if response.status == 200:
                self.budget.lose(reserved)
                return patience.in_vain(endpoint, error, record["response"], speaker.complaint(told))
        if response.status != 200:
            self.budget.release(reserved)
            code, message = speaker.complaint(told) if told else ("", record["response"])
            return patience.refusal(endpoint, response.status, response.headers, code, message, told)
        usd = self.cost(record, answer.usage)
        self.budget.settle(reserved, estimate if usd is None else usd)
        self.count_paid(usd)
        return _reply(answer, call.digest, usd, record["wall_s"], replayed=False)

    def _record(self, call: _Call, response: Response) -> dict[str, Any]:
        """Write down what was asked and what came, before anyone reads it."""
        text = self.redact(response.text)
        whole = response.status == 200
        record = {
            "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds"),
            "api": call.endpoint.api,
            "model": call.endpoint.model,
            "host": call.endpoint.host,
            "stage": self.stage,
            "system": self.system,
            "nonce": call.question.nonce,
            "status": response.status,
            "headers": response.headers,
            "wall_s": round(response.wall_s, 3),
            "request": call.recorded if whole else None,
            "response": text if whole else text[:KEPT_FAILURE],
        }
        if whole:
            self.media.append_new({medium.sha256: medium.data for medium in call.question.media})
        name = call.digest if whole else call.digest + FAILED
        self.records.append(name, self.redact(json.dumps(record, ensure_ascii=False)).encode())
        return record

    def close(self) -> None:
        if self.paid or self.replayed:
            LOG.info("hosted models: %d answers for %s USD, %d replayed", self.paid, cents(self.paid_usd), self.replayed)
        self.records.close()
        self.media.close()
        if self._transport is not None:
            self._transport.close()


@dataclasses.dataclass(frozen=True)
class _Call:
    """A question to an endpoint: who speaks its API, the body as it is recorded, and the request's digest."""

    endpoint: Endpoint
    question: Question
    speaker: ModuleType
    recorded: dict[str, Any]
    digest: str


def _call(endpoint: Endpoint, question: Question) -> _Call:
    speaker = wire.speaking(endpoint.api)
    recorded = speaker.body(endpoint, question, wire.by_digest)
    return _Call(endpoint, question, speaker, recorded, wire.request_digest(endpoint, recorded, question.nonce))


def _reply(answer: Answer, digest: str, usd: Decimal | None, wall_s: float, replayed: bool) -> Reply:
    return Reply(answer.text, answer.stop, answer.usage, None if usd is None else float(usd), digest, replayed, wall_s)


_open: list[Exchange] = []


@contextlib.contextmanager
def session(
    durable: Path, settings: Mapping[str, Any] | None = None, *, stage: str = "", system: str = "", replay_only: bool = False
) -> Iterator[Exchange]:
    """Have `ask` record into a store, in all threads of this process, until the end of the block.

    Args:
        durable: the config's `store.durable`.
        settings: the config's section `exchange`.
        stage, system: what the calls are for, told in their records.
        replay_only: see `Exchange`.
    """
    exchange = Exchange(durable, settings, stage, system, replay_only)
    _open.append(exchange)
    try:
        yield exchange
    finally:
        _open.remove(exchange)
        exchange.close()


def ask(endpoint: Endpoint, question: Question) -> Reply:
    """Ask within the open session, see `Exchange.ask`."""
    return opened().ask(endpoint, question)


def at_once(endpoint: Endpoint) -> int:
    """Calls to an endpoint that the open session makes at once."""
    return opened().settings.limits(endpoint).concurrency


def opened() -> Exchange:
    """The open session."""
    if not _open:
        raise RuntimeError("no session is open: ask within `with codecap.exchange.session(...)`")
    return _open[-1]
