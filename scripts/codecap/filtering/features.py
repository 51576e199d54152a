"""What a clip looks like in numbers, in the three axes of the filter.

*Scene geometry*: does what moves slide, turn and grow in the plane, or does it follow from depth and viewpoint?
*Appearance complexity*: palette, flat areas, where the gradients are, texture, noise.
*Motion structure*: do few things move on paths of their own, or does texture change everywhere?

Two frames a second are looked at and compared, and one a fifth of a second after each, in which points are followed. All on small
copies (320 px wide), one after another: a clip is streamed and never held. The idea behind the numbers: what code can draw is
mostly flat colour and sharp edges that stay as they are while they move; what it cannot draw (photographs, textured 3D, dense
simulations) is texture that changes everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from pathlib import Path

import cv2
import numpy as np

from codecap import clock, video
from codecap.collect.picture import ToneCurve, Viewer
from codecap.filtering.appearance import BLOCK_PX, WIDTH_PX, Look, block_means, clean_copy, look_at
from codecap.filtering.motions import FEWEST, motion_between

RATE_HZ = 2
STEP = clock.FPS // RATE_HZ
BETWEEN = 5  # frames after a looked-at one at which points are followed, and what repeats twice a second is seen to move
CHANGE_LEVELS = 10  # a pixel changes when a channel moves by more grey levels
CHANGED_PIXELS = 4  # a block changes when that many of its 64 pixels do
STILL_LEVELS = 6  # grey levels by which a block's mean may move while nothing does


def wants(frame: int) -> bool:
    """Whether a frame is looked at: two a second, and one shortly after each."""
    return frame % STEP in (0, BETWEEN)


def frames_looked_at(frames: int) -> set[int]:
    """Numbers of the frames of a clip that `measure_pictures` wants."""
    return {frame for frame in range(frames) if wants(frame)}


def measure(mp4: Path) -> dict[str, float]:
    """Features of a canonical clip, see `Measurement.features`.

    Raises:
        codecap.video.VideoError: the file is no canonical clip, or cannot be decoded.
    """
    return measure_pictures(_pictures(mp4), video.probe(mp4).frames)


def _pictures(mp4: Path) -> Iterator[tuple[int, np.ndarray]]:
    viewer: Viewer | None = None
    for index, frame in video.decode(mp4):
        if wants(index):
            viewer = viewer or Viewer(frame, None, ToneCurve())
            yield index, viewer.rgb(frame, width_before(viewer.width_px))


def width_before(width_px: int) -> int:
    """To which width a picture is brought, by means over areas, before its small copy is made: to half of one that is far larger,
    whose colours cost a fifth then."""
    return width_px if width_px < 4 * WIDTH_PX else 2 * round(width_px / 4)


def measure_pictures(pictures: Iterable[tuple[int, np.ndarray]], frames: int) -> dict[str, float]:
    """As `measure`, of frames that are already decoded: number and uint8 RGB in order; those that `wants` does not want are passed
    over."""
    measurement = Measurement()
    for frame, rgb in pictures:
        if wants(frame):
            measurement.add(frame, rgb)
    return measurement.features(frames)


class Measurement:
    """Measures a clip while its frames pass, for whom a clip's end is not known in advance.

    >>> clip = Measurement()
    >>> for frame in (0, 5, 12):
    ...     clip.add(frame, np.zeros((180, 320, 3), np.uint8))
    >>> clip.features(frames=13)["static_share"]
    1.0
    """

    def __init__(self) -> None:
        self._copies, self._pairs, self._followed = _Means(), _Means(), _Means()
        self._noise: list[float] = []
        self._before: Look | None = None
        self._moved = False

    def add(self, frame: int, rgb: np.ndarray) -> None:
        """The next frame that `wants` wants: its number from the clip's start, and uint8 RGB of any size."""
        if frame % STEP:
            self._follow(clean_copy(rgb)[0])
            return
        now = look_at(rgb)
        self._noise.append(now.noise_levels)
        self._copies.add(
            flat_share=now.flat_share,
            texture_share=now.texture.mean(),
            log2_colours=math.log2(now.colours),
            edge_share=now.edge_share,
            cleaned_share=now.cleaned,
        )
        if self._before is not None:
            compared = _compare(self._before, now)
            self._pairs.add(**compared, static_share=not self._moved and stands_still(self._before.rgb, now.rgb))
        self._before, self._moved = now, False

    def _follow(self, small: np.ndarray) -> None:
        if self._before is None or not changed_blocks(self._before.rgb, small).any():
            return
        self._moved = self._moved or not stands_still(self._before.rgb, small)
        motion = motion_between(self._before.rgb, small)
        self._followed.add(lost_share=motion.lost_share)
        if motion.moving >= FEWEST:
            self._followed.add(sheared_share=motion.sheared_share)
            self._followed.add(motion.moving, rigid_share=motion.rigid_share, log2_vectors=math.log2(motion.vectors))

    def features(self, frames: int) -> dict[str, float]:
        """The numbers; means over the frames that were looked at, or over the half seconds between them.

        Args:
            frames: the clip's length.

        Returns:
            duration_s: length.
            flat_share: share of pixels whose gradient is at most `FLAT_GRADIENT`.
            edge_share: share of all gradient that lies on the steepest 5 % of the pixels.
            log2_colours: log2 of the number of 5-bit colours that cover 95 % of a picture, in [0, 15].
            texture_share: share of blocks that are texture.
            noise_levels: median standard deviation of the noise, in grey levels of 255.
            cleaned_share: share of small copies that were cleaned because they are noisy.
            changed_share: share of blocks that change in half a second.
            changing_soft: share of blocks that change and are soft texture before or after.
            textured_change: share of the changing blocks that are texture before or after.
            root_sheared: square root, which tells small shares apart, of the share of the picture that is sheared, as by depth or
                by turning out of the plane, while it moves.
            lost_share: share of the picture in which points cannot be followed, where something changes.
            rigid_share: share of the moving points that three motions in the plane explain; 1 where nothing moves.
            log2_vectors: log2 of the number of vectors by which nine tenths of the moving points move.
            static_share: share of the half seconds that `stands_still`; 1 for a clip of one frame.

        Raises:
            codecap.video.VideoError: no frame was added.
        """
        copies, pairs, followed = self._copies, self._pairs, self._followed
        if not self._noise:
            raise video.VideoError("a clip without any frame cannot be measured")
        changed = pairs.mean("changed_share")
        return {
            "duration_s": frames / clock.FPS,
            "root_sheared": math.sqrt(followed.mean("sheared_share")),
            **{name: copies.mean(name) for name in ("flat_share", "edge_share", "log2_colours", "texture_share")},
            "noise_levels": float(np.median(self._noise)),
            "cleaned_share": copies.mean("cleaned_share"),
            "changed_share": changed,
            "changing_soft": pairs.mean("changing_soft"),
            "textured_change": pairs.mean("changing_texture") / changed if changed else 0.0,
            "lost_share": followed.mean("lost_share"),
            "rigid_share": followed.mean("rigid_share", none=1.0),
            "log2_vectors": followed.mean("log2_vectors"),
            "static_share": pairs.mean("static_share", none=1.0),
        }


class _Means:
    """Running means of named numbers, each weighted."""

    def __init__(self) -> None:
        self._totals: dict[str, tuple[float, float]] = {}

    def add(self, weight: float = 1.0, /, **numbers: float) -> None:
        for name, number in numbers.items():
            total, weights = self._totals.get(name, (0.0, 0.0))
            self._totals[name] = (total + weight * float(number), weights + weight)

    def mean(self, name: str, none: float = 0.0) -> float:
        """The mean, or `none` of what never occurred."""
        total, weights = self._totals.get(name, (0.0, 0.0))
        return total / weights if weights else none


def _compare(before: Look, after: Look) -> dict[str, float]:
    changed = changed_blocks(before.rgb, after.rgb)
    return {
        "changed_share": float(changed.mean()),
        "changing_texture": float((changed & (before.texture | after.texture)).mean()),
        "changing_soft": float((changed & (before.soft | after.soft)).mean()),
    }


def stands_still(before: np.ndarray, after: np.ndarray) -> bool:
    """Whether the mean of no block moves by more than `STILL_LEVELS`, as where only an encoder makes a picture better and worse."""
    rows, columns = before.shape[0] // BLOCK_PX, before.shape[1] // BLOCK_PX
    whole = (picture[: rows * BLOCK_PX, : columns * BLOCK_PX] for picture in (before, after))
    means = [cv2.resize(picture, (columns, rows), interpolation=cv2.INTER_AREA) for picture in whole]
    return int(cv2.absdiff(*means).max()) <= STILL_LEVELS


def changed_blocks(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Bool `(height // 8, width // 8)`: blocks in which at least `CHANGED_PIXELS` pixels change."""
    changed = cv2.absdiff(before, after).max(axis=2) > CHANGE_LEVELS
    return block_means(changed) * BLOCK_PX**2 >= CHANGED_PIXELS
