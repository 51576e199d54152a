"""Key frames and frames over time: which frames they take, how they average, worst stretch; identity is 1 with a real encoder."""

import numpy as np
import pytest

from codecap.score import frame_similarity, key_frames


class Levels:
    """An encoder whose vectors can be worked out by hand: (cos a, sin a) for the angle a = first pixel in degrees."""

    protocol, proxy = "levels", True

    def prepare(self, rgb):
        return np.array(rgb[0, 0, 0])

    def embed_frames(self, prepared):
        angles = np.deg2rad(np.array(prepared, np.float64))
        return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def levels(*values: int) -> list[np.ndarray]:
    return [np.full((8, 8, 3), value, np.uint8) for value in values]


def test_key_frames_are_the_middles_of_shots_and_shots_count_alike(measure):
    """Shots [0, 5) and [5, 6): frames 2 and 5; cosines of 60 and 0 degrees."""
    reference, candidate = levels(0, 0, 0, 0, 0, 0), levels(99, 99, 60, 99, 99, 0)
    (found,) = measure(key_frames.KeyFrames(Levels()), reference, candidate, shots=[(0, 5), (5, 6)])
    assert found.value == pytest.approx((0.5 + 1) / 2, abs=1e-6)


def test_frames_over_time_take_the_middle_of_each_part(measure):
    """Two seconds at 2 a second: frames 6, 18, 30, 42; the worst second is the last."""
    reference, candidate = levels(*[0] * 48), levels(*[99] * 48)
    for frame, degrees in ((6, 0), (18, 0), (30, 60), (42, 90)):
        candidate[frame] = levels(degrees)[0]
    mean, worst = measure(frame_similarity.FrameSimilarity(Levels(), 2.0), reference, candidate)
    assert mean.value == pytest.approx((1 + 1 + 0.5 + 0) / 4, abs=1e-6)
    assert worst.metric == "frame_similarity_worst"
    assert worst.value == pytest.approx(0.25, abs=1e-6)
    assert worst.detail == "at 1.00 s"


def test_a_video_shorter_than_an_instant_has_one(measure):
    mean, worst = measure(frame_similarity.FrameSimilarity(Levels(), 2.0), levels(0, 0, 0), levels(99, 60, 99))
    assert mean.value == worst.value == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize("module", [key_frames, frame_similarity])
def test_identity_is_one_and_black_is_far(measure, textured, module):
    video = [textured(64, 96, seed) for seed in range(3)]
    metric = module.load({"encoder": "efficientnet"})
    assert all(found.value == pytest.approx(1.0, abs=1e-6) for found in measure(metric, video, video))
    assert all(found.value < 0.8 for found in measure(metric, video, [np.zeros_like(rgb) for rgb in video]))
    assert metric.proxy


def test_the_worst_lasts():
    values = np.array([0.9, 0.1, 0.9, 0.6, 0.6, 0.9])
    assert frame_similarity.lowest_that_lasts(values, 1) == (pytest.approx(0.1), 1)
    assert frame_similarity.lowest_that_lasts(values, 2) == (pytest.approx(0.5), 0)
    assert frame_similarity.lowest_that_lasts(values[:1], 4) == (pytest.approx(0.9), 0)
