"""Small drawn scenes whose boxes are known, as canonical clips."""

from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np

from codecap.records import AnnotatedObject, Clip
from codecap.video import CanonicalWriter, file_sha256

WIDTH_PX, HEIGHT_PX = 320, 200
SKY = (225, 232, 240)

Place = Callable[[int], tuple[float, float] | None]  # upper left corner by frame; None when not there


class Thing:
    """A picture of fixed size that goes where it is told."""

    def __init__(self, name: str, kind: str, colour: tuple[int, int, int], size: tuple[int, int], place: Place) -> None:
        self.name, self.place, self.size = name, place, size
        width, height = size
        self.rgb = np.full((height, width, 3), colour, np.uint8)
        self.mask = np.ones((height, width), bool)
        dark = tuple(int(level * 0.5) for level in colour)
        if kind == "disc":
            mask = np.zeros((height, width), np.uint8)
            cv2.ellipse(mask, (width // 2, height // 2), (width // 2, height // 2), 0, 0, 360, 1, -1)
            self.mask = mask > 0
        elif kind == "card":
            self.rgb[height // 2 :, : width // 3] = dark
            self.rgb[4:8, 4:-4] = (250, 250, 250)

    def box(self, frame: int) -> tuple[float, float, float, float] | None:
        """The visible box: what of it lies in the picture, as the mask fills its whole size."""
        corner = self.place(frame)
        if corner is None:
            return None
        ys, xs = np.nonzero(self.mask)
        x0, y0 = corner[0] + xs.min(), corner[1] + ys.min()
        x1, y1 = corner[0] + xs.max() + 1, corner[1] + ys.max() + 1
        x0, y0, x1, y1 = max(x0, 0), max(y0, 0), min(x1, WIDTH_PX), min(y1, HEIGHT_PX)
        return (float(x0), float(y0), float(x1), float(y1)) if x1 > x0 and y1 > y0 else None

    def draw(self, rgb: np.ndarray, frame: int) -> None:
        corner = self.place(frame)
        if corner is None:
            return
        left, top = int(corner[0]), int(corner[1])
        ys, xs = np.nonzero(self.mask)
        inside = (ys + top >= 0) & (ys + top < rgb.shape[0]) & (xs + left >= 0) & (xs + left < rgb.shape[1])
        rgb[ys[inside] + top, xs[inside] + left] = self.rgb[ys[inside], xs[inside]]

    def annotated(self, frames: int) -> AnnotatedObject:
        return AnnotatedObject(name=self.name, boxes_xyxy=[self.box(frame) for frame in range(frames)])


def backdrop() -> np.ndarray:
    """Two bands and a few marks, so that the ground is neither empty nor busy."""
    rgb = np.full((HEIGHT_PX, WIDTH_PX, 3), SKY, np.uint8)
    rgb[150:] = (120, 150, 120)
    for x in range(20, WIDTH_PX, 60):
        cv2.line(rgb, (x, 150), (x + 8, 132), (70, 110, 70), 2)
    return rgb


def film(mp4: Path, things: list[Thing], frames: int, step_px: tuple[int, int] = (0, 0), black: bool = False) -> Clip:
    """Draw a clip; `step_px` moves the whole picture, what is bared is black."""
    with CanonicalWriter(mp4, WIDTH_PX, HEIGHT_PX) as writer:
        for frame in range(frames):
            rgb = backdrop()
            for thing in things:
                thing.draw(rgb, frame)
            shift = np.float32([[1, 0, step_px[0]], [0, 1, step_px[1]]])
            writer.add(np.zeros_like(rgb) if black else cv2.warpAffine(rgb, shift, (WIDTH_PX, HEIGHT_PX)))
    return Clip(
        clip_id=mp4.stem,
        category="F",
        mp4=mp4,
        sha256=file_sha256(mp4),
        frames=frames,
        width_px=WIDTH_PX,
        height_px=HEIGHT_PX,
    )
