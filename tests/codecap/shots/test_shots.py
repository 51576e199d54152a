"""Shots against cuts that the test itself made, and against PySceneDetect reading the file by itself."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from codecap.shots import ShotSettings, detect_shots
from codecap.video import CanonicalWriter

SIZE = (96, 64)


def scene(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (4, 6, 3), np.uint8).repeat(16, 0).repeat(16, 1)


def write(path: Path, lengths: list[int]) -> Path:
    """Scenes of these lengths in frames, each with a white square that moves."""
    with CanonicalWriter(path, *SIZE) as writer:
        for seed, length in enumerate(lengths):
            for number in range(length):
                picture = scene(seed).copy()
                picture[20:30, 2 * number % 80 : 2 * number % 80 + 10] = 255
                writer.add(picture)
    return path


@pytest.mark.parametrize("detector", ["adaptive", "content"])
@pytest.mark.parametrize("lengths", [[40], [30, 30], [24, 40, 17, 31], [1], [2]])
def test_cuts_are_found_where_they_are(tmp_path, lengths, detector):
    edges = np.cumsum([0, *lengths]).tolist()
    found = detect_shots(write(tmp_path / "x.mp4", lengths), {"detector": detector})
    assert found == list(pairwise(edges))


@pytest.mark.parametrize("lengths", [[30, 5, 30], [3, 40], [40, 3], [4, 4, 4, 4, 30, 2, 2, 40]])
def test_shots_cover_the_clip_without_gaps_and_are_not_shorter_than_asked(tmp_path, lengths):
    found = detect_shots(write(tmp_path / "x.mp4", lengths), ShotSettings(detector="content"))
    assert found[0][0] == 0 and found[-1][1] == sum(lengths)
    assert all(before[1] == after[0] for before, after in pairwise(found))
    assert all(stop > start for start, stop in found)
    assert all(stop - start >= 15 for start, stop in found[:-1])  # 0.625 s


@pytest.mark.parametrize("detector", ["adaptive", "content"])
def test_same_cuts_as_pyscenedetect_reading_the_file(tmp_path, detector):
    from scenedetect import AdaptiveDetector, ContentDetector, detect

    path = write(tmp_path / "x.mp4", [24, 40, 17, 31, 22])
    by_itself = detect(str(path), {"adaptive": AdaptiveDetector, "content": ContentDetector}[detector](min_scene_len=15))
    assert detect_shots(path, {"detector": detector}) == [(first.frame_num, last.frame_num) for first, last in by_itself]


def test_a_large_picture_is_cut_where_a_small_one_is(tmp_path):
    with CanonicalWriter(tmp_path / "large.mp4", 960, 640) as writer:
        for seed in (0, 1):
            writer.add(scene(seed).repeat(10, 0).repeat(10, 1))
            for _ in range(29):
                writer.repeat()
    assert detect_shots(tmp_path / "large.mp4") == [(0, 30), (30, 60)]


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"detector": "guess"}, "unknown detector 'guess'; known are adaptive, content, transnetv2"),
        ({"treshold": 3}, "unknown key treshold; known are detector, threshold, shortest_s"),
        ({"threshold": 0}, "threshold must be above 0"),
        ({"shortest_s": -1}, "shortest_s not below 0"),
    ],
)
def test_wrong_settings_say_what_is_wrong(tmp_path, settings, says):
    with pytest.raises(ValueError, match=says):
        detect_shots(tmp_path / "x.mp4", settings)
