"""What a clip looks like in numbers: how flat, how colourful, how much of it changes, and whether what changes is texture.

Everything is measured on small copies (320 px wide) of two frames a second, so a clip is streamed and never held. Blocks are
8 x 8 px of a small copy. The idea behind the numbers: what code can draw is mostly flat colour and sharp edges that stay as they
are while they move; what it cannot draw (photographs, textured 3D, dense simulations) is texture that changes everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from codecap import clock, video
from codecap.filtering.shifts import unexplained_pixels

WIDTH_PX = 320  # of the small copies; height as the picture's shape gives
RATE_HZ = 2.0
BETWEEN = 5  # frames after a small copy at which another one tells whether anything moves: what repeats twice a second does
BLOCK_PX = 8
FLAT_GRADIENT = 2  # grey levels: a pixel is flat when it differs by no more from its right and lower neighbours
SOFT_GRADIENT = 24  # grey levels: a pixel that is not flat is soft up to here, and an edge above
SOFT_SHARE = 0.35  # texture with more soft pixels is soft, as in photographs; that of drawings is of edges
TEXTURE_FLAT_SHARE = 0.35  # a block with fewer flat pixels is texture
CHANGE_LEVELS = 10  # a pixel changes when a channel moves by more grey levels
CHANGED_PIXELS = 4  # a block changes when that many of its 64 pixels do
UNEXPLAINED_SHARE = 0.15  # a block is not a shifted one when more of its pixels are unlike all shifted pictures
COLOUR_COVER = 0.95  # share of the pixels that the counted colours cover
NOISY_LEVELS = 0.8  # standard deviation above which a small copy is cleaned by a 3 x 3 median
PATTERN_LEVELS = 3.0  # and above which it is no noise but a pattern that belongs to the picture


class _Means:
    """Running means of named numbers."""

    def __init__(self) -> None:
        self.count = 0
        self._totals: dict[str, float] = {}

    def add(self, **numbers: float) -> None:
        self.count += 1
        for name, number in numbers.items():
            self._totals[name] = self._totals.get(name, 0.0) + float(number)

    def mean(self, name: str) -> float:
        return self._totals.get(name, 0.0) / max(self.count, 1)


def measure(mp4: Path) -> dict[str, float]:
    """Features of a canonical clip.

    Returns:
        duration_s: length.
        flat_share: mean share of pixels whose gradient is at most `FLAT_GRADIENT`, in [0, 1].
        texture_share: mean share of blocks that are texture, in [0, 1].
        log10_colours: log10 of the mean number of 5-bit colours that cover 95 % of a picture, in [0, 4.52].
        changed_share: mean share of blocks that change from one small copy to the next, in [0, 1].
        changing_texture: mean share of blocks that change and are texture before or after, in [0, 1].
        changing_soft: mean share of blocks that change and are soft texture before or after, in [0, 1].
        unexplained_texture: as changing_texture, without the blocks that are shifted parts of the picture before, in [0, 1].
        root_unexplained: its square root, which tells small shares apart.
        static_share: share of the half seconds in which nothing changes, in [0, 1]; 1 for a clip of one frame.
        noise_levels: median standard deviation of the noise, in grey levels of 255.
        cleaned_share: share of small copies that were cleaned because they are noisy.

    Raises:
        codecap.video.VideoError: the file is no canonical clip, or cannot be decoded.
    """
    frames = video.probe(mp4).frames
    wanted = frames_looked_at(frames)
    pictures = ((index, video.to_rgb(frame)) for index, frame in video.decode(mp4) if index in wanted)
    return measure_pictures(pictures, frames)


def frames_looked_at(frames: int) -> set[int]:
    """Numbers of the frames that `measure_pictures` wants: two a second, and one shortly after each."""
    grid = set(clock.grid(RATE_HZ, frames))
    return {frame for frame in grid | {frame + BETWEEN for frame in grid} if frame < frames}


def measure_pictures(pictures: Iterable[tuple[int, np.ndarray]], frames: int) -> dict[str, float]:
    """As `measure`, of frames that are already decoded: number and uint8 RGB, those of `frames_looked_at(frames)` in order."""
    grid = set(clock.grid(RATE_HZ, frames))
    copies, pairs, noise = _Means(), _Means(), []
    cleaned, before, stirred = 0, None, False
    for index, rgb in pictures:
        small = small_copy(rgb)
        level = noise_levels(small)
        noisy = NOISY_LEVELS < level <= PATTERN_LEVELS
        if noisy:
            small = cv2.medianBlur(small, 3)
        if index not in grid:
            stirred = before is not None and bool(changed_blocks(before.rgb, small).any())
            continue
        noise.append(level)
        cleaned += noisy
        now = _look_at(small)
        copies.add(flat_share=now.flat_share, texture_share=now.texture.mean(), colours=covering_colours(small))
        if before is not None:
            compared = _compare(before, now)
            pairs.add(**compared, static_share=not stirred and compared["changed_share"] == 0)
        before, stirred = now, False
    if not copies.count:
        raise video.VideoError("a clip without any frame cannot be measured")
    return {
        "duration_s": frames / clock.FPS,
        "flat_share": copies.mean("flat_share"),
        "texture_share": copies.mean("texture_share"),
        "log10_colours": math.log10(copies.mean("colours")),
        **{name: pairs.mean(name) for name in ("changed_share", "changing_texture", "changing_soft", "unexplained_texture")},
        "root_unexplained": math.sqrt(pairs.mean("unexplained_texture")),
        "static_share": pairs.mean("static_share") if pairs.count else 1.0,
        "noise_levels": float(np.median(noise)),
        "cleaned_share": cleaned / copies.count,
    }


@dataclass(frozen=True)
class _Look:
    """One small copy and what its blocks are."""

    rgb: np.ndarray
    flat_share: float
    texture: np.ndarray
    soft: np.ndarray


def _look_at(rgb: np.ndarray) -> _Look:
    steps = gradient(rgb)
    flat, soft = steps <= FLAT_GRADIENT, (steps > FLAT_GRADIENT) & (steps <= SOFT_GRADIENT)
    texture = block_means(flat) < TEXTURE_FLAT_SHARE
    return _Look(rgb, float(flat.mean()), texture, texture & (block_means(soft) > SOFT_SHARE))


def _compare(before: _Look, after: _Look) -> dict[str, float]:
    changed = changed_blocks(before.rgb, after.rgb)
    textured = changed & (before.texture | after.texture)
    unexplained = textured
    if textured.any():
        unexplained = textured & (block_means(unexplained_pixels(before.rgb, after.rgb)) > UNEXPLAINED_SHARE)
    return {
        "changed_share": float(changed.mean()),
        "changing_texture": float(textured.mean()),
        "changing_soft": float((changed & (before.soft | after.soft)).mean()),
        "unexplained_texture": float(unexplained.mean()),
    }


def small_copy(rgb: np.ndarray) -> np.ndarray:
    """uint8 RGB `(h, WIDTH_PX, 3)`: averaged down, or enlarged by repeating pixels."""
    height_px = max(BLOCK_PX, round(WIDTH_PX * rgb.shape[0] / rgb.shape[1]))
    way = cv2.INTER_AREA if rgb.shape[1] >= WIDTH_PX else cv2.INTER_NEAREST
    return cv2.resize(rgb, (WIDTH_PX, height_px), interpolation=way)


def gradient(rgb: np.ndarray) -> np.ndarray:
    """int16 `(height, width)`: by how many levels a pixel differs from its right and lower neighbours, the largest channel."""
    wide = rgb.astype(np.int16)
    right = np.abs(np.diff(wide, axis=1, append=wide[:, -1:])).max(axis=2)
    lower = np.abs(np.diff(wide, axis=0, append=wide[-1:])).max(axis=2)
    return np.maximum(right, lower)


def changed_blocks(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Bool `(height // 8, width // 8)`: blocks in which at least `CHANGED_PIXELS` pixels change."""
    changed = cv2.absdiff(before, after).max(axis=2) > CHANGE_LEVELS
    return block_means(changed) * BLOCK_PX**2 >= CHANGED_PIXELS


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


def noise_levels(rgb: np.ndarray) -> float:
    """Standard deviation of the noise in grey levels: the quietest tenth of the 8 x 8 blocks, by Immerkaer's operator.

    Source: J. Immerkaer, Fast noise variance estimation, CVIU 64(2), 1996: mean |L * picture| * sqrt(pi / 2) / 6 with
    L = [[1, -2, 1], [-2, 4, -2], [1, -2, 1]]. Quiet blocks are taken, since lines and texture look like noise to it.
    """
    grey = cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY).astype(np.float32)
    kernel = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], np.float32)
    answer = np.abs(cv2.filter2D(grey, cv2.CV_32F, kernel, borderType=cv2.BORDER_REFLECT_101))
    return float(np.percentile(block_means(answer), 10) * math.sqrt(math.pi / 2) / 6)
