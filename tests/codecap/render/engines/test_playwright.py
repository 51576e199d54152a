"""Pages that fail, hang, or reach for what is not theirs: the right outcome, nothing leaks, nothing is left behind."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator

import numpy as np
import psutil
import pytest
from PIL import Image

from codecap.records import Outcome
from codecap.render import partial_path
from codecap.video import probe

FINE = "<body>fine<script>window.seek = t => { document.body.textContent = t }</script>"
FAILURES = {
    "error at load": ("nothing.there(); window.seek = t => {}", Outcome.RUNTIME_ERROR, "nothing is not defined", 0),
    "error at load, so no seek": ("nothing.there()", Outcome.RUNTIME_ERROR, "line 1, column", 0),
    "syntax error": ("window.seek = t => {", Outcome.RUNTIME_ERROR, "SyntaxError", 0),
    "no seek": ("const seek = t => {}", Outcome.MISSING_SEEK, "no function window.seek", 0),
    "seek is no function": ("window.seek = 3", Outcome.MISSING_SEEK, "no function window.seek", 0),
    "throws at frame 2": (
        "window.seek = t => { if (t > 0.08) throw new Error('too far') }",
        Outcome.RUNTIME_ERROR,
        "frame 2: seek(0.0833333) failed: Error: too far",
        2,
    ),
    "rejects at frame 1": (
        "window.seek = async t => { if (t > 0) throw 'not ready' }",
        Outcome.RUNTIME_ERROR,
        "frame 1: seek(0.0416667) failed: not ready",
        1,
    ),
    "error after seek": (
        "window.seek = t => { if (t > 0.04) requestAnimationFrame(() => { throw Error('later') }) }",
        Outcome.RUNTIME_ERROR,
        "frame 1: uncaught: Error: later",
        1,
    ),
    "seek taken away": (
        "window.seek = t => { if (t > 0.04) window.seek = null }",
        Outcome.MISSING_SEEK,
        "frame 2: window.seek is no function any more",
        2,
    ),
    "seek that never resolves": (
        "window.seek = t => t > 0.04 ? new Promise(() => {}) : 0",
        Outcome.RENDER_TIMEOUT,
        "frame 1: seek(0.0416667) took more than 3 s",
        1,
    ),
    "seek that never returns": ("window.seek = t => { while (t > 0) ; }", Outcome.RENDER_TIMEOUT, "took more than 3 s", 1),
    "never loaded": ("while (true) ;", Outcome.RENDER_TIMEOUT, "loading the page took more than 3 s", 0),
    "dialogs for ever": ("window.seek = t => { while (t > 0) alert('look at me') }", Outcome.RENDER_TIMEOUT, "frame 1", 1),
    "leaves for a blob": (
        "window.seek = t => { if (t > 0) { location = URL.createObjectURL(new Blob(['x'], {type: 'text/html'}));"
        " return new Promise(() => {}) } }",
        Outcome.RUNTIME_ERROR,
        "left its own address",
        1,
    ),
}


@pytest.mark.parametrize("what", FAILURES)
def test_a_page_that_fails(render, what):
    script, outcome, detail, made = FAILURES[what]
    limits = {"load_limit_s": 3} if what == "never loaded" else {"seek_limit_s": 3}
    done = render(f"<body>text<script>{script}</script>", frames=4, **limits)
    assert (done.certificate.outcome, done.certificate.frames) == (outcome, made), done.certificate.detail
    assert detail in done.certificate.detail
    assert not done.mp4.exists()
    partial = partial_path(done.mp4)
    assert probe(partial).frames == made if made else not partial.exists()


def test_after_a_page_that_hangs_the_next_renders(render):
    assert render("<script>for (;;) ;</script>", load_limit_s=2).certificate.outcome == Outcome.RENDER_TIMEOUT
    assert render(FINE).certificate.outcome == Outcome.OK


def test_the_whole_page_has_a_limit(render):
    slow = "<script>window.seek = t => new Promise(r => setTimeout(r, 500))</script>"
    certificate = render(slow, frames=500, limit_s=5).certificate
    assert certificate.outcome == Outcome.RENDER_TIMEOUT
    assert "the whole page took more than 5 s" in certificate.detail
    assert certificate.frames < 10


def test_a_page_whose_process_dies(render):
    """As when the system takes a page's process away because it wants too much memory."""

    def kill() -> None:
        while not stopped.wait(0.2):
            for process in psutil.Process().children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    if "--type=renderer" in process.cmdline() and process.cpu_times().user > 0.5:
                        process.kill()

    stopped = threading.Event()
    threading.Thread(target=kill, daemon=True).start()
    try:
        certificate = render("<script>window.seek = t => { while (t > 0) ; }</script>", seek_limit_s=30).certificate
    finally:
        stopped.set()
    assert certificate.outcome == Outcome.RENDER_CRASH
    assert certificate.detail == "frame 1: the page's process died during seek(0.0416667)"


def test_dialogs_popups_and_downloads_are_turned_away(render):
    page = """<body><a id=a href="data:text/plain,x" download=x>x</a><script>
    alert('hello'); const sure = confirm('?'); const name = prompt('?');
    window.seek = t => { a.click(); window.open('https://example.com'); window.open('about:blank');
      if (sure || name !== null) throw Error('answered') }</script>"""
    certificate = render(page).certificate
    assert certificate.outcome == Outcome.OK, certificate.detail


def test_console_errors_are_kept_few_and_short(render):
    noisy = "<script>window.seek = t => { for (let n = 0; n < 300; n++) console.error('x'.repeat(5000), n) }</script>"
    certificate = render(noisy).certificate
    assert certificate.outcome == Outcome.OK
    assert 1 < len(certificate.console_errors) <= 21
    assert max(map(len, certificate.console_errors)) <= 300


@contextlib.contextmanager
def listening() -> Iterator[tuple[int, list[str]]]:
    """A loopback port, TCP and UDP, and what was heard on it."""
    heard: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        port = tcp.getsockname()[1]
        udp.bind(("127.0.0.1", port))

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    tcp.accept()[0].close()
                    heard.append("tcp")

        def receive() -> None:
            with contextlib.suppress(OSError):
                while True:
                    heard.append(f"udp {udp.recv(100)!r}")

        for listen in (accept, receive):
            threading.Thread(target=listen, daemon=True).start()
        yield port, heard
        tcp.shutdown(socket.SHUT_RDWR)


def test_nothing_is_heard_outside(render):
    with listening() as (port, heard):
        at = f"127.0.0.1:{port}"
        socket.create_connection(("127.0.0.1", port)).close()  # the listener does listen
        certificate = render(
            f"""<head><link rel=stylesheet href="http://{at}/css"><link rel=preconnect href="http://{at}">
            <link rel=dns-prefetch href="http://localhost:{port}"><link rel=prefetch href="http://{at}/prefetch"></head>
            <body><img src="http://{at}/img"><iframe src="http://localhost:{port}/frame"></iframe><video src="http://{at}/v"></video>
            <form id=f action="http://{at}/form" target=w><input name=a></form><a id=a ping="http://{at}/ping" href="#x">x</a>
            <script src="http://{at}/js"></script><script>
            const quiet = f => {{ try {{ const p = f(); if (p && p.catch) p.catch(() => {{}}) }} catch (e) {{}} }};
            const all = () => {{
              quiet(() => fetch('http://{at}/fetch'));
              quiet(() => new WebSocket('ws://{at}/socket'));
              quiet(() => new EventSource('http://{at}/events'));
              quiet(() => navigator.sendBeacon('http://{at}/beacon', 'x'));
              quiet(() => {{ const x = new XMLHttpRequest(); x.open('GET', 'http://{at}/xhr'); x.send() }});
              quiet(() => new Worker(URL.createObjectURL(new Blob([
                "new WebSocket('ws://{at}/ws'); fetch('http://{at}/w').catch(() => 0); importScripts('http://{at}/i')"]))));
              quiet(() => navigator.serviceWorker.register('/sw.js'));
              quiet(() => import('http://{at}/module.js'));
              quiet(() => {{ const t = new WebTransport('https://{at}/t'); t.ready.catch(() => 0); t.closed.catch(() => 0) }});
              quiet(() => {{ const c = new RTCPeerConnection({{iceServers: [{{urls: 'stun:{at}'}}]}}); c.createDataChannel('x');
                             return c.createOffer().then(o => c.setLocalDescription(o)) }});
              quiet(() => f.submit()); quiet(() => a.click()); quiet(() => window.open('http://{at}/popup'));
            }};
            all(); window.seek = async t => {{ all(); if (t > 0.1) location.href = 'http://{at}/leave';
              await new Promise(r => setTimeout(r, 150)) }};
            </script>""",
            frames=5,
        ).certificate
    assert certificate.outcome == Outcome.OK, certificate.detail
    assert heard == ["tcp"]
    blocked = " ".join(certificate.requests_blocked)
    for kind in ("stylesheet", "script", "image", "fetch", "document"):
        assert f"{kind} http://" in blocked, certificate.requests_blocked


def test_no_local_file_is_shown(render, tmp_path):
    Image.new("RGB", (160, 96), (255, 0, 0)).save(tmp_path / "secret.png")
    secret = (tmp_path / "secret.png").as_uri()
    (tmp_path / "secret.html").write_text("<body style='background:#f00'>")
    done = render(
        f"""<body style="margin:0;background:url('{secret}')"><img src="{secret}"><img src="secret.png">
        <iframe src="{(tmp_path / "secret.html").as_uri()}"></iframe><object data="{secret}"></object>
        <svg><image href="{secret}" width=160 height=96 /></svg>
        <script>window.seek = t => {{ document.images[1].src = '{secret}' }}</script>""",
        frames=2,
    )
    assert done.certificate.outcome == Outcome.OK, done.certificate.detail
    assert not any(((rgb[..., 0].astype(np.int16) - rgb[..., 1]) > 60).any() for rgb in done.frames())
    assert any(secret in note for note in done.certificate.requests_blocked), done.certificate.requests_blocked
    assert any("file address" in note for note in done.certificate.purity)
