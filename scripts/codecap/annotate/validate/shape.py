"""Rules about places and times: boxes inside the picture, intervals inside the clip, no object twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np

from codecap.annotate.validate.finding import Finding, of_object, of_point
from codecap.boxes import as_array, iou
from codecap.clock import FPS, frames_between
from codecap.records import Annotation, Clip

EDGE_PX = 0.5  # boxes may pass the picture's edge by rounding
LATE_S = 0.5 / FPS  # intervals may pass the clip's end by rounding
SAME_OVERLAP = 0.95  # mean IoU from which two objects are one: it would count twice
SAMPLED, NEAR_OVERLAP = 8, 0.5  # frames, and mean IoU there, below which two tracks are not compared on all frames


def other_clip(annotation: Annotation, clip: Clip) -> Iterator[Finding]:
    if annotation.clip_id != clip.clip_id:
        yield Finding("clip_id", f"is {annotation.clip_id!r}, but the file is that of {clip.clip_id!r}; correct one of them")


def box_count(annotation: Annotation, clip: Clip) -> Iterator[Finding]:
    for item in annotation.objects:
        for name, boxes in (("boxes_xyxy", item.boxes_xyxy), ("amodal_xyxy", item.amodal_xyxy)):
            if boxes is not None and len(boxes) != clip.frames:
                yield of_object(
                    item.name, f"{len(boxes)} {name} for {clip.frames} frames; give one a frame, null where not visible"
                )


def empty_box(annotation: Annotation, clip: Clip) -> Iterator[Finding]:
    del clip
    told = "is empty or turned round (x0 < x1 and y0 < y1 are asked for); correct it or give null"

    def empty(boxes: np.ndarray) -> np.ndarray:
        return ~((boxes[:, 0] < boxes[:, 2]) & (boxes[:, 1] < boxes[:, 3]) & np.isfinite(boxes).all(axis=1))

    yield from _bad_boxes(annotation, empty, told)
    yield from _bad_boxes(annotation, empty, told, "amodal_xyxy")


def outside_picture(annotation: Annotation, clip: Clip) -> Iterator[Finding]:
    size = np.array([clip.width_px, clip.height_px] * 2)

    def outside(boxes: np.ndarray) -> np.ndarray:
        return ~((boxes >= -EDGE_PX) & (boxes <= size + EDGE_PX)).all(axis=1)

    yield from _bad_boxes(annotation, outside, f"passes the picture of {clip.width_px}x{clip.height_px} px; give the visible part")


def outside_visible(annotation: Annotation, clip: Clip) -> Iterator[Finding]:
    for item in annotation.objects:
        intervals = [(start_s, end_s) for start_s, end_s in item.visible_s if _lies_within(start_s, end_s, clip)]
        if not intervals or len(intervals) < len(item.visible_s):
            continue  # `bad_interval` tells
        shown = {frame for start_s, end_s in intervals for frame in frames_between(start_s, end_s, clip.frames)}
        stray = [frame for frame, box in enumerate(item.boxes_xyxy) if box is not None and frame not in shown]
        if stray:
            yield of_object(
                item.name,
                f"{len(stray)} boxes lie outside its visible intervals; correct visible_s or give null there",
                stray[0],
            )


def never_visible(annotation: Annotation, clip: Clip) -> Iterator[Finding]:
    del clip
    for item in annotation.objects:
        if all(box is None for box in item.boxes_xyxy):
            yield of_object(item.name, "is visible in no frame; give its boxes or remove it")


def bad_interval(annotation: Annotation, clip: Clip) -> Iterator[Finding]:
    told = f"is not within the clip's {clip.frames / FPS:g} s; correct its times"
    for item in annotation.objects:
        for start_s, end_s in item.visible_s:
            if not _lies_within(start_s, end_s, clip):
                yield of_object(item.name, f"visible interval {start_s:g}-{end_s:g} s {told}")
    for point in annotation.focal_points:
        if not _lies_within(point.start_s, point.end_s, clip):
            yield of_point(point.focal_id, f"{point.start_s:g}-{point.end_s:g} s {told}")


def object_not_there(annotation: Annotation, clip: Clip) -> Iterator[Finding]:
    """A focal point and the objects that it speaks of, at different times."""
    objects = {item.name: item.boxes_xyxy for item in annotation.objects}
    for point in annotation.focal_points:
        if not _lies_within(point.start_s, point.end_s, clip):
            continue
        frames = frames_between(point.start_s, point.end_s, clip.frames)
        for name in point.objects:
            if name in objects and any(objects[name]) and not any(objects[name][frames.start : frames.stop]):
                yield of_point(
                    point.focal_id,
                    f"speaks of {name!r}, which has no box from {point.start_s:g} to {point.end_s:g} s; correct one of them",
                    frames.start,
                )


def same_track(annotation: Annotation, clip: Clip) -> Iterator[Finding]:
    """Two objects in the same place in all frames in which either is visible."""
    tracks = {item.name: as_array(item.boxes_xyxy) for item in annotation.objects if len(item.boxes_xyxy) == clip.frames}
    seen = {name: ~np.isnan(boxes[:, 0]) for name, boxes in tracks.items()}
    for first, second in combinations(tracks, 2):
        both = np.flatnonzero(seen[first] & seen[second])
        if len(both) < SAME_OVERLAP * max(int((seen[first] | seen[second]).sum()), 1):
            continue
        some = both[:: max(len(both) // SAMPLED, 1)]
        if iou(tracks[first][some], tracks[second][some]).mean() < NEAR_OVERLAP:
            continue
        overlap = float(iou(tracks[first][both], tracks[second][both]).sum() / (seen[first] | seen[second]).sum())
        if overlap >= SAME_OVERLAP:
            yield of_object(
                second,
                f"has the same track as {first!r} (mean IoU {overlap:.3f}); correct the boxes of one, or remove it",
                int(both[0]),
            )


def _lies_within(start_s: float, end_s: float, clip: Clip) -> bool:
    return 0 <= start_s < end_s <= clip.frames / FPS + LATE_S


def _bad_boxes(
    annotation: Annotation, bad: Callable[[np.ndarray], np.ndarray], what: str, of: str = "boxes_xyxy"
) -> Iterator[Finding]:
    """One finding an object: its first bad box, and how many more there are.

    Args:
        bad: which of some boxes `(n, 4)` are; also those that hold what is no number.
    """
    for item in annotation.objects:
        boxes = getattr(item, of) or []
        frames = [frame for frame, box in enumerate(boxes) if box is not None]
        found = np.flatnonzero(bad(np.array([boxes[frame] for frame in frames]))) if frames else []
        if len(found):
            frame = frames[found[0]]
            more = f" ({len(found) - 1} more such boxes)" if len(found) > 1 else ""
            sides = ", ".join(f"{side:g}" for side in boxes[frame])
            whole = " of the whole object" if of == "amodal_xyxy" else ""
            yield of_object(item.name, f"box{whole} [{sides}] {what}{more}", frame)
