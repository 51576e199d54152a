"""An order becomes a job: at most once, whatever ends the process or cuts the connection in between."""

from __future__ import annotations

import contextlib
import datetime
import logging
import time
from decimal import Decimal
from typing import Any

from codecap import stopping
from codecap.exchange import Exchange, NotReached, Rejected, patience, wire
from codecap.exchange.failures import Broken, Unreadable
from codecap.exchange.transport import Response, Transport
from codecap.generate.harnesses import InfraError
from codecap.generate.jobs.api import JobApi, text_at
from codecap.generate.jobs.log import JobLog, Try
from codecap.generate.videos import Order, Refused

LOG = logging.getLogger("codecap")

NOT_TAKEN = {429, 503}  # passing statuses by which a service says that it took no job
REFUSING = {200, 400, 403, 422}
OF_GATEWAYS = {408, 502, 504}  # said by what stands before it, and all from 520 up: it may have taken one
KEPT_ANSWER = 20_000  # characters of an answer that are recorded
AGAIN = "set videos.http_jobs.submit_lost_again for one run to submit it again"
USUAL_PX = 1280 * 720  # for estimates of tokens, as ModelArk counts them: pixels x frames / 1024


class Submission:
    """An order's way to its job.

    Args:
        body: what is sent; `digest` names it.
        key: of the service; None where it needs none.
    """

    def __init__(
        self, exchange: Exchange, api: JobApi, order: Order, body: dict[str, Any], digest: str, log: JobLog, key: str | None
    ) -> None:
        self._exchange, self._api, self._order, self._key = exchange, api, order, key
        self._body, self._digest, self._log = body, digest, log
        self._reserved: str | None = None

    @property
    def estimate(self) -> Decimal:
        """Most that the video is likely to cost."""
        told = self._api.usd(self._order)
        if told is not None:
            return told
        return self._exchange.estimate(self._api, 0, round(USUAL_PX * 24 * self._api.seconds(self._order) / 1024))

    def job(self) -> Try:
        """The job that was submitted before, or the one that is submitted now.

        Raises:
            Refused: the service takes none of this text.
            InfraError: it is not known whether there is one. NotReached: none could be submitted.
        """
        self._exchange.reconcile()
        return self.submitted() or self._submit()

    def settle(self, usd: Decimal | None) -> None:
        """The job that was submitted here is done, and cost this."""
        if self._reserved is not None:
            self._exchange.budget.settle(self._reserved, self.estimate if usd is None else usd)
            self._reserved = None

    def release(self) -> None:
        """It costs nothing."""
        if self._reserved is not None:
            self._exchange.budget.release(self._reserved)
            self._reserved = None

    def lose(self) -> None:
        """Where its end is not known, it goes on counting."""
        if self._reserved is not None:
            self._exchange.budget.lose(self._reserved)
            self._reserved = None

    def submitted(self) -> Try | None:
        """The job of the order that the service has; not one whose file is gone, where the order is to be submitted again."""
        going_on = ("submitted",) if self._api.submit_lost_again else ("submitted", "gone")
        return next((held for held in self._log.tries() if held.what in going_on), None)

    def gone(self, begun: Try) -> str:
        """The file of a job that is done cannot be had or read. Returns what can be done, in words."""
        self._log.note(begun.token, "gone", job=begun.job)
        return f"the next run tries again; {AGAIN}, which is paid for"

    def _submit(self) -> Try:
        exchange, door = self._exchange, self._exchange.door(self._api)
        failed, began = 0, time.monotonic()
        while True:
            stopping.check()
            door.must_be_open()
            door.gate.wait(0)
            self._reserved = exchange.budget.reserve(self._digest, self.estimate, self._api.limit_s + self._api.timeout_s)
            if (begun := self.submitted()) is not None:  # by another process, meanwhile
                self.release()
                return begun
            if self._reserved is None:
                continue
            told = self._try(self._token())
            if isinstance(told, Try):
                door.missed = 0
                return told
            failed += 1
            self._wait_or_give_up(told, failed, began)

    def _token(self) -> str:
        """Of a new try, or of the one whose answer was lost, where the service knows its order again.

        Raises:
            InfraError: an order may have arrived, and the service would not know it again.
        """
        api = self._api
        for held in self._log.tries():
            if held.what not in ("submitting", "lost", "gone"):
                continue
            if api.submit_lost_again:
                self._log.note(held.token, "not begun", told="given up")
            elif held.what == "lost":
                self.release()
                raise InfraError(self.unclear(f"{api.name} does not know job {held.job} any more"))
            elif api.idempotency is None:
                self.release()
                when = datetime.datetime.fromtimestamp(held.began, datetime.UTC).isoformat(timespec="seconds")
                raise InfraError(self.unclear(f"an order was sent to {api.name} at {when}, and its answer was lost"))
            else:
                return self._log.begin(held.token)
        return self._log.begin()

    def unclear(self, told: str) -> str:
        return f"{told}: it may be paid for; {AGAIN} all the same"

    def _try(self, token: str) -> Try | patience.Refusal:
        """Send the order once."""
        api, headers = self._api, self._api.headers(self._key)
        if api.idempotency is not None:
            headers[api.idempotency] = token
        try:
            with contextlib.closing(Transport()) as fresh:  # a connection that was kept may be cut by the time that it is used
                response = fresh.post(api.url(api.submit), headers, self._body, api.timeout_s)
        except Broken as error:
            if error.sent:
                return self._lost_answer(str(error))
            self._not_begun(token, str(error))
            return patience.Refusal(True, "endpoint", str(error))
        except Rejected as error:
            self._not_begun(token, str(error))
            raise
        return self._read(token, response)

    def _read(self, token: str, response: Response) -> Try | patience.Refusal:
        """The job that an answer names, or why there is none."""
        api, redact = self._api, self._exchange.redact
        text = redact(response.text)
        try:
            told = wire.parsed(text)
        except Unreadable:
            told = {}
        status = 200 if 200 <= response.status < 300 else response.status
        if status == 200:
            try:
                job = text_at(told, api.job)
            except Unreadable as error:
                if not api.says_error(told):
                    return self._lost_answer(f"HTTP {response.status}: {error}")
            else:
                self._log.note(token, "submitted", job=job, status=response.status, answer=text[:KEPT_ANSWER])
                return Try(token, "submitted", time.time(), job)
        code, message = api.complaint(told)
        refusal = patience.refusal(api, status, response.headers, code, message or text, told)
        by_itself = status in NOT_TAKEN or bool(code or message)
        if status in OF_GATEWAYS or status >= 520 or (refusal.passes and not by_itself):
            return self._lost_answer(refusal.told)
        self._not_begun(token, refusal.told)
        if not refusal.passes and self._is_refused(status, refusal, code, message):
            raise Refused(": ".join(filter(None, (code, message))) or refusal.told)
        return refusal

    def _is_refused(self, status: int, refusal: patience.Refusal, code: str, message: str) -> bool:
        """Whether the model refuses, and not the service for want of rights, of money or of sense in the order."""
        if refusal.concerns == "content":
            return True
        words = message if refusal.concerns == "question" and status != 403 else ""
        return status in REFUSING and self._api.is_refusal(code, words)

    def _lost_answer(self, told: str) -> patience.Refusal:
        """Whether there is a job is not known. It is sent again only where the service knows it again."""
        if self._api.idempotency is None:
            self.lose()
            raise InfraError(self._exchange.redact.message(self.unclear(f"{self._api.name}: {told}")))
        self.release()
        return patience.Refusal(True, "endpoint", told)

    def _not_begun(self, token: str, told: str) -> None:
        self._log.note(token, "not begun", told=told[:KEPT_ANSWER])
        self.release()

    def _wait_or_give_up(self, told: patience.Refusal, failed: int, began: float) -> None:
        """Raises NotReached: there is no next try."""
        settings, door = self._exchange.settings, self._exchange.door(self._api)
        words = self._exchange.redact.message(f"{self._api.name}: {told.told}")
        if not told.passes:
            rejected = Rejected(words)
            if told.concerns == "endpoint":
                door.closed = rejected
            raise rejected
        wait_s = max(patience.step_s(failed), (told.wait_s or 0.0) + patience.spread_s())
        if failed >= settings.tries or time.monotonic() - began + wait_s > settings.longest_wait_s:
            missed = NotReached(f"{words} (after {failed} {'try' if failed == 1 else 'tries'}); run again later")
            door.miss(missed)
            raise missed
        LOG.info("%s; again in %.1f s", words, wait_s)
        stopping.sleep(wait_s)
