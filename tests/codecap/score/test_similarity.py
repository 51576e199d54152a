"""Visual similarity and AS: which frames they take, how they average, and that identity is 1; the encoder is a real one."""

import numpy as np
import pytest

from codecap.score import appearance, visual_similarity

SETTINGS = {"encoder": "efficientnet"}


class Levels:
    """An encoder whose vectors can be worked out by hand: (cos a, sin a) for the angle a = first pixel in degrees."""

    protocol, proxy = "levels", True

    def prepare(self, rgb):
        return np.array(rgb[0, 0, 0])

    def embed_frames(self, prepared):
        angles = np.deg2rad(np.array(prepared, np.float64))
        return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)

    def embed_video(self, prepared):
        mean = self.embed_frames(prepared).mean(axis=0)
        return mean / np.linalg.norm(mean)


def levels(*values: int) -> list[np.ndarray]:
    return [np.full((8, 8, 3), value, np.uint8) for value in values]


def test_appearance_is_the_mean_cosine_of_pairs(measure):
    (found,) = measure(appearance.Appearance(Levels(), 8), levels(0, 10, 20), levels(60, 10, 110))
    assert found.value == pytest.approx((0.5 + 1 + 0) / 3, abs=1e-6)


def test_appearance_weighs_shots_not_frames(measure):
    reference, candidate = levels(0, 0, 0, 0), levels(60, 60, 60, 0)
    (found,) = measure(appearance.Appearance(Levels(), 8), reference, candidate, shots=[(0, 3), (3, 4)])
    assert found.value == pytest.approx((0.5 + 1) / 2, abs=1e-6)


@pytest.mark.parametrize(
    ("shots", "segments", "by_hand"),
    [
        ([(0, 4)], [(0, 2)], (1 + 1 + 0.5 + 0.5) / 4),  # shorter: each of its frames stands for two
        ([(0, 2)], [(0, 4)], 1.0),  # longer: frames 1 and 3 of it
        ([(0, 1)], [(0, 4)], 0.5),  # a shot of one frame: frame 2
        ([(0, 4), (4, 5)], [(0, 2), (2, 3)], ((1 + 1 + 0.5 + 0.5) / 4 + 1) / 2),
        ([(0, 2), (2, 4)], [(0, 1), (0, 1)], 1.0),  # more shots than frames
    ],
)
def test_appearance_of_matches_of_other_lengths(measure, shots, segments, by_hand):
    """The reference is at 0 degrees throughout; the candidate at 0, 60, 0 and so on, or as long as it is asked for."""
    candidates = {2: (0, 60), 4: (60, 0, 60, 0), 3: (0, 60, 0), 1: (0,)}
    candidate = levels(*candidates[segments[-1][1]])
    reference = levels(*[0] * shots[-1][1])
    (found,) = measure(appearance.Appearance(Levels(), 8), reference, candidate, shots=shots, segments=segments)
    assert found.value == pytest.approx(by_hand, abs=1e-6)


def test_a_static_shot_is_as_alike_as_its_picture(measure):
    (found,) = measure(appearance.Appearance(Levels(), 8), levels(*[10] * 30), levels(*[70] * 30))
    assert found.value == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize(("start", "stop", "count"), [(0, 100, 8), (40, 43, 8), (7, 8, 8), (0, 9, 8)])
def test_pairs_are_evenly_spaced_inside_the_shot(start, stop, count):
    frames = appearance.evenly_spaced(start, stop, count)
    assert len(frames) == len(set(frames)) == min(count, stop - start)
    assert all(start <= frame < stop for frame in frames)
    gaps = np.diff(frames)
    assert len(gaps) == 0 or gaps.max() - gaps.min() <= 1


def test_visual_similarity_takes_midpoints_of_equal_parts(measure):
    """4 samples of 8 frames: 1, 3, 5, 7. The even frames do not count."""
    metric = visual_similarity.VisualSimilarity(Levels(), 4)
    (found,) = measure(metric, levels(0, 10, 0, 10, 0, 10, 0, 10), levels(99, 70, 99, 70, 99, 70, 99, 70))
    assert found.value == pytest.approx(0.5, abs=1e-6)


def test_a_short_video_shows_its_frames_more_than_once(measure):
    """4 samples of 3 frames: 0, 1, 1, 2, so the middle one counts twice."""
    metric = visual_similarity.VisualSimilarity(Levels(), 4)
    (found,) = measure(metric, levels(0, 90, 0), levels(0, 0, 0))
    assert found.value == pytest.approx(np.cos(np.pi / 4), abs=1e-6)


@pytest.mark.parametrize("module", [visual_similarity, appearance])
@pytest.mark.parametrize("frames", [1, 3])
def test_identity_is_one_and_black_is_far(measure, textured, module, frames):
    settings = SETTINGS | ({"samples": 4} if module is visual_similarity else {"frames_per_shot": 4})
    video = [textured(64, 96, seed) for seed in range(frames)]
    metric = module.load(settings)
    assert measure(metric, video, video)[0].value == pytest.approx(1.0, abs=1e-6)
    assert measure(metric, video, [np.zeros_like(rgb) for rgb in video])[0].value < 0.8
    assert metric.proxy


def test_metrics_of_one_lane_share_the_network():
    assert visual_similarity.load(SETTINGS).encoder is appearance.load(SETTINGS).encoder
