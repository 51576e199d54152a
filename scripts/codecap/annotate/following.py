"""A proposal's objects followed through their clip: what the annotation of a draft is made of."""

from __future__ import annotations

import logging

import numpy as np

from codecap.annotate.tracking import follow, shown_frames
from codecap.annotate.validate import problems
from codecap.records import AnnotatedObject, Annotation, Box, Clip, ObjectPrompt, Proposal
from codecap.score.segmenters import Segmenter

LOG = logging.getLogger("codecap")


def followed(proposal: Proposal, clip: Clip, segmenter: Segmenter) -> Annotation:
    """A proposal with boxes in every frame, without what an error of the validator is about.

    An object that the segmenter does not find, as it may be with look-alikes, has the boxes that were marked, and what lies between
    two of them in a straight line; it is named in the log.

    Raises:
        VideoError: the clip cannot be read.
    """
    tracks = follow(clip, [item.prompt for item in proposal.objects], segmenter)
    objects = []
    for item, tracked in zip(proposal.objects, tracks, strict=True):
        boxes = tracked.track.boxes_xyxy
        if all(box is None for box in boxes):
            why = tracked.track.detail or tracked.track.status
            LOG.warning("%s: %s is not found by the segmenter (%s): drawn from mark to mark", clip.clip_id, item.prompt.name, why)
            boxes = between_marks(item.prompt, clip.frames)
        told = {"name": item.prompt.name, "description": item.description, "visible_s": item.prompt.visible_s}
        objects.append(AnnotatedObject(**told, boxes_xyxy=boxes))
    proposer = f"{proposal.protocol} | {segmenter.protocol}"
    told = {"clip_id": clip.clip_id, "objects": objects, "focal_points": proposal.focal_points, "proposer": proposer}
    return without_errors(Annotation(**told), clip)


def without_errors(annotation: Annotation, clip: Clip) -> Annotation:
    """The annotation without the objects and focal points that an error is about, each of which is named in the log."""
    while wrong := [problem for problem in problems(annotation, clip) if problem.severity == "error" and problem.about]:
        for problem in wrong:
            LOG.warning("%s: left out of the draft: %s: %s", clip.clip_id, problem.place, problem.message)
        about = {problem.about for problem in wrong}
        objects = [item for item in annotation.objects if f"objects/{item.name}" not in about]
        names = {item.name for item in objects}
        points = [
            point.model_copy(update={"objects": [name for name in point.objects if name in names]})
            for point in annotation.focal_points
            if f"focal_points/{point.focal_id}" not in about
        ]
        annotation = annotation.model_copy(update={"objects": objects, "focal_points": points})
    return annotation


def between_marks(prompt: ObjectPrompt, frames: int) -> list[Box | None]:
    """An object's boxes by its marks alone: in each visible interval in a straight line from mark to mark, and constant before the
    first and after the last of the interval; None outside the intervals, and in one without a mark."""
    boxes: list[Box | None] = [None] * frames
    for interval in prompt.visible_s:
        shown = sorted(shown_frames([interval], frames))
        marks = [mark for mark in prompt.frames if shown[0] <= mark.frame <= shown[-1]]
        if not marks:
            continue
        told = np.array([mark.box_xyxy for mark in marks])
        sides = np.column_stack([np.interp(shown, [mark.frame for mark in marks], told[:, side]) for side in range(4)])
        for frame, box in zip(shown, sides.round(1).tolist(), strict=True):
            boxes[frame] = tuple(box)
    return boxes
