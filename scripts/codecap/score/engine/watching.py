"""One decoding pass that many watchers look at."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np

from codecap import video
from codecap.records import Clip
from codecap.score import Watcher


def watch(mp4: Path, clip: Clip, watchers: Sequence[Watcher], own: Sequence[Watcher] = (), own_frames: int = 0) -> None:
    """Show a video to watchers as frames of the clip's size: to `watchers` as many as the clip has, to `own` the video's own.

    A frame is converted to RGB only if someone wants it. A video of another size is resized by area. For `watchers` one that ends
    early is black from there on, and what lies after the clip's end is not shown (**ours**: on the reference's timeline, or lost).

    Args:
        own: watchers that keep the video's own time.
        own_frames: how many frames the video has.

    Raises:
        VideoError: the video cannot be decoded.
    """
    audience = [(watcher, clip.frames) for watcher in watchers] + [(watcher, own_frames) for watcher in own]
    if not audience:
        return
    shown, last = -1, max(frames for _, frames in audience)
    for index, frame in video.decode(mp4, stop=last):
        rgb = None
        for watcher, frames in audience:
            if index < frames and (watcher.wanted is None or index in watcher.wanted):
                if rgb is None:
                    rgb = _of_size(video.to_rgb(frame), clip)
                watcher.see(index, rgb)
        shown = index
    black = np.zeros((clip.height_px, clip.width_px, 3), np.uint8)
    for index in range(shown + 1, last):
        for watcher, frames in audience:
            if index < frames and (watcher.wanted is None or index in watcher.wanted):
                watcher.see(index, black)


def _of_size(rgb: np.ndarray, clip: Clip) -> np.ndarray:
    if rgb.shape[:2] == (clip.height_px, clip.width_px):
        return rgb
    return cv2.resize(rgb, (clip.width_px, clip.height_px), interpolation=cv2.INTER_AREA)
