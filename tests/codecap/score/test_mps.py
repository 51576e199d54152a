"""MPS on displacements worked out by hand, and on pictures that really move."""

import numpy as np
import pytest

from codecap.score import mps

SEEN = np.ones((1, 1), bool)


def step(x: float, y: float = 0.0) -> np.ndarray:
    return np.array([[[x, y]]])


@pytest.mark.parametrize(
    ("first", "second", "total"),
    [
        (step(0.01), step(0.01), 1.0),
        (step(0.01), step(-0.01), 0.5),  # direction 0, magnitude 1
        (step(0.01), step(0.0, 0.01), 0.75),  # at right angles: direction 1/2
        (step(0.02), step(0.01), 0.5 + 0.5 * (1 - 1 / 3)),  # half as fast
        (step(0.03), step(-0.01), 0.5 * (1 - 2 / 4)),
    ],
)
def test_points_that_both_move(first, second, total):
    found = mps.agreement(first, second, SEEN, 0.0005)
    assert (found.both, found.either) == (1, 1)
    assert found.total == pytest.approx(total)


def test_motion_in_one_video_counts_only_in_the_strict_column():
    assert mps.agreement(step(0.01), step(0.0004), SEEN, 0.0005) == mps.Agreement(0.0, 0, 1)
    assert mps.agreement(step(0.0), step(0.0), SEEN, 0.0005) == mps.Agreement()
    assert mps.agreement(step(0.01), step(0.01), ~SEEN, 0.0005) == mps.Agreement()


def test_windows_cover_each_step_of_a_shot_once_and_no_cut():
    shots = [(0, 49), (49, 50), (50, 122)]
    found = mps.windows(shots, 1.0)
    steps = [(frame, frame + 1) for _, first, last in found for frame in range(first, last)]
    inside = [(frame, frame + 1) for start, stop in shots for frame in range(start, stop - 1)]
    assert steps == inside
    assert {shot for shot, _, _ in found} == {0, 1, 2}


def values(measured) -> dict[str, float | None]:
    return {found.metric or mps.NAME: found.value for found in measured}


@pytest.fixture
def metric():
    return mps.load({"tracker": "lk"})


def test_the_same_motion_is_one(metric, measure, panned):
    video = panned(30, 2)
    assert values(measure(metric, video, video)) == {"mps": 1.0, "mps_strict": 1.0}


def test_opposite_motion_loses_the_direction_term(metric, measure, panned):
    """Both videos start on the same picture and leave it in opposite directions, as fast as each other."""
    found = values(measure(metric, panned(24, 2), panned(24, -2)))
    assert found["mps"] == pytest.approx(0.5, abs=0.02)


def test_half_the_speed_loses_a_third_of_the_magnitude_term(metric, measure, panned):
    found = values(measure(metric, panned(24, 4), panned(24, 2)))
    assert found["mps"] == pytest.approx(0.5 + 0.5 * 2 / 3, abs=0.02)


def test_motion_at_right_angles(metric, measure, panned):
    assert values(measure(metric, panned(24, 2), panned(24, 0, 2)))["mps"] == pytest.approx(0.75, abs=0.02)


def test_a_frozen_candidate_is_unscored_and_strictly_zero(metric, measure, panned):
    video = panned(24, 2)
    loose, strict = measure(metric, video, [video[0]] * 24)
    assert loose.value is None
    assert "no point moves in both" in loose.detail
    assert strict.value == 0.0


def test_black_is_strictly_zero(metric, measure, panned):
    video = panned(24, 2)
    assert values(measure(metric, video, [np.zeros_like(video[0])] * 24)) == {"mps": None, "mps_strict": 0.0}


def test_nothing_moves_in_either(metric, measure, textured):
    still = [textured(120, 160)] * 24
    assert values(measure(metric, still, still)) == {"mps": None, "mps_strict": None}


@pytest.mark.parametrize("frames", [1, 2])
def test_shortest_videos(metric, measure, panned, frames):
    video = panned(frames, 2)
    value = None if frames == 1 else 1.0
    assert values(measure(metric, video, video)) == {"mps": value, "mps_strict": value}


def test_shots_without_motion_are_left_out_and_counted(metric, measure, panned, textured):
    video = panned(24, 2) + [textured(120, 160, seed=5)] * 24 + [textured(120, 160, seed=6)]
    loose, strict = measure(metric, video, video, shots=[(0, 24), (24, 48), (48, 49)])
    assert loose.value == strict.value == 1.0
    assert "2 of 3 shots left out" in loose.detail


def test_what_enters_later_is_seen(metric, measure):
    """A square that is not there in the first second moves in the second one."""

    def frame(k: int, direction: int) -> np.ndarray:
        rgb = np.full((120, 160, 3), 200, np.uint8)
        if k >= 20:
            x = 70 + direction * 2 * max(k - 24, 0)
            rgb[50:70, x : x + 20] = (200, 30, 40)
        return rgb

    right, left = ([frame(k, direction) for k in range(48)] for direction in (1, -1))
    assert values(measure(metric, right, right))["mps_strict"] == 1.0
    assert values(measure(metric, right, left))["mps"] == pytest.approx(0.5, abs=0.05)


def test_no_points_without_corners(metric, measure):
    flat = [np.full((64, 64, 3), 90, np.uint8)] * 3
    assert values(measure(metric, flat, flat)) == {"mps": None, "mps_strict": None}
