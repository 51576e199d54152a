"""A site on this machine: a server that is also a proxy which answers for other sites' names, with all the ways to fail."""

from __future__ import annotations

import contextlib
import hashlib
import threading
import urllib.parse
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import av
import numpy as np
import pytest

LOCAL = "127.0.0.1"


@dataclass
class Page:
    """What is behind one address.

    Attributes:
        ways: how it answers, one request after another; the last one stays. A number is a status. "cut": four fifths of the body,
            then the connection is closed. "stall": as much, and then nothing for a while. "long": more is promised than comes.
            "short": less is promised than there is.
        ranges: whether parts of it are served.
        heeds: whether the whole is sent where `If-Range` names another file.
    """

    body: bytes
    kind: str = "text/html"
    ways: list[str | int] = field(default_factory=lambda: ["ok"])
    headers: dict[str, str] = field(default_factory=dict)
    ranges: bool = True
    heeds: bool = True


class LoopbackSite:
    """Serves pages by host and path, and counts.

    Attributes:
        asked: requests by address; bytes_of: bytes of bodies that were sent; ranges: the ranges that were asked for.
    """

    def __init__(self) -> None:
        self.pages: dict[str, Page] = {}
        self.asked: Counter[str] = Counter()
        self.bytes_of: Counter[str] = Counter()
        self.ranges: list[str] = []
        self.headers: list[dict[str, str]] = []
        self._lock = threading.Lock()
        self.released = threading.Event()  # ends all stalls
        self.server = ThreadingHTTPServer((LOCAL, 0), self._handler())
        self.server.daemon_threads = True
        self.url = f"http://{LOCAL}:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def put(self, place: str, body: bytes, kind: str = "text/html", *ways: str | int, **options) -> str:
        """Put a page at a path of this server, or at an address of a site that it answers for as proxy; returns its address."""
        address = place if "://" in place else f"{self.url}/{place}"
        self.pages[self._key(address)] = Page(body, kind, list(ways) or ["ok"], **options)
        return address

    def count(self, address: str) -> int:
        return self.asked[self._key(address)]

    def sent(self, address: str) -> int:
        return self.bytes_of[self._key(address)]

    @staticmethod
    def _key(address: str) -> str:
        parts = urllib.parse.urlsplit(address)
        return f"{parts.hostname}{parts.path}"

    def _take(self, key: str, headers) -> tuple[Page, str | int] | None:
        with self._lock:
            self.asked[key] += 1
            self.headers.append(dict(headers))
            page = self.pages.get(key)
            if page is None:
                return None
            return page, page.ways.pop(0) if len(page.ways) > 1 else page.ways[0]

    def _handler(site) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            timeout = 10

            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                address = self.path if "://" in self.path else f"http://{LOCAL}{self.path}"
                key = site._key(address)
                taken = site._take(key, self.headers)
                if taken is None:
                    self.send_error(404)
                    return
                page, way = taken
                if isinstance(way, int):
                    self._head(way, {**page.headers, "Content-Length": "0"})
                    return
                self._send(key, page, way)

            def _send(self, key: str, page: Page, way: str) -> None:
                body, start = page.body, 0
                etag = '"' + hashlib.sha256(body).hexdigest()[:16] + '"'
                headers = {"Content-Type": page.kind, "ETag": etag, **page.headers}
                wanted = self.headers.get("Range", "")
                if wanted:
                    with site._lock:
                        site.ranges.append(wanted)
                if wanted and page.ranges and (not page.heeds or self.headers.get("If-Range", etag) == etag):
                    start = int(wanted.removeprefix("bytes=").partition("-")[0])
                    if start >= len(body):
                        self._head(416, {"Content-Range": f"bytes */{len(body)}", "Content-Length": "0"})
                        return
                    headers["Content-Range"] = f"bytes {start}-{len(body) - 1}/{len(body)}"
                rest = body[start:]
                promised = {"long": len(rest) + 1000, "short": len(rest) * 4 // 5}.get(way, len(rest))
                self._head(206 if start else 200, {**headers, "Content-Length": str(promised)})
                out = rest[: len(rest) * 4 // 5] if way in ("cut", "stall") else rest[:promised]
                with site._lock:
                    site.bytes_of[key] += len(out)
                with contextlib.suppress(OSError):
                    self.wfile.write(out)
                if way == "stall":
                    self.wfile.flush()
                    site.released.wait(20)
                self.close_connection = True

            def _head(self, status: int, headers: dict[str, str]) -> None:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()

        return Handler

    def close(self) -> None:
        self.released.set()
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def site() -> Iterator[LoopbackSite]:
    served = LoopbackSite()
    yield served
    served.close()


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch) -> None:
    """Pauses between tries as short as can be; a server's Retry-After is obeyed all the same."""
    monkeypatch.setattr("codecap.collect.sites.bringing.PAUSE_S", 0.0)
    monkeypatch.setattr("codecap.collect.sites.session.PAUSE_S", 0.0)


def make_video(path: Path, frames: int = 48, height_px: int = 48, seed: int = 0, **options: str) -> bytes:
    """A short video of noise, so that its bytes are spread over its length."""
    noise = np.random.default_rng(seed)
    with av.open(str(path), "w", options=options) as container:
        stream = container.add_stream("libx264", rate=24, options={"preset": "ultrafast", "g": "12"})
        stream.width, stream.height, stream.pix_fmt = height_px * 4 // 3, height_px, "yuv420p"
        stream.time_base = Fraction(1, 24)
        for number in range(frames):
            picture = noise.integers(0, 256, (height_px, height_px * 4 // 3, 3), np.uint8)
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts = number
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path.read_bytes()


@pytest.fixture
def video(tmp_path: Path) -> Callable[..., bytes]:
    """Bytes of an MP4 whose index stands at its beginning, so that a part of it can be played."""

    def made(frames: int = 48, height_px: int = 48, seed: int = 0, name: str = "made.mp4", **options: str) -> bytes:
        given = options or ({"movflags": "faststart"} if name.endswith(".mp4") else {})
        return make_video(tmp_path / name, frames, height_px, seed, **given)

    return made
