"""The gateway of one run: what is asked goes through policy and limits, is answered by the records or the model, and counted."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Generator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from codecap import stopping
from codecap.exchange import BudgetSpent, Endpoint, Exchange, NotReached, PriceUnknown
from codecap.exchange.passing import Passing
from codecap.exchange.trying import Failure, Whole
from codecap.generate.gateway import policy, speech
from codecap.generate.gateway.counting import Counts, Stop
from codecap.generate.gateway.deadline import Deadline
from codecap.generate.gateway.delivery import JSON, Relayed, tells_only_usage
from codecap.generate.gateway.passages import Cut, Head, Passage, Passages
from codecap.generate.gateway.room import NO_ROOM, Room
from codecap.generate.gateway.routes import Abandoned, Gone, Route, Routes
from codecap.generate.gateway.server import Answer, Asked, Server, Unfit, once
from codecap.generate.gateway.sockets import LONGEST_PATH, private_path
from codecap.generate.gateway.tally import Limits, StoppedBy, Tally
from codecap.generate.sandbox import PORT

LOG = logging.getLogger("codecap")

LONGEST_ANSWER_S = 3600.0  # where no deadline ends it
CUTTING_S = 2.0  # in which exchanges that are cut come to their end
LOOK_S = 0.2
STOPPED = 403  # a status that no client tries again
MOST_AT_ONCE = 16  # exchanges: a client could begin any number and not wait for them
MOST_BYTES = 256 << 20  # of requests that are read, and of those that are under way, all together
LARGE_REQUEST = 50_000  # bytes
NO_LIMITS = Limits()


class Crowded(Exception):
    """Too much is under way; `status` is for clients that may ask again."""

    def __init__(self, status: int, told: str) -> None:
        super().__init__(told)
        self.status = status


class Gateway:
    """Use as a context manager; see the package. After the block nothing of it runs, and `tally` is complete.

    Args:
        exchange: records and replays, and holds the store's budget.
        endpoint: model, API, address, key_env, thinking (which is looked at, not put in), extra (laid over every request).
        run: names the run's records: the same name is the same run, begun again.
        socket: where to listen; None: in a private folder of its own. The path has 107 bytes at most, its folder must be private.
        limits: of this run.
        deadline: after it nothing more is passed on; None for none. It hears of the answers that are replayed.
        routes: path -> what answers a POST or GET there.
        replay_only: pass nothing on, answer from the records alone.
        drain_s: how long exchanges that are under way at the end may take, so that what they cost is known.
        port: where the sandbox lets this be reached, see `Sandbox.port`.

    Raises:
        PriceUnknown: there is a limit in USD, and the model has no price.
    """

    def __init__(
        self,
        exchange: Exchange,
        endpoint: Endpoint,
        run: str,
        socket: Path | None = None,
        *,
        limits: Limits = NO_LIMITS,
        deadline: Deadline | None = None,
        routes: Mapping[str, Route] | None = None,
        replay_only: bool = False,
        drain_s: float = 30.0,
        port: int = PORT,
    ) -> None:
        self.endpoint, self.run, self.deadline = endpoint, run, deadline
        self._socket, self._port, self._drain_s, self._replay_only = socket, port, drain_s, replay_only
        self._routes = Routes(routes or {})
        self._room = Room(MOST_BYTES)
        self._passing = Passing(exchange, endpoint, run)
        if limits.usd is not None and not self._passing.priced:
            raise PriceUnknown(f"{run}: a limit in USD is set, and there is {exchange.prices.how_to_add(endpoint.model)}")
        self._counts = Counts(endpoint, limits, deadline, self._passing.priced)
        self._passages = Passages()
        self._under_way: list[Relayed] = []
        self._in_a_row = 0  # failures since the last answer
        self._broken: BaseException | None = None  # a failure of this program, for who uses it
        self._closing = False
        self._lock = threading.Lock()
        self._reading = threading.Lock()  # one large request at a time: it takes many times its bytes, and its time from all runs
        self._stack = contextlib.ExitStack()

    @property
    def url_inside(self) -> str:
        """`http://127.0.0.1:<port>`, without a version: clients add /v1 (OpenAI, Anthropic) or /v1beta (Google)."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def socket(self) -> Path:
        """Where it listens."""
        if self._socket is None:
            raise RuntimeError("the gateway has no socket before its block begins")
        return self._socket

    @property
    def tally(self) -> Tally:
        """As it is now; complete after the block."""
        return self._counts.tally()

    def __enter__(self) -> Gateway:
        with contextlib.ExitStack() as stack:
            if self._socket is None:
                self._socket = stack.enter_context(private_path())
            elif len(bytes(self._socket)) > LONGEST_PATH:
                raise ValueError(f"{self._socket}: has more than {LONGEST_PATH} bytes; give no path for one of the gateway's own")
            elif self._socket.is_socket():
                self._socket.unlink()  # of a run that was killed
            stack.callback(self._socket.unlink, missing_ok=True)
            server = Server(self._socket, self._answer, self._unfit, self._room)
            stack.callback(server.close)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._closing = True
        self._routes.close()
        self._passing.close()
        self._stack.close()
        self._drain()
        if kind is None and self._broken is not None:
            raise self._broken

    def _drain(self) -> None:
        """Wait for exchanges and routes that are under way, then cut the exchanges."""
        until = time.monotonic() + self._drain_s
        while not self._routes.wait_over(LOOK_S) and time.monotonic() < until and not stopping.broken_off():
            pass
        while (left := self._passages.under_way()) and time.monotonic() < until and not stopping.broken_off():
            left[0].wait_over(LOOK_S)
        for passage in left:
            passage.break_off()
        until = time.monotonic() + CUTTING_S
        for passage in left:
            passage.wait_over(until - time.monotonic())
        with self._lock:
            left_usd = [relayed.usd for relayed in self._under_way if relayed.usd is not None]
            self._counts.close(left_usd, any(not relayed.begun for relayed in self._under_way if not relayed.request.free))

    def _answer(self, asked: Asked) -> Answer:
        try:
            path = urlsplit(asked.target).path
        except ValueError as error:
            raise Unfit(400, "the request's target cannot be read") from error
        if path in self._routes and asked.method in ("GET", "POST"):
            return self._on_route(path, asked)
        try:
            with self._reading if len(asked.body) > LARGE_REQUEST else contextlib.nullcontext():
                allowed = policy.allowed(self.endpoint, asked.method, asked.target, asked.headers, asked.body)
        except policy.Refused as refused:
            self._counts.refused(refused.noted)
            return self._error(refused.status, refused.code, str(refused))
        digest = self._passing.digest(allowed.request)
        passage, new = self._passages.claim(digest, asked.gone)
        if new:
            relayed = Relayed(passage, allowed.request)
            try:
                self._begin(relayed, allowed.effort)
            except (Stop, Crowded) as why:
                self._passages.fail(digest, passage)
                passage.end(was_cut=True)
                return self._error(STOPPED if isinstance(why, Stop) else why.status, "task_over", str(why))
            threading.Thread(target=self._see_to, args=(relayed, digest), name="exchange", daemon=True).start()
        head = passage.wait_head(asked.gone)
        if head is None:
            self._passages.leave(passage, asked.gone, delivered=False)
            raise Cut
        return head, self._delivered(passage, allowed.hides_usage, asked.gone)

    def _delivered(self, passage: Passage, hides_usage: bool, gone: Gone) -> Generator[bytes, None, None]:
        delivered = False
        try:
            for event in passage.events(gone):
                if not (hides_usage and tells_only_usage(event)):
                    yield event
            delivered = True
        finally:
            self._passages.leave(passage, gone, delivered)

    def _begin(self, relayed: Relayed, effort: str | None) -> None:
        """An exchange is begun; raises `Stop` or `Crowded` where it is not."""
        with self._lock:
            if len(self._under_way) >= MOST_AT_ONCE:
                raise Crowded(429, f"{MOST_AT_ONCE} requests are under way")
            size = len(relayed.request.body)
            if not self._room.take(size):
                raise Crowded(503, NO_ROOM)
            try:
                self._counts.begin(relayed.request.free, effort)
            except Stop:
                self._room.give_back(size)
                raise
            self._under_way.append(relayed)

    def _see_to(self, relayed: Relayed, digest: str) -> None:
        """Have one exchange answered; in a thread of its own, so that it comes to its end whatever its client does."""
        try:
            told = self._told(relayed, digest)
        except Stop as stop:
            self._end(relayed)
            self._passages.fail(digest, relayed.passage)
            relayed.error(STOPPED, speech.error(self.endpoint.api, STOPPED, "task_over", str(stop)))
            return
        if isinstance(told, Whole):
            self._end(relayed, told)
            relayed.whole(told)
            return
        self._in_a_row += 1
        self._end(relayed, told)
        LOG.info("%s: %s", self.run, told.told)
        self._passages.fail(digest, relayed.passage)
        relayed.failed(told, self.endpoint.api, self._in_a_row)

    def _told(self, relayed: Relayed, digest: str) -> Whole | Failure:
        """What becomes of a request.

        Raises:
            Stop: it is not passed on.
        """
        passing, now = self._passing, time.monotonic()
        name = passing.name(relayed.request, digest, relayed.passage.before)
        latest = now + LONGEST_ANSWER_S if self.deadline is None else self.deadline.moment + self._drain_s
        by: StoppedBy = "process"
        try:
            if (whole := passing.replay(name)) is not None:
                if self.deadline is not None:
                    self.deadline.replayed(whole.ended, whole.wall_s)
                return whole
            if not self._replay_only:
                return passing.ask(relayed.request, name, min(latest, now + LONGEST_ANSWER_S), relayed)
            by, told = "not recorded", "this request is not recorded, and nothing is passed on in a replay"
        except BudgetSpent as spent:
            by, told = "store budget", str(spent)
        except NotReached as over:
            raise Stop(str(over)) from over
        except stopping.Stopped as stopped:
            told = f"the process is to end: {stopped}"
        except Exception as error:  # no room on the disk, or a fault of this program: it must not look like the model's
            told = f"the gateway failed: {type(error).__name__}"
            self._broken = self._broken or error
        self._counts.stop(by, told)
        raise Stop(told)

    def _end(self, relayed: Relayed, told: Whole | Failure | None = None) -> None:
        """An exchange has come to its end: it is counted, once."""
        with self._lock:
            self._under_way.remove(relayed)
            self._room.give_back(len(relayed.request.body))
            if isinstance(told, Whole):
                self._in_a_row = 0
                self._counts.answered(told, relayed.request.free)
            elif told is not None:
                self._counts.failed(told, relayed.request.free, relayed.begun, cut_by_us=self._closing)

    def _on_route(self, path: str, asked: Asked) -> Answer:
        self._counts.asked_on_route(path)
        try:
            response = self._routes.answer(path, asked.body, asked.gone)
        except Abandoned as error:
            raise Cut from error
        except Exception as error:
            LOG.exception("%s: %s failed", self.run, path)
            self._broken = self._broken or error
            return self._error(500, "route_failed", f"{path} failed")
        return Head(response.status, {"content-type": response.content_type}, len(response.body)), once(response.body)

    def _unfit(self, status: int, told: str) -> Answer:
        self._counts.refused(told)
        return self._error(status, "unfit", told)

    def _error(self, status: int, code: str, told: str) -> Answer:
        body = speech.error(self.endpoint.api, status, code, told)
        return Head(status, {"content-type": JSON}, len(body)), once(body)
