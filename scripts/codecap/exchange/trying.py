"""One request that is passed through, sent once: its answer as it comes, and what became of it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Literal

from codecap.exchange import patience, wire
from codecap.exchange.bodies import Light
from codecap.exchange.failures import Broken, Rejected, Unreadable
from codecap.exchange.question import Endpoint
from codecap.exchange.wire import events, passed
from codecap.records import Usage

if TYPE_CHECKING:
    from codecap.exchange.transport import Opened, Transport

# parts of codes by which an answer blames its request and not its server
_BLAMES_THE_REQUEST = re.compile(r"invalid|context_|too_large|too_long|filter|policy|prompt", re.IGNORECASE)

# what an API says of keys, addresses and models, and some say of what one request names: a file, a beta, another path
_OF_ONE_REQUEST = (400, 403, 404, 422)


@dataclass(frozen=True)
class Passed:
    """A request as it is sent.

    Attributes:
        dialect: see `wire.passed`.
        path: behind the endpoint's address.
        body: as it is sent; `light`: the same as it is recorded.
        headers: beside the key, by lower-case names.
        streamed: whether the answer comes as a stream.
        most_output_tokens: limit of the answer; None where the request names none.
    """

    dialect: passed.Dialect
    path: str
    body: bytes
    light: Light
    headers: Mapping[str, str] = field(default_factory=dict)
    streamed: bool = False
    most_output_tokens: int | None = None

    @property
    def free(self) -> bool:
        return self.dialect == "count"

    @property
    def by_lines(self) -> bool:
        """Whether the stream is one JSON text instead of events."""
        return self.dialect == "generate" and "alt=sse" not in self.path


@dataclass(frozen=True)
class Whole:
    """A whole answer, recorded.

    Attributes:
        text: the body without keys, as it is passed on.
        usage: `Usage()` where the server did not say; `usd` is None then, and where the model has no price.
        refused: the model, or a filter over its answer, refused within it.
        ended: when it was whole, seconds since the epoch.
    """

    headers: dict[str, str]
    text: str
    usage: Usage
    usd: Decimal | None
    wall_s: float
    replayed: bool
    refused: bool = False
    ended: float = 0.0


@dataclass(frozen=True)
class Failure:
    """No whole answer came.

    Attributes:
        status, headers, text: of the response, without keys. Status 0 where there is none, or only the start of one; 200 where a
            stream says within itself that it failed.
        told: in words.
        blame: whose it is: "ours" is the network's and the provider's, the "request" is one that the provider does not take, its
            "content" one that a filter keeps back.
        passes: whether the same may be answered at another time.
        wait_s: how long the server asks to wait; None where it does not say.
        lost_usd: most that it is likely to have cost; None where it was certainly not billed.
        doubtful: it says that nothing can be had of the endpoint at all, and may be about something in this request alone.
        explained: the API says why, in its own format: no server before it does.
    """

    status: int
    headers: dict[str, str]
    text: str
    told: str
    blame: Literal["ours", "request", "content"] = "ours"
    passes: bool = True
    wait_s: float | None = None
    lost_usd: Decimal | None = None
    doubtful: bool = False
    explained: bool = False


class Hearer:
    """Hears how an answer comes; this one does not listen."""

    def sent(self, usd: Decimal) -> None:
        """The request is sent now, and is likely to cost so much at most."""

    def begin(self, headers: dict[str, str], cut: Callable[[], None]) -> None:
        """A stream begins. `cut` breaks it off, from any thread."""

    def event(self, event: bytes) -> None:
        """Its next event, without keys. The events that tell the end are not heard, they are in what is recorded."""


@dataclass
class Try:
    """A request on its way.

    Args:
        estimate: most that it is likely to cost.
        redact: takes keys out of texts.
        record: called with status, headers, text and seconds before anything is made of a response; gives its cost by its usage.
    """

    endpoint: Endpoint
    request: Passed
    hearer: Hearer
    estimate: Decimal
    redact: Callable[[str], str]
    record: Callable[[int, dict[str, str], str, float], Callable[[Usage], Decimal | None]]

    def send(self, transport: Transport, key: str | None, until: float) -> Whole | Failure:
        self._started = time.monotonic()
        headers = {"accept-encoding": "identity", "content-type": "application/json"}
        headers |= wire.speaking(self.endpoint.api).headers(key) | dict(self.request.headers)
        self.hearer.sent(self.estimate)
        url = f"{self.endpoint.address}{self.request.path}"
        try:
            with transport.open(url, headers, self.request.body, self.endpoint.timeout_s, until) as opened:
                kept = {name: self.redact(value) for name, value in opened.headers.items()}
                if opened.status != 200:
                    return self._refused(opened.status, kept, self._text(opened))
                if self.request.streamed and "text/html" not in kept.get("content-type", ""):
                    return self._stream(opened, kept)
                return self._whole(kept, self._text(opened))
        except Broken as error:
            return Failure(0, {}, "", self.redact(str(error)), lost_usd=self.estimate if error.sent else None)
        except Rejected as error:
            return Failure(0, {}, "", self.redact(str(error)), passes=False)

    def _text(self, opened: Opened) -> str:
        return self.redact(b"".join(opened.parts()).decode("utf-8", "replace"))

    def _recorded(self, status: int, headers: dict[str, str], text: str) -> Callable[[Usage], Decimal | None]:
        self._wall_s = round(time.monotonic() - self._started, 3)
        return self.record(status, headers, text, self._wall_s)

    def _answer(self, headers: dict[str, str], text: str, heard: passed.Heard, cost_of: Callable[[Usage], Decimal | None]) -> Whole:
        usd = cost_of(heard.usage)
        return Whole(headers, text, heard.usage, usd, self._wall_s, replayed=False, refused=heard.refused, ended=time.time())

    def _refused(self, status: int, headers: dict[str, str], text: str) -> Failure:
        self._recorded(status, headers, text)
        try:
            told = wire.parsed(text)
            code, message = passed.SPEAKERS[self.request.dialect].complaint(told)
            explained = bool(message)
        except Unreadable:
            told, code, message, explained = {}, "", text, False
        refusal = patience.refusal(self.endpoint, status, headers, code, message, told)
        blame: Literal["ours", "request", "content"] = "ours"
        if refusal.concerns != "endpoint":
            blame = "content" if refusal.concerns == "content" else "request"
        elif status in (400, 422) and "check the key" not in refusal.told:  # an agent can ask so that this is said
            blame = "request"
        doubtful = status in _OF_ONE_REQUEST and not patience.speaks_of_model(self.endpoint, code, message)
        return Failure(
            status, headers, text, refusal.told, blame, refusal.passes, refusal.wait_s, doubtful=doubtful, explained=explained
        )

    def _whole(self, headers: dict[str, str], text: str) -> Whole | Failure:
        cost_of = self._recorded(200, headers, text)
        try:
            if self.request.streamed:
                raise Unreadable("the response is a page, where a stream was asked for")
            heard = passed.heard(self.request.dialect, False, text)
        except passed.SaidError as error:
            blames = _BLAMES_THE_REQUEST.search(error.code)
            return self._said(400 if blames else 502, headers, "", error)
        except Unreadable as error:
            return Failure(502, headers, "", str(error), lost_usd=self.estimate)
        return self._answer(headers, text, heard, cost_of)

    def _stream(self, opened: Opened, headers: dict[str, str]) -> Whole | Failure:
        listener = passed.Listener(self.request.dialect)
        told: list[str] = []
        broken: Broken | None = None
        self.hearer.begin(headers, opened.cut)
        try:
            for event in _events(opened, self.request.by_lines):
                text = self.redact(event.decode("utf-8", "replace"))
                told.append(text)
                if self.request.by_lines:
                    listener.ending = listener.ending or text.strip().endswith("]")
                else:
                    listener.hear(events.data(text))
                if not listener.ending and listener.failure is None:
                    self.hearer.event(text.encode())
        except Broken as error:
            broken = error
        text = "".join(told)
        cost_of = self._recorded(200, headers, text)
        try:
            if broken is not None and not listener.ended and listener.failure is None:
                return Failure(0, headers, text, str(broken), lost_usd=self.estimate)
            heard = passed.heard(self.request.dialect, True, text)
        except passed.SaidError as error:
            return self._said(200, headers, text, error)
        except Unreadable as error:
            return Failure(0, headers, text, str(error), lost_usd=self.estimate)
        return self._answer(headers, text, heard, cost_of)

    def _said(self, status: int, headers: dict[str, str], text: str, error: passed.SaidError) -> Failure:
        told = f"within an answer: {str(error)[:300]}"
        if not _BLAMES_THE_REQUEST.search(error.code):
            return Failure(status, headers, text, told, lost_usd=self.estimate)
        refusal = patience.refusal(self.endpoint, 400, {}, error.code, error.message, {})
        blame: Literal["request", "content"] = "content" if refusal.concerns == "content" else "request"
        return Failure(status, headers, text, told, blame, passes=False, lost_usd=self.estimate)


def _events(opened: Opened, by_lines: bool) -> Iterator[bytes]:
    cutter = events.Cutter(by_lines)
    for part in opened.parts():
        yield from cutter.feed(part)
    if rest := cutter.rest():
        yield rest
