"""Engine `beginframe`: chromium-headless-shell over the DevTools pipe, which draws a frame when it is told to and never else.

The fastest exact way. Every frame is asked for after `seek` has settled; a frame in which nothing changed is known by its damage,
and no picture is taken of it. Needs the headless shell: the full browser has no frame control.
"""

from __future__ import annotations

import base64
import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from codecap.clock import time_of
from codecap.records import Outcome
from codecap.render import flags, fonts, purity, virtual_clock
from codecap.render.browser import browser_version, find_browser
from codecap.render.cage import Cage, layers
from codecap.render.devtools import DeadlinePassed, DevTools, Disconnected, Refused
from codecap.render.engines import Picture, read_page
from codecap.render.failures import FrameLost, InfraError, PageFailure
from codecap.render.settings import RenderSettings
from codecap.render.witness import ADDRESS, DOMAINS, Witness, cannot_be_told, left_its_address, quiet_script

DRAWING = (*flags.DRAWING, *flags.FRAME_BY_FRAME)
START_LIMIT_S = 60.0
ASIDE_LIMIT_S = 2.0
SILENT = (Outcome.RENDER_TIMEOUT, Outcome.RENDER_CRASH)  # a page that came to this tells nothing any more
WARM_UP_FRAMES = 3
MOST_SETTLING = 3
FEWEST_TRIES = 100  # at a picture, and the shortest time of them,
NOTHING_DRAWN_S = 5.0  # before it is said that the browser draws nothing
PATIENCE_S = 0.015  # a seek that is not answered by then may wait for a frame: one is drawn, and so on
STEP_MS = 1e-3  # a frame that is drawn beside those asked for is later by this: frame time never stands still
PICTURE_MS = 1.0  # a picture is later by this, so that what changes at its very time has changed
IDLE_S = 3.0  # a frame that is owed for so long
IDLE_CPU_S = 0.1  # while the browser uses less than this is lost: to draw takes work
BEST_BYTES_PER_PIXEL = 6  # of a picture in a message, at most
OTHER_MESSAGE_BYTES = 1 << 24
SCREENSHOT = {"format": "png", "optimizeForSpeed": True}
GONE = ("closed", "crashed", "not attached", "Session with given id")  # in what the browser says about a page that is no more
WORLD = (  # a machine that looks the same everywhere
    ("Emulation.setTimezoneOverride", {"timezoneId": "UTC"}),
    ("Emulation.setLocaleOverride", {"locale": "en-US"}),
    ("Page.setFontFamilies", {"fontFamilies": fonts.ASKED_BY_ENGINES}),
    ("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "light"}]}),
)


def load(settings: RenderSettings) -> BeginFrameEngine:
    return BeginFrameEngine(settings)


class BeginFrameEngine:
    """Holds nothing: each page has a browser of its own."""

    def __init__(self, settings: RenderSettings) -> None:
        self._settings = settings
        self._browser = find_browser(shell_only=True)
        self.version = f"beginframe | {browser_version(self._browser)} | {' '.join(DRAWING)}"

    def __enter__(self) -> BeginFrameEngine:
        return self

    def __exit__(self, *why: object) -> None:
        pass

    def open(self, page: Path, width_px: int, height_px: int) -> BeginFrameStage:
        return BeginFrameStage(self._browser, read_page(page), width_px, height_px, self._settings)


class BeginFrameStage:
    """One page in its own browser."""

    def __init__(self, executable: Path, html: bytes, width_px: int, height_px: int, settings: RenderSettings) -> None:
        self._executable, self._settings, self._size = executable, settings, (width_px, height_px)
        self._html: bytes | None = html
        self._witness = Witness()
        self.console_errors, self.requests_blocked = self._witness.console_errors, self._witness.requests_blocked
        self.flags = layers().missing
        self._ends_at = time.monotonic() + settings.limit_s
        self._session = ""
        self._answers = True  # the page may still be asked something
        self._picture: Picture | None = None
        self._probing = False  # plain frames are drawn first, and a picture is taken only of damage
        self._alike = self._changed = 0  # pictures like the one before, and probed frames with damage, in a row
        self._frame_ms = time.monotonic() * 1000  # time of the last frame drawn, as the browser is told it
        self._zero_ms = self._due_ms = self._frame_ms + 1.0  # time of the page's second 0, and of the frame asked for
        longest = width_px * height_px * BEST_BYTES_PER_PIXEL + OTHER_MESSAGE_BYTES
        self._devtools = DevTools(self._hear, self._witness.heard_enough, longest)
        self._cage = Cage(settings.memory_mb)
        try:
            self._cage.start(self._command(), pipe_fds=self._devtools.theirs)
            self._devtools.close_theirs()
        except BaseException:
            self.close()
            raise

    def load(self) -> None:
        """See `Stage`. A script error is told before a missing seek, which may be its consequence."""
        self._open_target()
        with self._guarded(self._settings.load_limit_s, "loading the page", None) as until:
            for domain in DOMAINS:
                self._call(f"{domain}.enable", {}, until)
            for method, params in WORLD:
                self._call(method, params, until)
            self._call("Emulation.setDeviceMetricsOverride", self._metrics(), until)
            self._call("Fetch.enable", {"patterns": [{"urlPattern": "*"}]}, until)
            self._call("Target.setAutoAttach", {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}, until)
            for script in (quiet_script(), purity.watch_script(), virtual_clock.init_script()):
                self._call("Page.addScriptToEvaluateOnNewDocument", {"source": script}, until)
            self._call("Page.navigate", {"url": ADDRESS}, until)
            while not self._witness.loaded:
                self._devtools.listen(until)
                self._raise_ended()
                if time.monotonic() > until:
                    raise DeadlinePassed
            self._witness.raise_uncaught(None, {})
            _, answer = self._evaluate(virtual_clock.ready_call(self._settings.seek_wait_s * 1000), until)
            self._witness.raise_uncaught(None, answer)
            if not answer["result"].get("value"):
                raise PageFailure(Outcome.MISSING_SEEK, "the page defines no function window.seek")
            for _ in range(WARM_UP_FRAMES):
                self._draw(until)

    def frame(self, index: int) -> Picture:
        call = f"seek({time_of(index):.6g})"
        with self._guarded(self._settings.seek_limit_s, call, index) as until:
            self._due_ms = self._zero_ms + time_of(index) * 1000
            damaged, answer = self._evaluate(virtual_clock.seek_call(time_of(index)), until)
            self._witness.raise_uncaught(index, answer, call)
            told = answer["result"]["value"]
            if told["state"] == "missing":
                raise PageFailure(Outcome.MISSING_SEEK, "window.seek is no function any more", index)
            damaged |= self._settle(index, told["settle"], until)
            if self._probing and not damaged and self._picture is not None:
                self._changed = 0
                return self._picture
            return self._take_picture(until)

    def observed(self) -> list[str]:
        with self._guarded(ASIDE_LIMIT_S, "the render", None):
            if self._answers and (self._cage.outgrown or self._cage.broken_off):  # a part is gone: what was drawn may be wrong
                raise PageFailure(Outcome.RENDER_CRASH, "")
        seen = None
        if self._answers:
            with contextlib.suppress(PageFailure, DeadlinePassed, Disconnected, Refused):
                seen = self._evaluate(purity.seen_call(), time.monotonic() + ASIDE_LIMIT_S)[1]["result"].get("value")
        return purity.observed(self.requests_blocked, list(self._witness.inline_loads), seen, ADDRESS)

    def close(self) -> None:
        self._cage.close()
        self._devtools.close()

    def _command(self) -> list[str]:
        sandbox = () if layers().browser_sandbox else ("--no-sandbox",)
        shared = flags.small_shared_memory()
        return [
            str(self._executable),
            "--remote-debugging-pipe",
            f"--user-data-dir={self._cage.folder / 'profile'}",
            *flags.QUIET,
            *flags.ISOLATION,
            *DRAWING,
            *sandbox,
            *shared,
            "about:blank",
        ]

    def _metrics(self) -> dict[str, Any]:
        """The viewport is the whole screen, one pixel a pixel."""
        width_px, height_px = self._size
        size = {"width": width_px, "height": height_px, "screenWidth": width_px, "screenHeight": height_px}
        return {**size, "deviceScaleFactor": 1, "mobile": False}

    def _open_target(self) -> None:
        until = time.monotonic() + START_LIMIT_S
        width_px, height_px = self._size
        size = {"width": width_px, "height": height_px}
        try:
            self._devtools.call("Browser.setDownloadBehavior", {"behavior": "deny"}, "", until)
            made = {"url": "about:blank", "enableBeginFrameControl": True, **size}
            target = self._devtools.call("Target.createTarget", made, "", until)["targetId"]
            attached = self._devtools.call("Target.attachToTarget", {"targetId": target, "flatten": True}, "", until)
            self._witness.main_frame = target  # has the page's own id
        except Refused as error:
            raise InfraError(
                f"{self._executable} cannot draw frame by frame ({error}); engine beginframe needs chromium-headless-shell, "
                "or set render.engine to playwright"
            ) from error
        except (DeadlinePassed, Disconnected) as error:
            raise InfraError(f"{self._executable} does not start: {self._cage.said[-300:]}") from error
        self._session = attached["sessionId"]

    def _evaluate(self, expression: str, until: float) -> tuple[bool, dict[str, Any]]:
        """Wait for a promise of the page, and draw frames as long as it may wait for one.

        Returns:
            Whether any of those had damage, and the answer.
        """
        call = {"expression": expression, "awaitPromise": True, "returnByValue": True}
        number = self._devtools.send("Runtime.evaluate", call, self._session, until=until)
        damaged = False
        while True:
            try:
                return damaged, self._devtools.answer(number, min(time.monotonic() + PATIENCE_S, until))
            except DeadlinePassed:
                self._raise_ended()
                if time.monotonic() >= until:
                    raise
                damaged |= self._draw(until)

    def _settle(self, index: int, unsettled: bool, until: float) -> bool:
        """Draw what only a drawn frame can serve (observers, view transitions), and at least one frame to look for damage."""
        damaged = False
        for _ in range(MOST_SETTLING):
            if not unsettled:
                break
            damaged |= self._draw(until)
            served, answer = self._evaluate(virtual_clock.settle_call(), until)
            self._witness.raise_uncaught(index, answer)
            damaged |= served
            unsettled = answer["result"]["value"]
        return damaged | (self._probing and self._draw(until))

    def _draw(self, until: float) -> bool:
        """One frame without a picture. Returns whether anything in it changed; true also where a picture came before."""
        return self._begin_frame(self._frame_time(), until)["hasDamage"]

    def _take_picture(self, until: float) -> Picture:
        asked = {"screenshot": SCREENSHOT}
        tries, began = 0, time.monotonic()
        while not (png := self._begin_frame(self._frame_time(PICTURE_MS) | asked, until).get("screenshotData")):
            tries += 1  # the first paint of a page may be held back, on a busy machine for long
            now = time.monotonic()
            if tries >= FEWEST_TRIES and now - began >= NOTHING_DRAWN_S:
                raise PageFailure(Outcome.RENDER_CRASH, "the browser drew nothing of it")
            if now >= until:
                raise DeadlinePassed
            time.sleep(PATIENCE_S if tries >= FEWEST_TRIES else 0)
        alike = self._picture is not None and self._picture.png_base64 == png
        if not alike:
            self._picture = Picture(png, *self._size)
        if self._settings.skip_unchanged:
            self._choose_probing(alike, until)
        return self._picture

    def _choose_probing(self, alike: bool, until: float) -> None:
        """Probe a page that stands still, and no page that moves all the time. After a picture, one frame has damage of its own."""
        self._alike = self._alike + 1 if alike else 0
        self._changed = 0 if alike else self._changed + 1
        self._probing = self._alike > 0 or (self._probing and self._changed < 3)
        if self._probing:
            self._draw(until)

    def _frame_time(self, later_ms: float = 0.0) -> dict[str, Any]:
        """The time due, but always later than the frame before; animated images follow it, forwards only."""
        self._frame_ms = max(self._frame_ms + STEP_MS, self._due_ms + later_ms)
        return {"frameTimeTicks": self._frame_ms, "interval": 1000 / 60}

    def _begin_frame(self, asked: dict[str, Any], until: float) -> dict[str, Any]:
        """One frame's answer. Chromium may forget a frame for ever, mostly the first ones of a page, and does no work then."""
        number = self._devtools.send("HeadlessExperimental.beginFrame", asked, self._session, until=until)
        used_s, worked_at = -IDLE_CPU_S, 0.0
        while True:
            try:
                return self._devtools.answer(number, min(time.monotonic() + 0.5, until))
            except DeadlinePassed:
                self._raise_ended()
                now, now_used_s = time.monotonic(), self._cage.cpu_s()
                if now_used_s - used_s >= IDLE_CPU_S:
                    used_s, worked_at = now_used_s, now
                elif now - worked_at >= IDLE_S:
                    raise FrameLost("the browser forgot a frame that it was asked for") from None
                if now >= until:
                    raise

    def _call(self, method: str, params: dict[str, Any], until: float) -> dict[str, Any]:
        number = self._devtools.send(method, params, self._session, until=until)
        while True:  # a dead page never answers
            try:
                return self._devtools.answer(number, min(time.monotonic() + 0.5, until))
            except DeadlinePassed:
                self._raise_ended()
                if time.monotonic() >= until:
                    raise

    def _hear(self, method: str, told: dict[str, Any], session: str) -> None:
        match method:
            case "Fetch.requestPaused":
                self._on_request(told, session)
            case "Page.javascriptDialogOpening":
                self._devtools.send("Page.handleJavaScriptDialog", {"accept": False}, session)
            case "Target.attachedToTarget" if told["targetInfo"]["type"] != "page":
                self._on_worker(told["sessionId"])
            case "Target.detachedFromTarget" if told["sessionId"] == self._session:
                self._witness.left = self._witness.left or "the page closed its window"
            case _ if session in ("", self._session):
                self._witness.hear(method, told)

    def _on_request(self, told: dict[str, Any], session: str) -> None:
        number, address = told["requestId"], told["request"]["url"]
        if self._html is not None and address == ADDRESS and told["resourceType"] == "Document":
            html, self._html, self._witness.served = self._html, None, True
            answer = {
                "requestId": number,
                "responseCode": 200,
                "responseHeaders": [{"name": "Content-Type", "value": "text/html; charset=utf-8"}],
                "body": base64.b64encode(html).decode(),
            }
            self._devtools.send("Fetch.fulfillRequest", answer, session)
            return
        if not address.startswith(("data:", "blob:")):
            self._witness.blocked(told["resourceType"], address)
            self._devtools.send("Fetch.failRequest", {"requestId": number, "errorReason": "Aborted"}, session)
        else:
            self._devtools.send("Fetch.continueRequest", {"requestId": number}, session)

    def _on_worker(self, session: str) -> None:
        """A worker's requests are refused and listed, too."""
        self._devtools.send("Network.enable", {}, session)
        self._devtools.send("Fetch.enable", {"patterns": [{"urlPattern": "*"}]}, session)
        self._devtools.send("Runtime.runIfWaitingForDebugger", {}, session)

    def _raise_ended(self) -> None:
        if self._witness.crashed:
            raise PageFailure(Outcome.RENDER_CRASH, self._witness.crashed)
        self._witness.raise_left()

    @contextlib.contextmanager
    def _guarded(self, limit_s: float, doing: str, frame: int | None) -> Iterator[float]:
        """Gives the time when the block must end, by its own limit and by what is left of the page's; tells what went wrong."""
        complaint = f"{doing} took more than {limit_s:g} s"
        until = time.monotonic() + limit_s
        if self._ends_at < until:
            until, complaint = self._ends_at, f"the whole page took more than {self._settings.limit_s:g} s, during {doing}"
        try:
            yield until
        except (PageFailure, DeadlinePassed, Disconnected, Refused) as error:
            failure = self._told(error, complaint, doing, frame)
            self._answers = isinstance(failure, PageFailure) and failure.outcome not in SILENT
            raise failure from error

    def _told(self, error: Exception, complaint: str, doing: str, frame: int | None) -> Exception:
        """What went wrong, as the page's failure or as one of ours."""
        broken_off = self._cage.broken_off
        if broken_off:
            return InfraError(f"{broken_off}, during {doing}")
        if isinstance(error, DeadlinePassed):
            return PageFailure(Outcome.RENDER_TIMEOUT, complaint, frame)
        if isinstance(error, PageFailure) and error.outcome is not Outcome.RENDER_CRASH:
            return PageFailure(error.outcome, error.detail, frame)
        message = str(error)
        if isinstance(error, Refused) and left_its_address(message):
            return PageFailure(Outcome.RUNTIME_ERROR, f"the page left its own address during {doing}", frame)
        if isinstance(error, Refused) and cannot_be_told(message):
            return PageFailure(Outcome.RUNTIME_ERROR, f"{doing} failed: it threw what cannot be told", frame)
        crashed = isinstance(error, PageFailure | Disconnected) or any(sign in message for sign in GONE)
        if crashed:
            reason = self._cage.outgrown or self._witness.crashed or getattr(error, "detail", "") or "the browser died"
            return PageFailure(Outcome.RENDER_CRASH, f"{reason} during {doing}", frame)
        return PageFailure(Outcome.RENDER_CRASH, f"the browser refused during {doing}: {message}", frame)
