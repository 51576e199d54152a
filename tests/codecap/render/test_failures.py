"""Pages that fail or hang: the right outcome with its place, what was made until then, and nothing left behind."""

from __future__ import annotations

import contextlib
import threading

import psutil
import pytest

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
    "throws a symbol": ("window.seek = t => { throw Symbol('x') }", Outcome.RUNTIME_ERROR, "threw what cannot be told", 0),
    "throws what throws": (
        "window.seek = t => { throw { get message() { throw 1 } } }",
        Outcome.RUNTIME_ERROR,
        "threw what cannot be told",
        0,
    ),
    "half a character": ("window.seek = t => { throw Error('\\ud800 odd') }", Outcome.RUNTIME_ERROR, "Error: ? odd", 0),
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
    assert done.certificate.model_dump_json()
    assert not done.mp4.exists()
    partial = partial_path(done.mp4)
    assert probe(partial).frames == made if made else not partial.exists()


def test_after_a_page_that_hangs_the_next_renders(render):
    assert render("<script>for (;;) ;</script>", load_limit_s=2).certificate.outcome == Outcome.RENDER_TIMEOUT
    assert render(FINE).certificate.outcome == Outcome.OK


def test_the_whole_page_has_a_limit(render):
    slow = "<script>window.seek = t => { for (let i = 0, x = 0; i < 3e8; i++) x += i }</script>"
    certificate = render(slow, frames=500, limit_s=5).certificate
    assert certificate.outcome == Outcome.RENDER_TIMEOUT
    assert "the whole page took more than 5 s" in certificate.detail
    assert certificate.frames < 100


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


def test_console_errors_are_kept_few_and_short(render):
    noisy = "<script>window.seek = t => { for (let n = 0; n < 300; n++) console.error('x'.repeat(5000), n) }</script>"
    certificate = render(noisy).certificate
    assert certificate.outcome == Outcome.OK
    assert 1 < len(certificate.console_errors) <= 21
    assert max(map(len, certificate.console_errors)) <= 300
