"""PySceneDetect's AdaptiveDetector: a cut is where the picture changes by many times what it changes around."""

from __future__ import annotations

from pathlib import Path

from scenedetect.detectors import AdaptiveDetector

from codecap.shots import ShotSettings, content

THRESHOLD = 3.0  # how many times the neighbours' change


class Watcher(content.Watcher):
    def detector(self, told: ShotSettings) -> AdaptiveDetector:
        return AdaptiveDetector(adaptive_threshold=told.threshold or THRESHOLD, min_scene_len=told.shortest)


def cuts(mp4: Path, told: ShotSettings) -> tuple[int, set[int]]:
    return content.seen_by(Watcher(told), mp4)
