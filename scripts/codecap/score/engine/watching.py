"""One decoding pass that many watchers look at."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np

from codecap import video
from codecap.records import Clip
from codecap.score import Watcher


def watch(mp4: Path, clip: Clip, watchers: Sequence[Watcher]) -> None:
    """Show a video to watchers as `clip.frames` frames of the clip's size.

    A frame is converted to RGB only if someone wants it. A video of another size is resized by area. One that ends early is black
    from there on, and what lies after the clip's end is not shown (**ours**: a video shares the reference's timeline, or loses).

    Raises:
        VideoError: the video cannot be decoded.
    """
    if not watchers:
        return
    shown = -1
    for index, frame in video.decode(mp4, stop=clip.frames):
        rgb = None
        for watcher in watchers:
            if watcher.wanted is None or index in watcher.wanted:
                if rgb is None:
                    rgb = _of_size(video.to_rgb(frame), clip)
                watcher.see(index, rgb)
        shown = index
    black = np.zeros((clip.height_px, clip.width_px, 3), np.uint8)
    for index in range(shown + 1, clip.frames):
        for watcher in watchers:
            if watcher.wanted is None or index in watcher.wanted:
                watcher.see(index, black)


def _of_size(rgb: np.ndarray, clip: Clip) -> np.ndarray:
    if rgb.shape[:2] == (clip.height_px, clip.width_px):
        return rgb
    return cv2.resize(rgb, (clip.width_px, clip.height_px), interpolation=cv2.INTER_AREA)
