"""The page's time stands where seek put it: every page of `pages/` shows the number of the frame that was asked for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codecap.records import Outcome

PAGES = Path(__file__).parent / "pages"
CELLS = PAGES / "cells.html"  # what all pages begin with
NAMES = sorted(page.stem for page in PAGES.glob("*.html") if page != CELLS)
CELL_PX, FRAMES = 32, 10


def page_text(name: str) -> str:
    return CELLS.read_text(encoding="utf-8") + (PAGES / f"{name}.html").read_text(encoding="utf-8")


def number_on(rgb: np.ndarray) -> int:
    """The number that the cells show in the middle of a picture."""
    middle = rgb[rgb.shape[0] // 2, CELL_PX // 2 :: CELL_PX].mean(axis=1)
    assert ((middle < 40) | (middle > 215)).all(), middle
    return sum(1 << bit for bit, level in enumerate(middle) if level > 128)


@pytest.mark.parametrize("name", NAMES)
def test_each_frame_shows_the_time_asked_for_with_either_engine(render, name):
    hashes = []
    for engine in ("beginframe", "playwright"):
        done = render(page_text(name), FRAMES, engine=engine, repeat_samples=3, seek_wait_s=1)
        assert done.certificate.outcome == Outcome.OK, (engine, done.certificate.detail)
        assert [number_on(rgb) for rgb in done.frames()] == list(range(FRAMES)), engine
        assert done.certificate.seek_repeatable is True, engine
        hashes.append(done.certificate.frames_sha256)
    assert hashes[0] == hashes[1]
