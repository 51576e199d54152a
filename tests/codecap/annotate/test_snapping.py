"""Told times against measured changes: a slide on frames 25 to 47, a sudden state at frame 60, the end of a fade at frame 80."""

import numpy as np
import pytest

from codecap.annotate.changes import Changes
from codecap.annotate.snapping import appears, snapped, vanishes
from codecap.clock import FPS

FRAMES = 96


def measured(*stretches, jumps=()):
    """Changes of a grid of one cell, whose pixels all change in these stretches."""
    stepwise, lagged = (np.zeros((FRAMES, 1, 1), np.uint8) for _ in range(2))
    for start, stop in stretches:
        lagged[start : stop + 3] = 64
    for jump in jumps:
        stepwise[jump] = 64
        lagged[jump : jump + 4] = 64
    return Changes(stepwise, lagged, 16, 16)


CHANGES = measured((25, 48), (70, 81), jumps=[60])


def frames(interval):
    return tuple(round(time_s * FPS, 6) for time_s in interval)


def test_a_motion_goes_from_the_last_frame_before_it_to_its_last_one():
    assert frames(snapped("dynamic", (1.2, 1.8), CHANGES)) == (24, 48)  # frames 24 to 47


def test_what_stands_still_lies_between_two_changes():
    assert frames(snapped("static", (1.9, 2.6), CHANGES)) == (47, 60)
    assert frames(snapped("static", (0.2, 0.9), CHANGES)) == (0, 25)


def test_a_sudden_state_is_shown_with_the_frame_before_it():
    assert frames(snapped("dynamic", (2.4, 2.6), CHANGES)) == (59, 61)


def test_times_that_nothing_was_measured_near_stay_but_lie_on_frames():
    assert frames(snapped("static", (1.51, 1.66), measured())) == (36, 40)
    far = measured((2, 4))
    assert frames(snapped("dynamic", (1.5, 2.0), far)) == (36, 48)


def test_no_end_is_moved_further_than_the_reach():
    assert frames(snapped("dynamic", (1.25, 2.25), CHANGES, reach_s=0.2)) == (30, 54)


@pytest.mark.parametrize("told_s", [(3.99, 4.02), (0.0, 0.001), (2.5, 2.51), (0.0, 4.0), (3.98, 3.99)])
def test_at_least_one_frame_of_the_clip_is_left(told_s):
    for kind in ("static", "dynamic"):
        start_s, end_s = snapped(kind, told_s, CHANGES)
        assert start_s >= 0 and start_s + 1 / FPS <= end_s + 1e-9 and end_s <= FRAMES / FPS


def test_a_thing_comes_with_the_last_change_that_begins_before_it_is_seen():
    assert appears(12, 36, CHANGES) == 25
    assert appears(48, 72, CHANGES) == 70  # and not with the state of frame 60
    assert appears(-1, 12, CHANGES) == 0
    assert appears(0, 12, CHANGES) == 1  # nothing was measured there


def test_a_thing_goes_with_the_first_change_that_ends_after_it_was_seen():
    assert vanishes(48, 72, CHANGES) == 60  # suddenly: frame 59 is its last
    assert vanishes(72, 84, CHANGES) == 80  # it fades until frame 80 has nothing of it
    assert vanishes(84, FRAMES, CHANGES) == FRAMES
    assert vanishes(84, 95, CHANGES) == 95
