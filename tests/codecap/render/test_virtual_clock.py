"""The page's time stands where seek put it: every page of `pages/` shows the number of the frame that was asked for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codecap.records import Outcome
from codecap.render import render_page
from codecap.video import read_frames

PAGES = Path(__file__).parent / "pages"
CELLS = PAGES / "cells.html"  # what all pages begin with
NAMES = sorted(page.stem for page in PAGES.glob("*.html") if page != CELLS)
BY_EITHER_ENGINE = (  # waiting, drawing in frames, pictures, and each kind of animation
    "css_variable_running",
    "date_loop",
    "image_decode",
    "nested_animation_frames",
    "resize_observer",
    "smil_set",
    "transition_awaited",
    "view_transition",
    "web_animation_set",
    "webgl",
)
CELL_PX, FRAMES = 32, 5


def page_text(name: str) -> str:
    return CELLS.read_text(encoding="utf-8") + (PAGES / f"{name}.html").read_text(encoding="utf-8")


def number_on(rgb: np.ndarray) -> int:
    """The number that the cells show in the middle of a picture."""
    middle = rgb[rgb.shape[0] // 2, CELL_PX // 2 :: CELL_PX].mean(axis=1)
    assert ((middle < 40) | (middle > 215)).all(), middle
    return sum(1 << bit for bit, level in enumerate(middle) if level > 128)


@pytest.mark.parametrize("name", NAMES)
def test_each_frame_shows_the_time_asked_for(browser, tmp_path, name):
    """Twice, once with a picture of every frame; by either engine, where another way of drawing may serve a page worse."""
    told = [{"repeat_samples": 2}, {"skip_unchanged": False}, *([{"engine": "playwright"}] if name in BY_EITHER_ENGINE else [])]
    page, mp4, hashes = tmp_path / "page.html", tmp_path / "page.mp4", []
    page.write_text(page_text(name), encoding="utf-8")
    for settings in told:
        done = render_page(page, FRAMES, 160, 96, mp4, {"repeat_samples": 0, "seek_wait_s": 1, **settings})
        assert done.outcome == Outcome.OK, (settings, done.detail)
        assert [number_on(rgb) for _, rgb in read_frames(mp4)] == list(range(FRAMES)), settings
        assert done.seek_repeatable is (True if "repeat_samples" in settings else None), settings
        hashes.append(done.frames_sha256)
    assert len(set(hashes)) == 1
