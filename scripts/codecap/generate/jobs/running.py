"""A video job, from its order to its file."""

from __future__ import annotations

import contextlib
import datetime
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from codecap import stopping
from codecap.exchange import Exchange, Rejected, patience, wire
from codecap.exchange.failures import Broken, Unreadable
from codecap.exchange.redaction import key_of
from codecap.generate.harnesses import InfraError
from codecap.generate.jobs.api import JobApi, at
from codecap.generate.jobs.download import Gone, fetch
from codecap.generate.jobs.log import JobLog, Try
from codecap.generate.jobs.submitting import KEPT_ANSWER, Submission
from codecap.generate.videos import Order, Refused
from codecap.records import Usage

FORGOTTEN = {404, 410}


@dataclass(frozen=True)
class Done:
    """A job that is done, and whose file is there.

    Attributes:
        answer: of the service about the job.
        wall_s: from the order to the answer; None of a job that another run has begun.
    """

    job: str
    answer: Any
    usage: Usage
    usd: Decimal | None
    wall_s: float | None


class Jobs:
    """The jobs of one service, for several threads at once.

    Args:
        exchange: records what happens, and holds the store's budget.
    """

    def __init__(self, exchange: Exchange, api: JobApi) -> None:
        self._exchange, self._api = exchange, api
        self._lock = threading.Lock()
        self._orders: dict[str, threading.Lock] = {}

    def video(self, order: Order, out: Path) -> Done:
        """Have a video made, or go on with the job that was begun for it, and write it to `out`.

        Raises:
            Refused: the service will make none of this text.
            InfraError, NotReached: there is none this time.
            stopping.Stopped: the process is to end.
        """
        with self._job(order) as job, self._exchange.door(self._api).gate.slot():
            return job.done(out)

    def spoilt(self, order: Order) -> str:
        """The file of the job that is done for an order cannot be read. Returns what can be done, in words."""
        with self._job(order) as job:
            return job.spoilt()

    @contextlib.contextmanager
    def _job(self, order: Order) -> Iterator[_Job]:
        body = self._api.order_body(order)
        digest = wire.request_digest(self._api, body, nonce=0)
        with self._alone(digest):
            yield _Job(self._exchange, self._api, order, body, digest)

    @contextlib.contextmanager
    def _alone(self, digest: str) -> Iterator[None]:
        """One thread at a time for an order; other processes are kept away by the ledger."""
        with self._lock:
            mine = self._orders.setdefault(digest, threading.Lock())
        with mine:
            yield


class _Job:
    def __init__(self, exchange: Exchange, api: JobApi, order: Order, body: dict[str, Any], digest: str) -> None:
        self._exchange, self._api, self._order, self._body, self._digest = exchange, api, order, body, digest
        self._key = key_of(api, exchange.redact)
        self._log = JobLog(exchange, digest)
        self._submission = Submission(exchange, api, order, body, digest, self._log, self._key)
        self._began = round(time.time(), 3)

    def done(self, out: Path) -> Done:
        try:
            begun = self._submission.job()
            answer = self._awaited(begun)
            found = self._recorded(begun, answer)
            try:
                self._fetch(begun, answer, out)
            except Gone:  # addresses expire; the service gives another one
                try:
                    self._fetch(begun, self._awaited(begun), out)
                except Gone as why:
                    told = f"the video of job {begun.job} cannot be downloaded: {why}"
                    raise InfraError(f"{self._api.name}: {told}; {self._submission.gone(begun)}") from why
            if begun.what == "gone":
                self._log.note(begun.token, "submitted", job=begun.job)  # it is there again
            return found
        finally:
            self._submission.lose()

    def spoilt(self) -> str:
        begun = self._submission.submitted()
        return "the next run tries again" if begun is None else self._submission.gone(begun)

    def _fetch(self, begun: Try, answer: Any, out: Path) -> None:
        fetch(self._exchange.transport, self._api, self._key, begun.job, answer, out)

    def _awaited(self, begun: Try) -> dict[str, Any]:
        """The service's answer about a job that is done.

        Raises:
            Refused: it has ended because of the text or of what it shows.
            InfraError, Rejected: it has ended otherwise, or not within `limit_s`.
        """
        api, ends = self._api, time.monotonic() + self._api.limit_s
        while True:
            stopping.check()
            answer = self._asked(begun)
            if isinstance(answer, dict):
                status = str(at(answer, api.status))
                if status in api.done:
                    return answer
                if status in api.failed:
                    self._has_failed(begun, status, answer)
                answer = f"it is {status}"
            if time.monotonic() + api.poll_s > ends:
                told = f"job {begun.job} was not done within {api.limit_s:g} s ({answer})"
                raise InfraError(f"{api.name}: {told}; the next run goes on with it")
            stopping.sleep(api.poll_s)

    def _asked(self, begun: Try) -> dict[str, Any] | str:
        """What the service says of a job; or why it does not, in words, where that passes."""
        api, redact = self._api, self._exchange.redact
        try:
            response = self._exchange.transport.get(api.url(api.poll, begun.job), api.headers(self._key), api.timeout_s)
        except Broken as error:
            return redact.message(str(error))
        text = redact(response.text)
        try:
            told = wire.parsed(text)
        except Unreadable as error:
            told = {}
            if response.status == 200:
                return str(error)
        if response.status == 200:
            return told
        code, message = api.complaint(told)
        if response.status in FORGOTTEN:
            self._log.note(begun.token, "lost", job=begun.job, status=response.status)
            forgotten = f"{api.name} does not know job {begun.job} any more (HTTP {response.status} {message})"
            raise InfraError(self._submission.unclear(redact.message(forgotten)))
        refusal = patience.refusal(api, response.status, response.headers, code, message or text, told)
        words = redact.message(f"{api.name}, job {begun.job}: {refusal.told}")
        if not refusal.passes:
            raise Rejected(words)
        return words

    def _has_failed(self, begun: Try, status: str, answer: dict[str, Any]) -> None:
        code, message = self._api.complaint(answer)
        words = ": ".join(filter(None, (code, message))) or status
        self._log.note(begun.token, "failed", job=begun.job, answer=json.dumps(answer, ensure_ascii=False)[:KEPT_ANSWER])
        self._submission.release()
        if self._api.is_refusal(code, message):
            raise Refused(words)
        raise InfraError(f"{self._api.name}: job {begun.job} has ended as {status}: {words}; the next run orders it anew")

    def _recorded(self, begun: Try, answer: dict[str, Any]) -> Done:
        """Write down, once, that a job is done and what it cost, and settle that."""
        exchange = self._exchange
        before = [json.loads(payload) for payload in exchange.records.read(self._digest)]
        record = next((told for told in before if told.get("job") == begun.job), None)
        is_new = record is None
        if record is None:
            record = self._record(begun, answer)
            text = exchange.redact(json.dumps(record, ensure_ascii=False))
            exchange.records.append(self._digest, text.encode("utf-8", "replace"))
        usage = Usage.model_validate(record["usage"])
        usd = exchange.cost(record, usage)
        self._submission.settle(usd)
        if is_new:
            exchange.count_paid(usd)
        else:
            exchange.count_replayed()
        return Done(begun.job, answer, usage, usd, record["wall_s"])

    def _record(self, begun: Try, answer: dict[str, Any]) -> dict[str, Any]:
        api, now = self._api, datetime.datetime.now(datetime.UTC)
        usd = api.usd(self._order)
        return {
            "time": now.isoformat(timespec="milliseconds"),
            "api": api.api,
            "model": api.model,
            "host": api.host,
            "stage": self._exchange.stage,
            "system": self._exchange.system,
            "nonce": 0,
            "status": 200,
            "headers": {},
            "wall_s": round(now.timestamp() - begun.began, 3) if begun.began >= self._began else None,
            "request": self._body,
            "response": json.dumps(answer, ensure_ascii=False)[:KEPT_ANSWER],
            "job": begun.job,
            "usage": api.usage(answer).model_dump(),
            "usd": None if usd is None else str(usd),
        }
