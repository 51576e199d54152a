"""From inside, `http://127.0.0.1:PORT` is a unix socket of the host, and bytes go both ways as they come."""

import contextlib
import http.server
import socket
import socketserver
import threading
import time

import pytest

from codecap.generate.sandbox import PORT, relay

ASK = """
import sys, time, urllib.request
request = urllib.request.Request(sys.argv[1] + "/v1/messages", data=b"q" * 300_000, headers={"X-Own": "yes"})
with urllib.request.urlopen(request, timeout=20) as answer:
    while piece := answer.read1(65536):
        print(len(piece), time.monotonic(), flush=True)
"""
HALF_CLOSE = """
import socket, sys
with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as client:
    client.sendall(b"all that I have")
    client.shutdown(socket.SHUT_WR)
    print(client.makefile("rb").read().decode())
"""
CROWD = """
import concurrent.futures, sys, urllib.request
def ask(number):
    return urllib.request.urlopen(sys.argv[1] + f"/{number}", timeout=20).read()
with concurrent.futures.ThreadPoolExecutor(20) as pool:
    print(sum(map(len, pool.map(ask, range(60)))))
"""

LEAVE = """
import socket, sys, time, urllib.request
body = b"q" * 1000
for _ in range(5):
    with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as client:
        client.sendall(b"POST / HTTP/1.1\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body) + body)
time.sleep(0.7)
print(len(urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/", timeout=10).read()))
"""
END_WAY = """
import os, signal, sys, time
found = []
for pid in filter(str.isdigit, os.listdir("/proc")):
    words = open(f"/proc/{pid}/cmdline").read().split("\\0")
    if "relay" in " ".join(words[:5]) and "bwrap" not in words[0] and int(pid) != os.getpid():
        found.append(int(pid))
os.kill(sorted(found)[int(sys.argv[1])], signal.SIGKILL)
time.sleep(30)
"""


class Api(http.server.BaseHTTPRequestHandler):
    """Answers a question in three pieces, 0.2 s apart; any other request with 1,000 bytes."""

    def do_POST(self):
        self.server.heard.append((self.path, self.headers["X-Own"], len(self.rfile.read(int(self.headers["Content-Length"])))))
        self.send_response(200)
        self.end_headers()
        for _ in range(3):
            self.wfile.write(b"a" * 1000)
            self.wfile.flush()
            time.sleep(0.2)

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"b" * 1000)

    def address_string(self):
        return "unix"

    def log_message(self, *_):
        pass


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    request_queue_size = 100


@contextlib.contextmanager
def serving(path, handler):
    with Server(str(path), handler) as server:
        server.heard = []
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(params=["bwrap", "trusted"])
def sandbox(request):
    return request.getfixturevalue(request.param)


def test_a_stream_comes_as_it_is_sent(sandbox, box, run, python, tmp_path):
    with serving(tmp_path / "s", Api) as server:
        port = sandbox.port()
        ran = run(sandbox, box(socket=tmp_path / "s", port=port), *python(ASK, f"http://127.0.0.1:{port}"))
    assert (ran.status, ran.complained) == (0, "")
    assert server.heard == [("/v1/messages", "yes", 300_000)]
    pieces = [line.split() for line in ran.said.splitlines()]
    assert sum(int(size) for size, _ in pieces) == 3000
    assert float(pieces[-1][1]) - float(pieces[0][1]) > 0.3


def test_many_at_once(bwrap, box, run, python, tmp_path):
    with serving(tmp_path / "s", Api):
        ran = run(bwrap, box(socket=tmp_path / "s", memory_mb=600), *python(CROWD, f"http://127.0.0.1:{PORT}"))
    assert (ran.said, ran.complained) == ("60000\n", "")


def test_the_end_of_one_direction_is_passed_on(bwrap, box, run, python, tmp_path):
    class Echo(socketserver.StreamRequestHandler):
        def handle(self):
            self.wfile.write(b"you said: " + self.rfile.read())

    with serving(tmp_path / "s", Echo):
        ran = run(bwrap, box(socket=tmp_path / "s"), *python(HALF_CLOSE, str(PORT)))
    assert ran.said == "you said: all that I have\n"


def test_without_a_server_the_connection_is_closed(bwrap, box, run, python, tmp_path):
    with socket.socket(socket.AF_UNIX) as nobody_listens:
        nobody_listens.bind(str(tmp_path / "s"))
        ran = run(bwrap, box(socket=tmp_path / "s"), *python(ASK, f"http://127.0.0.1:{PORT}"))
    assert ran.status == 1
    assert any(words in ran.complained for words in ("Remote end closed connection", "reset", "Broken pipe"))


def test_without_a_socket_nothing_listens(bwrap, box, run, python):
    assert "Connection refused" in run(bwrap, box(), *python(ASK, f"http://127.0.0.1:{PORT}")).complained


def test_who_leaves_before_the_answer_ends_nothing(sandbox, box, run, python, tmp_path):
    with serving(tmp_path / "s", Api):
        port = sandbox.port()
        ran = run(sandbox, box(socket=tmp_path / "s", port=port), *python(LEAVE, str(port)))
    assert (ran.status, ran.said) == (0, "1000\n"), ran.complained


@pytest.mark.parametrize("which", ["0", "1"])
def test_with_the_way_to_the_model_ends_the_command(bwrap, box, run, python, tmp_path, which):
    with serving(tmp_path / "s", Api):
        ran = run(bwrap, box(socket=tmp_path / "s"), *python(END_WAY, which))
    assert (ran.status, ran.complained.splitlines()[-1]) == (137, relay.CUT_OFF) and ran.wall_s < 15


def test_the_command_has_no_child_that_it_did_not_start(bwrap, box, run, python, tmp_path):
    with serving(tmp_path / "s", Api):
        ran = run(bwrap, box(socket=tmp_path / "s"), *python("import os; os.wait()"))
    assert "No child processes" in ran.complained
