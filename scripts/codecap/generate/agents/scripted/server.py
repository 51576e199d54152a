"""The scripted model's server: on 127.0.0.1, in a thread, counts what it says it is to be paid for."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from codecap.generate.agents.scripted import wires
from codecap.generate.agents.scripted.script import Script
from codecap.records import Usage

LARGEST_BODY = 64 << 20  # bytes; a conversation with pictures has some millions
WIRES = {
    "/chat/completions": wires.chat,
    "/responses": wires.responses,
    "/messages": wires.messages,
    ":generateContent": wires.content,
    ":streamGenerateContent": wires.content,
}


@dataclass
class Account:
    """What the model was asked and has answered.

    Attributes:
        usage: of all answers that were sent whole, or to the last of their events.
        rounds: such answers.
        bodies: each request, with the path it came on, in order.
        refused: requests that it did not understand, or answered with an error of the script.
    """

    usage: Usage = field(default_factory=Usage)
    rounds: int = 0
    bodies: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    refused: int = 0

    def add(self, usage: Usage) -> None:
        told = {name: getattr(self.usage, name) + getattr(usage, name) for name in Usage.model_fields}
        self.usage, self.rounds = Usage(**told), self.rounds + 1


class ScriptedModel:
    """A server for a `with` block.

    Args:
        script: what the model says.
        for_s: after so long it stops by itself.
    """

    def __init__(self, script: Script, for_s: float = 7200.0) -> None:
        self.script, self.account = script, Account()
        self._lock = threading.Lock()
        self._errors: Counter[int] = Counter()
        self._over = threading.Event()
        self._server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"model": self}))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
        self._timer = threading.Timer(for_s, self.stop)
        self._timer.daemon = True

    def __enter__(self) -> ScriptedModel:
        self._thread.start()
        self._timer.start()
        return self

    def __exit__(self, *why: object) -> None:
        self._timer.cancel()
        self.stop()

    @property
    def base_url(self) -> str:
        """Address up to and with the version, as an `Endpoint` has it."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def stop(self) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()

    def wait(self, seconds: float) -> None:
        self._over.wait(seconds)

    def fails(self, number: int) -> int | None:
        """The status of the error that a turn is to be met with now, if there is one."""
        status, times = self.script.turn(number).status or (0, 0)
        with self._lock:
            self._errors[number] += 1
            return status if self._errors[number] <= times else None

    def note(self, path: str, body: dict[str, Any]) -> None:
        with self._lock:
            self.account.bodies.append((path, body))

    def count(self, usage: Usage | None) -> None:
        with self._lock:
            if usage is None:
                self.account.refused += 1
            else:
                self.account.add(usage)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: object, client_address: object) -> None:
        """An agent that is killed leaves its connections cut: nothing to tell."""


class _Handler(BaseHTTPRequestHandler):
    model: ScriptedModel
    protocol_version = "HTTP/1.1"
    timeout = 60

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        path = self.path.partition("?")[0]
        raw = self.rfile.read(min(int(self.headers.get("Content-Length") or 0), LARGEST_BODY))
        wire = next((found for ending, found in WIRES.items() if path.endswith(ending)), None)
        try:
            body = json.loads(raw)
        except ValueError:
            body = None
        if wire is None or not isinstance(body, dict):
            self.model.count(None)
            self._send(404, {"error": {"type": "not_found_error", "message": f"no such path, or no JSON: {path}"}})
            return
        self.model.note(path, body)
        number = wires.turns_taken(body)
        status = self.model.fails(number)
        if status is not None:
            self.model.count(None)
            self._send(status, {"type": "error", "error": {"type": "server_error", "message": "as the script says"}})
            return
        self._play(wire, body, number)

    def _play(self, wire: Any, body: dict[str, Any], number: int) -> None:
        turn, usage = self.model.script.turn(number), self.model.script.usage(number)
        call = wires.call_of(turn, wires.tools_of(body))
        self.model.wait(turn.waits_s)
        text = "" if call is not None else turn.say or "I have no tool for it."
        events, whole = wire(self.model.script.model, number, call, text, usage)
        told = wires.as_told(wire, usage)
        if body.get("stream") or self.path.partition("?")[0].endswith(":streamGenerateContent"):
            self._stream(events, told, done=wire is wires.chat)
        else:
            self.model.count(told)
            self._send(200, whole)

    def _send(self, status: int, told: dict[str, Any]) -> None:
        raw = json.dumps(told).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def _stream(self, events: list[wires.Event], usage: Usage, done: bool) -> None:
        """Send events one by one; it is to be paid for when the last one goes out."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        for at, (name, told) in enumerate(events):
            if at == len(events) - 1:
                self.model.count(usage)
            head = f"event: {name}\n" if name else ""
            self.wfile.write(f"{head}data: {json.dumps(told)}\n\n".encode())
            self.wfile.flush()
            time.sleep(0.001)  # several packets
        if done:
            self.wfile.write(b"data: [DONE]\n\n")
