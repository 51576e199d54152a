"""The clock against hand computation."""

import doctest

import pytest

from codecap import clock


def test_examples_in_the_docstrings_hold():
    assert doctest.testmod(clock).failed == 0


@pytest.mark.parametrize("frame", [0, 1, 7, 23, 24, 1000, 86_399])
def test_a_frame_is_on_screen_from_its_own_time_on(frame):
    frames = 86_400  # an hour: i / 24 is not exact in floating point
    assert clock.frame_at(clock.time_of(frame), frames) == frame
    assert clock.frame_at(clock.time_of(frame) + 0.041, frames) == frame


def test_sixty_four_midpoints_of_a_short_clip_repeat_frames_but_stay_inside():
    samples = clock.midpoints(64, 10)
    assert len(samples) == 64
    assert samples[0] == 0 and samples[-1] == 9
    assert samples == sorted(samples)


def test_one_frame():
    assert clock.midpoints(8, 1) == [0] * 8
    assert clock.grid(2, 1) == [0]
    assert list(clock.frames_between(0.0, 0.01, 1)) == [0]


def test_grid_has_both_ends_of_an_interval_once():
    assert clock.grid(2, 24, also_s=(0.5, 0.25)) == [0, 6, 12]


def test_an_interval_ends_before_its_end():
    assert list(clock.frames_between(1.0, 2.0, 1000)) == list(range(24, 48))
    assert list(clock.frames_between(0.99, 1.0, 1000)) == [23]
