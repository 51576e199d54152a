"""Shots of a video: the stretches between cuts, as a detector finds them.

A detector is a module of this folder. It has:
    THRESHOLD                   its own default
    cuts(mp4, told) -> (frames of the canonical clip, numbers of the first frames after cuts)
    Watcher(told)               the same for whoever has a video's pictures already: `see` each, then ask for the `cuts`
It counts frames on the canonical clock, so that no other reader's idea of time comes in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from codecap import registry
from codecap.clock import FPS
from codecap.errors import UserError

FAMILY = "shots"


class ShotsError(UserError, ValueError):
    """The settings of the shot detector are wrong; the message says which."""


@dataclass(frozen=True)
class ShotSettings:
    """The `shots` part of the configuration; thresholds as the detectors' authors set them."""

    detector: str = "adaptive"  # compares a frame's change with its neighbours', so forgives fast motion; or another module here
    threshold: float | None = None  # by default the detector's own; its module says what it means
    shortest_s: float = 0.625  # cuts closer than this to each other are one

    @staticmethod
    def of(told: Mapping[str, Any]) -> ShotSettings:
        """From the configuration. Raises ShotsError where a key or a value is unknown."""
        known = [field.name for field in fields(ShotSettings)]
        unknown = sorted(set(told) - set(known))
        if unknown:
            raise ShotsError(f"shots: unknown key {', '.join(unknown)}; known are {', '.join(known)}")
        return ShotSettings(**told)

    def __post_init__(self) -> None:
        known = registry.available(FAMILY)
        if self.detector not in known:
            raise ShotsError(f"shots: unknown detector {self.detector!r}; known are {', '.join(known)}")
        if (self.threshold is not None and self.threshold <= 0) or self.shortest_s < 0:
            raise ShotsError("shots: threshold must be above 0 and shortest_s not below 0")

    @property
    def shortest(self) -> int:
        """Least frames of a shot."""
        return round(self.shortest_s * FPS)


class Watcher(Protocol):
    def see(self, rgb: np.ndarray) -> None:
        """The next frame of a video, uint8 RGB."""
        ...

    def cuts(self) -> set[int]:
        """Numbers of the first frames after cuts; asked for once, after the last frame."""
        ...


def watcher(settings: ShotSettings | Mapping[str, Any] | None = None) -> Watcher:
    """A detector that is shown a video's frames one after another. Raises as `detect_shots`."""
    settings = settings if isinstance(settings, ShotSettings) else ShotSettings.of(settings or {})
    return registry.load(FAMILY, settings.detector).Watcher(settings)


def detect_shots(mp4: Path, settings: ShotSettings | Mapping[str, Any] | None = None) -> list[tuple[int, int]]:
    """Cut a canonical clip into shots.

    Returns:
        First frame and the frame after the last of each shot, in order, without gaps, from 0 to the clip's end. A clip without a
        cut is one shot.

    Raises:
        VideoError: the clip cannot be read.
        ShotsError: the settings are wrong.
        registry.Unavailable: the detector's package is not installed.
    """
    settings = settings if isinstance(settings, ShotSettings) else ShotSettings.of(settings or {})
    frames, cuts = registry.load(FAMILY, settings.detector).cuts(mp4, settings)
    return between(cuts, frames)


def between(cuts: Iterable[int], frames: int) -> list[tuple[int, int]]:
    """The shots of a video of `frames` frames.

    >>> between({48, 24, 0}, 60)
    [(0, 24), (24, 48), (48, 60)]
    """
    return list(pairwise([0, *sorted(cut for cut in set(cuts) if 0 < cut < frames), frames]))
