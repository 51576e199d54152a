"""Lag: delays that are put in must come out, and what has none must say so."""

import numpy as np
import pytest

from codecap.clock import FPS
from codecap.score import Unscored, lag


def wander(frames: int = 96, seed: int = 0) -> list[np.ndarray]:
    """A bright square that wanders at random, smoothly, over a dark ground: no two moments alike."""
    generator = np.random.default_rng(seed)
    path = np.cumsum(generator.normal(0, 1, (frames, 2)), axis=0)
    path = np.clip(np.cumsum(path, axis=0) * 0.4 + (60, 80), 5, (95, 135)).astype(int)
    video = []
    for y, x in path:
        rgb = np.full((120, 160, 3), 30, np.uint8)
        rgb[y : y + 20, x : x + 20] = (240, 200, 90)
        video.append(rgb)
    return video


def delayed(video: list[np.ndarray], frames: int) -> list[np.ndarray]:
    last = len(video) - 1
    return [video[min(max(k - frames, 0), last)] for k in range(len(video))]


@pytest.mark.parametrize("frames", [-24, -6, 0, 1, 2, 6, 12, 24])
def test_a_delay_that_is_put_in_comes_out(measure, frames):
    video = wander()
    (found,) = measure(lag.load({}), video, delayed(video, frames))
    assert found.value == pytest.approx(frames / FPS)


def test_wrong_colours_do_not_matter(measure):
    video = wander()
    other = [(200 - rgb // 2).astype(np.uint8)[..., ::-1] for rgb in delayed(video, 5)]
    with pytest.raises(Unscored, match="at no offset"):
        measure(lag.load({}), video, other)  # dark and bright are exchanged: nothing moves alike
    duller = [rgb // 2 + 60 for rgb in delayed(video, 5)]
    assert measure(lag.load({}), video, duller)[0].value == pytest.approx(5 / FPS)


def test_a_reference_that_stands_still_has_none(measure):
    still = [np.full((60, 80, 3), 50, np.uint8)] * 48
    with pytest.raises(Unscored, match="the reference does not move"):
        measure(lag.load({}), still, still)


def test_a_candidate_that_stands_still_has_none(measure):
    video = wander()
    with pytest.raises(Unscored, match="the candidate does not move"):
        measure(lag.load({}), video, [video[0]] * len(video))


def test_a_periodic_reference_has_none(measure):
    turns = [np.full((60, 80, 3), 100, np.uint8) for _ in range(96)]
    for k, rgb in enumerate(turns):
        x = 30 + round(20 * np.sin(2 * np.pi * k / 24))
        rgb[20:40, x : x + 10] = 250
    with pytest.raises(Unscored, match=r"looks the same 1\.00 s later"):
        measure(lag.load({}), turns, turns)


def test_a_single_frame_has_none(measure):
    with pytest.raises(Unscored):
        measure(lag.load({}), [np.zeros((20, 20, 3), np.uint8)], [np.zeros((20, 20, 3), np.uint8)])


def test_cosines_by_hand():
    """[0, 1, 0] and [1, 0, 2], each less its mean: (-1, 2, -1)/3 and (0, -1, 1); product -1, squares 2/3 and 2."""
    first, second = np.array([[0.0], [1.0], [0.0]]), np.array([[1.0], [0.0], [2.0]])
    offsets, cosine = lag.cosine_profile(first, second, 0)
    assert offsets.tolist() == [0]
    assert cosine[0] == pytest.approx(-1 / np.sqrt(4 / 3))
