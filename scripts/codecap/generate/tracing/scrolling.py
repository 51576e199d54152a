"""Scrolling: a large part of the picture that moves as one, in whole or inside a frame that stands still."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from codecap.generate.tracing.differences import BLOCK_PX, changed_blocks

SMALLEST_SHARE = 0.2  # of the picture; what is smaller is an object that moves
LEAST_EXPLAINED = 0.6  # share of the changed blocks that a shift must explain
LEAST_CHANGED_SHARE = 0.25  # of an area must change for it to be one that scrolls
FEWEST_STEPS = 4
SHORTEST_PATH_PX = 10.0
ANCHOR_SHARE = 0.3  # of the area's side: past it, shifts are measured against a nearer picture


@dataclass(frozen=True)
class Scroll:
    """An area and how far its content has moved at each frame of a scene.

    Attributes:
        x, y, width, height: the area, in pixels of the scene's pictures.
        offsets: float `(frames, 2)`: displacement in x and y since the scene's first frame.
    """

    x: int
    y: int
    width: int
    height: int
    offsets: np.ndarray


def find_scroll(pictures: list[np.ndarray], tolerance: float) -> Scroll | None:
    """The area of a scene that scrolls, or None.

    Args:
        pictures: each uint8 RGB `(height, width, 3)`.
        tolerance: grey levels that count as a change.
    """
    moved = np.zeros(changed_blocks(pictures[0], pictures[0], tolerance).shape, int)
    steps, path_px = [], 0.0
    for number in range(1, len(pictures)):
        before, after = pictures[number - 1], pictures[number]
        changed = changed_blocks(before, after, tolerance)
        if changed.mean() < SMALLEST_SHARE / 4:
            continue
        shift = shift_between(before, after, changed)
        if shift is not None:
            moved += changed
            steps.append(number)
            path_px += float(np.hypot(*shift))
    if len(steps) < FEWEST_STEPS or path_px < SHORTEST_PATH_PX:
        return None
    x, y, width, height = _area(moved >= max(1, len(steps) // 20), pictures[0].shape)
    inner = [picture[y : y + height, x : x + width] for picture in pictures]
    return Scroll(x, y, width, height, _offsets(inner, tolerance))


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


def _offsets(inner: list[np.ndarray], tolerance: float) -> np.ndarray:
    """Displacement of each frame's content since the first, measured against pictures a way back so that errors do not add up."""
    height, width = inner[0].shape[:2]
    window = cv2.createHanningWindow((width, height), cv2.CV_32F)
    offsets = np.zeros((len(inner), 2))
    anchor, anchor_offset = _grey(inner[0]), np.zeros(2)
    for number in range(1, len(inner)):
        offsets[number] = offsets[number - 1]
        if changed_blocks(inner[number - 1], inner[number], tolerance).mean() < SMALLEST_SHARE / 4:
            continue
        before, after = _grey(inner[number - 1]), _grey(inner[number])
        step = np.array(cv2.phaseCorrelate(before, after, window)[0])
        if _explained(before, after, *step) < LEAST_EXPLAINED / 2:
            continue
        offsets[number] += step
        since = offsets[number] - anchor_offset
        if np.all(np.abs(since) < ANCHOR_SHARE * np.array([width, height])):
            whole = np.round(since)
            overlap = _overlap(anchor, after, whole)
            rest = np.array(cv2.phaseCorrelate(*overlap, cv2.createHanningWindow(overlap[0].shape[::-1], cv2.CV_32F))[0])
            if np.all(np.abs(rest) < 1.5):
                offsets[number] = anchor_offset + whole + rest
        else:
            anchor, anchor_offset = after, offsets[number].copy()
    near_whole = np.abs(offsets - np.round(offsets)) < 0.15
    return np.where(near_whole, np.round(offsets), offsets)


def _overlap(one: np.ndarray, other: np.ndarray, shift: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    dx, dy = int(shift[0]), int(shift[1])
    height, width = one.shape
    first = one[max(0, -dy) : height - max(0, dy), max(0, -dx) : width - max(0, dx)]
    second = other[max(0, dy) : height - max(0, -dy), max(0, dx) : width - max(0, -dx)]
    return np.ascontiguousarray(first), np.ascontiguousarray(second)


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
