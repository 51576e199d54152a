"""Shots of a canonical clip: the stretches between hard cuts, found by PySceneDetect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import Any

from codecap.clock import FPS
from codecap.video import read_frames

LONG_SIDE_PX = 256  # the detector compares mean colours: more pixels only cost time; as PySceneDetect itself does
THRESHOLDS = {"content": 27.0, "adaptive": 3.0}  # PySceneDetect's defaults


@dataclass(frozen=True)
class ShotSettings:
    """The `shots` part of the configuration; defaults as in PySceneDetect."""

    detector: str = "adaptive"  # compares a frame's change with its neighbours', so forgives fast motion; or "content"
    threshold: float | None = None  # adaptive: how many times the neighbours' change (3.0); content: change in HSV, 0-255 (27.0)
    shortest_s: float = 0.625  # cuts closer than this to each other are one

    @staticmethod
    def of(told: Mapping[str, Any]) -> ShotSettings:
        """From the configuration. An unknown key or value is a ValueError."""
        known = [field.name for field in fields(ShotSettings)]
        unknown = sorted(set(told) - set(known))
        if unknown:
            raise ValueError(f"shots: unknown key {', '.join(unknown)}; known are {', '.join(known)}")
        return ShotSettings(**told)

    def __post_init__(self) -> None:
        if self.detector not in THRESHOLDS:
            raise ValueError(f"shots: unknown detector {self.detector!r}; known are {', '.join(THRESHOLDS)}")
        if (self.threshold is not None and self.threshold <= 0) or self.shortest_s < 0:
            raise ValueError("shots: threshold must be above 0 and shortest_s not below 0")


def detect_shots(mp4: Path, settings: ShotSettings | Mapping[str, Any] | None = None) -> list[tuple[int, int]]:
    """Cut a canonical clip into shots.

    The frames go straight to the detector, counted on the canonical clock, so that no other reader's idea of time comes in.

    Returns:
        First frame and the frame after the last of each shot, in order, without gaps, from 0 to the clip's end. A clip without a
        cut is one shot.

    Raises:
        VideoError: the clip cannot be read.
        ValueError: the settings are wrong.
    """
    import cv2
    from scenedetect import FrameTimecode

    settings = settings if isinstance(settings, ShotSettings) else ShotSettings.of(settings or {})
    detector = _detector(settings)
    cuts: set[int] = set()
    frames = 0
    for index, rgb in read_frames(mp4):
        scale = LONG_SIDE_PX / max(rgb.shape[:2])
        if scale < 1:
            size = (max(1, round(rgb.shape[1] * scale)), max(1, round(rgb.shape[0] * scale)))
            rgb = cv2.resize(rgb, size, interpolation=cv2.INTER_LINEAR)
        found = detector.process_frame(FrameTimecode(index, float(FPS)), cv2.cvtColor(rgb, cv2.COLOR_RGB2BGR))
        cuts.update(cut.frame_num for cut in found)
        frames = index + 1
    cuts.update(cut.frame_num for cut in detector.post_process(FrameTimecode(max(frames - 1, 0), float(FPS))))
    edges = [0, *sorted(cut for cut in cuts if 0 < cut < frames), frames]
    return list(pairwise(edges))


def _detector(settings: ShotSettings) -> Any:
    from scenedetect.detectors import AdaptiveDetector, ContentDetector

    shortest = round(settings.shortest_s * FPS)
    threshold = settings.threshold or THRESHOLDS[settings.detector]
    if settings.detector == "adaptive":
        return AdaptiveDetector(adaptive_threshold=threshold, min_scene_len=shortest)
    return ContentDetector(threshold=threshold, min_scene_len=shortest)
