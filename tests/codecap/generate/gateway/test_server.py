"""The socket and its HTTP, for clients that do what they like."""

from __future__ import annotations

import gzip
import json
import socket
import stat
import threading
import time
import zlib

import pytest

from codecap.generate.gateway import Response, server

from .conftest import WAYS, Client

WAY = WAYS["chat"]
BODY = json.dumps(WAY.body()).encode()


def raw(gateway, sent: bytes, wait_s: float = 5) -> bytes:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(wait_s)
        connection.connect(str(gateway.socket))
        connection.sendall(sent)
        told = b""
        while part := connection.recv(65536):
            told += part
        return told


def request(headers: bytes, body: bytes, version: bytes = b"1.1") -> bytes:
    return b"POST /v1/chat/completions HTTP/%s\r\nHost: x\r\nConnection: close\r\n%s\r\n\r\n%s" % (version, headers, body)


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        (b"Content-Length: %d" % len(BODY), BODY, b"200"),
        (b"Transfer-Encoding: chunked", b"%x\r\n%s\r\n3;a=b\r\n   \r\n0\r\n\r\n" % (len(BODY), BODY), b"200"),
        (b"Content-Encoding: gzip\r\nContent-Length: %d" % len(gzip.compress(BODY, mtime=0)), gzip.compress(BODY, mtime=0), b"200"),
        (b"Content-Encoding: deflate\r\nContent-Length: %d" % len(zlib.compress(BODY)), zlib.compress(BODY), b"200"),
        (b"Content-Encoding: zstd\r\nContent-Length: 3", b"abc", b"415"),
        (b"Content-Encoding: gzip\r\nContent-Length: 3", b"abc", b"400"),
        (b"Content-Encoding: gzip\r\nContent-Length: 30", gzip.compress(BODY, mtime=0)[:30], b"400"),
        (b"Content-Length: -1", b"", b"400"),
        (b"Content-Length: 99999999999", b"", b"413"),
        (b"Content-Length: 1e3", b"", b"400"),
        (b"Transfer-Encoding: chunked", b"fffffffff\r\n", b"413"),
        (b"Transfer-Encoding: chunked", b"zz\r\n", b"400"),
        (b"Transfer-Encoding: gzip", b"", b"400"),
        (b"Content-Length: 3\r\nTransfer-Encoding: chunked", b"0\r\n\r\n", b"400"),
    ],
)
def test_bodies(headers, body, status, upstream, gateway_of):
    with gateway_of(WAY) as gateway:
        told = raw(gateway, request(headers, body))
    assert told.split(b" ", 2)[1] == status
    assert len(upstream.requests) == (status == b"200")


def test_a_small_body_that_becomes_a_large_one(gateway_of, monkeypatch):
    monkeypatch.setattr(server, "LARGEST_REQUEST", 1000)
    bomb = gzip.compress(bytes(100_000))
    with gateway_of(WAY) as gateway:
        told = raw(gateway, request(b"Content-Encoding: gzip\r\nContent-Length: %d" % len(bomb), bomb))
    assert b" 413 " in told.split(b"\r\n")[0]


def test_a_client_of_http_1_0_gets_a_stream_to_the_end_of_the_connection(upstream, gateway_of):
    body = json.dumps(WAYS["chat stream"].body()).encode()
    with gateway_of(WAY) as gateway:
        told = raw(gateway, request(b"Content-Length: %d" % len(body), body, b"1.0"))
    head, _, stream = told.partition(b"\r\n\r\n")
    assert b"chunked" not in head
    assert stream.endswith(b"data: [DONE]\n\n")


def test_garbage_and_connections_that_are_left(upstream, gateway_of):
    with gateway_of(WAY) as gateway:
        assert b" 400 " in raw(gateway, b"\x16\x03\x01\x02\x00\r\n\r\n")
        left = []
        for _ in range(server.MOST_CONNECTIONS + 20):
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(str(gateway.socket))
            left.append(connection)
        time.sleep(0.3)
        for connection in left:
            connection.close()
        time.sleep(0.3)
        assert Client(gateway).ask(WAY).status_code == 200


def test_nothing_is_left_and_nobody_else_could_listen(upstream, gateway_of):
    before = threading.active_count()
    with gateway_of(WAY) as gateway:
        path = gateway.socket
        assert len(bytes(path)) <= 107
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        Client(gateway).ask(WAY)
        held = socket.socket(socket.AF_UNIX)
        held.connect(str(path))
    assert not path.parent.exists()
    held.close()
    until = time.monotonic() + 3
    while threading.active_count() > before + 1 and time.monotonic() < until:  # the provider's own thread may remain
        time.sleep(0.05)
    assert threading.active_count() <= before + 1


def test_a_given_path(upstream, gateway_of, tmp_path):
    with pytest.raises(ValueError, match="107 bytes"), gateway_of(WAY, socket=tmp_path / ("x" * 100)):
        pass
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s"
        stale = socket.socket(socket.AF_UNIX)
        stale.bind(str(path))
        stale.close()
        with gateway_of(WAY, socket=path) as gateway:
            assert Client(gateway).ask(WAY).status_code == 200
        assert not path.exists()


def test_extra_routes(upstream, gateway_of):
    routes = {"/codecap/render": lambda body: Response(b"png of " + body, "image/png")}
    with gateway_of(WAY, routes=routes) as gateway:
        response = Client(gateway).http.post("/codecap/render", content=b"a page")
        assert Client(gateway).http.get("/codecap/other").status_code == 404
    assert (response.content, response.headers["content-type"]) == (b"png of a page", "image/png")
    assert gateway.tally.routes == {"/codecap/render": 1}


def test_a_route_that_fails_is_a_fault_of_ours(upstream, gateway_of):
    def fail(_: bytes) -> Response:
        raise ZeroDivisionError("within a route")

    with pytest.raises(ZeroDivisionError), gateway_of(WAY, routes={"/x": fail}) as gateway:
        assert Client(gateway).http.post("/x").status_code == 500


def test_an_answer_that_cannot_be_recorded_is_not_given(upstream, gateway_of, monkeypatch):
    from codecap.exchange.packs import Packs
    from codecap.store import StoreError

    def full(*_: object) -> None:
        raise StoreError("no room")

    with pytest.raises(StoreError), gateway_of(WAYS["chat stream"]) as gateway:
        monkeypatch.setattr(Packs, "append", full)
        with pytest.raises(Exception, match="incomplete|peer closed"):
            Client(gateway).ask(WAYS["chat stream"])
    assert gateway.tally.rounds == 0
    assert "StoreError" in gateway.tally.infrastructure_failed
