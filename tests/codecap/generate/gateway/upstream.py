"""Providers on 127.0.0.1 that speak their APIs, whole and streamed, misbehave in named ways, and count what they are paid for."""

from __future__ import annotations

import contextlib
import gzip
import json
import threading
from collections import Counter, deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

USAGE = {"input_uncached": 0, "input_cache_read": 0, "input_cache_write": 0, "output": 0, "reasoning": 0}


def chat(text: str, tokens: dict, streamed: bool, wants_usage: bool) -> list[dict] | dict:
    usage = {
        "prompt_tokens": tokens["input_uncached"] + tokens["input_cache_read"],
        "completion_tokens": tokens["output"],
        "prompt_tokens_details": {"cached_tokens": tokens["input_cache_read"]},
        "completion_tokens_details": {"reasoning_tokens": tokens["reasoning"]},
    }
    if not streamed:
        message = {"role": "assistant", "content": text}
        return {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage}
    chunk = {"object": "chat.completion.chunk", "id": "c1"}
    chunks = [chunk | {"choices": [{"index": 0, "delta": {"content": part}, "finish_reason": None}]} for part in text.split("|")]
    chunks.append(chunk | {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    return [*chunks, chunk | {"choices": [], "usage": usage}] if wants_usage else chunks


def responses(text: str, tokens: dict, streamed: bool) -> list[dict] | dict:
    part = {"type": "output_text", "text": text, "annotations": []}
    item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}
    counted = tokens["input_uncached"] + tokens["input_cache_read"]
    usage = {
        "input_tokens": counted,
        "input_tokens_details": {"cached_tokens": tokens["input_cache_read"]},
        "output_tokens": tokens["output"],
        "output_tokens_details": {"reasoning_tokens": tokens["reasoning"]},
        "total_tokens": counted + tokens["output"],
    }
    whole = {"id": "resp_1", "object": "response", "status": "completed", "output": [item], "usage": usage}
    if not streamed:
        return whole
    at = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    return [
        {"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}},
        {"type": "response.output_item.added", "output_index": 0, "item": item | {"status": "in_progress", "content": []}},
        *({"type": "response.output_text.delta", "delta": said} | at for said in text.split("|")),
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]


def messages(text: str, tokens: dict, streamed: bool) -> list[dict] | dict:
    counts = {
        "input_tokens": tokens["input_uncached"],
        "cache_read_input_tokens": tokens["input_cache_read"],
        "cache_creation_input_tokens": tokens["input_cache_write"],
    }
    ended = {"output_tokens": tokens["output"], "output_tokens_details": {"thinking_tokens": tokens["reasoning"]}}
    if not streamed:
        content = [{"type": "text", "text": text}]
        head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m-1"}
        return head | {"content": content, "stop_reason": "end_turn", "usage": counts | ended}
    deltas = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": part}} for part in text.split("|")
    ]
    return [
        {
            "type": "message_start",
            "message": {"id": "msg_1", "type": "message", "role": "assistant", "model": "m-1", "content": [], "stop_reason": None}
            | {"stop_sequence": None, "usage": counts | {"output_tokens": 1}},
        },
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
        *deltas,
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": ended},
        {"type": "message_stop"},
    ]


def generate(text: str, tokens: dict, streamed: bool) -> list[dict] | dict:
    counted = {
        "promptTokenCount": tokens["input_uncached"] + tokens["input_cache_read"],
        "cachedContentTokenCount": tokens["input_cache_read"],
        "candidatesTokenCount": tokens["output"] - tokens["reasoning"],
        "thoughtsTokenCount": tokens["reasoning"],
    }

    def candidate(said: str, **more) -> dict:
        return {"candidates": [{"content": {"role": "model", "parts": [{"text": said}]}} | more], "usageMetadata": counted}

    if not streamed:
        return candidate(text, finishReason="STOP")
    *first, last = text.split("|")
    early = {"promptTokenCount": counted["promptTokenCount"], "candidatesTokenCount": 1}
    return [candidate(part) | {"usageMetadata": early} for part in first] + [candidate(last, finishReason="STOP")]


class Upstream:
    """A provider for a `with` block. What it says has its number, so that no two answers are the same.

    Attributes:
        usage: tokens of all answers that were sent to their end.
        bodies: how often each body was answered to its end.
        go_on: a stream that is to be "held" waits for it after its first event.
    """

    def __init__(self, key: str) -> None:
        self.key = key
        self.usage, self.answers, self.bodies = dict(USAGE), 0, Counter()
        self.requests: list[tuple[str, dict, dict]] = []  # path, headers, body
        self.otherwise, self.retry_after = "well", "0"
        self.go_on, self.held = threading.Event(), threading.Event()
        self.sent: list[bytes] = []  # bodies of answers, as they were sent
        self._next: deque[str] = deque()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"upstream": self}))
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None
        self._timer = threading.Timer(60, self.stop)
        self._timer.daemon = True

    def __enter__(self) -> Upstream:
        self._timer.start()
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        self.stop()

    def stop(self) -> None:
        self.go_on.set()
        self._server.shutdown()
        self._server.server_close()

    def behave(self, *ways: str) -> None:
        self._next.extend(ways)

    def base_url(self, api: str) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/{'v1beta' if api == 'google' else 'v1'}"

    @property
    def twice(self) -> int:
        return sum(count - 1 for count in self.bodies.values())

    def begin(self, path: str, headers: dict, body: dict) -> tuple[str, int]:
        with self._lock:
            self.requests.append((path, headers, body))
            return self._next.popleft() if self._next else self.otherwise, len(self.requests)

    def pay(self, tokens: dict, body: dict, sent: bytes) -> None:
        with self._lock:
            self.answers += 1
            self.bodies[json.dumps(body, sort_keys=True)] += 1
            self.sent.append(sent)
            for name, number in tokens.items():
                self.usage[name] += number


ERRORS = {
    "500": (500, {}),
    "529": (529, {}),
    "429": (429, {}),
    "401": (401, {}),
    "400": (400, {}),
    "404": (404, {}),
    "404 of the model": (404, {}),
    "404 of a proxy": (404, {}),
    "403": (403, {}),
    "307": (307, {"Location": "http://127.0.0.1:9/"}),
}


class _Handler(BaseHTTPRequestHandler):
    upstream: Upstream
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        way, number = self.upstream.begin(self.path, headers, body)
        if self.upstream.key not in " ".join(headers.values()):
            way = "401"
        with contextlib.suppress(OSError):
            self._meet(way, number, body)

    def _meet(self, way: str, number: int, body: dict) -> None:
        if way in ERRORS:
            status, headers = ERRORS[way]
            headers = {"Retry-After": self.upstream.retry_after} if way == "429" else headers
            message = f"It is not so with {self.upstream.key}: prompt is too long" if way == "400" else f"Key {self.upstream.key}"
            message = "The model m-1 does not exist" if way == "404 of the model" else message
            told = {"type": "error", "error": {"type": "some_error", "code": "some_error", "message": message}}
            self._send(status, b"404 page not found" if way == "404 of a proxy" else json.dumps(told).encode(), headers)
        elif way == "html":
            self._send(200, b"<html>a gateway</html>", {"Content-Type": "text/html"})
        elif way == "silent":
            self.upstream.held.set()
            self.upstream.go_on.wait(20)
            self.close_connection = True
        elif self.path.endswith("/count_tokens"):
            self._send(200, b'{"input_tokens": 42}')
        else:
            self._answer(way, number, body)

    def _answer(self, way: str, number: int, body: dict) -> None:
        said = (
            f"This |is answer {number} \N{SNOWMAN}| and {self.upstream.key}"
            if way == "key"
            else f"This |is answer {number} \N{SNOWMAN}"
        )
        tokens = {
            "input_uncached": 100 + number,
            "input_cache_read": 1000 * number,
            "input_cache_write": 7 if "/messages" in self.path else 0,
            "output": 20 + number,
            "reasoning": 3,
        }
        path = self.path.partition("?")[0]
        streamed = body.get("stream") is True or path.endswith(":streamGenerateContent")
        if path.endswith("/chat/completions"):
            wants = way != "no usage" and (body.get("stream_options") or {}).get("include_usage") is True
            told = chat(said, tokens, streamed, wants)
        else:
            kinds = {"/responses": responses, "/messages": messages}
            told = next((make for end, make in kinds.items() if path.endswith(end)), generate)(said, tokens, streamed)
        if not streamed:
            answer = json.dumps(told, ensure_ascii=False).encode()
            if way == "cut":
                self._head(200, {"Content-Length": str(len(answer))})
                self.wfile.write(answer[:-9])
                self.close_connection = True
                return
            self.upstream.pay(tokens, body, answer)
            self._send(
                200, gzip.compress(answer) if way == "gzip" else answer, {"Content-Encoding": "gzip"} if way == "gzip" else {}
            )
        else:
            self._stream(way, self._events(path, told), tokens, body)

    def _events(self, path: str, told: list[dict]) -> list[bytes]:
        if ":stream" in path and "alt=sse" not in self.path:
            lines = [json.dumps(chunk, ensure_ascii=False).encode() for chunk in told]
            return [b"[" + lines[0] + b"\n", *(b"," + line + b"\n" for line in lines[1:]), b"]\n"]
        events = []
        for event in told:
            name = f"event: {event['type']}\n" if "type" in event else ""
            events.append(f"{name}data: {json.dumps(event, ensure_ascii=False)}\n\n".encode())
        if path.endswith("/chat/completions"):
            events += [b": keep-alive\n\n", b"data: [DONE]\n\n"]
        return events

    def _stream(self, way: str, events: list[bytes], tokens: dict, body: dict) -> None:
        kind = {"Content-Encoding": "gzip"} if way == "gzip" else {}
        self._head(200, {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked"} | kind)
        if way == "gzip":
            self.upstream.pay(tokens, body, b"".join(events))
            self._chunk(gzip.compress(b"".join(events)))
        for number, event in enumerate(events if way != "gzip" else []):
            if number == 1 and way == "held":
                self.upstream.held.set()
                self.upstream.go_on.wait(20)
            if number == 1 and way == "cut":
                self._chunk(event[:-5])
                self.close_connection = True
                return
            if number == 1 and way == "ends early":
                break
            if number == 1 and way == "overloaded":
                self._chunk(
                    b'event: error\ndata: {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}\n\n'
                )
                break
            if number == len(events) - 1 and way not in ("cut", "ends early", "overloaded"):
                self.upstream.pay(tokens, body, b"".join(events))
            half = len(event) // 2
            self._chunk(event[:half])  # as networks do: in pieces that are no events
            self._chunk(event[half:])
        self.wfile.write(b"0\r\n\r\n")

    def _chunk(self, part: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))

    def _send(self, status: int, body: bytes, headers: dict | None = None) -> None:
        self._head(status, {"Content-Length": str(len(body)), "Content-Type": "application/json"} | (headers or {}))
        self.wfile.write(body)

    def _head(self, status: int, headers: dict) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Says nothing."""
