"""What is wrong with an annotation, by named rules: each problem says which rule, how bad, where, and what to do.

An `error` makes scores wrong or impossible; a `warning` is worth a reviewer's look.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from codecap.clock import FPS, frames_between
from codecap.records import Annotation, Box, Clip, Row

EDGE_PX = 0.5  # boxes may pass the picture's edge by rounding
LATE_S = 0.5 / FPS  # intervals may pass the clip's end by rounding

Severity = Literal["error", "warning"]


class Problem(Row):
    """One thing wrong with one annotation.

    Attributes:
        place: the object, focal point or file that it is about.
        message: what is wrong, and what to do.
    """

    clip_id: str
    rule: str
    severity: Severity
    place: str
    message: str

    def __str__(self) -> str:
        return f"{self.clip_id}: {self.severity}: {self.place}: {self.message} [{self.rule}]"


Rule = Callable[[Annotation, Clip], Iterator[tuple[str, str]]]  # place and message of each finding


def problems(annotation: Annotation, clip: Clip) -> list[Problem]:
    """All problems of a clip's annotation, rule by rule; empty when there are none."""
    return [
        Problem(clip_id=clip.clip_id, rule=name, severity=severity, place=place, message=message)
        for name, (severity, rule) in RULES.items()
        for place, message in rule(annotation, clip)
    ]


def unknown_clips(clip_ids: Iterable[str], known: Iterable[str]) -> list[Problem]:
    """A problem for each annotation whose clip is not in the clips table."""
    table = set(known)
    message = "no such clip in the clips table; name the file after the clip's id, add the clip, or remove the file"
    return [
        Problem(clip_id=clip_id, rule="unknown_clip", severity="error", place="clip_id", message=message)
        for clip_id in sorted(set(clip_ids) - table)
    ]


def _other_clip(annotation: Annotation, clip: Clip) -> Iterator[tuple[str, str]]:
    if annotation.clip_id != clip.clip_id:
        yield "clip_id", f"is {annotation.clip_id!r}, but the file is that of {clip.clip_id!r}; correct one of them"


def _box_count(annotation: Annotation, clip: Clip) -> Iterator[tuple[str, str]]:
    for item in annotation.objects:
        for name, boxes in (("boxes_xyxy", item.boxes_xyxy), ("amodal_xyxy", item.amodal_xyxy)):
            if boxes is not None and len(boxes) != clip.frames:
                yield (
                    f"object {item.name!r}",
                    f"{len(boxes)} {name} for {clip.frames} frames; give one a frame, null where not visible",
                )


def _told_boxes(annotation: Annotation) -> Iterator[tuple[str, int, Box]]:
    for item in annotation.objects:
        yield from ((item.name, frame, box) for frame, box in enumerate(item.boxes_xyxy) if box is not None)


def _empty(box: Box) -> bool:
    return not (box[0] < box[2] and box[1] < box[3])


def _empty_box(annotation: Annotation, clip: Clip) -> Iterator[tuple[str, str]]:
    del clip
    found = ((name, frame, box) for name, frame, box in _told_boxes(annotation) if _empty(box))
    yield from _first_and_count(found, "is empty or turned round (x0 < x1 and y0 < y1 are asked for); correct it or give null")


def _outside_picture(annotation: Annotation, clip: Clip) -> Iterator[tuple[str, str]]:
    def outside(box: Box) -> bool:
        low, high = min(box[0], box[1]), (box[2] - clip.width_px, box[3] - clip.height_px)
        return not (low >= -EDGE_PX and max(high) <= EDGE_PX)

    found = ((name, frame, box) for name, frame, box in _told_boxes(annotation) if outside(box))
    yield from _first_and_count(found, f"passes the picture of {clip.width_px}x{clip.height_px} px; give the visible part")


def _first_and_count(found: Iterable[tuple[str, int, Box]], what: str) -> Iterator[tuple[str, str]]:
    """One finding an object: its first bad box, and how many more there are."""
    bad: dict[str, list[tuple[int, Box]]] = {}
    for name, frame, box in found:
        bad.setdefault(name, []).append((frame, box))
    for name, boxes in bad.items():
        frame, box = boxes[0]
        more = f" ({len(boxes) - 1} more such boxes)" if len(boxes) > 1 else ""
        yield f"object {name!r}, frame {frame}", f"box [{', '.join(f'{side:g}' for side in box)}] {what}{more}"


def _outside_visible(annotation: Annotation, clip: Clip) -> Iterator[tuple[str, str]]:
    for item in annotation.objects:
        if not item.visible_s:
            continue
        shown = {frame for start_s, end_s in item.visible_s for frame in frames_between(start_s, end_s, clip.frames)}
        stray = [frame for frame, box in enumerate(item.boxes_xyxy) if box is not None and frame not in shown]
        if stray:
            yield (
                f"object {item.name!r}, frame {stray[0]}",
                f"{len(stray)} boxes lie outside its visible intervals; correct visible_s or give null there",
            )


def _never_visible(annotation: Annotation, clip: Clip) -> Iterator[tuple[str, str]]:
    del clip
    for item in annotation.objects:
        if all(box is None for box in item.boxes_xyxy):
            yield f"object {item.name!r}", "is visible in no frame; give its boxes or remove it"


def _bad_interval(annotation: Annotation, clip: Clip) -> Iterator[tuple[str, str]]:
    end_of_clip_s = clip.frames / FPS + LATE_S
    for item in annotation.objects:
        for start_s, end_s in item.visible_s:
            if not 0 <= start_s < end_s <= end_of_clip_s:
                yield (
                    f"object {item.name!r}",
                    f"visible interval {start_s:g}-{end_s:g} s is not within the clip's {clip.frames / FPS:g} s",
                )
    for point in annotation.focal_points:
        if point.end_s > end_of_clip_s:
            yield (
                f"focal point {point.focal_id!r}",
                f"{point.start_s:g}-{point.end_s:g} s is not within the clip's {clip.frames / FPS:g} s; correct its times",
            )


def _unknown_object(annotation: Annotation, clip: Clip) -> Iterator[tuple[str, str]]:
    del clip
    known = {item.name for item in annotation.objects}
    for point in annotation.focal_points:
        for name in point.objects:
            if name not in known:
                yield (
                    f"focal point {point.focal_id!r}",
                    f"speaks of the object {name!r}, which is not annotated; add it or correct the name",
                )


def _missing_kind(annotation: Annotation, clip: Clip) -> Iterator[tuple[str, str]]:
    del clip
    kinds = {point.kind for point in annotation.focal_points}
    for kind in ("static", "dynamic"):
        if kind not in kinds:
            yield "focal points", f"none is {kind}; the clip then has no {kind} retention score"
    if not annotation.objects:
        yield "objects", "there are none; the clip then has no IoU score"


def _said_twice(annotation: Annotation, clip: Clip) -> Iterator[tuple[str, str]]:
    del clip
    for kind, texts in (
        ("objects", [item.description for item in annotation.objects if item.description]),
        ("focal points", [point.description for point in annotation.focal_points]),
    ):
        for text, count in Counter(texts).items():
            if count > 1:
                yield kind, f"{count} have the same description, {text[:60]!r}; tell them apart"


RULES: dict[str, tuple[Severity, Rule]] = {
    "other_clip": ("error", _other_clip),
    "box_count": ("error", _box_count),
    "empty_box": ("error", _empty_box),
    "box_outside_picture": ("error", _outside_picture),
    "box_outside_visible": ("error", _outside_visible),
    "never_visible": ("error", _never_visible),
    "bad_interval": ("error", _bad_interval),
    "unknown_object": ("error", _unknown_object),
    "missing_kind": ("warning", _missing_kind),
    "said_twice": ("warning", _said_twice),
}
