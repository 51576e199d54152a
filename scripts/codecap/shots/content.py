"""PySceneDetect's ContentDetector: a cut is where the picture changes by more than a threshold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
from scenedetect import FrameTimecode
from scenedetect.detectors import ContentDetector

from codecap.clock import FPS
from codecap.shots import ShotSettings
from codecap.video import read_frames

THRESHOLD = 27.0  # mean change in HSV, 0-255
LONG_SIDE_PX = 256  # the detector compares mean colours: more pixels only cost time; as PySceneDetect itself does


def cuts(mp4: Path, told: ShotSettings) -> tuple[int, set[int]]:
    return found_by(ContentDetector(threshold=told.threshold or THRESHOLD, min_scene_len=told.shortest), mp4)


def found_by(detector: Any, mp4: Path) -> tuple[int, set[int]]:
    """Show a clip to a detector of PySceneDetect."""
    found: set[int] = set()
    frames = 0
    for index, rgb in read_frames(mp4):
        scale = LONG_SIDE_PX / max(rgb.shape[:2])
        if scale < 1:
            size = (max(1, round(rgb.shape[1] * scale)), max(1, round(rgb.shape[0] * scale)))
            rgb = cv2.resize(rgb, size, interpolation=cv2.INTER_LINEAR)
        seen = detector.process_frame(FrameTimecode(index, float(FPS)), cv2.cvtColor(rgb, cv2.COLOR_RGB2BGR))
        found.update(cut.frame_num for cut in seen)
        frames = index + 1
    found.update(cut.frame_num for cut in detector.post_process(FrameTimecode(max(frames - 1, 0), float(FPS))))
    return frames, found
