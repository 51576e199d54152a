"""How a picture moves: points that are followed from one small copy to another a fifth of a second later, and what moves them.

A drawing's parts slide, turn and grow as wholes: few similarity motions explain them. A camera in a scene, or a body that turns in
it, moves each point by its depth: the nearest motions are projective, or none.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

MOST_POINTS = 400
QUALITY = 0.02  # of a corner, against the best one
APART_PX = 5
WINDOW_PX = 11
RETURN_PX = 0.5  # a point is lost when, followed back, it ends farther from where it began
MOVING_PX = 0.7  # a point moves when it goes farther
TOLERANCE_PX = 1.0  # a motion explains a point that it brings so near
MOTIONS = 3  # that are tried, the one that explains most first
FEWEST = 6  # points that make a motion: fewer fit one by chance
VECTOR_COVER = 0.9  # share of the moving points that the counted vectors cover
GROUP_PX = 2.0  # vectors are counted in squares of this side
CELL_PX = 20  # side of the squares by which an area is told from points in it
STRETCHED_PX, STRETCHED_SHARE = 1.0, 0.75  # one affine motion explains sheared points: so near, so many of them
NEIGHBOURS = 9  # whose moves tell how the picture is strained at a point
SHEARED_PX = 0.4  # a neighbourhood is sheared when, by the shear alone, its points move so far against one another,
SMOOTH_SHARE = 0.5  # and it moves as one sheet when its moves miss an affine motion by less than this share of that


@dataclass(frozen=True)
class Motion:
    """What moved between two small copies.

    Attributes:
        moving: how many points were followed and moved.
        lost_share: share of the picture in which points cannot be followed.
        rigid_share: share of the moving points that the three best similarity motions explain.
        sheared_share: share of the picture that moves as one sheet and is sheared: what moves by its depth or turns out of the
            plane is, what slides, turns or grows in the plane is not.
        vectors: number of different vectors that cover nine tenths of the moving points.
    """

    moving: int = 0
    lost_share: float = 0.0
    rigid_share: float = 1.0
    sheared_share: float = 0.0
    vectors: int = 0


def motion_between(before: np.ndarray, after: np.ndarray) -> Motion:
    """Follow points from one picture to another.

    Args:
        before, after: uint8 RGB pictures of one shape.
    """
    ours, theirs = (cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY) for picture in (before, after))
    starts = cv2.goodFeaturesToTrack(ours, MOST_POINTS, QUALITY, APART_PX)
    if starts is None:
        return Motion()
    starts, ends, lost = followed(ours, theirs, starts)
    moving = np.linalg.norm(ends - starts, axis=1) > MOVING_PX
    starts, ends, lost_share = starts[moving], ends[moving], area_share(lost, ours.shape)
    if len(starts) < FEWEST:
        return Motion(moving=len(starts), lost_share=lost_share)
    return Motion(
        moving=len(starts),
        lost_share=lost_share,
        rigid_share=rigid_share(starts, ends),
        sheared_share=area_share(out_of_plane(starts, ends), ours.shape),
        vectors=covering_vectors(ends - starts),
    )


def followed(ours: np.ndarray, theirs: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Starts and ends, float `(n, 2)`, of the points that can be followed and, followed back, return; and the lost ones' starts."""
    how = {"winSize": (WINDOW_PX, WINDOW_PX), "maxLevel": 3}
    ends, there, _ = cv2.calcOpticalFlowPyrLK(ours, theirs, points, None, **how)
    back, here, _ = cv2.calcOpticalFlowPyrLK(theirs, ours, ends, None, **how)
    found = (there == 1) & (here == 1) & (np.linalg.norm(back - points, axis=2) < RETURN_PX)
    return points[found], ends[found], points[~found]


def rigid_share(starts: np.ndarray, ends: np.ndarray) -> float:
    """Share of the points that the `MOTIONS` best similarity motions explain, each found among what those before it leave.

    >>> points = np.random.default_rng(0).uniform(0, 100, (40, 2)).astype(np.float32)
    >>> rigid_share(points, points + np.float32([5, 0])), rigid_share(points, points[::-1]) < 0.5
    (1.0, True)
    """
    count = len(starts)
    for _ in range(MOTIONS):
        if len(starts) < FEWEST:
            break
        _, inside = cv2.estimateAffinePartial2D(starts, ends, method=cv2.RANSAC, ransacReprojThreshold=TOLERANCE_PX)
        if inside is None or inside.sum() < FEWEST:
            break
        starts, ends = starts[inside.ravel() == 0], ends[inside.ravel() == 0]
    return 1 - len(starts) / count


def out_of_plane(starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Starts, float `(n, 2)`, of the points around which the picture is sheared; none where one affine motion explains most of
    them: then a drawing in the plane is stretched, as a chart's axis is.

    >>> points = np.random.default_rng(0).uniform(0, 100, (60, 2)).astype(np.float32)
    >>> len(out_of_plane(points, points * np.float32([1.2, 0.9])))
    0
    """
    bent = sheared(starts, ends)
    starts, ends = starts[bent], ends[bent]
    if len(starts) >= FEWEST:
        _, inside = cv2.estimateAffine2D(starts, ends, method=cv2.RANSAC, ransacReprojThreshold=STRETCHED_PX)
        if inside is not None and inside.mean() > STRETCHED_SHARE:
            return starts[:0]
    return starts


def sheared(starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Bool `(n,)`: points around which the picture moves as one sheet that is sheared.

    An affine motion is fitted to the moves of each point's nearest neighbours. Of its gradient G, the traceless symmetric part is
    no similarity motion; its size is hypot((Gxx - Gyy) / 2, (Gxy + Gyx) / 2).

    >>> points = np.random.default_rng(0).uniform(0, 100, (60, 2)).astype(np.float32)
    >>> bool(sheared(points, points * [1.2, 0.9]).all()), bool(sheared(points, points * 1.2 + 3).any())
    (True, False)
    """
    if len(starts) <= NEIGHBOURS:
        return np.zeros(len(starts), bool)
    apart = np.linalg.norm(starts[:, None] - starts[None], axis=2)
    near = np.argpartition(apart, NEIGHBOURS, axis=1)[:, : NEIGHBOURS + 1]
    places = starts[near] - starts[:, None]
    moves = (ends - starts)[near]
    design = np.concatenate([np.ones((*near.shape, 1)), places], axis=2)
    fitted = np.linalg.pinv(design) @ moves  # (n, 3, 2): mean move, gradient along x, gradient along y
    missed = np.sqrt(((design @ fitted - moves) ** 2).sum(axis=2).mean(axis=1))
    gradient = fitted[:, 1:]
    shear = np.hypot((gradient[:, 0, 0] - gradient[:, 1, 1]) / 2, (gradient[:, 0, 1] + gradient[:, 1, 0]) / 2)
    sheared_px = shear * np.sqrt((places**2).sum(axis=2).mean(axis=1))
    return (sheared_px > SHEARED_PX) & (missed < SMOOTH_SHARE * sheared_px)


def area_share(points: np.ndarray, shape: tuple[int, ...]) -> float:
    """Share of the whole squares of `CELL_PX` in a picture that hold one of the points, float `(n, 2)`, x before y.

    >>> area_share(np.array([[0.0, 0.0], [1.0, 5.0], [90.0, 70.0]]), (80, 100))
    0.1
    """
    rows, columns = max(1, shape[0] // CELL_PX), max(1, shape[1] // CELL_PX)
    held = np.zeros((rows, columns), bool)
    column, row = (points // CELL_PX).astype(int).T
    inside = (row < rows) & (column < columns)
    held[row[inside], column[inside]] = True
    return float(held.mean())


def covering_vectors(moves: np.ndarray) -> int:
    """Number of different vectors (in squares of 2 x 2 px) that cover nine tenths of the moves, the most frequent first.

    >>> covering_vectors(np.array([[4.0, 0.0]] * 95 + [[0.0, 9.0]] * 5)), covering_vectors(np.arange(40.0).reshape(20, 2) * 4)
    (1, 18)
    """
    _, counts = np.unique(np.round(moves / GROUP_PX).astype(int), axis=0, return_counts=True)
    counts = np.sort(counts)[::-1]
    return int(np.searchsorted(np.cumsum(counts), VECTOR_COVER * counts.sum() - 1e-9) + 1)
