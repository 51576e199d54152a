"""A page with the clock in it, driven in a browser as the engines do it, without pictures."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, Route, sync_playwright

from codecap.render import flags, virtual_clock

ADDRESS = "https://page.invalid/"


class Thrown(Exception):
    """What the page has thrown, in its words."""


class Driven:
    """A page with the clock in it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._session = page.context.new_cdp_session(page)
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(error.message))

    def ready(self, wait_ms: float = 500) -> bool:
        return self.value(virtual_clock.ready_call(wait_ms))

    def seek(self, seconds: float) -> dict[str, Any]:
        return self.value(virtual_clock.seek_call(seconds))

    def value(self, expression: str) -> Any:
        call = {"expression": expression, "awaitPromise": True, "returnByValue": True}
        answer = self._session.send("Runtime.evaluate", call)
        if "exceptionDetails" in answer:
            thrown = answer["exceptionDetails"]["exception"]
            raise Thrown(thrown.get("description", str(thrown.get("value"))))
        return answer["result"].get("value")

    def at(self, seconds: float, expression: str) -> Any:
        """The value of an expression after the page was sought to a time."""
        self.seek(seconds)
        return self.value(expression)


@pytest.fixture(scope="module")
def chromium(browser: Path) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=browser, args=list(flags.DRAWING), chromium_sandbox=False)
        yield running
        running.close()


@pytest.fixture
def driven(chromium: Browser) -> Iterator[Callable[..., Driven]]:
    """Open the text of a page, and start it."""
    context = chromium.new_context(viewport={"width": 160, "height": 96}, timezone_id="UTC")

    def opened(html: str, wait_ms: float | None = 500, seed: int = 24) -> Driven:
        def answer(route: Route) -> None:
            if route.request.url == ADDRESS:
                route.fulfill(body=html, content_type="text/html; charset=utf-8")
            else:
                route.abort()

        page = context.new_page()
        page.add_init_script(virtual_clock.init_script(seed))
        page.route("**/*", answer)
        told = Driven(page)
        page.goto(ADDRESS)
        if wait_ms is not None:
            told.ready(wait_ms)
        return told

    yield opened
    context.close()


@pytest.fixture
def address_of() -> Callable[..., str]:
    """Write an animated picture, 16 px a side, its frames of one grey each: 10, 30, 50 and so on; the data: address of it."""

    def address(kind: str, count: int, duration_ms: int | list[int], **how: Any) -> str:
        first, *rest = [Image.new("RGB", (16, 16), (10 + 20 * number,) * 3) for number in range(count)]
        file = io.BytesIO()
        first.save(file, kind, save_all=True, append_images=rest, duration=duration_ms, **how)
        return f"data:image/{kind.lower()};base64,{base64.b64encode(file.getvalue()).decode()}"

    return address
