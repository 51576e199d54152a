"""How what became of a request is put to the client that asked it."""

from __future__ import annotations

import json
import math
import types
from collections.abc import Callable, Mapping
from decimal import Decimal

from codecap.exchange import patience
from codecap.exchange.trying import Failure, Hearer, Passed, Whole
from codecap.exchange.wire import events
from codecap.generate.gateway import speech
from codecap.generate.gateway.passages import Head, Passage

_CUT_OFF = "the model's server could not be reached, or broke off"
JSON = "application/json"


class Relayed(Hearer):
    """Gives a stream to a passage as it comes.

    Attributes:
        begun: whether it has.
        usd: most that the request is likely to cost; None before it is sent.
    """

    def __init__(self, passage: Passage, request: Passed) -> None:
        self.passage, self.request = passage, request
        self.begun = False
        self.usd: Decimal | None = None
        self._heard = 0

    def sent(self, usd: Decimal) -> None:
        self.usd = usd

    def begin(self, headers: dict[str, str], cut: Callable[[], None]) -> None:
        self.begun = True
        self.passage.begin(Head(200, headers), cut)

    def event(self, event: bytes) -> None:
        self._heard += len(event)
        self.passage.event(event)

    def whole(self, told: Whole) -> None:
        """All of an answer, or what is missing of its stream."""
        data = told.text.encode()
        if not self.request.streamed:
            self.passage.begin(Head(200, told.headers, len(data)))
            self.passage.event(data)
        else:
            if not self.begun:
                self.passage.begin(Head(200, told.headers))
            self._rest(data)
        self.passage.end()

    def failed(self, failure: Failure, api: str, in_a_row: int) -> None:
        """An error; or, where a stream has begun, its end as the server said it or as it was cut."""
        if self.begun and failure.status == 200:
            self._rest(failure.text.encode())
            self.passage.end()
        else:
            self.error(*_put(failure, api, in_a_row))

    def error(self, status: int, body: bytes, headers: Mapping[str, str] = types.MappingProxyType({})) -> None:
        """An error in the place of an answer; a stream that has begun is cut."""
        if self.begun:
            self.passage.end(was_cut=True)
            return
        self.passage.begin(Head(status, {"content-type": JSON, **headers}, len(body)))
        self.passage.event(body)
        self.passage.end()

    def _rest(self, data: bytes) -> None:
        cutter = events.Cutter(self.request.by_lines)
        for event in [*cutter.feed(data[self._heard :]), cutter.rest()]:
            self.passage.event(event)


def _put(failure: Failure, api: str, in_a_row: int) -> tuple[int, bytes, dict[str, str]]:
    """Status, body and headers of a failure, so that clients try again where that may help, and do not where it is in vain."""
    status, headers = failure.status, dict(failure.headers)
    if failure.passes:
        status = 503 if status < 400 or (api == "openai" and status == 429) else status  # Codex takes a 429 for the end
        wait_s = failure.wait_s if failure.wait_s is not None else patience.step_s(in_a_row)
        if status != 409 and "retry-after-ms" not in headers and not headers.get("retry-after", "").strip().isdigit():
            headers["retry-after"] = str(max(math.ceil(wait_s), 1))
    elif not 400 <= status < 500 or status == 429:
        status = 403
    headers.pop("content-type", None)
    if failure.status >= 400 and _is_error(failure.text):
        return status, failure.text.encode(), headers
    return status, speech.error(api, status, "upstream", f"{_CUT_OFF}: {failure.told}"), headers


def _is_error(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def tells_only_usage(event: bytes) -> bool:
    """Whether an event is the chunk of a chat's stream that tells nothing but its tokens."""
    data = events.data(event.decode("utf-8", "replace"))
    if '"usage"' not in data:
        return False
    try:
        told = json.loads(data)
    except (ValueError, RecursionError):
        return False
    return isinstance(told, dict) and told.get("choices") == [] and isinstance(told.get("usage"), dict)
