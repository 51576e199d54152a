"""Frames as pyramids, so that every object is looked for at the size that fits it, and videos read both ways in windows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np

from codecap.video import KEYFRAME_INTERVAL, read_frames

LONG_SIDE_PX = 960  # a larger frame is worked on at this size
BLUR_SIGMA_PX = 0.7  # of each level: makes a match forgive half a pixel of motion
GREY = 128.0


class Picture:
    """One frame at full, half, quarter, ... size, each made when it is first asked for.

    Attributes:
        width_px, height_px: of the frame as it came; all boxes are in these pixels.
    """

    def __init__(self, rgb: np.ndarray) -> None:
        """Take uint8 RGB `(height, width, 3)`; it is not kept when it is larger than `LONG_SIDE_PX`."""
        self.height_px, self.width_px = rgb.shape[:2]
        shrink = LONG_SIDE_PX / max(self.width_px, self.height_px)
        if shrink < 1:
            size = (round(self.width_px * shrink), round(self.height_px * shrink))
            rgb = cv2.resize(rgb, size, interpolation=cv2.INTER_AREA)
        self._rgb = [rgb]
        self._planes: dict[int, np.ndarray] = {}

    def rgb(self, level: int) -> np.ndarray:
        """uint8 RGB of a level; its sides are halved from level to level, rounded up."""
        while len(self._rgb) <= level:
            height, width = self._rgb[-1].shape[:2]
            half = (max((width + 1) // 2, 1), max((height + 1) // 2, 1))
            self._rgb.append(cv2.resize(self._rgb[-1], half, interpolation=cv2.INTER_AREA))
        return self._rgb[level]

    def planes(self, level: int) -> np.ndarray:
        """float32 `(3, height, width)` of a level, slightly blurred, values in [-128, 127]."""
        if level not in self._planes:
            blurred = cv2.GaussianBlur(self.rgb(level), (0, 0), BLUR_SIGMA_PX)
            planes = np.empty((3, *blurred.shape[:2]), np.float32)
            for channel in range(3):
                np.subtract(blurred[..., channel], GREY, out=planes[channel])
            self._planes[level] = planes
        return self._planes[level]

    def scale(self, level: int) -> np.ndarray:
        """Pixels of the level in one pixel of the frame, as `(x, y, x, y)`."""
        height, width = self.rgb(level).shape[:2]
        x, y = width / self.width_px, height / self.height_px
        return np.array([x, y, x, y])


def forward(mp4: Path, start: int, stop: int) -> Iterator[tuple[int, Picture]]:
    """Frames `start` to `stop - 1` in order."""
    for frame, rgb in read_frames(mp4, start, stop):
        yield frame, Picture(rgb)


def backward(mp4: Path, start: int, stop: int) -> Iterator[tuple[int, Picture]]:
    """Frames `stop - 1` down to `start`. One window of frames is held at a time, at their working size."""
    end = stop
    while end > start:
        begin = max((end - 1) // KEYFRAME_INTERVAL * KEYFRAME_INTERVAL, start)
        window = list(forward(mp4, begin, end))
        while window:
            yield window.pop()
        end = begin
