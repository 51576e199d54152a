"""What a video has on screen in each frame of the 24 fps clock (see METRICS, "The clock"), picture by picture.

Frame `i` is the picture that the source shows at `i / 24` seconds, never a mixture of two. A video has as many frames as there are
`i` with `i / 24` before its last picture goes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import av
import numpy as np

from codecap.clock import FPS
from codecap.collect.opening import open_video, refuse_large
from codecap.collect.picture import ToneCurve, Viewer
from codecap.collect.shown import first_picture, shown_frames
from codecap.video import VideoError

TOLERANCE_S = 0.5  # how much earlier than its header says a video may end before it counts as cut short


@dataclass(frozen=True)
class OnScreen:
    """One picture, and the frames that show it: `start` to before `stop`, at least one."""

    start: int
    stop: int
    width_px: int
    height_px: int
    _path: Path = field(repr=False)
    _frame: av.VideoFrame = field(repr=False)
    _viewer: Viewer = field(repr=False)

    def rgb(self) -> np.ndarray:
        """The picture as a viewer sees it, uint8 RGB `(height_px, width_px, 3)`; its sizes may be odd. Converted when asked for.

        Raises:
            VideoError: its pixel format is one that FFmpeg cannot convert.
        """
        return self._converted(None)

    def small_rgb(self, width_px: int) -> np.ndarray:
        """A copy of this width, at a tenth of the cost; the picture itself where that is no wider."""
        return self._converted(width_px)

    def _converted(self, width_px: int | None) -> np.ndarray:
        try:
            return self._viewer.rgb(self._frame, width_px)
        except av.FFmpegError as error:
            form = self._frame.format.name
            raise VideoError(f"{self._path}: has pixels of the form {form}, which cannot be shown; convert it first") from error


def on_screen(
    path: Path, *, start: int = 0, stop: int | None = None, tone: ToneCurve | None = None, tolerance_s: float = TOLERANCE_S
) -> Iterator[OnScreen]:
    """The pictures of a video in order, with the frames that show them. Pictures that no frame falls on are left out.

    Args:
        path: any file that FFmpeg reads, or an animated WebP.
        start, stop: first frame, and the frame after the last; by default all. Frame numbers are those of the whole video.
        tone: how high dynamic range is brought down.
        tolerance_s: how much earlier than its header says a video may end before it counts as cut short.

    Raises:
        ValueError: `start` is negative, or `stop` is not after it.
        VideoError: the file is no video, is damaged, or ends before `stop`; the message says what, where and what to do.
    """
    if start < 0 or (stop is not None and stop <= start):
        raise ValueError(f"frames {start} to {stop} of {path} are none")
    end = 0
    video = open_video(path)
    with video.container:
        viewer = Viewer(first_picture(video), video.stream.sample_aspect_ratio, tone or ToneCurve())
        refuse_large(path, viewer.width_px, viewer.height_px)  # its pixels may be very long ones
    video = open_video(path)
    with video.container:
        for shown in shown_frames(video, tolerance_s, Fraction(start, FPS)):
            end = math.ceil(shown.end_s * FPS)
            first, last = max(math.ceil(shown.start_s * FPS), start), end if stop is None else min(end, stop)
            if first < last:
                yield OnScreen(first, last, viewer.width_px, viewer.height_px, path, shown.frame, viewer)
            if stop is not None and end >= stop:
                return
    if end <= start or stop is not None:
        wanted = f"{start} to {'the end' if stop is None else stop}"
        raise VideoError(f"{path}: frames {wanted} are asked for, but at {FPS} a second it has {end}; choose its parts anew")
