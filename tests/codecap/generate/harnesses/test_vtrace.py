"""The traced page of clips whose content is known: what moves how, where it cuts, what it may hold and how large it may be."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from codecap import video
from codecap.generate.harnesses import reference, vtrace
from codecap.records import Clip, Outcome
from codecap.render import purity
from codecap.render.browser import find_browser

WIDTH, HEIGHT = 160, 96
BACKGROUND, RED, BLUE = (236, 240, 232), (200, 40, 40), (40, 60, 190)
LAYER = re.compile(r'<g data-show="(\d+) (\d+)"(?: data-move="([^"]*)")?')


def picture(*squares: tuple[int, int, int, tuple[int, int, int]], background=BACKGROUND) -> np.ndarray:
    """Squares (x, y, side, colour) on a ground."""
    rgb = np.full((HEIGHT, WIDTH, 3), background, np.uint8)
    for x, y, side, colour in squares:
        rgb[y : y + side, x : x + side] = colour
    return rgb


def clip_of(mp4: Path, pictures: list[np.ndarray]) -> Clip:
    height, width = pictures[0].shape[:2]
    with video.CanonicalWriter(mp4, width, height) as writer:
        for rgb in pictures:
            writer.add(rgb)
    return Clip(
        clip_id="x",
        category="U",
        mp4=mp4,
        sha256=video.file_sha256(mp4),
        frames=len(pictures),
        width_px=writer.width_px,
        height_px=writer.height_px,
    )


def page_for(folder: Path, pictures: list[np.ndarray], **settings) -> Path:
    clip = clip_of(folder / "clip.mp4", pictures)
    made = vtrace.load({"mode": "vtrace"} | settings).caption(clip, folder / "page.html")
    assert (made.outcome, made.kind) == (Outcome.OK, "code")
    return folder / "page.html"


def layers_in(page: Path) -> list[tuple[int, int, list[list[float]]]]:
    """First frame, frame after the last and key positions of each layer."""
    return [
        (int(start), int(stop), [[float(v) for v in key.split()] for key in (move or "").split(";") if key])
        for start, stop, move in LAYER.findall(page.read_text())
    ]


@pytest.fixture(scope="module")
def browser() -> Iterator:
    sync_api = pytest.importorskip("playwright.sync_api")
    with (
        sync_api.sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=find_browser()) as opened,
    ):
        yield opened


@pytest.fixture
def rendered(browser) -> Callable[[Path, list[float]], list[np.ndarray]]:
    """Draws a page at some frames, in the order given."""
    import cv2

    def draw(page: Path, frames: list[float]) -> list[np.ndarray]:
        width, height = map(int, re.search(r'<svg width="(\d+)" height="(\d+)"', page.read_text()).groups())
        tab = browser.new_page(viewport={"width": width, "height": height})
        requests: list[str] = []
        errors: list[str] = []
        tab.on("request", lambda request: requests.append(request.url))
        tab.on("pageerror", lambda error: errors.append(str(error)))
        tab.goto(page.as_uri())
        drawn = []
        for frame in frames:
            tab.evaluate(f"window.seek({frame} / 24)")
            png = np.frombuffer(tab.screenshot(), np.uint8)
            drawn.append(cv2.cvtColor(cv2.imdecode(png, cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB))
        tab.close()
        assert (requests, errors) == ([page.as_uri()], [])
        return drawn

    return draw


def box_of(rgb: np.ndarray, colour: tuple[int, int, int]) -> tuple[int, int, int, int]:
    near = np.abs(rgb.astype(int) - colour).max(axis=2) < 60
    rows, columns = np.flatnonzero(near.any(axis=1)), np.flatnonzero(near.any(axis=0))
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


@pytest.fixture(scope="module")
def moving(tmp_path_factory) -> Path:
    """A red square that moves 3 px right and 1 px down a frame, over 24 frames, past a blue one that stands still."""
    pictures = [picture((20, 70, 14, BLUE), (10 + 3 * i, 20 + i, 16, RED)) for i in range(24)]
    return page_for(tmp_path_factory.mktemp("moving"), pictures)


def test_uniform_motion_is_one_interpolation(moving):
    plates_and_square = layers_in(moving)
    assert len(plates_and_square) == 2
    (start, stop, keys) = plates_and_square[1]
    assert (start, stop) == (0, 24)
    assert len(keys) == 2 and [key[0] for key in keys] == [0, 23]
    assert np.allclose(np.subtract(keys[1], keys[0])[1:], (3 * 23, 23), atol=0.5)


def test_square_is_where_it_was_at_frames_between_keys(moving, rendered):
    frames = [0, 5, 11, 18, 23]
    for frame, rgb in zip(frames, rendered(moving, frames), strict=True):
        truth = (10 + 3 * frame, 20 + frame, 26 + 3 * frame, 36 + frame)
        assert np.abs(np.subtract(box_of(rgb, RED), truth)).max() <= 1
        assert np.abs(np.subtract(box_of(rgb, BLUE), (20, 70, 34, 84))).max() <= 1
    half = rendered(moving, [10.5])[0]
    assert abs(box_of(half, RED)[0] - (10 + 3 * 10.5)) <= 1.5


def test_nothing_is_left_behind(moving, rendered):
    last = rendered(moving, [23])[0]
    assert np.abs(last[10:60, 5:70].astype(int) - BACKGROUND).max() <= 6


def test_seek_in_any_order_gives_the_same_pictures(moving, rendered):
    forward = rendered(moving, [0, 7, 14, 21])
    mixed = rendered(moving, [21, 7, 7, 0, 14, 21])
    for one, other in zip(forward, (mixed[3], mixed[1], mixed[4], mixed[0]), strict=True):
        assert np.array_equal(one, other)
    assert np.array_equal(mixed[1], mixed[2]) and np.array_equal(mixed[0], mixed[5])


def test_seek_outside_of_the_clip_shows_its_ends(moving, rendered):
    before, first, last, after = rendered(moving, [-5, 0, 23, 500])
    assert np.array_equal(before, first) and np.array_equal(last, after)


def test_cut_is_a_key_frame(tmp_path, rendered):
    rng = np.random.default_rng(3)
    one, other = (
        picture(*[(int(x), int(y), 20, tuple(map(int, c))) for x, y, c in zip(
            rng.integers(0, 140, 30), rng.integers(0, 76, 30), rng.integers(0, 255, (30, 3)), strict=True)])
        for _ in range(2)
    )  # fmt: skip
    page = page_for(tmp_path, [one] * 10 + [other] * 14)
    spans = {(start, stop) for start, stop, _ in layers_in(page)}
    assert spans >= {(0, 10), (10, 24)}
    assert not any(start < 10 < stop for start, stop in spans)
    before, after = rendered(page, [9, 10])
    assert np.abs(before.astype(int) - one).mean() < 8 < np.abs(before.astype(int) - other).mean()
    assert np.abs(after.astype(int) - other).mean() < 8


def test_static_clip_is_one_key_frame(tmp_path):
    page = page_for(tmp_path, [picture((30, 30, 20, RED))] * 30)
    assert [(start, stop) for start, stop, _ in layers_in(page)] == [(0, 30)]


def test_what_appears_is_drawn_from_then_on(tmp_path, rendered):
    without, with_red = picture((100, 30, 20, BLUE)), picture((100, 30, 20, BLUE), (30, 30, 20, RED))
    page = page_for(tmp_path, [without] * 8 + [with_red] * 4 + [without] * 12)
    assert [(start, stop) for start, stop, _ in layers_in(page)] == [(0, 24), (8, 12)]
    before, there, after = rendered(page, [7, 8, 12])
    assert np.array_equal(before, after)
    assert np.abs(np.subtract(box_of(there, RED), (30, 30, 50, 50))).max() <= 1


@pytest.fixture(scope="module")
def busy() -> list[np.ndarray]:
    """Noise blown up to squares of 4 px, all different in each frame: nothing to follow, much to draw."""
    rng = np.random.default_rng(1)
    return [np.kron(rng.integers(0, 255, (24, 40, 3)), np.ones((4, 4, 1))).astype(np.uint8) for _ in range(6)]


@pytest.mark.parametrize("budget_kb", [4, 20, 60])
def test_budget_is_kept(tmp_path, busy, budget_kb):
    page = page_for(tmp_path, busy, budget_kb=budget_kb)
    assert page.stat().st_size <= budget_kb * 1000
    assert "window.seek" in page.read_text()


@pytest.mark.parametrize("mode", ["vtrace", "still"])
def test_page_is_pure_code(tmp_path, busy, mode):
    text = page_for(tmp_path, busy, mode=mode).read_text()
    for impurity in ("<img", "<image", "<video", "<canvas", "data:", "base64", "http", "url(", "@import", "src="):
        assert impurity not in text
    assert purity.findings(text) == []


def test_still_shows_the_first_frame_throughout(tmp_path, rendered):
    pictures = [picture((10 + 3 * i, 20, 16, RED)) for i in range(24)]
    page = page_for(tmp_path, pictures, mode="still")
    first, last = rendered(page, [0, 23])
    assert np.array_equal(first, last)
    assert np.abs(np.subtract(box_of(last, RED), (10, 20, 26, 36))).max() <= 1


def test_blank_is_white_and_can_be_sought(tmp_path, rendered):
    page = page_for(tmp_path, [picture((10, 20, 16, RED))] * 12, mode="blank")
    for rgb in rendered(page, [0, 6, 11]):
        assert rgb.shape == (HEIGHT, WIDTH, 3) and (rgb == 255).all()


def test_same_clip_gives_the_same_page(tmp_path, busy):
    pages = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        pages.append(page_for(tmp_path / name, busy[:3]).read_bytes())
    assert pages[0] == pages[1]


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"mode": "fast"}, "mode"),
        ({}, "mode"),
        ({"mode": "still", "colours": 3}, "colours"),
        ({"mode": "still", "budget_kb": 0}, "budget_kb"),
    ],
)
def test_wrong_setting_is_named(settings, named):
    with pytest.raises(ValueError, match=rf"harness vtrace: .*{named}"):
        vtrace.load(settings)


def test_reference_is_the_clip_itself(tmp_path):
    clip = clip_of(tmp_path / "clip.mp4", [picture()] * 3)
    made = reference.load({}).caption(clip, tmp_path / "made" / "out.mp4")
    assert (made.outcome, made.kind) == (Outcome.OK, "video")
    assert (tmp_path / "made" / "out.mp4").read_bytes() == clip.mp4.read_bytes()


def test_reference_takes_no_settings():
    with pytest.raises(ValueError, match="budget_kb"):
        reference.load({"budget_kb": 4})
