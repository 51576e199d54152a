"""PySceneDetect's ContentDetector: a cut is where the picture changes by more than a threshold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
from scenedetect import FrameTimecode
from scenedetect.detectors import ContentDetector

from codecap.clock import FPS
from codecap.shots import ShotSettings
from codecap.video import read_frames

THRESHOLD = 27.0  # mean change in HSV, 0-255
LONG_SIDE_PX = 256  # the detector compares mean colours: more pixels only cost time; as PySceneDetect itself does


class Watcher:
    """A detector of PySceneDetect and the frames that it is shown."""

    def __init__(self, told: ShotSettings) -> None:
        self._detector = self.detector(told)
        self._cuts: set[int] = set()
        self.frames = 0

    def detector(self, told: ShotSettings) -> Any:
        return ContentDetector(threshold=told.threshold or THRESHOLD, min_scene_len=told.shortest)

    def see(self, rgb: np.ndarray) -> None:
        scale = LONG_SIDE_PX / max(rgb.shape[:2])
        if scale < 1:
            size = (max(1, round(rgb.shape[1] * scale)), max(1, round(rgb.shape[0] * scale)))
            rgb = cv2.resize(rgb, size, interpolation=cv2.INTER_LINEAR)
        found = self._detector.process_frame(FrameTimecode(self.frames, float(FPS)), cv2.cvtColor(rgb, cv2.COLOR_RGB2BGR))
        self._cuts.update(cut.frame_num for cut in found)
        self.frames += 1

    def cuts(self) -> set[int]:
        last = FrameTimecode(max(self.frames - 1, 0), float(FPS))
        return self._cuts | {cut.frame_num for cut in self._detector.post_process(last)}


def cuts(mp4: Path, told: ShotSettings) -> tuple[int, set[int]]:
    return seen_by(Watcher(told), mp4)


def seen_by(watcher: Watcher, mp4: Path) -> tuple[int, set[int]]:
    """Show a clip to a detector of PySceneDetect."""
    for _, rgb in read_frames(mp4):
        watcher.see(rgb)
    return watcher.frames, watcher.cuts()
