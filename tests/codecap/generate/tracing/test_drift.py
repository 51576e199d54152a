"""Drifts of scenes made by moving a known picture."""

import numpy as np
import pytest

from codecap.generate.tracing.drift import find_drifts
from codecap.generate.tracing.plates import backdrop_of
from codecap.generate.tracing.scenes import Scene

WIDTH, HEIGHT, FRAMES = 200, 120, 20


@pytest.fixture(scope="module")
def wall() -> np.ndarray:
    """Tiles of random colours, larger than the picture."""
    rng = np.random.default_rng(2)
    return np.kron(rng.integers(0, 255, (60, 60, 3)), np.ones((9, 9, 1))).astype(np.uint8)


def scrolled(wall: np.ndarray, dx: int, dy: int) -> list[np.ndarray]:
    """The wall seen through the picture; its content moves by dx, dy a frame (neither positive)."""
    return [wall[-dy * i : -dy * i + HEIGHT, -dx * i : -dx * i + WIDTH] for i in range(FRAMES)]


@pytest.mark.parametrize(("dx", "dy"), [(0, -3), (-5, 0), (-2, -2)])
def test_scrolling_is_one_drift(wall, dx, dy):
    drifts = find_drifts(scrolled(wall, dx, dy), 7)
    assert len(drifts) == 1
    assert np.abs(drifts[0] - np.arange(FRAMES)[:, None] * [dx, dy]).max() < 0.5


def test_picture_at_rest_has_none(wall):
    assert find_drifts([wall[:HEIGHT, :WIDTH]] * FRAMES, 7) == []


def test_backdrop_shows_a_still_bar_over_what_scrolls(wall):
    pictures = [picture.copy() for picture in scrolled(wall, 0, -3)]
    for picture in pictures:
        picture[:24] = (30, 40, 60)
        picture[6:18, 10:60] = (240, 200, 60)
    backdrop = backdrop_of(Scene(0, True, pictures, 1), 7)
    assert [plate.moves for plate in backdrop.plates] == [True, False]
    for index in (0, 9, 19):
        wrong = np.abs(backdrop.picture(index).astype(int) - pictures[index]).max(axis=2) > 16
        assert wrong.mean() < 0.03
