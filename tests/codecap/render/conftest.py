"""Pages that are written down in a test and rendered for real, and the check that no process outlives its render."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil
import pytest

from codecap.records import Certificate
from codecap.render import BrowserMissing, find_browser, render_page
from codecap.render.process_tree import runs
from codecap.video import read_frames

WIDTH_PX, HEIGHT_PX = 160, 96


@dataclass(frozen=True)
class Rendered:
    certificate: Certificate
    mp4: Path

    def frames(self) -> list[np.ndarray]:
        """All frames of the video, or of what there is of it, uint8 RGB."""
        return [rgb for _, rgb in read_frames(self.mp4)]


@pytest.fixture(scope="session")
def browser() -> Path:
    try:
        return find_browser()
    except BrowserMissing as error:
        pytest.skip(str(error))


@pytest.fixture
def render(browser: Path, tmp_path: Path) -> Callable[..., Rendered]:
    """Render the text of a page; afterwards none of the processes that the render started may be there."""

    def rendered(html: str, frames: int = 4, name: str = "page", size=(WIDTH_PX, HEIGHT_PX), **settings) -> Rendered:
        page, mp4 = tmp_path / f"{name}.html", tmp_path / f"{name}.mp4"
        page.write_text(html, encoding="utf-8")
        with none_left():
            certificate = render_page(page, frames, *size, mp4, {"repeat_samples": 0, "seek_wait_s": 0, **settings})
        return Rendered(certificate, mp4)

    return rendered


@contextlib.contextmanager
def none_left() -> Iterator[None]:
    """Follow the processes that are started inside the block; all must be gone at its end."""
    seen: set[psutil.Process] = set()
    done = threading.Event()
    before = set(psutil.Process().children(recursive=True))

    def follow() -> None:
        while not done.wait(0.1):
            seen.update(psutil.Process().children(recursive=True))

    follower = threading.Thread(target=follow, daemon=True)
    follower.start()
    try:
        yield
    finally:
        done.set()
        follower.join()
    ends_at = time.monotonic() + 2
    while left := [process for process in seen - before if runs(process)]:
        assert time.monotonic() < ends_at, left
        time.sleep(0.01)
    assert seen
