"""A service of video jobs on this machine: speaks as ModelArk does, and misbehaves as it is told. It stops by itself."""

import json
import threading
import time
from collections import Counter, deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = "ark-test-0123456789-abcdefghijklmnop"
REFUSAL = {"error": {"code": "InputTextSensitiveContentDetected", "message": "The request failed because the input text may ..."}}
ANSWERS = {  # to an order: status and body
    "429": (429, {"error": {"code": "RateLimitExceeded", "message": "too many requests"}}),
    "500": (500, {"error": {"code": "InternalServiceError", "message": "The service encountered an unexpected error."}}),
    "500 of a gateway": (500, None),
    "504": (504, None),
    "401": (401, {"error": {"code": "AuthenticationError", "message": f"The API key {KEY} is wrong."}}),
    "refused": (400, REFUSAL),
    "no id": (200, {"object": "task"}),
    "no id, and words": (200, {"code": 0, "message": "success", "data": {"task": "x"}}),
    "no rights": (403, {"error": {"code": "AccessDenied", "message": "not authorized: no identity-based policy allows it"}}),
    "a plan": (400, {"error": {"code": "InvalidParameter", "message": "duration is prohibited for this plan"}}),
    "200 with 429": (200, {"error": {"code": "RateLimitExceeded", "message": "too many requests"}}),
    "200 with 400": (200, {"error": {"code": "InvalidParameter", "message": "duration"}}),
    "200 refused": (200, REFUSAL),
}


class Service:
    """For a `with` block.

    Attributes:
        jobs: bodies of the orders that became jobs, by id.
        orders: ways in which the next orders are met; then "well". "cut" takes the job and cuts the connection, "dropped" cuts it
            before anything is read, "hang" takes the job and does not answer.
        states: what a job goes through, a question each; the last one stays.
        failure: the error of a job that failed.
        echo: what the answer about a job that is done says beside.
        downloads: ways in which the next downloads are met: "404", "503", "cut", "elsewhere" (a redirect); then "well".
        keys: of the requests for videos.
    """

    def __init__(self, video: bytes, for_s: float = 60.0) -> None:
        self.video = video
        self.jobs: dict[str, dict] = {}
        self.tokens: Counter[str] = Counter()
        self.by_token: dict[str, str] = {}
        self.orders: deque[str] = deque()
        self.states = ["queued", "running", "succeeded"]
        self.asked: Counter[str] = Counter()
        self.failure: dict = {}
        self.echo: object = None
        self.downloads: deque[str] = deque()
        self.keys: list[str | None] = []
        self.hanging = threading.Event()
        self.forgets = False
        self.most_at_once = 0
        self.over = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"service": self}))
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None
        self._timer = threading.Timer(for_s, self.stop)
        self._timer.daemon = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> "Service":
        self._timer.start()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        self.stop()

    def stop(self) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/api/v3"

    def take(self, body: dict, token: str | None) -> str:
        """The job of an order; the one that there is, where the order is known again."""
        if token is not None:
            self.tokens[token] += 1
            if token in self.by_token:
                return self.by_token[token]
        job = f"cgt-{len(self.jobs) + 1:03}"
        self.jobs[job] = body
        if token is not None:
            self.by_token[token] = job
        under_way = sum(self.asked[name] < len(self.states) for name in self.jobs)
        self.most_at_once = max(self.most_at_once, under_way)
        return job

    def told(self, job: str) -> dict:
        state = self.states[min(self.asked[job], len(self.states) - 1)]
        self.asked[job] += 1
        told = {"id": job, "model": self.jobs[job]["model"], "status": state}
        if state == "succeeded":
            address = f"{self.base_url.removesuffix('/api/v3')}/files/{job}.mp4?signature=abc"
            told |= {
                "content": {"video_url": address, "echo": self.echo},
                "usage": {"completion_tokens": 108_900, "total_tokens": 108_900},
            }
        return told | ({"error": self.failure} if state == "failed" else {})


class _Handler(BaseHTTPRequestHandler):
    service: Service
    protocol_version = "HTTP/1.1"
    timeout = 20

    def do_POST(self) -> None:
        way = self.service.orders.popleft() if self.service.orders else "well"
        if way == "dropped":
            self.close_connection = True
            return
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.headers.get("Authorization") != f"Bearer {KEY}":
            way = "401"
        if way in ANSWERS:
            self.say(*ANSWERS[way])
            return
        job = self.service.take(body, self.headers.get("X-Client-Token"))
        if way == "hang":
            self.service.hanging.set()
            self.service.over.wait(20)
        if way in ("cut", "hang"):
            self.close_connection = True
            return
        self.say(200, {"id": job})

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        job = path.rpartition("/")[2].removesuffix(".mp4")
        if path.startswith("/files/"):
            self.service.keys.append(self.headers.get("Authorization"))
            self.file()
        elif job not in self.service.jobs or self.service.forgets:
            self.say(404, {"error": {"code": "ResourceNotFound", "message": "The task is not found."}})
        else:
            self.say(200, self.service.told(job))

    def file(self) -> None:
        way = self.service.downloads.popleft() if self.service.downloads else "well"
        video = self.service.video
        if way.isdigit():
            self.say(int(way), None)
        elif way == "elsewhere":
            self.head(302, {"Location": self.path + "&again", "Content-Length": "0"})
        elif way == "slow":
            self.head(200, {"Content-Length": str(len(video))})
            self.service.hanging.set()
            self.service.over.wait(20)
        else:
            self.head(200, {"Content-Length": str(len(video)), "Content-Type": "video/mp4"})
            self.wfile.write(video[: len(video) // 2] if way == "cut" else video)
            self.close_connection = way == "cut"

    def say(self, status: int, body: dict | None) -> None:
        data = b"<html>Bad gateway</html>" if body is None else json.dumps(body).encode()
        self.head(status, {"Content-Length": str(len(data)), "Content-Type": "application/json"})
        self.wfile.write(data)

    def head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Says nothing."""


def until(condition, seconds: float = 10.0) -> None:
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.01)
