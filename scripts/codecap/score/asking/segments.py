"""A part of a video as a video of its own, for models that take videos."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from codecap.clock import FPS
from codecap.exchange import Video
from codecap.records import Clip
from codecap.video import CanonicalWriter


class Segment:
    """Watcher that records a range of frames. Reference and render are encoded alike, so that neither looks better for it.

    Args:
        folder: for the file, which is deleted when it has been read.
        rate_hz: frames a second that a model is asked to look at.
    """

    def __init__(self, frames: range, clip: Clip, folder: Path, rate_hz: float) -> None:
        self.wanted = frames
        self._rate_hz = rate_hz
        self._mp4 = folder / f"{id(self)}.mp4"
        self._writer = CanonicalWriter(self._mp4, clip.width_px, clip.height_px, codec="h264_small")

    def see(self, frame: int, rgb: np.ndarray) -> None:  # noqa: ARG002
        self._writer.add(rgb)

    def result(self) -> dict[str, np.ndarray]:
        """Nothing that the store would keep."""
        return {}

    def video(self) -> Video:
        """The whole segment; called once, after its last frame."""
        self._writer.close()
        video = Video.of(self._mp4, rate_hz=self._rate_hz, seconds=len(self.wanted) / FPS)
        self._mp4.unlink()
        return video


def blank_video(frames: range, rate_hz: float) -> Video:
    """The length alone, for an estimate of what a question costs before a video is there."""
    return Video(b"", rate_hz=rate_hz, seconds=len(frames) / FPS)
