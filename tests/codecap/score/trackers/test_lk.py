"""Lucas-Kanade on motion that is known to the pixel."""

import cv2
import numpy as np
import pytest

from codecap.score.trackers import lk


def picture(seed: int = 0) -> np.ndarray:
    noise = np.random.default_rng(seed).integers(0, 256, (60, 80), np.uint8)
    return cv2.resize(noise, (320, 240), interpolation=cv2.INTER_CUBIC)


def moved(grey: np.ndarray, dx: float, dy: float) -> np.ndarray:
    return cv2.warpAffine(grey, np.float32([[1, 0, dx], [0, 1, dy]]), (grey.shape[1], grey.shape[0]), flags=cv2.INTER_CUBIC)


@pytest.fixture
def tracker():
    return lk.load({})


def test_follows_a_translation_of_parts_of_a_pixel(tracker):
    grey = picture()
    frames = [moved(grey, 1.5 * k, -0.7 * k) for k in range(8)]
    seeds = tracker.seed(frames[0])
    tracks, valid = tracker.track(frames, seeds)
    inner = ((seeds > 0.2) & (seeds < 0.8)).all(axis=1)
    assert inner.sum() > 50
    assert valid[:, inner].mean() > 0.95
    away = (tracks[-1] - tracks[0])[inner & valid[-1]] * (320, 240)
    assert np.median(away, axis=0) == pytest.approx((10.5, -4.9), abs=0.1)


def test_units_are_shares_of_the_frame_whatever_its_size(tracker):
    large = np.zeros((720, 1280, 3), np.uint8)
    large[200:300, 400:500] = 255
    small = tracker.prepare(large)
    assert small.shape == (360, 640)
    seeds = tracker.seed(small)
    corners = np.array([[400, 200], [500, 200], [400, 300], [500, 300]]) / (1280, 720)
    assert len(seeds) == 4
    for corner in corners:
        assert np.abs(seeds - corner).max(axis=1).min() < 0.005


def test_a_point_whose_surroundings_do_not_change_has_not_moved(tracker):
    flat = np.full((120, 160), 128, np.uint8)
    points = np.array([[0.5, 0.5], [0.1, 0.9]], np.float32)
    tracks, valid = tracker.track([flat] * 3, points)
    assert valid.all()
    assert tracks == pytest.approx(np.broadcast_to(points, (3, 2, 2)), abs=1e-6)


def test_a_point_whose_surroundings_are_replaced_is_lost_for_good(tracker):
    frames = [picture(0), picture(1), picture(1)]
    _, valid = tracker.track(frames, tracker.seed(frames[0]))
    assert valid[0].all()
    assert valid[1].mean() < 0.1
    assert (valid[2] <= valid[1]).all()


def test_no_corners_no_points(tracker):
    flat = np.full((120, 160), 128, np.uint8)
    seeds = tracker.seed(flat)
    tracks, valid = tracker.track([flat, flat], seeds)
    assert seeds.shape == (0, 2)
    assert tracks.shape == (2, 0, 2)
    assert valid.shape == (2, 0)


def test_the_same_input_gives_the_same_tracks(tracker):
    frames = [moved(picture(), k, 0) for k in range(4)]
    first, second = (tracker.track(frames, tracker.seed(frames[0]))[0] for _ in range(2))
    assert (first == second).all()
