"""Lag: by how much a candidate is late, in seconds; negative when it is early.

**Ours.** Every frame is reduced to a small grey picture. For each offset the two series are compared over the frames that they
share, by the cosine between their deviations from their own mean over those frames: still parts, and colours that are wrong
all the time, do not count. The lag is the offset where the cosine is highest. Whether a lag can be told at all is a matter of
the reference alone: a clip that hardly moves, or that looks the same again after a period, has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cv2
import numpy as np
from pydantic import Field

from codecap.clock import FPS
from codecap.records import Clip, Row
from codecap.score import Description, Measurement, Shots, Task, Unscored

NAME = "lag"
LABEL = "Lag"
UNIT = "s"
RANGE = (-2.0, 2.0)
HIGHER_IS_BETTER = None  # it has a sign: the best is 0
NEEDS: tuple[str, ...] = ()

SHARED_FRAMES = 0.5  # least share of the frames that an offset leaves to compare
SHARED_MOTION = 0.25  # least share of the reference's motion that it leaves
TOLERANCE_FRAMES = 1  # offsets that count as the same


class Settings(Row):
    """Keys of the config.

    Attributes:
        most_s: largest offset that is tried.
        long_side_px: size of the reduced pictures.
        least_motion: root mean square deviation from the mean picture, in grey levels, below which a video does not move.
        least_margin: how far the reference's cosine with itself must fall away from offset 0 for a lag to be told.
        least_cosine: below this the candidate's motion is not the reference's at any offset.
    """

    most_s: float = Field(default=2.0, gt=0)
    long_side_px: int = Field(default=48, ge=8)
    least_motion: float = Field(default=0.5, ge=0)
    least_margin: float = Field(default=0.005, ge=0)
    least_cosine: float = Field(default=0.5, ge=0, le=1)


def load(settings: Mapping[str, Any]) -> Lag:
    return Lag(Settings.model_validate(dict(settings)))


class Lag:
    proxy = False

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.protocol = f"offset of highest cosine, grey {settings.long_side_px} px, up to {settings.most_s:g} s"

    def watch_reference(self, clip: Clip, shots: Shots) -> Series:  # noqa: ARG002
        return Series(self.settings.long_side_px)

    def watch_candidate(self, clip: Clip, shots: Shots, reference: Description) -> Series:  # noqa: ARG002
        return Series(self.settings.long_side_px)

    def compare(self, reference: Description, candidate: Description, task: Task) -> list[Measurement]:  # noqa: ARG002
        first, second = reference["pictures"].astype(np.float64), candidate["pictures"].astype(np.float64)
        self.check_reference(first)
        if motion(second) < self.settings.least_motion:
            raise Unscored("the candidate does not move enough to tell a lag")
        offsets, cosine = self._profile(first, second)
        best = int(np.argmax(cosine))
        if cosine[best] < self.settings.least_cosine:
            raise Unscored(f"at no offset does the candidate move like the reference: cosine {cosine[best]:.2f} at best")
        return [Measurement(offsets[best] / FPS, detail=f"cosine {cosine[best]:.3f}")]

    def check_reference(self, pictures: np.ndarray) -> None:
        """Raises Unscored when no lag against this video, `(frames, pixels)`, could be told."""
        if motion(pictures) < self.settings.least_motion:
            raise Unscored("the reference does not move enough to tell a lag")
        offsets, cosine = self._profile(pictures, pictures)
        away = np.where(np.abs(offsets) > TOLERANCE_FRAMES, cosine, -1.0)
        worst = int(np.argmax(away))
        if 1 - away[worst] < self.settings.least_margin:
            seconds = abs(offsets[worst]) / FPS
            raise Unscored(f"the reference looks the same {seconds:.2f} s later or earlier: cosine {away[worst]:.4f}")

    def _profile(self, first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return cosine_profile(first, second, round(self.settings.most_s * FPS))


class Series:
    """Watcher: float16 `pictures` `(frames, pixels)`, grey levels."""

    wanted = None

    def __init__(self, long_side_px: int) -> None:
        self.long_side_px = long_side_px
        self._pictures: list[np.ndarray] = []

    def see(self, frame: int, rgb: np.ndarray) -> None:  # noqa: ARG002
        height_px, width_px = rgb.shape[:2]
        scale = min(self.long_side_px / max(height_px, width_px), 1.0)
        size = (max(round(width_px * scale), 1), max(round(height_px * scale), 1))
        grey = cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY).astype(np.float32)
        self._pictures.append(cv2.resize(grey, size, interpolation=cv2.INTER_AREA).ravel().astype(np.float16))

    def result(self) -> Description:
        return {"pictures": np.stack(self._pictures)}


def motion(pictures: np.ndarray) -> float:
    """Root mean square deviation of the pixels `(frames, pixels)` from their mean over time, in grey levels."""
    return float(np.sqrt(((pictures - pictures.mean(axis=0)) ** 2).mean()))


def cosine_profile(first: np.ndarray, second: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Cosine between two series at each offset of the second, over the frames that they share then.

    Args:
        first, second: `(frames, pixels)` of one shape.
        most: largest offset tried, in frames; at least half of the frames always remain.

    Returns:
        int `(offsets,)`, positive when the second is late, ordered from 0 outwards so that ties go to the smaller one; and the
        cosines, in [-1, 1]. An offset that leaves too little of the first's motion has -1.

    >>> ramp = np.array([[0.0], [0.0], [1.0], [5.0], [2.0], [2.0]])
    >>> offsets, cosine = cosine_profile(ramp, np.roll(ramp, 1, axis=0), 2)
    >>> int(offsets[cosine.argmax()])
    1
    """
    frames = len(first)
    most = min(most, int(frames * (1 - SHARED_FRAMES)))
    energy = ((first - first.mean(axis=0)) ** 2).sum()
    offsets = np.array(sorted(range(-most, most + 1), key=lambda offset: (abs(offset), offset)))
    cosine = np.full(len(offsets), -1.0)
    for place, offset in enumerate(offsets):
        x = first[max(-offset, 0) : frames - max(offset, 0)]
        y = second[max(offset, 0) : frames - max(-offset, 0)]
        x, y = x - x.mean(axis=0), y - y.mean(axis=0)
        left, other = (x * x).sum(), (y * y).sum()
        if left >= SHARED_MOTION * energy and left * other > 0:
            cosine[place] = (x * y).sum() / np.sqrt(left * other)
    return offsets, cosine
