"""The socket and its HTTP, for clients that do what they like."""

from __future__ import annotations

import gzip
import json
import socket
import stat
import threading
import time
import tracemalloc
import zlib
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest

from codecap.generate.gateway import Response, policy, server
from codecap.generate.gateway.room import NO_ROOM
from codecap.generate.gateway.routes import Abandoned, Gone

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


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"2\r\n  \r\n" * 1000, b"413"),
        (b"2\r\n  \r\n" * 10 + b"0\r\n" + b"a: b\r\n" * 1000 + b"\r\n", b"400"),
        (b"2\r\n  \r\n" * 10 + b"%x\r\n%s\r\n0\r\na: b\r\n\r\n" % (len(BODY), BODY), b"200"),
    ],
)
def test_chunks_and_trailers_are_so_many_at_most(sent, status, upstream, gateway_of, monkeypatch):
    monkeypatch.setattr(server, "MOST_CHUNKS", 900)
    with gateway_of(WAY) as gateway:
        told = raw(gateway, request(b"Transfer-Encoding: chunked", sent))
    assert told.split(b" ", 2)[1] == status


def test_small_chunks_take_no_more_memory_than_their_bytes(gateway_of):
    sent = request(b"Transfer-Encoding: chunked", b"2\r\n  \r\n" * 50_000 + b"0\r\n\r\n")
    with gateway_of(WAY) as gateway:
        tracemalloc.start()
        try:
            told = raw(gateway, sent)
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert told.split(b" ", 2)[1] == b"400" and most < 1_000_000


def test_large_requests_of_a_run_are_read_one_after_another(upstream, gateway_of, monkeypatch):
    at_once, most = 0, []

    def allowed(*_):
        nonlocal at_once
        at_once += 1
        most.append(at_once)
        time.sleep(0.05)
        at_once -= 1
        raise policy.Refused(400, "a_test", "a test", "a test")

    monkeypatch.setattr(policy, "allowed", allowed)
    body = b" " * 60_000
    with gateway_of(WAY) as gateway, ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda _: raw(gateway, request(b"Content-Length: %d" % len(body), body)), range(6)))
    assert most == [1] * 6


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
    routes = {"/codecap/render": lambda body, _: Response(b"png of " + body, "image/png")}
    with gateway_of(WAY, routes=routes) as gateway:
        response = Client(gateway).http.post("/codecap/render", content=b"a page")
        assert Client(gateway).http.get("/codecap/other").status_code == 404
    assert (response.content, response.headers["content-type"]) == (b"png of a page", "image/png")
    assert gateway.tally.routes == {"/codecap/render": 1}


def test_a_route_that_fails_is_a_fault_of_ours(upstream, gateway_of):
    def fail(*_: object) -> Response:
        raise ZeroDivisionError("within a route")

    with pytest.raises(ZeroDivisionError), gateway_of(WAY, routes={"/x": fail}) as gateway:
        assert Client(gateway).http.post("/x").status_code == 500


class Queue:
    """A route that waits for its turn, which never comes."""

    def __init__(self) -> None:
        self.begun, self.dropped = threading.Semaphore(0), threading.Semaphore(0)

    def __call__(self, _: bytes, gone: Gone) -> Response:
        self.begun.release()
        until = time.monotonic() + 10
        while not gone() and time.monotonic() < until:
            time.sleep(0.02)
        if time.monotonic() < until:
            self.dropped.release()
        raise Abandoned


def ask_and_be_cut(client: httpx2.Client) -> None:
    with pytest.raises(httpx2.HTTPError):
        client.post("/x")


def test_a_request_on_a_route_is_dropped_when_its_client_is_gone(upstream, gateway_of):
    queue = Queue()
    with gateway_of(WAY, routes={"/x": queue}) as gateway:
        with pytest.raises(httpx2.ReadTimeout):
            Client(gateway, timeout_s=0.2).http.post("/x")
        assert queue.begun.acquire(timeout=5)
        assert queue.dropped.acquire(timeout=5)


def test_requests_on_routes_are_dropped_and_over_when_the_run_is(upstream, gateway_of):
    queue = Queue()
    with gateway_of(WAY, routes={"/x": queue}) as gateway, Client(gateway).http as client:
        ask = threading.Thread(target=ask_and_be_cut, args=(client,))
        ask.start()
        assert queue.begun.acquire(timeout=5)
    assert queue.dropped.acquire(timeout=0)
    ask.join(5)


def test_what_a_route_has_begun_is_waited_for(upstream, gateway_of):
    begun, ended = threading.Event(), []

    def work(*_: object) -> Response:
        begun.set()
        time.sleep(0.5)
        ended.append(True)
        return Response(b"{}")

    with gateway_of(WAY, routes={"/x": work}) as gateway:
        with pytest.raises(httpx2.ReadTimeout):
            Client(gateway, timeout_s=0.1).http.post("/x")
        assert begun.wait(5)
    assert ended == [True]


def held(gateway, length: int, part: bytes) -> socket.socket:
    """A connection with a request whose body does not come to its end."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(str(gateway.socket))
    connection.sendall(request(b"Content-Length: %d" % length, part))
    time.sleep(0.3)
    return connection


@pytest.mark.parametrize("way", [WAY, WAYS["messages"], WAYS["generate"]], ids=lambda way: way.api)
def test_bodies_of_all_connections_together_are_bounded(way, upstream, gateway_of, monkeypatch):
    monkeypatch.setattr("codecap.generate.gateway.gateway.MOST_BYTES", 100_000)
    with gateway_of(way) as gateway:
        with held(gateway, 60_000, b" " * 100), held(gateway, 39_900, b" "):
            response = Client(gateway).ask(way, "x" * 1000)
            error = response.json()["error"]
            assert response.status_code == 503
            assert "memory" in error["message"]
            assert error.get("status", "UNAVAILABLE") == "UNAVAILABLE"
            assert error.get("type", "server_error") in ("server_error", "api_error")
        time.sleep(0.3)
        assert Client(gateway).ask(way, "x" * 30_000).status_code == 200
        assert Client(gateway).ask(way, "y" * 30_000).status_code == 200  # what is answered makes room again
    assert (gateway.tally.refused[NO_ROOM], len(upstream.requests)) == (1, 2)


def test_a_large_request_that_finds_no_room_is_told_so_though_its_client_is_still_sending(upstream, gateway_of, monkeypatch):
    monkeypatch.setattr("codecap.generate.gateway.gateway.MOST_BYTES", 1_000_000)
    with gateway_of(WAY) as gateway:
        assert Client(gateway).ask(WAY, "x" * 8_000_000).status_code == 503
        bomb = gzip.compress(bytes(2_000_000))
        told = raw(gateway, request(b"Content-Encoding: gzip\r\nContent-Length: %d" % len(bomb), bomb))
        assert b" 503 " in told.split(b"\r\n")[0]
        assert Client(gateway).ask(WAY, "x" * 400_000).status_code == 200


def test_exchanges_that_their_clients_have_left_take_room_too(upstream, gateway_of, monkeypatch):
    monkeypatch.setattr("codecap.generate.gateway.gateway.MOST_BYTES", 100_000)
    upstream.behave("silent")
    with gateway_of(WAY, drain_s=5) as gateway:
        with pytest.raises(httpx2.ReadTimeout):
            Client(gateway, timeout_s=0.3).ask(WAY, "x" * 40_000)
        time.sleep(0.8)
        assert Client(gateway).ask(WAY, "y" * 50_000).status_code == 503
        upstream.go_on.set()
        time.sleep(0.3)
        assert Client(gateway).ask(WAY, "y" * 45_000).status_code == 200


@pytest.mark.parametrize("target", [b"http://[bad/", b"//[", b"/v1/chat/completions%00"])
def test_a_target_that_is_none_is_refused_and_noted(target, upstream, gateway_of, caplog):
    with gateway_of(WAY) as gateway:
        told = raw(gateway, b"POST %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}" % target)
    assert told.split(b" ", 2)[1] in (b"400", b"404")
    assert json.loads(told.partition(b"\r\n\r\n")[2])["error"]["message"]
    assert (gateway.tally.requests_refused, caplog.text) == (1, "")


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
