"""The DevTools protocol over a pair of pipes: JSON messages, each ended by a zero byte.

One caller at a time. Every wait has a deadline; events that arrive meanwhile go to the listener, as they come.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import time
from collections.abc import Callable
from typing import Any

PIPE_BYTES = 1 << 20

Listener = Callable[[str, dict[str, Any], str], None]
"""Called with method, parameters and session of an event. It may `send`, but not wait."""


class Disconnected(Exception):
    """The browser has closed its end: it died, or was killed."""


class DeadlinePassed(Exception):
    """No answer in time."""


class Refused(Exception):
    """The browser answers a call with an error; the message is its own."""


class DevTools:
    """Calls and events of one browser.

    Args:
        listener: gets the events.
        passed_over: told the first bytes of an event's message, says whether to drop it unread (a flood of console messages).
        longest_message: bytes; a longer message is dropped as it comes in, so that a page cannot fill our memory.
    """

    def __init__(self, listener: Listener, passed_over: Callable[[bytes], bool], longest_message: int) -> None:
        self._listener, self._passed_over, self._longest = listener, passed_over, longest_message
        self._last_id = 0
        self._answers: dict[int, dict[str, Any]] = {}
        self._awaited: set[int] = set()
        self._parts: list[bytes] = []  # of a message that has not ended yet
        self._size = 0
        self._closed = False
        theirs_in, self._to = os.pipe()
        self._from, theirs_out = os.pipe()
        self.theirs = (theirs_in, theirs_out)  # for the browser: commands come in, answers go out
        for pipe in (self._to, self._from):
            with contextlib.suppress(OSError, AttributeError):  # only a larger buffer: Linux has it, and may limit it
                fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        os.set_blocking(self._to, False)

    def close_theirs(self) -> None:
        """Drop our copies of the browser's ends, once it runs: then its death is seen as the end of the stream."""
        for end in self.theirs:
            os.close(end)
        self.theirs = ()

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            for end in (self._to, self._from, *self.theirs):
                os.close(end)

    def send(self, method: str, params: dict[str, Any] | None = None, session: str = "", *, until: float | None = None) -> int:
        """Send a call without waiting; `until` (monotonic seconds) says that its answer will be waited for. Returns its number."""
        self._last_id += 1
        message: dict[str, Any] = {"id": self._last_id, "method": method, "params": params or {}}
        if session:
            message["sessionId"] = session
        if until is not None:
            self._awaited.add(self._last_id)
        self._write(json.dumps(message).encode() + b"\0", until)
        return self._last_id

    def call(self, method: str, params: dict[str, Any] | None, session: str, until: float) -> dict[str, Any]:
        """Send a call and wait for its result, until a time of `time.monotonic()`.

        Raises:
            Refused: the browser says no.
            DeadlinePassed, Disconnected: there is no answer.
        """
        return self.answer(self.send(method, params, session, until=until), until)

    def answer(self, number: int, until: float) -> dict[str, Any]:
        """Result of a call that was sent; raises as `call` does. After `DeadlinePassed` it may be waited for again."""
        while number not in self._answers:
            self._take_in(until)
        told = self._answers.pop(number)
        if "error" in told:
            raise Refused(str(told["error"].get("message", told["error"])))
        return told["result"]

    def listen(self, until: float) -> None:
        """Take in what comes next, or return at the deadline."""
        with contextlib.suppress(DeadlinePassed):
            self._take_in(until)

    def _write(self, data: bytes, until: float | None) -> None:
        """Write all of it. A browser that hangs does not read: reading its messages goes on, and the deadline holds."""
        until = time.monotonic() + 5.0 if until is None else until
        left = memoryview(data)
        while left:
            try:
                left = left[os.write(self._to, left) :]
            except BlockingIOError:
                if not select.select([], [self._to], [], max(until - time.monotonic(), 0))[1]:
                    raise DeadlinePassed("the browser takes in no calls") from None
            except OSError as error:
                raise Disconnected from error

    def _take_in(self, until: float) -> None:
        """Read once, and handle the messages that this completes."""
        left_s = until - time.monotonic()  # also a page that never stops talking is cut off
        if left_s <= 0 or not select.select([self._from], [], [], left_s)[0]:
            raise DeadlinePassed
        data = os.read(self._from, PIPE_BYTES)
        if not data:
            raise Disconnected
        *ends, rest = data.split(b"\0")
        for end in ends:
            self._keep(end)
            parts, whole, self._parts, self._size = self._parts, self._size <= self._longest, [], 0
            if whole:
                self._handle(b"".join(parts))
        self._keep(rest)

    def _keep(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self._longest:
            self._parts.clear()
        elif part:
            self._parts.append(part)

    def _handle(self, raw: bytes) -> None:
        if raw.startswith(b'{"method"') and self._passed_over(raw[:100]):
            return
        message = json.loads(raw)
        if "id" in message:
            if message["id"] in self._awaited:
                self._awaited.remove(message["id"])
                self._answers[message["id"]] = message
        else:
            self._listener(message["method"], message.get("params", {}), message.get("sessionId", ""))
