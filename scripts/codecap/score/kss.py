"""Keyframe structural similarity (KSS): SSIM between the midpoint frames of a shot and of its match.

Source: CodeCap-Bench, section 4.3.6; SSIM as in Wang et al. 2004, IEEE TIP 13(4).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cv2
import numpy as np
from pydantic import Field

from codecap.clock import midpoint
from codecap.records import Clip, Row
from codecap.score import Description, Measurement, Shots, Task

NAME = "kss"
LABEL = "KSS"
UNIT = ""
RANGE = (-1.0, 1.0)
HIGHER_IS_BETTER = True
NEEDS: tuple[str, ...] = ()
CLOCK = "shots"

TRUNCATE = 3.5  # the window reaches this many standard deviations: 11 px wide at sigma 1.5, as in the paper
STRIP_PX = 128  # rows that are worked at a time, so that a large picture takes little memory
C1, C2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2


class Settings(Row):
    """Keys of the config.

    Attributes:
        sigma_px: standard deviation of the gaussian window, in pixels of the reference.
    """

    sigma_px: float = Field(default=1.5, gt=0)


def load(settings: Mapping[str, Any]) -> KeyframeStructuralSimilarity:
    return KeyframeStructuralSimilarity(Settings.model_validate(dict(settings)).sigma_px)


class KeyframeStructuralSimilarity:
    """The reference's midpoint frames are kept as PNG; the candidate's are compared when they are seen."""

    proxy = False

    def __init__(self, sigma_px: float) -> None:
        self.sigma_px = sigma_px
        self.protocol = f"SSIM of shot midpoints, gaussian {sigma_px} px, population covariance, RGB averaged"

    def watch_reference(self, clip: Clip, shots: Shots) -> Midpoints:  # noqa: ARG002
        return Midpoints([midpoint(start, stop) for start, stop in shots])

    def watch_candidate(self, clip: Clip, shots: Shots, reference: Description) -> MidpointSimilarity:  # noqa: ARG002
        return MidpointSimilarity([midpoint(start, stop) for start, stop in shots], reference, self.sigma_px)

    def compare(self, reference: Description, candidate: Description, task: Task) -> list[Measurement]:  # noqa: ARG002
        return [Measurement(float(candidate["ssim"].mean()))]


class Midpoints:
    """Watcher: `shot_<n>`, uint8 `(bytes,)`, the PNG of each shot's midpoint frame."""

    def __init__(self, frames: list[int]) -> None:
        self.frames = frames
        self.wanted = set(frames)
        self._kept: Description = {}

    def see(self, frame: int, rgb: np.ndarray) -> None:
        written, png = cv2.imencode(".png", cv2.cvtColor(rgb, cv2.COLOR_RGB2BGR))
        if not written:
            raise RuntimeError(f"frame {frame} of shape {rgb.shape} cannot be written as PNG")
        self._kept[f"shot_{self.frames.index(frame)}"] = png

    def result(self) -> Description:
        return self._kept


class MidpointSimilarity:
    """Watcher: float64 `ssim` `(shots,)` against the reference's midpoint frames."""

    def __init__(self, frames: list[int], reference: Description, sigma_px: float) -> None:
        self.frames = frames
        self.wanted = set(frames)
        self._reference = reference
        self._sigma_px = sigma_px
        self._values = np.full(len(frames), np.nan)

    def see(self, frame: int, rgb: np.ndarray) -> None:
        for shot, midpoint_frame in enumerate(self.frames):
            if midpoint_frame == frame:
                kept = cv2.cvtColor(cv2.imdecode(self._reference[f"shot_{shot}"], cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)
                self._values[shot] = ssim(kept, rgb, self._sigma_px)

    def result(self) -> Description:
        return {"ssim": self._values}


def ssim(reference: np.ndarray, candidate: np.ndarray, sigma_px: float = 1.5) -> float:
    """Mean SSIM over pixels and channels.

    A margin as wide as half the window is left out, so that every window lies within the picture; a picture that is
    too small for one window is taken whole, with its edges mirrored.

    Args:
        reference, candidate: uint8 RGB `(height, width, 3)` of one shape.

    Returns:
        A value in [-1, 1]; 1 if and only if the pictures are equal.

    >>> grey = np.full((16, 16, 3), 128, np.uint8)
    >>> ssim(grey, grey)
    1.0
    """
    if reference.shape != candidate.shape:
        raise ValueError(f"SSIM of pictures of different shapes: {reference.shape} and {candidate.shape}")
    radius_px = int(TRUNCATE * sigma_px + 0.5)
    height_px, width_px = reference.shape[:2]
    margin_px = radius_px if min(height_px, width_px) > 2 * radius_px else 0
    total = 0.0
    for top in range(margin_px, height_px - margin_px, STRIP_PX):
        rows = slice(top, min(top + STRIP_PX, height_px - margin_px))
        above, below = max(rows.start - radius_px, 0), min(rows.stop + radius_px, height_px)
        for channel in range(3):
            whole = ssim_map(reference[above:below, :, channel], candidate[above:below, :, channel], sigma_px, radius_px)
            total += whole[rows.start - above : rows.stop - above, margin_px : width_px - margin_px].sum()
    return float(total / (3 * (height_px - 2 * margin_px) * (width_px - 2 * margin_px)))


def ssim_map(first: np.ndarray, second: np.ndarray, sigma_px: float, radius_px: int) -> np.ndarray:
    """SSIM around each pixel of two pictures of one channel: float64 `(height, width)` in [-1, 1]. Equation 13 of Wang et al."""

    def smooth(picture: np.ndarray) -> np.ndarray:
        window = (2 * radius_px + 1, 2 * radius_px + 1)
        return cv2.GaussianBlur(picture, window, sigma_px, borderType=cv2.BORDER_REFLECT)

    x, y = first.astype(np.float64), second.astype(np.float64)
    mean_x, mean_y = smooth(x), smooth(y)
    variance_x = smooth(x * x) - mean_x * mean_x
    variance_y = smooth(y * y) - mean_y * mean_y
    covariance = smooth(x * y) - mean_x * mean_y
    above = (2 * mean_x * mean_y + C1) * (2 * covariance + C2)
    below = (mean_x * mean_x + mean_y * mean_y + C1) * (variance_x + variance_y + C2)
    return above / below
