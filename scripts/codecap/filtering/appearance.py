"""How complex a picture looks: its palette, how much of it is flat, where its gradients are, how much texture and noise it has.

Everything is measured on small copies, 320 px wide. Blocks are 8 x 8 px of a small copy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np

WIDTH_PX = 320  # of the small copies; height as the picture's shape gives,
HIGHEST_PX = 4 * WIDTH_PX  # but no more than this
BLOCK_PX = 8
FLAT_GRADIENT = 2  # grey levels: a pixel is flat when it differs by no more from its right and lower neighbours
SOFT_GRADIENT = 24  # grey levels: a pixel that is not flat is soft up to here, and an edge above
SOFT_SHARE = 0.35  # texture with more soft pixels is soft, as in photographs; that of drawings is of edges
TEXTURE_FLAT_SHARE = 0.35  # a block with fewer flat pixels is texture
STEEPEST_SHARE = 0.05  # of the pixels: what a drawing's gradient is concentrated on
COLOUR_COVER = 0.95  # share of the pixels that the counted colours cover
NOISY_LEVELS = 0.8  # standard deviation above which a small copy is cleaned by a 3 x 3 median
PATTERN_LEVELS = 3.0  # and above which it is no noise but a pattern that belongs to the picture


@dataclass(frozen=True)
class Look:
    """One small copy, cleaned where it is noisy, and what was measured on it.

    Attributes:
        rgb: uint8 `(height, WIDTH_PX, 3)`.
        texture, soft: bool `(height // 8, width // 8)`: blocks that are texture, and those whose texture is soft.
        noise_levels: of the copy before it was cleaned.
    """

    rgb: np.ndarray
    texture: np.ndarray
    soft: np.ndarray
    flat_share: float
    colours: int
    edge_share: float
    noise_levels: float
    cleaned: bool


def look_at(rgb: np.ndarray) -> Look:
    """Measure a picture, uint8 RGB of any size."""
    small, noise, cleaned = clean_copy(rgb)
    steps = gradient(small)
    flat, soft = steps <= FLAT_GRADIENT, (steps > FLAT_GRADIENT) & (steps <= SOFT_GRADIENT)
    texture = block_means(flat) < TEXTURE_FLAT_SHARE
    return Look(
        rgb=small,
        texture=texture,
        soft=texture & (block_means(soft) > SOFT_SHARE),
        flat_share=float(flat.mean()),
        colours=covering_colours(small),
        edge_share=edge_share(steps),
        noise_levels=noise,
        cleaned=cleaned,
    )


def clean_copy(rgb: np.ndarray) -> tuple[np.ndarray, float, bool]:
    """A small copy without noise, the noise that it had in grey levels, and whether it had to be cleaned."""
    small = small_copy(rgb)
    noise = noise_levels(small)
    noisy = NOISY_LEVELS < noise <= PATTERN_LEVELS
    return (cv2.medianBlur(small, 3) if noisy else small), noise, noisy


def small_copy(rgb: np.ndarray) -> np.ndarray:
    """uint8 RGB `(h, WIDTH_PX, 3)`: averaged down, or enlarged by repeating pixels. A small copy of a small copy is the same.

    A picture more than four times as high as it is wide is made lower: it would have no bound.
    """
    height_px = min(max(BLOCK_PX, round(WIDTH_PX * rgb.shape[0] / rgb.shape[1])), HIGHEST_PX)
    way = cv2.INTER_AREA if rgb.shape[1] >= WIDTH_PX else cv2.INTER_NEAREST
    return cv2.resize(rgb, (WIDTH_PX, height_px), interpolation=way)


def gradient(rgb: np.ndarray) -> np.ndarray:
    """int16 `(height, width)`: by how many levels a pixel differs from its right and lower neighbours, the largest channel."""
    wide = rgb.astype(np.int16)
    right = np.abs(np.diff(wide, axis=1, append=wide[:, -1:])).max(axis=2)
    lower = np.abs(np.diff(wide, axis=0, append=wide[-1:])).max(axis=2)
    return np.maximum(right, lower)


def block_means(picture: np.ndarray) -> np.ndarray:
    """Mean over each whole block of a `(height, width)` picture: float `(height // 8, width // 8)`."""
    rows, columns = picture.shape[0] // BLOCK_PX, picture.shape[1] // BLOCK_PX
    whole = picture[: rows * BLOCK_PX, : columns * BLOCK_PX].astype(np.float32)
    return whole.reshape(rows, BLOCK_PX, columns, BLOCK_PX).mean(axis=(1, 3))


def covering_colours(rgb: np.ndarray) -> int:
    """Number of 5-bit colours (32 levels a channel) that together cover 95 % of the pixels, the most frequent first."""
    five = (rgb >> 3).astype(np.int32)
    counts = np.bincount(((five[..., 0] << 10) | (five[..., 1] << 5) | five[..., 2]).ravel())
    counts = np.sort(counts[counts > 0])[::-1]
    return int(np.searchsorted(np.cumsum(counts), COLOUR_COVER * counts.sum()) + 1)


def edge_share(steps: np.ndarray) -> float:
    """Share of all gradient that lies on the steepest 5 % of the pixels; 1 where there is none at all.

    Args:
        steps: as `gradient` gives them.

    >>> edge_share(np.eye(40, dtype=np.int16)), edge_share(np.ones((40, 40), np.int16))
    (1.0, 0.05)
    """
    total = float(steps.sum())
    if not total:
        return 1.0
    count = round(STEEPEST_SHARE * steps.size)
    return float(np.partition(steps.ravel(), steps.size - count)[steps.size - count :].sum()) / total


def noise_levels(rgb: np.ndarray) -> float:
    """Standard deviation of the noise in grey levels: the quietest tenth of the 8 x 8 blocks, by Immerkaer's operator.

    Source: J. Immerkaer, Fast noise variance estimation, CVIU 64(2), 1996: mean |L * picture| * sqrt(pi / 2) / 6 with
    L = [[1, -2, 1], [-2, 4, -2], [1, -2, 1]]. Quiet blocks are taken, since lines and texture look like noise to it.
    """
    grey = cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY).astype(np.float32)
    kernel = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], np.float32)
    answer = np.abs(cv2.filter2D(grey, cv2.CV_32F, kernel, borderType=cv2.BORDER_REFLECT_101))
    return float(np.percentile(block_means(answer), 10) * math.sqrt(math.pi / 2) / 6)
