"""Pages that mean harm, and what is right to happen to each.

The right outcome follows from what the outcomes mean: what the page does to itself is its own failure (an uncaught error comes
before a missing seek), what takes too long is a timeout, what dies is a crash; what is only refused (a request, a dialog, a
window) leaves a page that draws, and is `ok`.
"""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from codecap.records import Certificate, Outcome
from codecap.render import render_page
from codecap.render.cage import Cage, layers
from codecap.render.process_tree import marked

FRAMES, SIZE_PX = 4, (160, 96)
LIMITS = {"seek_limit_s": 30, "load_limit_s": 30, "seek_wait_s": 0.3, "repeat_samples": 0, "memory_mb": 800}
SHORT = {"seek_limit_s": 1, "load_limit_s": 3}  # only where it is right to meet them: a busy machine is slow with the others
SLACK_S = 8.0  # to start and end the browser, on a busy machine
OUR_GROWTH_MB = 300.0

OK, ERROR, MISSING = Outcome.OK, Outcome.RUNTIME_ERROR, Outcome.MISSING_SEEK
TIMEOUT, CRASH = Outcome.RENDER_TIMEOUT, Outcome.RENDER_CRASH

BOX = """<body style="margin:0;background:#102030">
<div id="box" style="position:absolute;width:20px;height:20px;background:#fc0"></div>"""
MOVES = "box.style.left = t * 200 + 'px'"
SEEK = f"window.seek = t => {{ {MOVES} }};"


def page(script: str, body: str = "") -> str:
    """A box that moves, and a script of ill will."""
    return f"<!DOCTYPE html>{BOX}{body}<script>{SEEK}\n{script}</script>"


def at_seek(script: str, after_s: float = 0.05) -> str:
    """The same, where the will shows from the third frame on."""
    return page(f"window.seek = async t => {{ {MOVES}; if (t > {after_s}) {{ {script} }} }}")


@dataclass(frozen=True)
class Hostile:
    """A page, its right outcome and the reason, settings it needs, and whether both engines meet it in every run."""

    name: str
    html: str | bytes | Callable[[], str | bytes]
    outcome: Outcome
    why: str
    detail: str = ""
    settings: Mapping[str, float] = field(default_factory=dict)
    both: bool = False
    slow: bool = False

    @property
    def content(self) -> bytes:
        html = self.html() if callable(self.html) else self.html
        return html.encode() if isinstance(html, str) else html


FILL = "const held = []; for (let k = 0; k < 200; k++) held.push(new Uint8Array(5e7).fill(k + 1));"
REGEX = "/^(a+)+$/.test('a'.repeat(40) + '!')"
GROWING = "const all = []; for (;;) all.push({some: new Array(1000).fill(all.length)});"
QUIET = ".catch(() => {})"

TIMEOUTS = [
    Hostile("loop_at_load", page("for (;;);"), TIMEOUT, "it never finishes loading", "loading", both=True),
    Hostile("loop_in_seek", at_seek("for (;;);"), TIMEOUT, "its seek never returns", r"seek\(", both=True),
    Hostile("regex_bomb", at_seek(REGEX), TIMEOUT, "the match takes longer than the universe"),
    Hostile("never_resolves", at_seek("await new Promise(() => {})"), TIMEOUT, "its seek is never done", both=True),
    Hostile("thenable_that_never_calls", page("window.seek = () => ({then() {}})"), TIMEOUT, "a promise by another name"),
    Hostile(
        "microtask_loop", at_seek("(function f() { Promise.resolve().then(f) })()"), TIMEOUT, "the event loop never turns again"
    ),
    Hostile(
        "getter_that_loops",
        page("Object.defineProperty(window, 'seek', {get() { for (;;); }})"),
        TIMEOUT,
        "asking for seek never ends",
    ),
    Hostile(
        "worker_and_main_loop", at_seek("new Worker(URL.createObjectURL(new Blob(['for(;;);']))); for (;;);"), TIMEOUT, "both spin"
    ),
    Hostile("dialog_loop", at_seek("for (;;) alert(1)"), TIMEOUT, "each dialog is dismissed, and there is always one more"),
]

MEMORY = [
    Hostile("array_buffers", page(FILL), CRASH, "10 GB do not fit", "needed more than", both=True),
    Hostile("array_buffers_in_seek", at_seek(FILL), CRASH, "10 GB do not fit", "needed more than"),
    Hostile("heap", page(GROWING), CRASH, "the script engine gives up, or the limit is met", "", {"load_limit_s": 60}, slow=True),
    Hostile(
        "worker_fills_memory",
        page(
            f"const worker = new Worker(URL.createObjectURL(new Blob([{FILL + 'postMessage(1)'!r}])));"
            "window.seek = t => new Promise(done => worker.onmessage = done)"
        ),
        CRASH,
        "a worker's memory is the page's",
        "needed more than",
    ),
]

STORES = """
const folder = await navigator.storage.getDirectory();
for (let k = 0; k < 500; k++) {
  const file = await (await folder.getFileHandle('f' + k, {create: true})).createWritable();
  await file.write(new Uint8Array(2e7));
  await file.close();
}
"""
DISK = [
    Hostile("stores_files", at_seek(STORES), CRASH, "10 GB do not fit", "wrote more than 300 MB"),
]

ERRORS = [
    Hostile("deep_recursion", at_seek("(function f() { f(); f() })()"), ERROR, "RangeError, not caught", "Maximum call stack"),
    Hostile("throws_nothing", at_seek("throw undefined"), ERROR, "thrown is thrown, whatever is thrown"),
    Hostile(
        "throws_a_trap",
        page("throw {toString() { for (;;); }, get message() { for (;;); }}"),
        TIMEOUT,
        "the browser itself asks it what it is, and it never says",
    ),
    Hostile(
        "deletes_its_seek",
        at_seek("delete window.seek; window.seek = undefined"),
        MISSING,
        "from then on there is none",
        "any more",
    ),
    Hostile(
        "goes_blank_in_seek",
        at_seek("location = 'about:blank'; await new Promise(r => setTimeout(r, 500))"),
        ERROR,
        "it left itself",
        "left",
    ),
    Hostile(
        "goes_to_a_blob",
        at_seek(
            "location = URL.createObjectURL(new Blob(['<h1>other'], {type: 'text/html'}));"
            "await new Promise(r => setTimeout(r, 500))"
        ),
        ERROR,
        "it left itself",
        "left",
    ),
    Hostile(
        "goes_blank_at_load",
        page("location = 'about:blank'"),
        ERROR,
        "it left itself; that seek is missing then is a consequence",
        "left",
    ),
    Hostile("empty_file", b"", MISSING, "nothing defines seek", both=True),
    Hostile("binary_file", bytes(range(256)) * 400, MISSING, "nothing defines seek"),
    Hostile("seek_is_no_function", page("window.seek = 'please'"), MISSING, "a string cannot be called"),
]

REFUSED = [
    Hostile(
        "dialogs",
        page("alert(1); confirm(2); prompt(3); addEventListener('beforeunload', e => { e.preventDefault(); e.returnValue = 'x' })"),
        OK,
        "dismissed",
        both=True,
    ),
    Hostile("dialogs_in_seek", at_seek("alert(t); confirm(t); prompt(t)"), OK, "dismissed"),
    Hostile("popups", page("for (let k = 0; k < 1000; k++) window.open('about:blank#' + k)"), OK, "no window opens", both=True),
    Hostile(
        "popups_in_seek", at_seek("for (let k = 0; k < 1000; k++) window.open('https://example.com/' + k)"), OK, "no window opens"
    ),
    Hostile(
        "popup_by_link",
        page("document.querySelector('a').click()", "<a href='about:blank' target=_blank>.</a>"),
        OK,
        "no window opens",
    ),
    Hostile("goes_elsewhere", at_seek("location = 'https://example.com/'"), OK, "aborted: it stays", both=True),
    Hostile("goes_elsewhere_at_load", page("location = 'https://example.com/'"), OK, "aborted: it stays"),
    Hostile("reloads", at_seek("location.reload()"), OK, "aborted: it stays"),
    Hostile("meta_refresh", page("", "<meta http-equiv=refresh content='0;url=https://example.com/'>"), OK, "aborted: it stays"),
    Hostile("goes_to_data", at_seek("location = 'data:text/html,<h1>other'"), OK, "the browser refuses it to pages"),
    Hostile("goes_to_script", at_seek("location = 'javascript:void 0'"), OK, "no address at all"),
    Hostile("goes_to_chrome", at_seek("location = 'chrome://crash'"), OK, "the browser refuses it to pages"),
    Hostile("goes_to_file", at_seek("location = 'file:///etc/passwd'"), OK, "the browser refuses it to pages"),
    Hostile(
        "submits",
        at_seek("document.forms[0].submit()").replace(
            "<script>", "<form action='https://example.com/' method=post><input name=a></form><script>"
        ),
        OK,
        "aborted: it stays",
    ),
    Hostile(
        "history",
        at_seek("history.pushState({}, '', '/x?' + t); history.replaceState({}, '', '/y')"),
        OK,
        "its own address by another name",
    ),
    Hostile(
        "downloads",
        page(
            "const a = document.createElement('a'); a.download = 'evil.bin'; a.href = URL.createObjectURL(new Blob(['evil']));"
            "document.body.append(a); for (let k = 0; k < 20; k++) a.click()"
        ),
        OK,
        "denied",
    ),
    Hostile("service_worker", page(f"navigator.serviceWorker?.register('/sw.js'){QUIET}"), OK, "there is no such file"),
    Hostile("prints", page("print()"), OK, "there is no printer"),
    Hostile(
        "closes_frames",
        page("", "<iframe srcdoc='<script>parent.box.remove; for(let k=0;k<9;k++) alert(k)</script>'></iframe>"),
        OK,
        "a frame's dialogs are dismissed too",
    ),
    Hostile(
        "fullscreen",
        at_seek(f"document.body.requestFullscreen(){QUIET}; document.body.requestPointerLock()?.catch(() => {{}})"),
        OK,
        "needs a person",
    ),
    Hostile(
        "devices",
        page(
            f"navigator.mediaDevices?.getUserMedia({{video: true}}){QUIET};"
            "navigator.geolocation?.getCurrentPosition(() => 0, () => 0);"
            f"Notification?.requestPermission?.(){QUIET}; navigator.clipboard?.readText?.(){QUIET}"
        ),
        OK,
        "denied",
    ),
    Hostile(
        "changes_its_seek",
        page(f"window.seek = t => {{ {MOVES}; const own = window.seek; window.seek = u => own(u) }}"),
        OK,
        "any function will do",
    ),
    Hostile(
        "spoils_the_globals",
        page(
            "Promise = JSON = setTimeout = requestAnimationFrame = performance = Date = undefined;"
            "Array.prototype.push = Function.prototype.call = Object.prototype.toString = () => { throw 'no' }"
        ),
        OK,
        "its seek works",
        both=True,
    ),
    Hostile(
        "spoils_thenables",
        page("Object.prototype.then = undefined; Promise.prototype.then = function () { return this }"),
        OK,
        "its seek works",
    ),
    Hostile(
        "endless_animation",
        page("(function f() { requestAnimationFrame(f); setTimeout(f, 0) })"),
        OK,
        "time stands where seek put it",
    ),
    Hostile(
        "workers_spin",
        page("for (let k = 0; k < 4; k++) new Worker(URL.createObjectURL(new Blob(['for(;;);'])))"),
        OK,
        "slow, but it draws",
    ),
    Hostile(
        "many_nodes",
        page("for (let k = 0; k < 1e5; k++) document.body.append(document.createElement('i'))"),
        OK,
        "large, but it draws",
    ),
    Hostile("fifty_megabytes", lambda: page("", f"<!--{'x' * 50_000_000}-->"), OK, "large, but it draws"),
    Hostile(
        "invalid_utf8", page("").encode().replace(b"<div", b"\xff\xfe\xc3\x28\x80<div"), OK, "wrong letters are only wrong letters"
    ),
    Hostile("null_bytes", page("").encode().replace(b"<div", b"\0\0<div"), OK, "wrong letters are only wrong letters"),
    Hostile(
        "errors_flood",
        page("for (let k = 0; k < 3e4; k++) console.error('x'.repeat(100), k)"),
        OK,
        "the first are noted",
    ),
    Hostile(
        "console_gigabyte",
        page("const s = 'x'.repeat(1e6); for (let k = 0; k < 1000; k++) console.log(s + k)"),
        OK,
        "nobody reads it",
        settings={"load_limit_s": 60},
        slow=True,
    ),
]

ALL = [*TIMEOUTS, *MEMORY, *DISK, *ERRORS, *REFUSED]


@dataclass
class Cages:
    """The cages that the engine makes, as it makes them."""

    made: list[Cage] = field(default_factory=list)


@pytest.fixture
def cages(monkeypatch) -> Cages:
    seen = Cages()
    make = Cage.__init__

    def noted(self, *args, **settings) -> None:
        make(self, *args, **settings)
        seen.made.append(self)

    monkeypatch.setattr(Cage, "__init__", noted)
    return seen


@pytest.fixture
def rendered(browser, tmp_path, monkeypatch) -> Callable[..., Certificate]:
    """Render a page with short limits; nothing of its browser may be left, and nothing new may lie around."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))

    def render(content: bytes, engine: str, frames: int = FRAMES, **settings: float) -> Certificate:
        source, mp4 = tmp_path / "page.html", tmp_path / "page.mp4"
        source.write_bytes(content)
        home = set(Path.home().iterdir())
        certificate = render_page(source, frames, *SIZE_PX, mp4, {**LIMITS, **settings, "engine": engine})
        assert marked(f"codecap-cage-{os.getpid()}-") == []
        end = time.monotonic() + 5  # Playwright's driver, a process of its own, removes its folder a moment later
        while list(temporary.iterdir()) and time.monotonic() < end:
            time.sleep(0.05)
        assert list(temporary.iterdir()) == []
        assert set(Path.home().iterdir()) == home
        assert {path.name for path in tmp_path.iterdir()} <= {"page.html", "page.mp4", "page.partial.mp4", "temporary"}
        return certificate

    return render


@pytest.fixture(scope="module")
def good() -> dict[str, str]:
    """Frame hash of a harmless page by engine, from before anything else was rendered."""
    return {}


def check(hostile: Hostile, engine: str, rendered, cages: Cages, good: dict[str, str]) -> None:
    if engine not in good:
        good[engine] = rendered(page("").encode(), engine).frames_sha256
    cages.made.clear()
    settings = {**LIMITS, **(SHORT if hostile.outcome == TIMEOUT else {}), **hostile.settings}
    before_mb = psutil.Process().memory_info().rss / 1e6
    started = time.monotonic()
    certificate = rendered(hostile.content, engine, **settings)
    took_s = time.monotonic() - started
    assert certificate.outcome == hostile.outcome, f"{hostile.why}; told: {certificate.detail}"
    assert re.search(hostile.detail, certificate.detail)
    assert took_s < settings["load_limit_s"] + settings["seek_limit_s"] * FRAMES + SLACK_S
    for cage in cages.made:
        assert cage.peak_mb < settings["memory_mb"] * (1.0 if layers().memory_cgroup else 1.5)
        assert (cage.outgrown is not None) == (hostile.outcome == CRASH)
    assert psutil.Process().memory_info().rss / 1e6 < before_mb + OUR_GROWTH_MB
    if hostile.outcome == OK:
        assert certificate.frames == FRAMES
        assert certificate.unique_frame_ratio == 1.0 or certificate.blank_frames == 0
    elif hostile.outcome in (TIMEOUT, CRASH):
        assert rendered(page("").encode(), engine).frames_sha256 == good[engine]


@pytest.mark.parametrize("hostile", [pytest.param(one, id=one.name, marks=[pytest.mark.slow] * one.slow) for one in ALL])
def test_engine_beginframe_meets(hostile, rendered, cages, good):
    check(hostile, "beginframe", rendered, cages, good)


@pytest.mark.slow
@pytest.mark.parametrize("hostile", [pytest.param(one, id=one.name) for one in ALL if one.both])
def test_engine_playwright_meets(hostile, rendered, cages, good):
    check(hostile, "playwright", rendered, cages, good)
