"""Object-level spatio-temporal IoU: how well the reference's objects are where and when they should be.

Source: CodeCap-Bench, section 3.1. **Ours** where it leaves room: an object's score is the mean IoU over the frames where either
its reference box or its candidate box is there (0 where one is missing); one that is absent from the candidate scores 0.
Prompter and segmenter have run before: here only boxes are compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from codecap.boxes import as_array, iou_series, object_iou
from codecap.records import AnnotatedObject, Clip, ObjectTrack, Row
from codecap.score import Description, Measurement, Shots, Task, Unreached, Unscored
from codecap.video import probe

NAME = "object_iou"
LABEL = "Object IoU"
UNIT = ""
RANGE = (0.0, 100.0)
HIGHER_IS_BETTER = True
NEEDS: tuple[str, ...] = ("objects", "tracks")


class Settings(Row):
    """Has no keys: prompter and segmenter are chosen for the stages before."""


def load(settings: Mapping[str, Any]) -> ObjectIou:
    Settings.model_validate(dict(settings))
    return ObjectIou()


class ObjectIou:
    """One measurement an object: its name in `item`, the status of its track (found, absent, ambiguous) in `kind`."""

    proxy = False  # of the comparison; whether the boxes are a stand-in's is said by the tracks
    protocol = "mean IoU over frames where either is visible x 100"

    def watch_reference(self, clip: Clip, shots: Shots) -> None:  # noqa: ARG002
        return None

    def watch_candidate(self, clip: Clip, shots: Shots, reference: Description) -> None:  # noqa: ARG002
        return None

    def compare(self, reference: Description, candidate: Description, task: Task) -> list[Measurement]:  # noqa: ARG002
        """Raises Unscored when there is no annotated object that is ever visible, or there are no tracks; Unreached when there are
        none this time."""
        objects = task.annotation.objects if task.annotation is not None else []
        if not any(is_visible(item) for item in objects):
            raise Unscored("the clip has no annotated object that is visible in some frame")
        if task.tracks is None or task.tracks.status != "ok":
            why = "none were made" if task.tracks is None else task.tracks.status
            kind = Unreached if task.tracks is not None and task.tracks.retry else Unscored
            raise kind(f"no tracks of the objects in the candidate: {why}")
        tracks = {track.name: track for track in task.tracks.tracks}
        grow = _to_canonical(task)
        return [measure(item, tracks.get(item.name), task.clip.frames, grow) for item in objects]


def is_visible(item: AnnotatedObject) -> bool:
    return any(box is not None for box in item.boxes_xyxy)


def measure(item: AnnotatedObject, track: ObjectTrack | None, frames: int, grow_xyxy: np.ndarray) -> Measurement:
    """The score of one object, 0 to 100.

    Args:
        frames: of the clip; boxes of either side after them do not count.
        grow_xyxy: canonical pixels in one pixel of the candidate, `(x, y, x, y)`.
    """
    if not is_visible(item):
        return Measurement(None, item=item.name, detail="annotated as visible in no frame; correct the annotation")
    if track is None:
        return Measurement(None, item=item.name, detail="no track of this object was made")
    boxes = [None if box is None else tuple(np.array(box) * grow_xyxy) for box in track.boxes_xyxy[:frames]]
    reference = item.boxes_xyxy[:frames]
    value = 100.0 * object_iou(reference, boxes)
    return Measurement(value, item=item.name, kind=track.status, detail=_evidence(reference, boxes, track.detail))


def _evidence(reference: list, candidate: list, said: str) -> str:
    both = int(np.sum(iou_series(reference, candidate) > 0))
    there, found = (int((~np.isnan(as_array(boxes)).any(axis=1)).sum()) for boxes in (reference, candidate))
    counts = f"visible in {there} frames, found in {found}, overlapping in {both}"
    return f"{counts}; {said}" if said else counts


def _to_canonical(task: Task) -> np.ndarray:
    """Tracks are in the candidate's own pixels, which are the reference's unless the candidate is a video of another size."""
    if task.render.mp4 is None:
        return np.ones(4)
    info = probe(task.render.mp4)
    x, y = task.clip.width_px / info.width_px, task.clip.height_px / info.height_px
    return np.array([x, y, x, y])
