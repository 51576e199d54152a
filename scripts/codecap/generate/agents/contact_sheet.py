"""Reference and page side by side: one picture of several instants, and how alike the two are at each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

LONGEST_PX = 2000  # side of a sheet
MOST_PAIRS = 24  # on one sheet; of more instants, evenly spaced ones
LABEL_PX, GAP_PX = 22, 6
GROUND, INK = 128, (255, 255, 255)


@dataclass(frozen=True)
class Pair:
    """One instant: uint8 RGB `(height, width, 3)` of one size.

    Attributes:
        ssim: as metric KSS has it, in [-1, 1].
    """

    time_s: float
    reference: np.ndarray
    page: np.ndarray
    ssim: float


def pairs_of(mp4: Path, pictures: dict[int, bytes]) -> list[Pair]:
    """Each drawn frame beside the reference's.

    Args:
        mp4: the reference.
        pictures: PNG files by frame number.
    """
    from codecap.clock import time_of
    from codecap.score.kss import ssim
    from codecap.video import read_frames

    made = []
    for frame in sorted(pictures):
        page = cv2.cvtColor(cv2.imdecode(np.frombuffer(pictures[frame], np.uint8), cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)
        _, reference = next(iter(read_frames(mp4, frame, frame + 1)))
        made.append(Pair(time_of(frame), reference, page, ssim(reference, page)))
    return made


def sheet(pairs: Sequence[Pair]) -> bytes:
    """PNG: a row of pairs after another, each the reference on the left and the page on the right, under its time and SSIM."""
    shown = _spread(pairs)
    height_px, width_px = shown[0].reference.shape[:2]
    columns, scale = _layout(len(shown), width_px, height_px)
    tile = (max(int(width_px * scale), 1), max(int(height_px * scale), 1))
    across, down = 2 * tile[0] + 3 * GAP_PX, tile[1] + LABEL_PX + GAP_PX
    canvas = np.full((math.ceil(len(shown) / columns) * down, columns * across, 3), GROUND, np.uint8)
    for at, pair in enumerate(shown):
        top, left = at // columns * down, at % columns * across
        told = f"{pair.time_s:.3f} s   reference | page   SSIM {pair.ssim:.3f}"
        cv2.putText(canvas, told, (left + GAP_PX, top + LABEL_PX - 6), cv2.FONT_HERSHEY_SIMPLEX, 0.42, INK, 1, cv2.LINE_AA)
        for side, picture in enumerate((pair.reference, pair.page)):
            x = left + GAP_PX + side * (tile[0] + GAP_PX)
            small = cv2.resize(picture, tile, interpolation=cv2.INTER_AREA)
            canvas[top + LABEL_PX : top + LABEL_PX + tile[1], x : x + tile[0]] = small
    written, png = cv2.imencode(".png", cv2.cvtColor(canvas, cv2.COLOR_RGB2BGR))
    if not written:
        raise RuntimeError(f"a sheet of shape {canvas.shape} cannot be written as PNG")
    return png.tobytes()


def _spread(pairs: Sequence[Pair]) -> Sequence[Pair]:
    if len(pairs) <= MOST_PAIRS:
        return pairs
    return [pairs[round(k * (len(pairs) - 1) / (MOST_PAIRS - 1))] for k in range(MOST_PAIRS)]


def _layout(count: int, width_px: int, height_px: int) -> tuple[int, float]:
    """How many pairs stand side by side, and the largest scale, at most 1, at which all fit."""

    def scale(columns: int) -> float:
        rows = math.ceil(count / columns)
        by_width = (LONGEST_PX / columns - 3 * GAP_PX) / (2 * width_px)
        by_height = (LONGEST_PX / rows - LABEL_PX - GAP_PX) / height_px
        return min(1.0, by_width, by_height)

    best = max(range(1, count + 1), key=lambda columns: (scale(columns), -columns))
    return best, scale(best)
