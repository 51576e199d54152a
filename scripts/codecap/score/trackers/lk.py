"""Pyramidal Lucas-Kanade optical flow as a point tracker: no weights, the stand-in for a learned one.

Source: Bouguet 2001 (pyramidal Lucas-Kanade) and Shi and Tomasi 1994 (corners), as in OpenCV; forward-backward check after
Kalal et al. 2010. A grid of points would keep few of them on flat graphics, so the seeds are corners.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import cv2
import numpy as np
from pydantic import Field

from codecap.records import Row

WINDOW_PX = 15
LEVELS = 3  # beside the full size: motion of up to about 100 px from frame to frame
UNTIL = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 30, 0.01)
STILL_LEVELS = 6  # what an encoder may change between two frames of a still picture, in grey levels


class Settings(Row):
    """Keys of the config.

    Attributes:
        points: most corners that are followed at a time.
        long_side_px: frames are reduced to this size before they are tracked.
        quality: weakest corner that is taken, as a share of the strongest.
        distance_px: least distance between corners, in reduced pixels.
        error_px: largest distance between a point and where its track leads back to, in reduced pixels.
    """

    points: int = Field(default=400, ge=1)
    long_side_px: int = Field(default=640, ge=64)
    quality: float = Field(default=0.01, gt=0, lt=1)
    distance_px: float = Field(default=6.0, gt=0)
    error_px: float = Field(default=0.5, gt=0)


def load(settings: Mapping[str, Any]) -> LucasKanade:
    return LucasKanade(Settings.model_validate(dict(settings)))


class LucasKanade:
    proxy = True

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        told = settings
        self.protocol = (
            f"lucas-kanade, {told.points} corners (quality {told.quality}, distance {told.distance_px} px) "
            f"at {told.long_side_px} px, forward-backward {told.error_px} px"
        )

    def prepare(self, rgb: np.ndarray) -> np.ndarray:
        """uint8 RGB `(height, width, 3)` to uint8 grey, its long side no more than `long_side_px`."""
        grey = cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY)
        height_px, width_px = grey.shape
        scale = self.settings.long_side_px / max(height_px, width_px)
        if scale >= 1:
            return grey
        size = (max(round(width_px * scale), 1), max(round(height_px * scale), 1))
        return cv2.resize(grey, size, interpolation=cv2.INTER_AREA)

    def seed(self, prepared: np.ndarray) -> np.ndarray:
        """Corners, strongest first: float32 `(points, 2)`, xy in units of the frame's width and height."""
        told = self.settings
        corners = cv2.goodFeaturesToTrack(prepared, told.points, told.quality, told.distance_px)
        return np.zeros((0, 2), np.float32) if corners is None else corners.reshape(-1, 2) / _size(prepared)

    def track(self, prepared: list[np.ndarray], points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Follow points from the first of some consecutive frames.

        A point whose surroundings do not change has not moved, whether or not there is anything to hold on to. Any other is
        followed, and lost for good when the way back does not lead to where it came from.

        Returns:
            float32 `(frames, points, 2)` in units of the frame's width and height, and bool `(frames, points)`, true where
            the point was seen; a lost point stays where it was last seen.
        """
        size = _size(prepared[0])
        at = (points * size).astype(np.float32)
        seen = np.ones(len(points), bool)
        tracks, valid = [at], [seen]
        for before, after in itertools.pairwise(prepared):
            follow = seen & ~_is_still(before, after, at)
            moved, found = self._step(before, after, at[follow])
            inside = ((moved >= 0) & (moved <= size - 1)).all(axis=1)
            at, seen = at.copy(), seen.copy()
            seen[follow] = found & inside
            at[seen & follow] = moved[found & inside]
            tracks.append(at)
            valid.append(seen)
        return np.stack(tracks) / size, np.stack(valid)

    def _step(self, before: np.ndarray, after: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where points of one frame are in the next, float32 `(points, 2)` in pixels, and which of them can be traced back."""
        if not len(at):
            return at, np.zeros(0, bool)
        options = {"winSize": (WINDOW_PX, WINDOW_PX), "maxLevel": LEVELS, "criteria": UNTIL}
        moved, there, _ = cv2.calcOpticalFlowPyrLK(before, after, at, None, **options)
        back, here, _ = cv2.calcOpticalFlowPyrLK(after, before, moved, None, **options)
        error_px = np.linalg.norm(back - at, axis=1)
        return moved, (there[:, 0] == 1) & (here[:, 0] == 1) & (error_px <= self.settings.error_px)


def _is_still(before: np.ndarray, after: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Which points have an unchanged window around them: bool `(points,)`."""
    window = np.ones((WINDOW_PX, WINDOW_PX), np.uint8)
    change = cv2.dilate(cv2.absdiff(before, after), window)
    height_px, width_px = change.shape
    x = np.clip(np.rint(at[:, 0]).astype(int), 0, width_px - 1)
    y = np.clip(np.rint(at[:, 1]).astype(int), 0, height_px - 1)
    return change[y, x] <= STILL_LEVELS


def _size(prepared: np.ndarray) -> np.ndarray:
    return np.array([prepared.shape[1], prepared.shape[0]], np.float32)
