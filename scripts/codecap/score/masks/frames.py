"""A clip as a sequence of frames that are decoded when a model asks for them: forward, backward or here and there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np

from codecap.video import KEYFRAME_INTERVAL, probe, read_frames

T = TypeVar("T")


class Frames(Generic[T]):
    """Looks like a list of all frames of a clip, each made ready for a model, and holds one window of them at a time.

    A window is a group of frames between two keyframes, so that going backward costs no more decoding than going forward. What is
    held are the frames as decoded; a frame is made ready each time it is asked for.

    Args:
        ready: from uint8 RGB `(height, width, 3)` to what the model takes.
        most: frames after these are left out.

    Raises:
        VideoError: it cannot be read.
    """

    def __init__(self, mp4: Path, most: int, ready: Callable[[np.ndarray], T]) -> None:
        info = probe(mp4)
        self.mp4, self.width_px, self.height_px = Path(mp4), info.width_px, info.height_px
        self._frames, self._ready = min(info.frames, most), ready
        self._window: dict[int, np.ndarray] = {}

    def __len__(self) -> int:
        return self._frames

    def __getitem__(self, frame: int) -> T:
        return self._ready(self.rgb(frame))

    def rgb(self, frame: int) -> np.ndarray:
        """uint8 RGB `(height, width, 3)` of a frame."""
        if not 0 <= frame < self._frames:
            raise IndexError(f"frame {frame} of {self._frames}")
        if frame not in self._window:
            begin = frame // KEYFRAME_INTERVAL * KEYFRAME_INTERVAL
            self._window.clear()  # before the next one is decoded, so that two are never held
            self._window.update(read_frames(self.mp4, begin, min(begin + KEYFRAME_INTERVAL, self._frames)))
        return self._window[frame]
