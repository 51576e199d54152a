"""The server: bounded in time, stops by itself, counts what it was paid for."""

import contextlib
import email.utils
import json
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from loopback import speech
from loopback.ways import BODIES, MORE_WAYS, WAYS, marks, said

ERRORS = {  # way -> status, code, message
    "429 with Retry-After": (429, "rate_limit_exceeded", "Rate limit reached; check your plan and billing details."),
    "429 with a date": (429, "rate_limit_exceeded", "Rate limit reached."),
    "500": (500, "server_error", "The server had an error."),
    "529": (529, "overloaded_error", "Overloaded"),
    "401": (401, "invalid_api_key", "Incorrect API key provided: {key}."),
    "403": (403, "permission_error", "Key {key} may not use this model."),
    "404": (404, "model_not_found", "The model does not exist."),
    "400": (400, "invalid_request_error", "Unknown parameter."),
    "too long": (400, "context_length_exceeded", "This model's maximum context length is 1000 tokens."),
    "400 by a filter": (400, "content_filter", "The prompt triggered the content management policy."),
    "no quota": (429, "insufficient_quota", "You exceeded your current quota."),
    "redirect": (307, "", ""),
}


@dataclass
class Account:
    """What the server was paid for: calls, tokens of each kind, and how often the very same body was paid.

    A nonce is not sent: a question that is asked again under another one has the same body.
    """

    calls: int = 0
    uncached: int = 0
    read: int = 0
    written: int = 0
    output: int = 0
    bodies: Counter = field(default_factory=Counter)

    @property
    def twice(self) -> int:
        """Calls that were paid although the same had been paid before."""
        return sum(count - 1 for count in self.bodies.values())

    def millionths(self, uncached: int, read: int, written: int, output: int) -> int:
        """What it all costs in millionths of a dollar, by prices in whole dollars for a million tokens."""
        return self.uncached * uncached + self.read * read + self.written * written + self.output * output


class Loopback:
    """A server for a `with` block.

    Args:
        answer: what a sane model says to a request's text: JSON, or a text. By default a judge's marks, all 4.
        retry_after_s: what it says where it asks to wait.
        slow_s, hang_s: how long it takes when slow, and when it hangs; then it gives up without an answer.
        for_s: after so long it stops by itself.
        key: if given, a request with another one gets status 401, with that key in the message.
    """

    def __init__(
        self,
        answer: Callable[[str], object] = marks,
        *,
        retry_after_s: float = 0.3,
        slow_s: float = 0.3,
        hang_s: float = 10.0,
        for_s: float = 60.0,
        key: str | None = None,
    ) -> None:
        self.answer, self.key = answer, key
        self.retry_after_s, self.slow_s, self.hang_s = retry_after_s, slow_s, hang_s
        self.otherwise = "well"
        self.account = Account()
        self.arrivals: list[float] = []  # monotonic seconds of each request
        self.bodies: list[dict] = []
        self.ways: list[str] = []
        self.most_at_once = 0
        self.hanging = threading.Event()  # set while a request hangs
        self._next: deque[str] = deque()
        self._now = 0
        self._lock = threading.Lock()
        self._end = threading.Event()
        self._server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"loopback": self}))
        self._timer = threading.Timer(for_s, self.stop)
        self._timer.daemon = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> "Loopback":
        self._timer.start()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        self.stop()

    def stop(self) -> None:
        self._end.set()
        self._server.shutdown()
        self._server.server_close()

    def behave(self, *ways: str) -> None:
        """How the next requests are met, one after the other ("well" for a sane answer); after them, as `otherwise` says."""
        unknown = set(ways) - set(WAYS) - set(MORE_WAYS) - {"well"}
        assert not unknown, unknown
        with self._lock:
            self._next.extend(ways)

    def base_url(self, api: str = "openai") -> str:
        return f"http://127.0.0.1:{self._server.server_port}/{'v1beta' if api == 'google' else 'v1'}"

    def begin(self, body: dict) -> str:
        with self._lock:
            self.arrivals.append(time.monotonic())
            self.bodies.append(body)
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
            self.ways.append(self._next.popleft() if self._next else self.otherwise)
            return self.ways[-1]

    def end(self) -> None:
        with self._lock:
            self._now -= 1

    def pay(self, body: dict, tokens: speech.Tokens) -> None:
        with self._lock:
            self.account.calls += 1
            self.account.bodies[json.dumps(body, sort_keys=True)] += 1
            for kind in ("uncached", "read", "written", "output"):
                setattr(self.account, kind, getattr(self.account, kind) + getattr(tokens, kind))

    def wait(self, seconds: float) -> None:
        self._end.wait(seconds)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Clients that are killed leave their connections: nothing to tell."""


class _Handler(BaseHTTPRequestHandler):
    loopback: Loopback
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        way = self.loopback.begin(body)
        try:
            with contextlib.suppress(ConnectionError):
                self._meet(way, body)
        finally:
            self.loopback.end()

    def _meet(self, way: str, body: dict) -> None:
        api = speech.api_of(self.path)
        key = speech.key_in(api, self.headers)
        if self.loopback.key is not None and key != self.loopback.key:
            way = "401"
        if way in ERRORS:
            self._refuse(way, api, key)
        elif way == "hang":
            self.loopback.hanging.set()
            self.loopback.wait(self.loopback.hang_s)
            self.loopback.hanging.clear()
            self.close_connection = True
        elif way in ("no JSON", "no choices"):
            self._send(200, b"<html>gateway</html>" if way == "no JSON" else b"{}")
        elif way in BODIES:
            self._send(200, BODIES[way].encode())
        else:
            self._answer(way, api, body)

    def _refuse(self, way: str, api: str, key: str) -> None:
        status, code, message = ERRORS[way]
        headers = {"Location": "http://127.0.0.1:9/v1"} if way == "redirect" else {}
        if way == "429 with Retry-After":
            headers["Retry-After"] = f"{self.loopback.retry_after_s:g}"
        if way == "429 with a date":
            headers["Retry-After"] = email.utils.formatdate(time.time() + self.loopback.retry_after_s + 1, usegmt=True)
        self._send(status, json.dumps(speech.error(api, status, code, message.format(key=key))).encode(), headers)

    def _answer(self, way: str, api: str, body: dict) -> None:
        text = speech.asked(api, body)
        told = said(way, self.loopback.answer(text))
        tokens = speech.Tokens(
            uncached=101 + len(text),
            read=len(text) // 3,
            written=len(text) // 7 if api != "google" else 0,
            output=13 + len(told.text),
            reasoning=7 if api != "anthropic" else 0,
        )
        answer = json.dumps(speech.answer(api, told, tokens)).encode()
        if way == "slow":
            self.loopback.wait(self.loopback.slow_s)
        if way == "cut stream":
            self._send(200, answer[: len(answer) // 2], {"Content-Length": str(len(answer))})
            self.close_connection = True
        elif way == "trickle":
            self._trickle(answer)
        else:
            self.loopback.pay(body, tokens)
            self._send(200, answer)

    def _trickle(self, answer: bytes) -> None:
        """A byte now and then, so that no single read ever times out."""
        self._head(200, {"Content-Length": str(len(answer))})
        for byte in answer:
            self.wfile.write(bytes([byte]))
            self.wfile.flush()
            self.loopback.wait(0.05)
        self.close_connection = True

    def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self._head(status, {"Content-Length": str(len(body)), "Content-Type": "application/json"} | (headers or {}))
        self.wfile.write(body)
        self.wfile.flush()

    def _head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Says nothing."""
