"""Drift: motion that large parts of a scene share, such as scrolling, panning and parallax, found from tracked points."""

from __future__ import annotations

from itertools import pairwise

import cv2
import numpy as np

from codecap.generate.tracing.differences import changed_blocks

BUSY_SHARE = 0.12  # of the blocks must change, in some frames, for a scene to be looked at
FEWEST_FRAMES = 4
RESEED_FRAMES = 6
POINTS = 800
CORNER_QUALITY = 0.003  # of the best corner
POINT_DISTANCE_PX = 8
BACK_ERROR_PX = 0.5  # between a point and where tracking it forth and back ends
LOST_PX = 1.0  # from the common motion: a point does not belong to it
NEARLY_PX = 4.0  # from it: badly tracked, but no motion of its own
ALIKE_SHARE = 0.06  # of its path, between two motions that are one
LEAST_PATH_PX = 4.0  # that a point must move to have a say
SHORTEST_FRAMES = 4
MEMBERS_SHARE = 0.03  # of all points
FEWEST_MEMBERS = 12
EXTENT_SHARE = 0.2  # of the picture: the members' box; what is smaller is an object
SEEDS = 24
MOST_DRIFTS = 4


def find_drifts(pictures: list[np.ndarray], tolerance: float) -> list[np.ndarray]:
    """The motions that large parts of a scene share.

    Args:
        pictures: each uint8 RGB `(height, width, 3)`.
        tolerance: grey levels that count as a change.

    Returns:
        Each float `(frames, 2)`: displacement x, y since the first frame, in pixels; the one of most points first.
    """
    busy = sum(changed_blocks(before, after, tolerance).mean() > BUSY_SHARE for before, after in pairwise(pictures))
    if busy < FEWEST_FRAMES:
        return []
    points = track_points(pictures)
    height, width = pictures[0].shape[:2]
    drifts: list[np.ndarray] = []
    free = np.ones(len(points), bool)
    fewest = max(FEWEST_MEMBERS, MEMBERS_SHARE * len(points))
    for _ in range(MOST_DRIFTS):
        velocity, members = _largest(points, free)
        if members.sum() < fewest:
            break
        free &= ~_sharing(np.diff(points, axis=1), free, velocity, np.ones(len(velocity), bool), NEARLY_PX)
        if any(_same(velocity, np.diff(drift, axis=0)) for drift in drifts):
            free &= ~members
        elif _extent_px(points[members]) >= EXTENT_SHARE * width * height:
            drifts.append(_steadied(np.concatenate([np.zeros((1, 2)), np.cumsum(velocity, axis=0)])))
    return drifts


def track_points(pictures: list[np.ndarray]) -> np.ndarray:
    """Track corners through a scene (Lucas and Kanade 1981, pyramidal), each as long as tracking back agrees.

    Returns:
        float32 `(points, frames, 2)`, NaN where a point is not tracked.
    """
    frames = len(pictures)
    tracks: list[np.ndarray] = []
    live: list[int] = []
    before = cv2.cvtColor(pictures[0], cv2.COLOR_RGB2GRAY)
    for index in range(frames):
        after = cv2.cvtColor(pictures[index], cv2.COLOR_RGB2GRAY)
        if live and index:
            start = np.array([tracks[number][index - 1] for number in live], np.float32).reshape(-1, 1, 2)
            there, ok, _ = cv2.calcOpticalFlowPyrLK(before, after, start, None, winSize=(15, 15), maxLevel=3)
            back, ok_back, _ = cv2.calcOpticalFlowPyrLK(after, before, there, None, winSize=(15, 15), maxLevel=3)
            good = (ok.ravel() == 1) & (ok_back.ravel() == 1)
            good &= np.abs(back - start).reshape(-1, 2).max(axis=1) < BACK_ERROR_PX
            inside = there.reshape(-1, 2)
            good &= (inside >= 0).all(axis=1) & (inside < after.shape[::-1]).all(axis=1)
            for number, at in zip(np.array(live)[good], inside[good], strict=True):
                tracks[number][index] = at
            live = [number for number, keep in zip(live, good, strict=True) if keep]
        if index % RESEED_FRAMES == 0:
            for corner in _new_corners(after, [tracks[number][index] for number in live]):
                track = np.full((frames, 2), np.nan, np.float32)
                track[index] = corner
                live.append(len(tracks))
                tracks.append(track)
        before = after
    return np.array(tracks, np.float32).reshape(-1, frames, 2)


def _new_corners(grey: np.ndarray, taken: list[np.ndarray]) -> np.ndarray:
    free = np.full(grey.shape, 255, np.uint8)
    for x, y in taken:
        cv2.circle(free, (int(x), int(y)), POINT_DISTANCE_PX, 0, cv2.FILLED)
    found = cv2.goodFeaturesToTrack(grey, max(POINTS - len(taken), 1), CORNER_QUALITY, POINT_DISTANCE_PX, mask=free)
    return np.empty((0, 2)) if found is None else found.reshape(-1, 2)


def _largest(points: np.ndarray, free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The motion that most free points share: velocity `(frames - 1, 2)`, and which points share it."""
    velocities = np.diff(points, axis=1)
    path = np.nansum(np.hypot(velocities[..., 0], velocities[..., 1]), axis=1)
    path[~free] = 0.0
    seeds = np.argsort(-path, kind="stable")[: 4 * SEEDS][::4]
    best_velocity, best = np.zeros(velocities.shape[1:]), np.zeros(len(points), bool)
    for seed in seeds:
        if path[seed] < LEAST_PATH_PX:
            break
        known = ~np.isnan(velocities[seed, :, 0])
        members = _sharing(velocities, free, np.nan_to_num(velocities[seed]), known)
        if members.sum() > best.sum():
            best, best_velocity = members, np.nan_to_num(velocities[seed])
            best_known = known
    if not best.any():
        return best_velocity, best
    for _ in range(8):
        velocity, known = _common(velocities[best])
        members = _sharing(velocities, free, velocity, known)
        if members.sum() <= best.sum():
            break
        best, best_velocity, best_known = members, velocity, known
    velocity, known = _common(velocities[best])
    return np.where(known[:, None], velocity, np.where(best_known[:, None], best_velocity, 0.0)), best


def _sharing(
    velocities: np.ndarray, free: np.ndarray, velocity: np.ndarray, known: np.ndarray, within_px: float = LOST_PX
) -> np.ndarray:
    """Points that move as told wherever both are known, for long and far enough to tell."""
    both = ~np.isnan(velocities[..., 0]) & known & free[:, None]
    apart = np.where(both[..., None], velocities - velocity, 0.0)
    strays = np.abs(np.cumsum(apart, axis=1)).max(axis=(1, 2))
    path = (both * np.hypot(velocity[:, 0], velocity[:, 1])).sum(axis=1)
    return (both.sum(axis=1) >= SHORTEST_FRAMES) & (path >= LEAST_PATH_PX) & (strays < within_px)


def _common(velocities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Median velocity at each frame, and where three points or more tell it."""
    known = (~np.isnan(velocities[..., 0])).sum(axis=0) >= 3
    median = np.zeros(velocities.shape[1:])
    median[known] = np.nanmedian(velocities[:, known], axis=0)
    return median, known


def _same(velocity: np.ndarray, other: np.ndarray) -> bool:
    """Whether a motion is another one, tracked with a small bias or for a part of the time."""
    known = (velocity != 0).any(axis=1)
    path = np.hypot(velocity[known, 0], velocity[known, 1]).sum()
    return bool(np.abs(np.cumsum((velocity - other)[known], axis=0)).max(initial=0.0) <= ALIKE_SHARE * path)


def _extent_px(points: np.ndarray) -> float:
    """Area of the box around a group's points, at the frame where it is the largest."""
    seen = (~np.isnan(points[..., 0])).sum(axis=0) >= 3
    if not seen.any():
        return 0.0
    sides = np.nanmax(points[:, seen], axis=0) - np.nanmin(points[:, seen], axis=0)
    return float(sides.prod(axis=1).max())


def _steadied(offsets: np.ndarray) -> np.ndarray:
    """Offsets that are whole numbers but for tracking's error, as such."""
    near = np.abs(offsets - np.round(offsets)) < 0.12
    return np.where(near, np.round(offsets), offsets)
