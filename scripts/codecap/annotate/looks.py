"""What objects look like on each frame: small pictures of what is in their boxes, made in a decoding that may serve others too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from codecap.boxes import clipped
from codecap.records import AnnotatedObject

LONG_SIDE_PX = 640  # frames are made smaller to this before objects are cut out of them
SIDE_PX = 6  # of a small picture


@dataclass(frozen=True)
class Looks:
    """Small pictures of objects.

    Attributes:
        pictures: by object, float32 `(frames, SIDE_PX, SIDE_PX, 3)`, RGB of 0-255; NaN where there is no box.
    """

    pictures: Mapping[str, np.ndarray]

    def typical(self, name: str) -> np.ndarray:
        """What an object mostly looks like, `(SIDE_PX, SIDE_PX, 3)`; NaN for one that is nowhere."""
        seen = self.pictures[name]
        seen = seen[~np.isnan(seen[:, 0, 0, 0])]
        return np.median(seen, axis=0) if len(seen) else np.full(self.pictures[name].shape[1:], np.nan)

    def apart(self, name: str, look: np.ndarray) -> np.ndarray:
        """How far an object is from a look, `(frames,)` in levels: the mean difference of the pictures; NaN without a box."""
        return np.abs(self.pictures[name] - look).mean(axis=(1, 2, 3))


class LooksWatcher:
    """Takes the small pictures from the frames that it is shown; those that it is not shown have none.

    Args:
        objects: with one box a frame, in canonical pixels.
        frames: of the clip.
    """

    wanted = None

    def __init__(self, objects: Sequence[AnnotatedObject], frames: int) -> None:
        self._boxes = {item.name: item.boxes_xyxy for item in objects if len(item.boxes_xyxy) == frames}
        self._pictures = {name: np.full((frames, SIDE_PX, SIDE_PX, 3), np.nan, np.float32) for name in self._boxes}

    def see(self, frame: int, rgb: np.ndarray) -> None:
        """A frame, uint8 RGB `(height, width, 3)`."""
        height_px, width_px = rgb.shape[:2]
        there = {name: boxes[frame] for name, boxes in self._boxes.items() if frame < len(boxes) and boxes[frame] is not None}
        if not there:
            return
        scale = min(1.0, LONG_SIDE_PX / max(height_px, width_px))
        small = rgb if scale == 1 else cv2.resize(rgb, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        for name, box in there.items():
            inside = clipped(box, width_px, height_px)
            if inside is None:
                continue
            x0, y0 = int(inside[0] * scale), int(inside[1] * scale)
            x1, y1 = max(round(inside[2] * scale), x0 + 1), max(round(inside[3] * scale), y0 + 1)
            cut = small[y0:y1, x0:x1]
            if cut.size:
                self._pictures[name][frame] = cv2.resize(cut, (SIDE_PX, SIDE_PX), interpolation=cv2.INTER_AREA)

    def looks(self) -> Looks:
        return Looks(self._pictures)
