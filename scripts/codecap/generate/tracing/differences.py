"""Where two pictures differ: by pixel, by block, and as connected regions."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

BLOCK_PX = 8
MERGE_PX = 3  # changed pixels this near to one another belong to one region
SMALLEST_REGION_PX = 8  # fewer changed pixels are noise
FAINTEST_PEAK = 2.0  # a region has some pixel that differs by this many times the tolerance


@dataclass(frozen=True)
class Region:
    """A connected region of changed pixels.

    Attributes:
        x, y: its upper left corner.
        mask: bool `(height, width)`: its pixels.
        contrast: by how many grey levels they differ, summed over them.
    """

    x: int
    y: int
    mask: np.ndarray
    contrast: float

    @property
    def width(self) -> int:
        return self.mask.shape[1]

    @property
    def height(self) -> int:
        return self.mask.shape[0]

    @property
    def area(self) -> int:
        return int(np.count_nonzero(self.mask))


def difference(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Largest difference over the channels, averaged over 3x3 pixels: noise of single pixels goes, flat changes stay.

    Args:
        one, other: uint8 `(height, width, 3)`.

    Returns:
        uint8 `(height, width)`, grey levels.
    """
    return cv2.blur(largest_channel(cv2.absdiff(one, other)), (3, 3))


def largest_channel(picture: np.ndarray) -> np.ndarray:
    """Largest value over the channels of a `(height, width, 3)` picture: `(height, width)`."""
    first, second, third = cv2.split(picture)
    return cv2.max(cv2.max(first, second), third)


def changed_blocks(one: np.ndarray, other: np.ndarray, tolerance: float) -> np.ndarray:
    """Which blocks of 8x8 pixels have some pixel that differs by more than the tolerance: bool `(rows, columns)`."""
    over = (difference(one, other) > tolerance).astype(np.float32)
    height, width = over.shape
    rows, columns = max(height // BLOCK_PX, 1), max(width // BLOCK_PX, 1)
    return cv2.resize(over, (columns, rows), interpolation=cv2.INTER_AREA) > 1.0 / BLOCK_PX**2


def regions(changed: np.ndarray, strength: np.ndarray, tolerance: float) -> list[Region]:
    """Connected regions of a mask, each with what it encloses, without those that are only noise.

    Args:
        changed: bool `(height, width)`.
        strength: `difference` of the pictures, `(height, width)`.
        tolerance: grey levels that count as a change.
    """
    kernel = np.ones((MERGE_PX, MERGE_PX), np.uint8)
    near = cv2.dilate(changed.astype(np.uint8), kernel)
    outlines, _ = cv2.findContours(near, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    cv2.drawContours(near, outlines, -1, 1, cv2.FILLED)
    count, labels, boxes, _ = cv2.connectedComponentsWithStats(near, connectivity=8)
    found = []
    for label in range(1, count):
        x, y, width, height, _ = boxes[label]
        place = np.s_[y : y + height, x : x + width]
        mask = (labels[place] == label) & changed[place]
        inside = np.count_nonzero(mask)
        if inside < SMALLEST_REGION_PX or strength[place][mask].max() < FAINTEST_PEAK * tolerance:
            continue
        found.append(_tight(int(x), int(y), mask, float(strength[place][mask].sum())))
    return found


def filled(mask: np.ndarray) -> np.ndarray:
    """A mask with its small gaps closed and its inner holes filled: the solid body of a region of which only edges differ."""
    size = 3 if min(mask.shape) < 24 else 7
    padded = np.pad(mask.astype(np.uint8), size)
    closed = cv2.morphologyEx(padded, cv2.MORPH_CLOSE, np.ones((size, size), np.uint8))
    outlines, _ = cv2.findContours(closed, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    solid = np.zeros_like(closed)
    cv2.drawContours(solid, outlines, -1, 1, cv2.FILLED)
    return solid[size:-size, size:-size].astype(bool) | mask


def _tight(x: int, y: int, mask: np.ndarray, contrast: float) -> Region:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    top, left = int(rows[0]), int(columns[0])
    return Region(x + left, y + top, mask[top : rows[-1] + 1, left : columns[-1] + 1], contrast)
