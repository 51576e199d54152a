"""From what a file says to annotated objects: distinct names, boxes inside the picture, visible intervals that hold all boxes."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from codecap.annotate.validate.shape import EDGE_PX
from codecap.boxes import clipped
from codecap.clock import frames_between, time_of
from codecap.formats import FormatError
from codecap.formats.conversion.files import LONGEST_NAME, check_count
from codecap.formats.conversion.keys import stretches
from codecap.records import AnnotatedObject, Annotation, Box, Clip, FocalPoint, Interval, in_words

LOG = logging.getLogger("codecap")


def object_of(
    name: str, description: str, boxes_xyxy: Sequence[Box | None], clip: Clip, path: Path, visible_s: Sequence[Interval] = ()
) -> AnnotatedObject:
    """
    Args:
        boxes_xyxy: one a frame of the clip; what lies outside the picture is cut off, and said in the log.
        path: of the file, for the log.
        visible_s: as the file states them; none: as the boxes say.
    """
    inside = [None if box is None else _inside(box, clip) for box in boxes_xyxy]
    cut = sum(old != new for old, new in zip(boxes_xyxy, inside, strict=True))
    if cut:
        LOG.warning("%s: object %r: %d boxes pass the picture; what is outside of it is cut off", path, name, cut)
    return AnnotatedObject(name=name, description=description, visible_s=visible(inside, visible_s), boxes_xyxy=inside)


def visible(boxes_xyxy: Sequence[Box | None], stated: Sequence[Interval] = ()) -> list[Interval]:
    """Seconds during which an object is visible: the stated ones, widened where there are boxes outside of them.

    >>> box = (0, 0, 1, 1)
    >>> visible([None] * 12 + [box] * 6 + [None]), visible([box, box, None, None, None, None], [(0.0, 0.25)])
    ([(0.5, 0.75)], [(0.0, 0.25)])
    """
    seen = [box is not None for box in boxes_xyxy]
    within = [False] * len(seen)
    for start_s, end_s in stated:
        for frame in frames_between(start_s, end_s, len(seen)):
            within[frame] = True
    if stated and not any(box and not told for box, told in zip(seen, within, strict=True)):
        return list(stated)
    either = [(0.0, 0.0, 1.0, 1.0) if box or told else None for box, told in zip(seen, within, strict=True)]
    return [(time_of(run.start), time_of(run.stop)) for run in stretches(either)]


def gaps_matter(item: AnnotatedObject) -> bool:
    """Whether its visible intervals say more than its boxes do."""
    return bool(item.visible_s) and list(item.visible_s) != visible(item.boxes_xyxy)


def distinct(labels: Sequence[str], path: Path) -> list[str]:
    """A name of its own for each of some objects: the label, or the label with a number where several bear it.

    >>> distinct(["car", "tree", "car"], Path("file"))
    ['car 1', 'tree', 'car 2']
    """
    check_count(labels, "objects", str(path))
    labels = [label or "object" for label in labels]
    too_long = next((label for label in labels if len(label) > LONGEST_NAME), None)
    if too_long:
        raise FormatError(f"{path}: an object's name has at most {LONGEST_NAME} characters; {too_long[:40]!r} goes on too long")
    counts, given = Counter(labels), Counter[str]()
    taken = {label for label, count in counts.items() if count == 1}
    names = []
    for label in labels:
        name = label
        while counts[label] > 1 and (name == label or name in taken):
            given[label] += 1
            name = f"{label} {given[label]}"
        taken.add(name)
        names.append(name)
    return names


def annotation_of(
    clip: Clip, objects: Sequence[AnnotatedObject], path: Path, focal_points: Sequence[FocalPoint] = ()
) -> Annotation:
    """
    Raises:
        FormatError: two focal points bear one id, or there are too many.
    """
    check_count(focal_points, "focal points", str(path))
    try:
        return Annotation(clip_id=clip.clip_id, objects=list(objects), focal_points=list(focal_points))
    except ValidationError as error:
        raise FormatError(f"{path}: {in_words(error)}; give each its own") from error


def check_seen(items: Sequence[AnnotatedObject], what: str) -> None:
    """
    Raises:
        FormatError: an object has no box, for which a format of boxes has no place.
    """
    for item in items:
        if all(box is None for box in item.boxes_xyxy):
            raise FormatError(
                f"object {item.name!r} has no box in any frame, for which {what} has no place; give its boxes or remove it"
            )


def _inside(box: Box, clip: Clip) -> Box | None:
    """The box itself when it passes the picture by rounding at most, as the validator has it; else its part inside."""
    beyond = max(-box[0], -box[1], box[2] - clip.width_px, box[3] - clip.height_px)
    return box if beyond <= EDGE_PX else clipped(box, clip.width_px, clip.height_px)
