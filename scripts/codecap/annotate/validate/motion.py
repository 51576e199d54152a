"""Rules about what the video shows to change: dynamic points speak of a change, static ones of what stays as it is.

Where a focal point names objects, it is about the part of the picture that these are in; else about the whole picture.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from codecap.annotate.validate.finding import Finding, of_point
from codecap.boxes import as_array
from codecap.clock import FPS, frames_between
from codecap.records import AnnotatedObject, Annotation, Clip, FocalPoint

if TYPE_CHECKING:
    from codecap.annotate.changes import Cells, Changes

RESTLESS_SHARE = 0.75  # of a static point's frames; with change in so many it is no point about what stays
REST_PX = 2.0  # that a side of a box may move while its object rests
SLACK = 2  # frames before and after a dynamic point's interval that may hold its change


def static_over_change(annotation: Annotation, clip: Clip, changes: Changes) -> Iterator[Finding]:
    """Of objects that rest in the point's time: the picture around one that moves changes, and it may look the same all the way."""
    for point, frames, objects in _points(annotation, clip, "static"):
        resting = [item for item in objects if _rests(item, frames)]
        cells = _cells(resting, frames, changes)
        share = 0.0 if cells is None else changes.changing_share(frames.start, frames.stop, cells)
        if share >= RESTLESS_SHARE:
            named = " or ".join(repr(item.name) for item in resting)
            yield of_point(
                point.focal_id,
                f"is static, but {share:.0%} of its frames show change where {named} rests; make it dynamic, or correct the times",
                frames.start,
            )


def dynamic_without_change(annotation: Annotation, clip: Clip, changes: Changes) -> Iterator[Finding]:
    for point, frames, objects in _points(annotation, clip, "dynamic"):
        cells = _cells(objects, frames, changes)
        start, stop = max(frames.start - SLACK, 0), min(frames.stop + SLACK, clip.frames)
        if changes.changing_share(start, stop, cells) == 0 and not any(start <= jump < stop for jump in changes.jumps(cells)):
            where = "in the whole picture" if cells is None else "where its objects are"
            yield of_point(
                point.focal_id,
                f"is dynamic, but nothing changes {where} in its time; correct its times or objects, or make it static",
                frames.start,
            )


def _points(annotation: Annotation, clip: Clip, kind: str) -> Iterator[tuple[FocalPoint, range, list[AnnotatedObject]]]:
    """Points of a kind that begin in the clip, with their frames and objects; the others are told by the rules about times."""
    for point in annotation.focal_points:
        if point.kind == kind and 0 <= point.start_s < min(point.end_s, clip.frames / FPS) and math.isfinite(point.end_s):
            named = [item for item in annotation.objects if item.name in point.objects]
            yield point, frames_between(point.start_s, point.end_s, clip.frames), named


def _rests(item: AnnotatedObject, frames: range) -> bool:
    """Whether an object is there on all of these frames, in one place."""
    boxes = as_array(item.boxes_xyxy[frames.start : frames.stop])
    return len(boxes) == len(frames) and bool((np.ptp(boxes, axis=0) <= REST_PX).all())  # not so with a missing box, a NaN


def _cells(objects: Iterable[AnnotatedObject], frames: range, changes: Changes) -> Cells | None:
    """The cells in which objects are on these frames; None for none."""
    told = (box for item in objects for box in item.boxes_xyxy[frames.start : frames.stop] if box is not None)
    boxes = {box for box in told if all(map(math.isfinite, box))}
    return changes.cells(boxes, around=0) if boxes else None
