"""Key frames: few boxes, between which editors interpolate linearly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from codecap.annotate.runs import runs
from codecap.records import Box

APART_PX = 0.004  # of a box from the line between the key frames around it, at most
WIDE = [(-math.inf, math.inf)] * 4  # slopes of the four sides that are open yet


class Knot(NamedTuple):
    """Where an object is from a frame on.

    Attributes:
        shown: False: it is hidden from this frame on, until the next knot; the box is where it was last.
    """

    frame: int
    box_xyxy: Box
    shown: bool = True


def boxes_at(knots: Sequence[Knot], frames: Sequence[int]) -> list[Box | None]:
    """The box at each of some frames, as CVAT and Label Studio have it: linear between knots, constant after the last.

    Args:
        knots: in the order of their frames, each frame once.

    >>> knots = [Knot(2, (0, 0, 4, 4)), Knot(4, (8, 0, 12, 4)), Knot(5, (8, 0, 12, 4), shown=False)]
    >>> boxes_at(knots, [1, 2, 3, 4, 5])
    [None, (0.0, 0.0, 4.0, 4.0), (4.0, 0.0, 8.0, 4.0), (8.0, 0.0, 12.0, 4.0), None]
    """
    if not knots:
        return [None] * len(frames)
    at = np.array([knot.frame for knot in knots], np.float64)
    sides = np.array([knot.box_xyxy for knot in knots], np.float64)
    wanted = np.asarray(frames, np.float64)
    before = np.searchsorted(at, wanted, side="right") - 1
    found = np.stack([np.interp(wanted, at, sides[:, side]) for side in range(4)], axis=1)
    there = (before >= 0) & np.array([knot.shown for knot in knots])[before]
    return [tuple(row) if seen else None for row, seen in zip(found.tolist(), there.tolist(), strict=True)]


def stretches(boxes_xyxy: Sequence[Box | None]) -> list[range]:
    """Frames with a box, by stretches without a gap.

    >>> stretches([None, (0, 0, 1, 1), (0, 0, 1, 1), None, (0, 0, 1, 1)])
    [range(1, 3), range(4, 5)]
    """
    return [range(*run) for run in runs(np.array([box is not None for box in boxes_xyxy]))]


def key_frames(boxes_xyxy: Sequence[Box | None], run: range) -> list[int]:
    """Frames of a run, its first and last among them, between which all its boxes lie on straight lines within `APART_PX`.

    A line is drawn out for as long as its slope stays in the cone that the boxes under it leave open.

    >>> line = [(0, 0, 4, 4), (1, 0, 5, 4), (2, 0, 6, 4), (2, 0, 6, 4)]
    >>> key_frames(line, range(0, 4))
    [0, 2, 3]
    """
    boxes = [boxes_xyxy[frame] for frame in run]
    keys, anchor, cone = [0], 0, WIDE
    for step in range(1, len(boxes)):
        slopes = _slopes(boxes, anchor, step)
        if not all(low <= slope <= high for slope, (low, high) in zip(slopes, cone, strict=True)):
            anchor, cone = step - 1, WIDE
            keys.append(anchor)
            slopes = _slopes(boxes, anchor, step)
        reach = APART_PX / (step - anchor)
        cone = [(max(low, slope - reach), min(high, slope + reach)) for slope, (low, high) in zip(slopes, cone, strict=True)]
    return [run.start + key for key in dict.fromkeys([*keys, len(boxes) - 1])]


def _slopes(boxes: Sequence[Box], start: int, stop: int) -> list[float]:
    """Pixels a frame that each side moves from one box to a later one."""
    return [(after - before) / (stop - start) for before, after in zip(boxes[start], boxes[stop], strict=True)]
