"""Engine `playwright`: a full Chromium, or the headless shell, driven by Playwright; a fresh browser a page.

For machines without the headless shell. The browser draws whenever it likes, so each picture is one of the state that `seek` left.
Calls that may hang are bounded by killing the browser.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psutil
from playwright.sync_api import BrowserContext, Error, Playwright, Route, sync_playwright

from codecap.clock import time_of
from codecap.records import Outcome
from codecap.render import flags, purity, virtual_clock
from codecap.render.browser import browser_version, find_browser
from codecap.render.cage import Cage, layers
from codecap.render.engines import Picture, read_page
from codecap.render.failures import InfraError, PageFailure
from codecap.render.settings import RenderSettings
from codecap.render.watchdog import Watchdog
from codecap.render.witness import ADDRESS, DOMAINS, Witness, cannot_be_told, left_its_address, quiet_script, shortened

EVENTS = (
    "Page.loadEventFired",
    "Page.frameStoppedLoading",
    "Page.frameNavigated",
    "Runtime.exceptionThrown",
    "Runtime.consoleAPICalled",
    "Log.entryAdded",
    "Network.responseReceived",
    "Network.webSocketCreated",
    "Network.webTransportCreated",
)
ASIDE_LIMIT_S = 2.0
SILENT = (Outcome.RENDER_TIMEOUT, Outcome.RENDER_CRASH)  # a page that came to this tells nothing any more
WAIT_MS = 5
PICTURE = {"format": "png", "optimizeForSpeed": True, "captureBeyondViewport": False}


def load(settings: RenderSettings) -> PlaywrightEngine:
    return PlaywrightEngine(settings)


class PlaywrightEngine:
    """Holds Playwright's driver; `open` starts a browser of its own for each page."""

    def __init__(self, settings: RenderSettings) -> None:
        self._settings = settings
        self._browser = find_browser()
        self._playwright: Playwright | None = None
        self.version = f"playwright {version('playwright')} | {browser_version(self._browser)} | {' '.join(flags.DRAWING)}"

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
        return PlaywrightStage(self._playwright, self._browser, read_page(page), width_px, height_px, self._settings)


class PlaywrightStage:
    """One page in its own browser."""

    def __init__(
        self,
        playwright: Playwright,
        executable: Path,
        html: bytes,
        width_px: int,
        height_px: int,
        settings: RenderSettings,
    ) -> None:
        self._settings, self._size = settings, (width_px, height_px)
        self._html: bytes | None = html
        self._witness = Witness()
        self.console_errors, self.requests_blocked = self._witness.console_errors, self._witness.requests_blocked
        self.flags = layers().missing
        self._ends_at = time.monotonic() + settings.limit_s
        self._driver: int | None = None
        self._answers = True  # the page may still be asked something
        self._picture: Picture | None = None
        self._context: BrowserContext | None = None
        self._cage = Cage(settings.memory_mb)
        self._watchdog = Watchdog(self._cage.kill, self._kill_driver)
        try:
            self._context = self._launch(playwright, executable)
        except BaseException:
            self.close()
            raise

    def load(self) -> None:
        """See `Stage`. A script error is told before a missing seek, which may be its consequence."""
        with self._guarded(self._settings.load_limit_s, "loading the page", None):
            context, page = self._context, self._context.pages[0]
            for script in (quiet_script(), purity.watch_script(), virtual_clock.init_script()):
                context.add_init_script(script)
            context.route("**/*", self._on_request)
            context.on("page", lambda popup: popup.close())
            page.on("crash", self._on_crash)
            page.on("dialog", lambda dialog: dialog.dismiss())
            self._session = context.new_cdp_session(page)
            for event in EVENTS:
                self._session.on(event, lambda told, event=event: self._witness.hear(event, told))
            for domain in DOMAINS:
                self._session.send(f"{domain}.enable")
            self._witness.main_frame = self._session.send("Page.getFrameTree")["frameTree"]["frame"]["id"]
            page.goto(ADDRESS, wait_until="commit", timeout=0)
            while not self._witness.loaded and not self._witness.left:
                page.wait_for_timeout(WAIT_MS)
            self._witness.raise_left()
            self._witness.raise_uncaught(None, {})
            answer = self._evaluate(virtual_clock.ready_call(self._settings.seek_wait_s * 1000))
            self._witness.raise_left()
            self._witness.raise_uncaught(None, answer)
            if not answer["result"].get("value"):
                raise PageFailure(Outcome.MISSING_SEEK, "the page defines no function window.seek")

    def frame(self, index: int) -> Picture:
        call = f"seek({time_of(index):.6g})"
        with self._guarded(self._settings.seek_limit_s, call, index):
            answer = self._evaluate(virtual_clock.seek_call(time_of(index)))
            self._witness.raise_uncaught(index, answer, call)
            told = answer["result"]["value"]
            if told["state"] == "missing":
                raise PageFailure(Outcome.MISSING_SEEK, "window.seek is no function any more", index)
            if told["settle"]:
                self._session.send("Page.captureScreenshot", PICTURE)
                self._witness.raise_uncaught(index, self._evaluate(virtual_clock.settle_call()))
            png = self._session.send("Page.captureScreenshot", PICTURE)["data"]
        if self._picture is None or self._picture.png_base64 != png:
            self._picture = Picture(png, *self._size)
        return self._picture

    def observed(self) -> list[str]:
        with self._guarded(ASIDE_LIMIT_S, "the render", None):
            if self._answers and (self._cage.outgrown or self._cage.broken_off):  # a part is gone: what was drawn may be wrong
                raise RuntimeError("the browser has been ended")
        seen = None
        if self._answers:
            with contextlib.suppress(PageFailure, Error), self._guarded(ASIDE_LIMIT_S, "telling what it did", None):
                seen = self._evaluate(purity.seen_call())["result"].get("value")
        return purity.observed(self.requests_blocked, list(self._witness.inline_loads), seen, ADDRESS)

    def close(self) -> None:
        self._cage.kill()  # not asked first: a page that spins would not let it end
        if self._context is not None:
            context, self._context = self._context, None
            with contextlib.suppress(Error):
                context.close()
        self._cage.close()

    def _launch(self, playwright: Playwright, executable: Path) -> BrowserContext:
        width_px, height_px = self._size
        try:
            context = playwright.chromium.launch_persistent_context(
                self._cage.folder / "profile",
                executable_path=self._cage.wrapper(executable),
                args=[*flags.DRAWING, *flags.ISOLATION, *flags.small_shared_memory()],
                chromium_sandbox=layers().browser_sandbox,
                env=self._cage.environment,
                viewport={"width": width_px, "height": height_px},
                device_scale_factor=1,
                locale="en-US",
                timezone_id="UTC",
                color_scheme="light",
                accept_downloads=False,
                service_workers="block",
            )
        except Error as error:
            raise InfraError(f"{executable} does not start: {shortened(error.message)}") from error
        self._driver = psutil.Process(self._cage.adopt()).ppid()
        return context

    def _evaluate(self, expression: str) -> dict[str, Any]:
        return self._session.send("Runtime.evaluate", {"expression": expression, "awaitPromise": True, "returnByValue": True})

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
            self._answers = isinstance(failure, PageFailure) and failure.outcome not in SILENT
            raise failure from error

    def _failure(self, error: Exception, doing: str, frame: int | None) -> Exception | None:
        if self._cage.broken_off:
            return InfraError(f"{self._cage.broken_off}, during {doing}")
        if self._watchdog.expired:
            return PageFailure(Outcome.RENDER_TIMEOUT, self._watchdog.expired, frame)
        ended = self._cage.outgrown or self._witness.crashed
        if ended:
            return PageFailure(Outcome.RENDER_CRASH, f"{ended} during {doing}", frame)
        message = str(error)
        if left_its_address(message):
            return PageFailure(Outcome.RUNTIME_ERROR, f"the page left its own address during {doing}", frame)
        if cannot_be_told(message):
            return PageFailure(Outcome.RUNTIME_ERROR, f"{doing} failed: it threw what cannot be told", frame)
        if "has been closed" in message or "crashed" in message:
            return PageFailure(Outcome.RENDER_CRASH, f"the browser died during {doing}", frame)
        if "Unable to capture screenshot" in message:
            return PageFailure(Outcome.RENDER_CRASH, f"the browser could not draw it during {doing}", frame)
        if isinstance(error, Error):
            return PageFailure(Outcome.RENDER_CRASH, f"the browser refused during {doing}: {shortened(message)}", frame)
        return None

    def _on_request(self, route: Route) -> None:
        request = route.request
        if self._html is not None and request.url == ADDRESS and request.is_navigation_request():
            html, self._html, self._witness.served = self._html, None, True
            route.fulfill(body=html, content_type="text/html; charset=utf-8")
            return
        self._witness.blocked(request.resource_type, request.url)
        route.abort("aborted")  # a navigation that is aborted leaves the page where it is

    def _on_crash(self, *_: object) -> None:
        self._witness.crashed = "the page's process died"
        self._cage.kill()  # a call to a dead page is never answered

    def _kill_driver(self) -> None:
        if self._driver is not None:
            with contextlib.suppress(psutil.Error):
                psutil.Process(self._driver).kill()
