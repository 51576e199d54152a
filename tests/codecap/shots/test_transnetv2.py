"""TransNet V2 on cuts that the test itself made, and against the package's own way from file to scenes."""

import os
import random
from itertools import pairwise
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import pytest
import torch

from codecap.shots import detect_shots, transnetv2
from codecap.video import CanonicalWriter


def scene(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (4, 6, 3), np.uint8).repeat(24, 0).repeat(24, 1)


def write(path: Path, lengths: list[int], fade: int = 0) -> Path:
    """Scenes of these lengths in frames, each with a white square that moves; `fade` frames of a scene run into the next one."""
    with CanonicalWriter(path, 144, 96) as writer:
        for seed, length in enumerate(lengths):
            for number in range(length):
                part = max(number - (length - fade) + 1, 0) / (fade + 1) if seed < len(lengths) - 1 else 0
                rgb = (scene(seed) * (1 - part) + scene(seed + 1) * part).astype(np.uint8)
                rgb[20:30, 2 * number % 120 : 2 * number % 120 + 10] = 255
                writer.add(rgb)
    return path


@pytest.mark.parametrize("lengths", [[20, 14, 16], [1]])
def test_cuts_are_found_where_they_are(tmp_path, lengths):
    edges = np.cumsum([0, *lengths]).tolist()
    shots = detect_shots(write(tmp_path / "x.mp4", lengths), {"detector": "transnetv2", "shortest_s": 0})
    assert shots == list(pairwise(edges))


def test_a_fade_is_one_cut_and_belongs_to_the_shot_before(tmp_path):
    shots = detect_shots(write(tmp_path / "x.mp4", [25, 25], fade=8), {"detector": "transnetv2"})
    assert len(shots) == 2
    assert 17 < shots[1][0] <= 27


def test_what_becomes_of_probabilities(tmp_path, monkeypatch):
    """Cuts after frames 19 and 33, and a transition over frames 40 to 42; 14 frames last 0.58 s, 7 last 0.29 s."""
    told = np.zeros(50, np.float32)
    told[[19, 33, 40, 41, 42]] = 0.9, 0.6, 0.8, 0.7, 0.8
    monkeypatch.setattr(transnetv2, "probabilities", lambda pictures: told)
    mp4 = write(tmp_path / "x.mp4", [50])
    assert detect_shots(mp4, {"detector": "transnetv2", "shortest_s": 0}) == [(0, 20), (20, 34), (34, 43), (43, 50)]
    assert detect_shots(mp4, {"detector": "transnetv2"}) == [(0, 20), (20, 43), (43, 50)]
    assert detect_shots(mp4, {"detector": "transnetv2", "threshold": 0.85}) == [(0, 20), (20, 50)]
    assert detect_shots(mp4, {"detector": "transnetv2", "threshold": 1.0}) == [(0, 50)]


@pytest.mark.slow
def test_the_same_as_the_packages_own_way(tmp_path, monkeypatch):
    """Its own reader of files (FFmpeg's command line), its own windows, its own scenes."""
    (tmp_path / "ffmpeg").symlink_to(imageio_ffmpeg.get_ffmpeg_exe())
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    mp4 = write(tmp_path / "x.mp4", [20, 14, 16], fade=2)
    frames, single, _ = transnetv2.network().predict_video(str(mp4), quiet=True)
    ours = transnetv2.small(mp4)
    assert ours.shape == frames.shape and ours.dtype == np.uint8
    assert np.abs(ours.astype(int) - frames.numpy()).mean() < 4  # two builds of FFmpeg's scaler
    assert transnetv2.probabilities(frames.numpy()) == pytest.approx(single.numpy(), abs=1e-5)
    assert transnetv2.probabilities(ours) == pytest.approx(single.numpy(), abs=0.05)
    scenes = transnetv2.network().predictions_to_scenes(single.numpy())
    shots = detect_shots(mp4, {"detector": "transnetv2", "shortest_s": 0})
    assert [start for start, _ in shots] == [start for start, _ in scenes.tolist()]


def test_nothing_else_in_the_process_is_disturbed():
    transnetv2.network.cache_clear()
    torch.manual_seed(5), np.random.seed(5), random.seed(5)
    expected = torch.rand(1).item(), np.random.rand(), random.random()
    torch.manual_seed(5), np.random.seed(5), random.seed(5)
    cudnn = torch.backends.cudnn.deterministic
    transnetv2.probabilities(np.zeros((3, 27, 48, 3), np.uint8))
    assert (torch.rand(1).item(), np.random.rand(), random.random()) == expected
    assert not torch.are_deterministic_algorithms_enabled()
    assert torch.backends.cudnn.deterministic == cudnn
