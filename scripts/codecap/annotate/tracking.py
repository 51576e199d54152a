"""Annotated objects followed through a clip, from boxes and points on some of its frames, by the segmenter that the scores use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from codecap import registry
from codecap.boxes import clipped
from codecap.clock import frames_between, time_of
from codecap.errors import UserError
from codecap.records import AnnotatedObject, Box, Clip, Interval, ObjectPrompt, ObjectTrack, PromptFrame
from codecap.score.segmenters import MaskSegmenter, Segmented, Segmenter

METRIC = "object_iou"  # whose entry in `metrics` names the segmenter
DIGITS = 2  # of a box's sides, in pixels
NOWHERE = "no frame on which it was shown lies in its visible intervals"

SignedPoint = tuple[float, float, int]  # x and y in canonical pixels; +1 on the object, -1 beside it


class TrackingError(UserError, ValueError):
    """An object that cannot be followed; the message names it and says why."""


@dataclass(frozen=True)
class Tracked:
    """What was found of one object.

    Attributes:
        track: one box a frame, inside the picture; None outside the visible intervals, and where it was not seen.
        masks: by frame, as COCO's run-length text of `mask_size`; empty where the segmenter finds boxes alone.
        mask_size: height and width in pixels.
    """

    track: ObjectTrack
    masks: Mapping[int, str] = field(default_factory=dict)
    mask_size: tuple[int, int] = (0, 0)

    def as_object(self, description: str, visible_s: Sequence[Interval]) -> AnnotatedObject:
        """The object as an annotation has it."""
        return AnnotatedObject(
            name=self.track.name, description=description, visible_s=list(visible_s), boxes_xyxy=self.track.boxes_xyxy
        )


@dataclass(frozen=True)
class ChosenSegmenter:
    """A plugin of `codecap.score.segmenters` and its settings: plain values, which go to another process."""

    name: str
    settings: dict[str, Any] = field(default_factory=dict)

    def load(self) -> Segmenter:
        """Load it with its weights; once a process.

        Raises:
            UserError: it cannot run here; the message says what is missing.
        """
        return registry.make("score.segmenters", self.name, self.settings)


def chosen_segmenter(config: Mapping[str, Any]) -> ChosenSegmenter:
    """The segmenter of the run, which scores follow objects with.

    Raises:
        TrackingError: the configuration has none.
    """
    entry = config["metrics"].get(METRIC)
    if entry is None:
        raise TrackingError(f"metrics.{METRIC}: is not configured; its segmenter is what follows annotated objects")
    name = entry["segmenter"]
    return ChosenSegmenter(name, dict((entry.get("segmenters") or {}).get(name) or {}))


def prompt_of(
    name: str,
    boxes: Mapping[int, Box],
    visible_s: Sequence[Interval] = (),
    points: Mapping[int, Sequence[SignedPoint]] | None = None,
) -> ObjectPrompt:
    """The prompt that says where an object is on some frames.

    Args:
        boxes: by frame, xyxy in canonical pixels.
        visible_s: when it may be seen; empty: in the whole clip.
        points: on the same frames.
    """
    shown = []
    for frame, box in sorted(boxes.items()):
        signed = (points or {}).get(frame, ())
        positive, negative = ([(x, y) for x, y, sign in signed if (sign > 0) is wanted] for wanted in (True, False))
        shown.append(PromptFrame(frame=frame, box_xyxy=box, positive_xy=positive, negative_xy=negative))
    return ObjectPrompt(name=name, status="found", visible_s=list(visible_s), frames=shown)


def follow(clip: Clip, prompts: Sequence[ObjectPrompt], segmenter: Segmenter) -> list[Tracked]:
    """Follow objects onward and back from the frames on which they are shown.

    Args:
        prompts: one an object. Frames outside its visible intervals are passed over; an object that is then shown on none is
            absent. Without intervals it may be seen in the whole clip.

    Returns:
        What was found of each, in order.

    Raises:
        TrackingError: a prompt names a frame that the clip has not, or a box that is empty or lies outside the picture.
        VideoError: the clip cannot be read.
    """
    ready = [_within(prompt, clip) for prompt in prompts]
    if isinstance(segmenter, MaskSegmenter):
        found = segmenter.segment_masks(clip.mp4, clip.frames, ready)
    else:
        found = Segmented(segmenter.segment(clip.mp4, clip.frames, ready), {}, clip.height_px, clip.width_px)
    size = (found.height_px, found.width_px)
    return [
        _found(clip, prompt, track, found.masks.get(track.name, {}), size)
        for prompt, track in zip(ready, found.tracks, strict=True)
    ]


def shown_frames(visible_s: Sequence[Interval], frames: int) -> set[int]:
    """Frames of a clip of `frames` at which an object with these intervals may be seen; all of them for no interval."""
    if not visible_s:
        return set(range(frames))
    return {frame for start_s, end_s in visible_s for frame in frames_between(start_s, end_s, frames)}


def _within(prompt: ObjectPrompt, clip: Clip) -> ObjectPrompt:
    """The prompt with what lies in its intervals and in the picture."""
    visible_s = list(prompt.visible_s) or [(0.0, time_of(clip.frames))]
    if prompt.status == "absent":
        return prompt
    shown = shown_frames(visible_s, clip.frames)
    kept = []
    for item in prompt.frames:
        place = f"object {prompt.name!r}, frame {item.frame}"
        if item.frame >= clip.frames:
            raise TrackingError(f"{clip.clip_id}: {place}: the clip has {clip.frames} frames, from 0 on; show it on one of these")
        box = clipped(item.box_xyxy, clip.width_px, clip.height_px)
        if box is None:
            told = ", ".join(f"{side:g}" for side in item.box_xyxy)
            raise TrackingError(
                f"{clip.clip_id}: {place}: box [{told}] is empty or lies outside the picture of {clip.width_px}x{clip.height_px} px"
            )
        if item.frame in shown:
            kept.append(item.model_copy(update={"box_xyxy": box}))
    if not kept:
        return ObjectPrompt(name=prompt.name, status="absent", detail=prompt.detail or NOWHERE)
    return prompt.model_copy(update={"visible_s": visible_s, "frames": kept})


def _found(clip: Clip, prompt: ObjectPrompt, track: ObjectTrack, masks: Mapping[int, str], size: tuple[int, int]) -> Tracked:
    shown = shown_frames(prompt.visible_s, clip.frames)
    boxes: list[Box | None] = [None] * clip.frames
    for frame, box in enumerate(track.boxes_xyxy):
        inside = None if box is None or frame not in shown else clipped(box, clip.width_px, clip.height_px)
        if inside is not None:
            boxes[frame] = tuple(round(side, DIGITS) for side in inside)
    there = {frame: mask for frame, mask in masks.items() if boxes[frame] is not None}
    return Tracked(track.model_copy(update={"boxes_xyxy": boxes}), there, size)
