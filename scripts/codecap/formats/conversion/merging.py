"""Putting what came back from another tool onto the annotation that went there.

What the format does not hold stays as it was; what it holds, but nobody touched, stays exactly as it was, so that nothing that
depends on it is scored again for a rounding.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from codecap.clock import frames_between
from codecap.formats import Part
from codecap.formats.conversion.objects import visible
from codecap.records import AnnotatedObject, Annotation, Box, Clip, FocalPoint, Interval, Review

SAME_PX = 0.01  # apart at most, on every side, two boxes are one


def onto(read: Annotation, before: Annotation, clip: Clip, holds: Collection[Part]) -> Annotation:
    """
    Args:
        read: from a file; objects and focal points that are not in it were removed, unless the format cannot hold them.
        before: what the file was exported from; objects are paired by name, focal points by id.
        holds: of the format.

    Returns:
        Without a change, `before` itself.
    """
    known = {item.name: item for item in before.objects}
    objects = [_object(item, known.get(item.name), clip, holds) for item in read.objects]
    points = before.focal_points
    if "focal_points" in holds:
        told = {point.focal_id: point for point in before.focal_points}
        points = [_focal_point(point, told.get(point.focal_id), clip) for point in read.focal_points]
    merged = before.model_copy(update={"objects": _as_before(objects, before.objects), "focal_points": points})
    return before if merged == before else merged


def reviewed(merged: Annotation, before: Annotation | None, who: str | None, when: str, origin: str) -> Annotation:
    """Say who vouches for an annotation. A change for which nobody does takes the approval of those before with it.

    Args:
        who: has seen the annotation as it is now.
        when: ISO 8601.
        origin: where the change comes from, in words.
    """
    if merged == before and (who is None or before.reviews):
        return merged
    if who is None:
        return merged.model_copy(update={"reviews": []})
    what = f"{origin}: {told_changes(before or Annotation(clip_id=merged.clip_id), merged)}"
    return merged.model_copy(update={"reviews": [*merged.reviews, Review(who=who, when=when, changed=what)]})


def told_changes(before: Annotation, after: Annotation) -> str:
    """
    >>> told_changes(Annotation(clip_id="A"), Annotation(clip_id="A", objects=[AnnotatedObject(name="ball", boxes_xyxy=[])]))
    '1 object added'
    """
    parts = [
        *_counted("object", {item.name: item for item in before.objects}, {item.name: item for item in after.objects}),
        *_counted(
            "focal point",
            {point.focal_id: point for point in before.focal_points},
            {point.focal_id: point for point in after.focal_points},
        ),
    ]
    return ", ".join(parts) or "nothing changed"


def _counted(noun: str, before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    counts = {
        "added": len(after.keys() - before.keys()),
        "removed": len(before.keys() - after.keys()),
        "changed": sum(before[name] != after[name] for name in before.keys() & after.keys()),
    }
    return [f"{count} {noun}{'s' if count > 1 else ''} {what}" for what, count in counts.items() if count]


def _as_before(objects: list[AnnotatedObject], before: Sequence[AnnotatedObject]) -> list[AnnotatedObject]:
    """In the order that they had; new ones at the end."""
    order = {item.name: place for place, item in enumerate(before)}
    return sorted(objects, key=lambda item: order.get(item.name, len(order)))


def _object(item: AnnotatedObject, before: AnnotatedObject | None, clip: Clip, holds: Collection[Part]) -> AnnotatedObject:
    if before is None:
        return item
    boxes = [
        old if _same(new, old) else new for new, old in zip(item.boxes_xyxy, _filled(before.boxes_xyxy, clip.frames), strict=True)
    ]
    stated = item.visible_s if "visible_s" in holds else _kept(before, boxes)
    return AnnotatedObject(
        name=item.name,
        description=item.description if "descriptions" in holds else before.description,
        visible_s=before.visible_s if _frames(stated, clip) == _frames(_shown(before), clip) else stated,
        boxes_xyxy=boxes,
        amodal_xyxy=item.amodal_xyxy if "amodal" in holds else before.amodal_xyxy,
    )


def _kept(before: AnnotatedObject, boxes: Sequence[Box | None]) -> list[Interval]:
    """Of a format of boxes alone: their own intervals, and gaps that stood within a visible interval and are gaps still."""
    if all((new is None) == (old is None) for new, old in zip(boxes, before.boxes_xyxy, strict=False)):
        return _shown(before)
    return visible(boxes)


def _shown(item: AnnotatedObject) -> list[Interval]:
    return list(item.visible_s) or visible(item.boxes_xyxy)


def _focal_point(point: FocalPoint, before: FocalPoint | None, clip: Clip) -> FocalPoint:
    """With the times that it had, where they are on the same frames."""
    if before is None or _frames([(point.start_s, point.end_s)], clip) != _frames([(before.start_s, before.end_s)], clip):
        return point
    return point.model_copy(update={"start_s": before.start_s, "end_s": before.end_s})


def _frames(intervals: Sequence[Interval], clip: Clip) -> list[range]:
    return [frames_between(start_s, end_s, clip.frames) for start_s, end_s in intervals]


def _filled(boxes: Sequence[Box | None], frames: int) -> list[Box | None]:
    return [*boxes[:frames], *[None] * (frames - len(boxes))]


def _same(new: Box | None, old: Box | None) -> bool:
    if new is None or old is None:
        return new is old
    return all(abs(a - b) < SAME_PX for a, b in zip(new, old, strict=True))
