"""Key positions of tracks whose pieces are known."""

import numpy as np
import pytest

from codecap.generate.tracing.motion import key_positions


def interpolated(track: np.ndarray, keys: list[int]) -> np.ndarray:
    at = np.arange(len(track))
    return np.stack([np.interp(at, keys, track[keys, axis]) for axis in (0, 1)], axis=1)


def test_rest_has_one_key():
    assert key_positions(np.full((40, 2), 3.5)) == [0]


def test_even_motion_has_two_keys():
    track = np.arange(30)[:, None] * np.array([[1.7, -0.4]])
    assert key_positions(track) == [0, 29]


def test_a_turn_is_a_key():
    track = np.concatenate([np.arange(10), np.arange(10, 0, -1)])[:, None] * np.ones((1, 2)) * 4.0
    assert key_positions(track) == [0, 10, 19]


@pytest.mark.parametrize("tolerance_px", [0.3, 1.0, 3.0])
def test_interpolation_stays_near_every_position(tolerance_px):
    steps = np.random.default_rng(5).normal(0, 2, (80, 2))
    track = np.cumsum(steps, axis=0)
    keys = key_positions(track, tolerance_px)
    assert keys[0] == 0 and keys[-1] == 79
    assert np.abs(interpolated(track, keys) - track).max() <= tolerance_px
