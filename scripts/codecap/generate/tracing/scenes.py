"""A clip cut into scenes that fit in memory, as pictures small enough to search in."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from codecap import video
from codecap.generate.tracing.differences import changed_blocks
from codecap.generate.tracing.shift import shift_between

SEARCHED_PX = 640 * 400  # analysis is made on pictures of about this area
SUDDEN = 2.5  # times the largest mean difference of the frames just before: a cut, not motion that is fast all along
RECENT_FRAMES = 6
HELD_BYTES = 200_000_000  # of pictures in memory at once; a scene goes on in another one where it is longer


@dataclass(frozen=True)
class Scene:
    """Frames `first .. first + len(pictures) - 1` of a clip, scaled down by `scale`.

    Attributes:
        first: number of its first frame.
        starts_with_cut: the picture changed at once; otherwise the scene before went on and only memory ended it.
        pictures: each uint8 RGB `(height, width, 3)`.
        scale: pixels of the clip per pixel of the pictures, a whole number.
    """

    first: int
    starts_with_cut: bool
    pictures: list[np.ndarray]
    scale: int

    @property
    def stop(self) -> int:
        return self.first + len(self.pictures)


def scale_for(width_px: int, height_px: int) -> int:
    """Whole number by which a clip is scaled down for the analysis."""
    return max(1, round(math.sqrt(width_px * height_px / SEARCHED_PX)))


def reduced(rgb: np.ndarray, scale: int) -> np.ndarray:
    """A picture scaled down by averaging `scale x scale` pixels; a rest on the right and at the bottom is averaged too."""
    if scale == 1:
        return rgb
    height, width = rgb.shape[:2]
    size = (-(-width // scale), -(-height // scale))
    padded = cv2.copyMakeBorder(rgb, 0, size[1] * scale - height, 0, size[0] * scale - width, cv2.BORDER_REPLICATE)
    return cv2.resize(padded, size, interpolation=cv2.INTER_AREA)


def scenes(mp4: Path, change_share: float, tolerance: float) -> Iterator[Scene]:
    """Cut a clip where more than a share of its 8x8 blocks changes from one frame to the next, and is not just shifted.

    Args:
        mp4: a canonical clip.
        change_share: share of changed blocks, 0-1, that makes a new scene.
        tolerance: grey levels that count as a change.
    """
    info = video.probe(mp4)
    scale = scale_for(info.width_px, info.height_px)
    held: list[np.ndarray] = []
    recent: deque[float] = deque(maxlen=RECENT_FRAMES)
    first, cut = 0, True
    for number, rgb in video.read_frames(mp4):
        picture = reduced(rgb, scale)
        apart = float(cv2.absdiff(held[-1], picture).mean()) if held else 0.0
        new = apart > SUDDEN * max(recent, default=0.0) and is_cut(held[-1], picture, change_share, tolerance)
        recent.append(apart)
        if new or len(held) * picture.nbytes >= HELD_BYTES:
            yield Scene(first, cut, held, scale)
            held, first, cut = [], number, new
        held.append(picture)
    if held:
        yield Scene(first, cut, held, scale)


def is_cut(before: np.ndarray, after: np.ndarray, change_share: float, tolerance: float) -> bool:
    """Whether a picture is a new one, not the one before with parts changed or all of it shifted."""
    changed = changed_blocks(before, after, 2 * tolerance)
    if changed.mean() <= change_share:
        return False
    return shift_between(before, after, changed) is None
