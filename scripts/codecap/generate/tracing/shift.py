"""Whether one picture is another one shifted, in whole or in a large part."""

from __future__ import annotations

import cv2
import numpy as np

from codecap.generate.tracing.differences import BLOCK_PX

SMALLEST_SHARE = 0.2  # of the picture; what is smaller is an object that moves
LEAST_CHANGED_SHARE = 0.25  # of the part that is shifted
LEAST_EXPLAINED = 0.6  # share of the changed blocks that a shift must explain


def shift_between(before: np.ndarray, after: np.ndarray, changed: np.ndarray) -> tuple[float, float] | None:
    """The one shift that explains most of what changed, or None.

    Args:
        before, after: uint8 RGB `(height, width, 3)`.
        changed: bool `(rows, columns)`, the blocks of 8x8 pixels that differ.

    Returns:
        Displacement x, y in pixels.
    """
    if not changed.any():
        return None
    x, y, width, height = _area(changed, before.shape)
    if width * height < SMALLEST_SHARE * before.shape[0] * before.shape[1] or min(width, height) < 2 * BLOCK_PX:
        return None
    if changed.sum() * BLOCK_PX**2 < LEAST_CHANGED_SHARE * width * height:
        return None
    one, other = (_grey(picture[y : y + height, x : x + width]) for picture in (before, after))
    (dx, dy), _ = cv2.phaseCorrelate(one, other, cv2.createHanningWindow((width, height), cv2.CV_32F))
    if np.hypot(dx, dy) < 0.4 or abs(dx) > 0.6 * width or abs(dy) > 0.6 * height:
        return None
    return (dx, dy) if _explained(one, other, dx, dy) >= LEAST_EXPLAINED else None


def _explained(one: np.ndarray, other: np.ndarray, dx: float, dy: float) -> float:
    """Share of the blocks with a say (they changed, or stood still though they have detail) that a shift agrees with."""
    height, width = one.shape
    shifted = cv2.warpAffine(one, np.array([[1, 0, dx], [0, 1, dy]], np.float64), (width, height), flags=cv2.INTER_LINEAR)
    known = cv2.warpAffine(np.ones_like(one), np.array([[1, 0, dx], [0, 1, dy]], np.float64), (width, height)) > 0.99
    size = (width // BLOCK_PX, height // BLOCK_PX)

    def by_block(values: np.ndarray) -> np.ndarray:
        return cv2.resize(values.astype(np.float32), size, interpolation=cv2.INTER_AREA)

    at_rest, moved = by_block(np.abs(one - other)), by_block(np.abs(shifted - other))
    inside = by_block(known) > 0.99
    changed = inside & (at_rest > 3.0)
    still = inside & (at_rest <= 1.0) & (moved > 6.0)
    agreed = changed & (moved < 0.5 * at_rest)
    return float(agreed.sum() / max(changed.sum() + still.sum(), 1))


def _area(blocks: np.ndarray, shape: tuple[int, ...]) -> tuple[int, int, int, int]:
    rows, columns = np.flatnonzero(blocks.any(axis=1)), np.flatnonzero(blocks.any(axis=0))
    if not len(rows):
        return 0, 0, 0, 0
    height, width = shape[:2]
    x, y = int(columns[0]) * BLOCK_PX, int(rows[0]) * BLOCK_PX
    right = width if columns[-1] + 1 == blocks.shape[1] else (int(columns[-1]) + 1) * BLOCK_PX
    bottom = height if rows[-1] + 1 == blocks.shape[0] else (int(rows[-1]) + 1) * BLOCK_PX
    return x, y, right - x, bottom - y


def _grey(rgb: np.ndarray) -> np.ndarray:
    return cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY).astype(np.float32)
