"""Times that someone told roughly, brought to the change points that were measured near them.

A change is told from the last frame before it to the last frame that it changes; what stands still, from the end of one change to
the beginning of the next; a thing is visible from the first frame of the change with which it comes to before the last frame of
the change with which it is gone. Where nothing was measured near a time, it stays as told.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from codecap.annotate.changes import Cells, Changes
from codecap.clock import FPS, time_of
from codecap.records import Interval

REACH_S = 0.5  # how far a time is moved at most: the step of the frames that a model is shown


def snapped(
    kind: Literal["static", "dynamic"],
    told_s: Interval,
    changes: Changes,
    cells: Cells | None = None,
    reach_s: float = REACH_S,
) -> Interval:
    """The interval of a focal point, each end at the nearest measured one within reach.

    Args:
        told_s: start and end in seconds, the end exclusive, within the clip.
        cells: where the point's objects are; None for the whole picture.

    Returns:
        Start and end on frames, at least one frame apart. Where both ends together would leave no frame, the told ones are kept.
    """
    told = _on_frames(told_s, changes.frames)
    stretches, jumps = changes.stretches(cells), changes.jumps(cells)
    changed = [*stretches, *((jump, jump + 1) for jump in jumps)]
    if kind == "dynamic":
        starts, stops = [start - 1 for start, _ in changed], [stop for _, stop in changed]
    else:
        starts, stops = [0, *(stop - 1 for _, stop in changed)], [*(start for start, _ in changed), changes.frames]
    start, stop = (_nearest(frame, near, reach_s) for frame, near in zip(told, (starts, stops), strict=True))
    if start >= stop:
        start, stop = told
    return time_of(max(start, 0)), time_of(stop)


def appears(before: int, seen: int, changes: Changes, cells: Cells | None = None) -> int:
    """The first frame on which a thing is visible that is not on frame `before` (-1: there is none) and is on frame `seen`.

    It comes with the last change that begins between the two; where none does, it is taken to come right after `before`.
    """
    if before < 0:
        return 0
    began = {*(start for start, _ in changes.stretches(cells)), *changes.jumps(cells)}
    return max((frame for frame in began if before < frame <= seen), default=before + 1)


def vanishes(seen: int, after: int, changes: Changes, cells: Cells | None = None) -> int:
    """The first frame on which a thing is visible no more that is on frame `seen` and not on frame `after`.

    It goes with the first change that ends between the two; where none does, it is taken to be there until `after`, which is the
    clip's number of frames for what is there to the end.
    """
    if after >= changes.frames:
        return changes.frames
    ended = {*(stop - 1 for _, stop in changes.stretches(cells)), *changes.jumps(cells)}
    return min((frame for frame in ended if seen < frame <= after), default=after)


def _on_frames(told_s: Interval, frames: int) -> tuple[int, int]:
    """The frame at which an interval starts, and the one before which it ends, at least one apart."""
    start = min(max(round(told_s[0] * FPS), 0), frames - 1)
    return start, min(max(round(told_s[1] * FPS), start + 1), frames)


def _nearest(frame: int, near: Iterable[int], reach_s: float) -> int:
    within = (other for other in near if abs(other - frame) <= reach_s * FPS)
    return min(within, key=lambda other: abs(other - frame), default=frame)
