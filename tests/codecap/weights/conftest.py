"""A weights folder of the test's own, a table of its own, and a server on the loopback that can break off."""

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from codecap import weights


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    """The weights folder."""
    monkeypatch.setenv("CODECAP_WEIGHTS", str(tmp_path / "weights"))
    monkeypatch.setattr("codecap.weights.fetching.FIRST_WAIT_S", 0.01)
    return tmp_path / "weights"


@pytest.fixture
def table(tmp_path, monkeypatch):
    """Writes a table and has it used."""

    def write(**entries) -> None:
        path = tmp_path / "weights.yaml"
        path.write_text(yaml.safe_dump({name: {"licence": "MIT", **entry} for name, entry in entries.items()}))
        weights._table_of.cache_clear()
        monkeypatch.setattr(weights, "TABLE", path)

    yield write
    weights._table_of.cache_clear()


class Files(ThreadingHTTPServer):
    """Serves bytes by path.

    Attributes:
        files: what it has.
        breaks: how often it breaks a transfer off, and after how many bytes.
        asked: `(path, Range header or None)` of each request.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.statuses: dict[str, int] = {}
        self.breaks, self.after = 0, 0
        self.asked: list[tuple[str, str | None]] = []

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/{path}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 10

    def do_GET(self) -> None:
        path = self.path.lstrip("/")
        self.server.asked.append((path, self.headers.get("Range")))
        if path not in self.server.files or path in self.server.statuses:
            self.send_error(self.server.statuses.get(path, 404))
            return
        data = self.server.files[path]
        tag = f'"{hashlib.sha256(data).hexdigest()[:16]}"'
        start = 0
        if self.headers.get("Range") and self.headers.get("If-Range") == tag:
            start = int(self.headers["Range"].removeprefix("bytes=").removesuffix("-"))
        if start >= len(data) > 0:
            self.send_response(416)
            for key, value in {"Content-Range": f"bytes */{len(data)}", "ETag": tag, "Content-Length": "0"}.items():
                self.send_header(key, value)
            self.end_headers()
            return
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        self.send_header("Content-Length", str(len(data) - start))
        self.send_header("ETag", tag)
        self.end_headers()
        rest = data[start:]
        if self.server.breaks:
            self.server.breaks -= 1
            self.wfile.write(rest[: self.server.after])
            self.close_connection = True
            return
        self.wfile.write(rest)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Files]:
    files = Files()
    thread = threading.Thread(target=files.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    yield files
    files.shutdown()
    files.server_close()
    thread.join(5)
