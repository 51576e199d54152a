"""Which of a picture's changes are parts of it that were shifted: scrolling is, a turning globe or a perspective floor is not."""

from __future__ import annotations

import cv2
import numpy as np

SHIFTS = 4  # the shifts that are tried
DIFFERENT_LEVELS = 30  # a pixel is not explained when it differs from all shifted pictures by more grey levels


def unexplained_pixels(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Bool `(height, width)`: pixels of `after` that no likely shift of `before` gives, to within one pixel.

    Args:
        before, after: uint8 RGB pictures of one shape.
    """
    distance = cv2.absdiff(before, after).max(axis=2)
    for rows, columns in likely_shifts(before, after):
        shifted = np.roll(before, (rows, columns), (0, 1))
        for row in (-1, 0, 1):
            for column in (-1, 0, 1):
                near = np.roll(shifted, (row, column), (0, 1))
                np.minimum(distance, cv2.absdiff(near, after).max(axis=2), out=distance)
    return distance > DIFFERENT_LEVELS


def likely_shifts(before: np.ndarray, after: np.ndarray) -> list[tuple[int, int]]:
    """The `SHIFTS` strongest movements (rows down, columns right) by phase correlation of edges, standing still left out.

    >>> picture = np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8)
    >>> likely_shifts(picture, np.roll(picture, (5, -9), (0, 1)))[0]
    (5, -9)
    """
    ours, theirs = (np.fft.rfft2(_edges(picture)) for picture in (before, after))
    cross = np.conj(ours) * theirs
    peaks = np.fft.irfft2(cross / (np.abs(cross) + 1e-3), before.shape[:2])
    height_px, width_px = peaks.shape
    _erase(peaks, 0, 0)
    found = []
    for _ in range(SHIFTS):
        row, column = (int(place) for place in np.unravel_index(np.argmax(peaks), peaks.shape))
        found.append((row - height_px * (row > height_px // 2), column - width_px * (column > width_px // 2)))
        _erase(peaks, row, column)
    return found


def _edges(rgb: np.ndarray) -> np.ndarray:
    return cv2.Laplacian(cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY).astype(np.float32), cv2.CV_32F)


def _erase(peaks: np.ndarray, row: int, column: int) -> None:
    """Take a peak and its neighbours out, so that the next one is another movement."""
    rows = np.arange(row - 1, row + 2) % peaks.shape[0]
    columns = np.arange(column - 1, column + 2) % peaks.shape[1]
    peaks[np.ix_(rows, columns)] = -np.inf
