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


class Told:
    """A tracker that reads off each frame where its points are: one a column of the first row, x and y in 255ths of the frame's
    width and height, and 255 in blue where it is seen. So displacements are known without any tracking."""

    protocol, proxy = "told", True

    def prepare(self, rgb):
        return rgb[0].copy()

    def seed(self, prepared):
        return prepared[:, :2].astype(np.float32) / 255

    def track(self, prepared, points):
        told = np.stack(prepared)
        return told[..., :2].astype(np.float32) / 255, told[..., 2] > 0


def film(*points: list[tuple[int, int] | None]) -> list[np.ndarray]:
    """Square frames in which point after point is where it is said, frame by frame; None: not seen."""
    pictures = []
    for frame in zip(*points, strict=True):
        rgb = np.zeros((len(points), len(points), 3), np.uint8)
        for column, at in enumerate(frame):
            if at is not None:
                rgb[0, column] = (*at, 255)
        pictures.append(rgb)
    return pictures


@pytest.fixture
def told():
    return mps.MotionPatternSimilarity(Told(), mps.Settings(tracker="told"))


RIGHT, STILL, LEFT = [(10, 10), (20, 10), (30, 10)], [(10, 10)] * 3, [(10, 10), (0, 10), (0, 10)]


@pytest.mark.parametrize(
    ("reference", "candidate", "loose", "strict"),
    [
        ([RIGHT], [RIGHT], 1.0, 1.0),
        ([RIGHT], [STILL], None, 0.0),  # a static candidate
        ([STILL], [RIGHT], None, 0.0),  # motion in the candidate only
        ([STILL], [STILL], None, None),  # a static shot
        ([RIGHT], [LEFT], 0.5, 0.25),  # step 1 is opposite: 0.5; in step 2 only the reference moves
        ([RIGHT, STILL], [RIGHT, RIGHT], 1.0, 0.5),  # of four steps that move somewhere two agree
        ([RIGHT, RIGHT], [RIGHT, STILL], 1.0, 0.5),
        ([[(10, 10), (20, 10), None]], [RIGHT], 1.0, 1.0),  # lost in the reference: its step does not count
        ([RIGHT], [[(10, 10), None, (30, 10)]], None, None),  # seen at no two ends of a step
    ],
)
def test_both_columns_by_hand(told, measure, reference, candidate, loose, strict):
    found = values(measure(told, film(*reference), film(*candidate)))
    assert found["mps"] == (None if loose is None else pytest.approx(loose))
    assert found["mps_strict"] == (None if strict is None else pytest.approx(strict))


def test_shots_weigh_the_same_however_many_points_move_in_them(told, measure):
    """Shot 1: two steps, all alike: 1. Shot 2: one step, opposite: 0.5. A static shot of two frames and one of a single frame are
    left out, and counted. The steps over the cuts do not count."""
    path = [*RIGHT, (100, 100), (110, 100), (50, 50), (50, 50), (200, 200)]
    other = [*RIGHT, (100, 100), (90, 100), (50, 50), (50, 50), (200, 200)]
    shots = [(0, 3), (3, 5), (5, 7), (7, 8)]
    loose, strict = measure(told, film(path), film(other), shots=shots)
    assert loose.value == strict.value == pytest.approx(0.75)
    assert loose.detail == "2 of 4 shots left out: no point moves in both videos"


def line(frames: int, step: int) -> list[tuple[int, int]]:
    return [(10 + step * k, 10) for k in range(frames)]


@pytest.mark.parametrize(
    ("frames", "step", "loose", "strict"),
    [
        (9, 2, 1.0, 1.0),  # twice as long at half the speed: the same in the same steps
        (3, 8, 1.0, 1.0),  # half as long at twice the speed
        (9, 4, 0.5 + 0.5 * 2 / 3, 0.5 + 0.5 * 2 / 3),  # twice as far: 8 a step beside 4
        (3, 0, None, 0.0),
        (1, 0, None, 0.0),  # a single frame stands still
    ],
)
def test_a_match_of_another_length_is_brought_to_the_same_steps(told, measure, frames, step, loose, strict):
    """The reference has five frames, 4 apart. Of nine it is compared with 0, 2, 4, 6, 8; with three, in its 0, 2, 4."""
    found = values(measure(told, film(line(5, 4)), film(line(frames, step)), segments=[(0, frames)]))
    assert found["mps"] == (None if loose is None else pytest.approx(loose))
    assert found["mps_strict"] == pytest.approx(strict)


def test_two_matches_of_other_lengths(told, measure):
    """Shot 1 is shown twice as long, shot 2 in half its time and backwards: 1 and 0.5."""
    reference = film([*line(5, 4), *line(5, 4)])
    candidate = film([*line(9, 2), *line(3, 8)[::-1]])
    found = values(measure(told, reference, candidate, shots=[(0, 5), (5, 10)], segments=[(0, 9), (9, 12)]))
    assert found == {"mps": pytest.approx(0.75), "mps_strict": pytest.approx(0.75)}


@pytest.mark.parametrize("lengths", [(60, 75), (60, 30), (60, 5), (60, 1), (3, 100), (1, 9)])
def test_steps_of_a_match_are_in_order_and_inside_it(lengths):
    frames, own = lengths
    spans = mps.windows([(0, frames)], 1.0)
    steps = mps.same_steps(spans, [(100, 100 + own)])
    for (_, first, last), (shown, matched) in zip(spans, steps, strict=True):
        assert shown[0] == first and shown[-1] == last and len(shown) == len(matched)
        assert shown == sorted(shown) and matched == sorted(matched)
        assert matched[0] >= 100 and matched[-1] < 100 + own
    assert mps.same_steps(spans, [(0, frames)]) == [(list(range(a, b + 1)), list(range(a, b + 1))) for _, a, b in spans]


def test_memory_is_bounded_by_a_second_of_frames(told, measure):
    """Ten seconds in one shot: never more than 25 frames are tracked at a time."""
    longest = []
    track = told.tracker.track
    told.tracker.track = lambda prepared, points: longest.append(len(prepared)) or track(prepared, points)
    path = film([(k % 250, 10) for k in range(240)])
    measure(told, path, path)
    assert max(longest) == 25
