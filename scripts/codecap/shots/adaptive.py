"""PySceneDetect's AdaptiveDetector: a cut is where the picture changes by many times what it changes around."""

from __future__ import annotations

from pathlib import Path

from scenedetect.detectors import AdaptiveDetector

from codecap.shots import ShotSettings
from codecap.shots.content import found_by

THRESHOLD = 3.0  # how many times the neighbours' change


def cuts(mp4: Path, told: ShotSettings) -> tuple[int, set[int]]:
    return found_by(AdaptiveDetector(adaptive_threshold=told.threshold or THRESHOLD, min_scene_len=told.shortest), mp4)
