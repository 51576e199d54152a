"""Overlap of boxes over time. Boxes are `xyxy` floats in canonical pixels, x1 and y1 exclusive; None where there is none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

MaybeBox = Sequence[float] | None


def as_array(boxes_xyxy: Sequence[MaybeBox]) -> np.ndarray:
    """float64 `(frames, 4)`; a missing box is a row of NaN."""
    missing = (np.nan,) * 4
    rows = [missing if box is None else tuple(box) for box in boxes_xyxy]
    return np.array(rows, dtype=np.float64).reshape(len(rows), 4)


def area(boxes_xyxy: np.ndarray) -> np.ndarray:
    """Areas in square pixels of boxes `(..., 4)`; 0 for a box that is empty or turned round, NaN for a missing one.

    >>> area(np.array([[0.0, 0.0, 4.0, 2.5], [3.0, 0.0, 1.0, 5.0]])).tolist()
    [10.0, 0.0]
    """
    width, height = boxes_xyxy[..., 2] - boxes_xyxy[..., 0], boxes_xyxy[..., 3] - boxes_xyxy[..., 1]
    return np.maximum(width, 0.0) * np.maximum(height, 0.0)


def iou(a_xyxy: np.ndarray, b_xyxy: np.ndarray) -> np.ndarray:
    """Intersection over union, in [0, 1], of boxes `(..., 4)` with boxes that broadcast against them; NaN where one is missing.

    Two boxes without area have no union: 0.

    >>> float(iou(np.array([0.0, 0.0, 2.0, 2.0]), np.array([1.0, 0.0, 3.0, 2.0])))
    0.3333333333333333
    """
    a, b = np.asarray(a_xyxy, np.float64), np.asarray(b_xyxy, np.float64)
    shared = area(np.concatenate([np.maximum(a[..., :2], b[..., :2]), np.minimum(a[..., 2:], b[..., 2:])], axis=-1))
    union = area(a) + area(b) - shared
    return np.where(union == 0.0, 0.0, shared / np.where(union == 0.0, 1.0, union))


def iou_series(reference: Sequence[MaybeBox], candidate: Sequence[MaybeBox]) -> np.ndarray:
    """IoU frame by frame: 0 where only one of the two is there, NaN where neither is.

    Args:
        reference, candidate: boxes of the same frames; the shorter one counts as missing after its end.

    Returns:
        float64 `(frames,)` in [0, 1] or NaN.
    """
    frames = max(len(reference), len(candidate))
    a, b = (as_array([*boxes, *[None] * (frames - len(boxes))]) for boxes in (reference, candidate))
    there_a, there_b = ~np.isnan(a).any(axis=1), ~np.isnan(b).any(axis=1)
    series = np.where(there_a & there_b, iou(a, b), 0.0)
    series[~there_a & ~there_b] = np.nan
    return series


def object_iou(reference: Sequence[MaybeBox], candidate: Sequence[MaybeBox]) -> float:
    """Spatio-temporal IoU of one object, in [0, 1]: the mean over the frames where either box is there.

    Raises:
        ValueError: the reference has no box in any frame, so that there is nothing to be found.

    >>> object_iou([(0, 0, 2, 2), (0, 0, 2, 2), None], [(0, 0, 2, 2), None, None])
    0.5
    """
    if all(box is None for box in reference):
        raise ValueError("the object is visible in no frame of the reference")
    return float(np.nanmean(iou_series(reference, candidate)))


def video_iou(objects: Sequence[tuple[Sequence[MaybeBox], Sequence[MaybeBox]]]) -> float:
    """Mean of `object_iou` over a video's objects, each a pair (reference, candidate)."""
    if not objects:
        raise ValueError("a video without objects has no object IoU")
    return float(np.mean([object_iou(reference, candidate) for reference, candidate in objects]))


def clipped(box_xyxy: Sequence[float], width_px: float, height_px: float) -> tuple[float, float, float, float] | None:
    """The part of a box inside a picture, or None when there is less than half a pixel of it on a side.

    >>> clipped((-4, 2, 6, 8), 100, 5)
    (0.0, 2.0, 6.0, 5.0)
    """
    x0, y0 = max(float(box_xyxy[0]), 0.0), max(float(box_xyxy[1]), 0.0)
    x1, y1 = min(float(box_xyxy[2]), float(width_px)), min(float(box_xyxy[3]), float(height_px))
    return (x0, y0, x1, y1) if x1 - x0 >= 0.5 and y1 - y0 >= 0.5 else None
