"""Trackers follow points through a shot. A module has `load(settings) -> Tracker`."""

from __future__ import annotations

from typing import Protocol

import numpy as np


class Tracker(Protocol):
    protocol: str
    proxy: bool

    def prepare(self, rgb: np.ndarray) -> np.ndarray:
        """Reduce one frame, uint8 RGB `(height, width, 3)`, to what is kept of it until it is tracked."""
        ...

    def seed(self, prepared: np.ndarray) -> np.ndarray:
        """Points to follow from a frame on: float32 `(points, 2)`, xy in units of the frame's width and height."""
        ...

    def track(self, prepared: list[np.ndarray], points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Follow points from the first of some consecutive frames: float32 `(frames, points, 2)` in the units of `seed`,
        and bool `(frames, points)`, true where the point was really seen."""
        ...
