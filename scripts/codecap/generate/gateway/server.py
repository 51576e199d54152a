"""HTTP on a unix socket, for a client that is not trusted: bounded in size, in number and in time."""

from __future__ import annotations

import contextlib
import logging
import select
import socket
import socketserver
import threading
import zlib
from collections.abc import Callable, Generator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from codecap.generate.gateway.passages import Cut, Head
from codecap.generate.gateway.room import NO_ROOM, Room

LOG = logging.getLogger("codecap")

LARGEST_REQUEST = 64 << 20  # bytes, also after it is decompressed
MOST_CHUNKS, MOST_TRAILERS = 100_000, 100  # of a request; clients send some kilobytes in each chunk
MOST_CONNECTIONS = 64
PART = 1 << 16  # bytes that are read at a time, where it matters
PATIENCE_S = 120.0  # longest time in which a client neither sends nor takes anything
PASSED_HEADERS = ("content-type", "retry-after", "retry-after-ms", "request-id", "x-request-id", "x-should-retry")


class Unfit(Exception):
    """A request that cannot be read; `status` says why."""

    def __init__(self, status: int, told: str) -> None:
        super().__init__(told)
        self.status = status


@dataclass(frozen=True)
class Asked:
    """A client's request.

    Attributes:
        headers: by lower-case names.
        gone: whether the client has closed its side.
    """

    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    gone: Callable[[], bool]


Answer = tuple[Head, Generator[bytes, None, None]]


def once(body: bytes) -> Generator[bytes, None, None]:
    """A whole body."""
    yield body


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """Answers requests until it is closed.

    Args:
        path: of the socket.
        answer: gives head and body for a request; raises `Unfit`. An exception within the body cuts the connection.
        unfit: the answer that tells a client why its request cannot be read.
        room: for the bodies of requests, until their answer has begun.
    """

    daemon_threads = True
    request_queue_size = MOST_CONNECTIONS

    def __init__(self, path: Path, answer: Callable[[Asked], Answer], unfit: Callable[[int, str], Answer], room: Room) -> None:
        self.answer, self.unfit, self.room = answer, unfit, room
        self._free = threading.BoundedSemaphore(MOST_CONNECTIONS)
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        super().__init__(str(path), _Handler)
        path.chmod(0o600)
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.1}, name="gateway", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening and cut all connections."""
        self.shutdown()
        self._thread.join()
        self.server_close()
        with self._lock:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def verify_request(self, request: socket.socket, _client: object) -> bool:
        """Whether there is room for one more connection; else it is closed at once."""
        if not self._free.acquire(blocking=False):
            return False
        with self._lock:
            self._open.add(request)
        return True

    def shutdown_request(self, request: socket.socket) -> None:
        super().shutdown_request(request)
        with self._lock:
            if request in self._open:
                self._open.remove(request)
                self._free.release()

    def server_close(self) -> None:
        """Without waiting for the threads: they end with their connections."""
        self.socket.close()

    def handle_error(self, *_: object) -> None:
        LOG.exception("the gateway failed in answering a request")


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    timeout = PATIENCE_S
    _taken = 0  # bytes of the server's room

    def _meet(self) -> None:
        try:
            head, body = self._answer()
            self._send(head, body)
        except OSError:  # the client is gone
            self.close_connection = True
        except Cut:
            self._break_off()
        except BaseException:
            self._break_off()
            raise

    def _answer(self) -> Answer:
        try:
            headers = {name.lower(): value for name, value in self.headers.items()}
            return self.server.answer(Asked(self.command, self.path, headers, self._body(), self._gone))
        except Unfit as error:
            self.close_connection = True  # what follows in the connection is not known
            return self.server.unfit(error.status, str(error))
        finally:
            self.server.room.give_back(self._taken)
            self._taken = 0

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _meet

    def _send(self, head: Head, body: Generator[bytes, None, None]) -> None:
        in_chunks = head.length is None and self.request_version != "HTTP/1.0"
        self.send_response_only(head.status)
        for name in PASSED_HEADERS:
            if name in head.headers:
                self.send_header(name, "".join(filter(str.isprintable, head.headers[name])))
        if head.length is not None:
            self.send_header("Content-Length", str(head.length))
        elif in_chunks:
            self.send_header("Transfer-Encoding", "chunked")
        if head.length is None and not in_chunks:
            self.close_connection = True
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        with contextlib.closing(body):
            for part in body:
                if self.command != "HEAD" and part:
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part) if in_chunks else part)
        if in_chunks and self.command != "HEAD":
            self.wfile.write(b"0\r\n\r\n")

    def _break_off(self) -> None:
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def _gone(self) -> bool:
        """Whether the client has closed its side; what it may have sent ahead stays unread."""
        try:
            readable = select.poll()
            readable.register(self.connection, select.POLLIN)
            return bool(readable.poll(0)) and self.connection.recv(1, socket.MSG_PEEK) == b""
        except (OSError, ValueError):  # it is closed on our side too
            return True

    def _body(self) -> bytes:
        encoding, length = self.headers.get("Transfer-Encoding"), self.headers.get("Content-Length")
        if encoding is not None and length is not None:
            raise Unfit(400, "the request has two lengths")
        if encoding is not None:
            if encoding.strip().lower() != "chunked":
                raise Unfit(400, "the request's transfer encoding is not known here")
            raw = self._chunks()
        else:
            raw = self._exactly(_number(length or "0", 10))
        return _decompressed(raw, (self.headers.get("Content-Encoding") or "identity").strip().lower(), self._take)

    def _chunks(self) -> bytes:
        told = bytearray()
        for _ in range(MOST_CHUNKS):
            length = _number(self.rfile.readline(100).split(b";")[0].strip().decode("latin-1"), 16)
            if len(told) + length > LARGEST_REQUEST:
                raise Unfit(413, "the request is too large")
            if length == 0:
                break
            told += self._exactly(length)
            self._exactly(2)
        else:
            raise Unfit(413, "the request has too many chunks")
        for _ in range(MOST_TRAILERS):
            if not self.rfile.readline(1000).strip():
                return bytes(told)
        raise Unfit(400, "the request has too many trailers")

    def _exactly(self, length: int) -> bytes:
        if length > LARGEST_REQUEST:
            raise Unfit(413, "the request is too large")
        try:
            self._take(length)
        except Unfit:
            self._skip(length)  # a client that is still sending would not hear why
            raise
        told = self.rfile.read(length)
        if len(told) < length:
            raise Unfit(400, "the request is cut")
        return told

    def _take(self, size: int) -> None:
        """Raises Unfit: there is no room for so many bytes more."""
        if not self.server.room.take(size):
            raise Unfit(503, NO_ROOM)
        self._taken += size

    def _skip(self, length: int) -> None:
        while length > 0 and (part := self.rfile.read(min(length, PART))):
            length -= len(part)

    def log_message(self, *_: object) -> None:
        """Says nothing: what was asked is in the records and the tally."""


def _number(told: str, base: int) -> int:
    if not told or len(told) > 16 or not told.isascii() or not told.isalnum():
        raise Unfit(400, "the request's length cannot be read")
    try:
        return int(told, base)
    except ValueError as error:
        raise Unfit(400, "the request's length cannot be read") from error


def _decompressed(raw: bytes, encoding: str, take: Callable[[int], None]) -> bytes:
    """A body as it was before it was compressed; room is taken as it grows."""
    if encoding in ("identity", ""):
        return raw
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise Unfit(415, f"the request is compressed in a way that is not known here: {encoding[:40]}")
    reader = zlib.decompressobj(zlib.MAX_WBITS | 32)  # gzip or zlib, by its head
    told, ahead = bytearray(), raw
    try:
        while part := reader.decompress(ahead, PART):
            take(len(part))
            told += part
            if len(told) > LARGEST_REQUEST:
                raise Unfit(413, "the request is too large")
            ahead = reader.unconsumed_tail
    except zlib.error as error:
        raise Unfit(400, "the request cannot be decompressed") from error
    if not reader.eof:
        raise Unfit(400, "the request is cut")
    return bytes(told)
