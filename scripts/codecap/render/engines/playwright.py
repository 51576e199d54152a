"""Engine `playwright`: Chromium driven by Playwright, one fresh browser a page, pictures by the DevTools protocol.

The page is served from a made-up origin, so that a `file:` address is foreign to it. Nothing else is served: routes refuse every
request and list it, and below them no host name or address resolves. Calls that may hang are bounded by killing the browser.
"""

from __future__ import annotations

import base64
import contextlib
import os
import time
import uuid
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import psutil
from playwright.sync_api import Browser, Error, Playwright, Route, sync_playwright

from codecap.clock import time_of
from codecap.records import Outcome
from codecap.render.browser import browser_version, find_browser
from codecap.render.failures import InfraError, PageFailure
from codecap.render.settings import RenderSettings
from codecap.render.watchdog import Watchdog, kill_groups, process_groups

ADDRESS = "https://page.invalid/"
DRAWING_FLAGS = (
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--font-render-hinting=none",
    "--disable-lcd-text",
    "--disable-gpu",  # drawn in software, the same on every machine
    "--disable-partial-raster",  # a changed part is not drawn into an old tile: edges there depend on what was before
    "--disable-checker-imaging",  # a picture is decoded before the frame that shows it, not some frames later
    "--autoplay-policy=no-user-gesture-required",
)
ISOLATION_FLAGS = (
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-background-networking",
    "--dns-prefetch-disable",
    "--block-new-web-contents",
    "--disable-breakpad",
)
LONGEST_NOTE = 300
MOST_NOTES = 20
GONE_WITHIN_S = 10.0
HARMLESS = "ResizeObserver loop"  # the browser reports late layout as an error; no script has failed
LOCAL_REFUSED = "Not allowed to load local resource:"
SETTLED = "__codecap_settled"
# One animation frame, or two where the page has asked for another: what `seek` left to them, nested once, is drawn.
BEFORE_THE_PAGE = """(() => {
  const ask = window.requestAnimationFrame.bind(window), drop = window.cancelAnimationFrame.bind(window);
  const pending = new Set(), Later = Promise;
  window.requestAnimationFrame = draw => {
    const id = ask(now => { pending.delete(id); draw(now) });
    pending.add(id);
    return id;
  };
  window.cancelAnimationFrame = id => { pending.delete(id); drop(id) };
  const settled = () => new Later(done => ask(() => pending.size ? ask(() => done()) : done()));
  Object.defineProperty(window, NAME, {value: settled});
})()""".replace("NAME", repr(SETTLED))


def load(settings: RenderSettings) -> PlaywrightEngine:
    return PlaywrightEngine(settings)


class PlaywrightEngine:
    """Holds Playwright's driver; `open` starts a browser of its own for each page."""

    def __init__(self, settings: RenderSettings) -> None:
        self._settings = settings
        self._browser = find_browser()
        self._playwright: Playwright | None = None
        self.version = f"playwright {version('playwright')} | {browser_version(self._browser)} | {' '.join(DRAWING_FLAGS)}"

    def __enter__(self) -> PlaywrightEngine:
        self._playwright = sync_playwright().start()
        return self

    def __exit__(self, *why: object) -> None:
        if self._playwright is not None:
            self._playwright.stop()
            self._playwright = None

    def open(self, page: Path, width_px: int, height_px: int) -> PlaywrightStage:
        if self._playwright is None:
            raise RuntimeError("the engine is used outside its `with` block")
        try:
            html = Path(page).read_bytes()
        except OSError as error:
            raise InfraError(f"{page}: cannot be read: {error.strerror}") from error
        return PlaywrightStage(self._playwright, self._browser, html, width_px, height_px, self._settings)


class PlaywrightStage:
    """One page in its own browser process."""

    def __init__(
        self,
        playwright: Playwright,
        executable: Path,
        html: bytes,
        width_px: int,
        height_px: int,
        settings: RenderSettings,
    ) -> None:
        self.console_errors: list[str] = []
        self.requests_blocked: list[str] = []
        self.flags: list[str] = []
        self._settings, self._size = settings, (height_px, width_px, 3)
        self._html: bytes | None = html
        self._uncaught: list[str] = []
        self._crashed = self._closed = False
        self._ends_at = time.monotonic() + settings.limit_s
        self._mark = f"--codecap-render={os.getpid()}-{uuid.uuid4().hex}"  # tells our browser's processes from all others
        self._groups: dict[int, int] = {}
        self._driver: int | None = None
        self._watchdog = Watchdog(lambda: kill_groups(self._groups), self._kill_driver)
        self._picture: tuple[str, np.ndarray] | None = None
        self._browser: Browser | None = None
        try:
            self._browser = self._launch(playwright, executable)
            self._groups = process_groups(self._mark)
            self._driver = psutil.Process(next(iter(self._groups.values()))).ppid()
        except BaseException:
            self.close()
            raise

    def load(self) -> None:
        """See `Stage`. A script error is told before a missing seek, which may be its consequence."""
        with self._guarded(self._settings.load_limit_s, "loading the page", None):
            context = self._browser.new_context(
                viewport={"width": self._size[1], "height": self._size[0]},
                device_scale_factor=1,
                locale="en-US",
                timezone_id="UTC",
                color_scheme="light",
                accept_downloads=False,
                service_workers="block",
            )
            context.add_init_script(BEFORE_THE_PAGE)
            context.route("**/*", self._on_request)
            page = context.new_page()
            context.on("page", lambda popup: popup.close())
            page.on("crash", self._on_crash)
            self._session = context.new_cdp_session(page)
            for event, listener in (
                ("Runtime.exceptionThrown", self._on_exception),
                ("Runtime.consoleAPICalled", self._on_console),
                ("Log.entryAdded", self._on_log),
                ("Network.webSocketCreated", lambda told: self._note(self.requests_blocked, f"websocket {told['url']}")),
            ):
                self._session.on(event, listener)
            for domain in ("Runtime", "Log", "Network", "Page"):
                self._session.send(f"{domain}.enable")
            page.goto(ADDRESS, wait_until="load", timeout=0)
            waits_until = time.monotonic() + self._settings.seek_wait_s
            while True:
                self._evaluate(f"window.{SETTLED}()")
                self._raise_uncaught(None)
                if self._evaluate("typeof window.seek === 'function'")["result"].get("value"):
                    return
                if time.monotonic() > waits_until:
                    raise PageFailure(Outcome.MISSING_SEEK, "the page defines no function window.seek")
                page.wait_for_timeout(20)

    def frame(self, index: int) -> np.ndarray:
        call = f"seek({time_of(index):.6g})"
        with self._guarded(self._settings.seek_limit_s, call, index):
            answer = self._evaluate(
                "(async () => { if (typeof window.seek !== 'function') return 'missing';"
                f" await window.seek({time_of(index)!r}); await window.{SETTLED}(); return 'done'; }})()"
            )
            self._raise_uncaught(index)
            if "exceptionDetails" in answer:
                raise PageFailure(Outcome.RUNTIME_ERROR, f"{call} failed: {_message(answer['exceptionDetails'])}", index)
            if answer["result"].get("value") == "missing":
                raise PageFailure(Outcome.MISSING_SEEK, "window.seek is no function any more", index)
            picture = {"format": "png", "optimizeForSpeed": True, "captureBeyondViewport": False}
            png = self._session.send("Page.captureScreenshot", picture)["data"]
        if self._picture is None or self._picture[0] != png:
            self._picture = (png, self._decoded(png))
        return self._picture[1]

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        groups = self._groups or process_groups(self._mark)
        kill_groups(groups, wait_s=GONE_WITHIN_S)  # not asked first: a page that spins would not let it end
        if self._browser is not None:
            with contextlib.suppress(Error):
                self._browser.close()

    def _launch(self, playwright: Playwright, executable: Path) -> Browser:
        """Start the browser, in its sandbox where there is one; without it only as root or where the machine allows none."""
        flags = [*DRAWING_FLAGS, *ISOLATION_FLAGS, self._mark]
        sandbox = os.geteuid() != 0
        while True:
            try:
                browser = playwright.chromium.launch(executable_path=executable, args=flags, chromium_sandbox=sandbox)
            except Error as error:
                kill_groups(process_groups(self._mark))
                if sandbox and "sandbox" in error.message.lower():
                    sandbox = False
                    continue
                raise InfraError(f"{executable} does not start: {_shortened(error.message)}") from error
            if not sandbox:
                self.flags.append("sandbox_off")
            return browser

    def _evaluate(self, expression: str) -> dict[str, Any]:
        return self._session.send("Runtime.evaluate", {"expression": expression, "awaitPromise": True})

    def _raise_uncaught(self, frame: int | None) -> None:
        if self._uncaught:
            raise PageFailure(Outcome.RUNTIME_ERROR, f"uncaught: {self._uncaught[0]}", frame)

    @contextlib.contextmanager
    def _guarded(self, limit_s: float, doing: str, frame: int | None) -> Iterator[None]:
        """Bound a block by a limit and by what is left of the page's own, and tell the page's failures from ours."""
        left_s = self._ends_at - time.monotonic()
        if left_s < limit_s:
            limit_s, complaint = left_s, f"the whole page took more than {self._settings.limit_s:g} s, during {doing}"
        else:
            complaint = f"{doing} took more than {limit_s:g} s"
        try:
            with self._watchdog.limit(limit_s, complaint):
                yield
        except PageFailure:
            raise
        except Exception as error:  # a killed driver raises a plain Exception
            failure = self._failure(error, doing, frame)
            if failure is None:
                raise
            raise failure from error

    def _failure(self, error: Exception, doing: str, frame: int | None) -> PageFailure | None:
        if self._watchdog.expired:
            return PageFailure(Outcome.RENDER_TIMEOUT, self._watchdog.expired, frame)
        if self._crashed:
            return PageFailure(Outcome.RENDER_CRASH, f"the page's process died during {doing}", frame)
        message = str(error)
        if "context was destroyed" in message or "Cannot find context" in message or "navigated" in message:
            return PageFailure(Outcome.RUNTIME_ERROR, f"the page left its own address during {doing}", frame)
        if "has been closed" in message or "crashed" in message:
            return PageFailure(Outcome.RENDER_CRASH, f"the browser died during {doing}", frame)
        if "Unable to capture screenshot" in message:
            return PageFailure(Outcome.RENDER_CRASH, f"the browser could not draw it during {doing}", frame)
        return None

    def _decoded(self, png: str) -> np.ndarray:
        rgb = cv2.imdecode(np.frombuffer(base64.b64decode(png), np.uint8), cv2.IMREAD_COLOR_RGB)
        if rgb is None or rgb.shape != self._size:
            shape = None if rgb is None else rgb.shape
            raise InfraError(f"the browser gave a picture of shape {shape}, expected {self._size}")
        rgb.flags.writeable = False
        return rgb

    def _on_request(self, route: Route) -> None:
        request = route.request
        if self._html is not None and request.url == ADDRESS and request.is_navigation_request():
            html, self._html = self._html, None
            route.fulfill(body=html, content_type="text/html; charset=utf-8")
            return
        self._note(self.requests_blocked, f"{request.resource_type} {request.url}")
        route.abort("aborted")  # a navigation that is aborted leaves the page where it is

    def _on_crash(self, *_: object) -> None:
        self._crashed = True
        kill_groups(self._groups)  # a call to a dead page is never answered

    def _on_exception(self, told: dict[str, Any]) -> None:
        message = _message(told["exceptionDetails"])
        self._note(self.console_errors, f"uncaught: {message}")
        if HARMLESS not in message and len(self._uncaught) < MOST_NOTES:
            self._uncaught.append(message)

    def _on_console(self, told: dict[str, Any]) -> None:
        if told["type"] in ("error", "assert"):
            words = [str(part.get("value", part.get("description", ""))) for part in told["args"]]
            self._note(self.console_errors, " ".join(words))

    def _on_log(self, told: dict[str, Any]) -> None:
        text = told["entry"].get("text", "")
        if text.startswith(LOCAL_REFUSED):
            self._note(self.requests_blocked, f"local{text.removeprefix(LOCAL_REFUSED)}")

    def _note(self, notes: list[str], text: str) -> None:
        if len(notes) < MOST_NOTES:
            notes.append(_shortened(text))
        elif len(notes) == MOST_NOTES:
            notes.append(f"and more than {MOST_NOTES} in all")

    def _kill_driver(self) -> None:
        if self._driver is not None:
            with contextlib.suppress(psutil.Error):
                psutil.Process(self._driver).kill()


def _message(details: dict[str, Any]) -> str:
    """An exception of the page in one line, with its place."""
    thrown = details.get("exception", {})
    text = str(thrown.get("description") or thrown.get("value") or details.get("text", "")).split("\n    at ")[0]
    return _shortened(f"{text} (line {details['lineNumber'] + 1}, column {details['columnNumber'] + 1})")


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_NOTE else line[: LONGEST_NOTE - 3] + "..."
