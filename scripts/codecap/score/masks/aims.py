"""Prompts as a segmenter works on them: what it is shown on which frames, where it may look, and the track that comes out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from codecap.clock import frames_between
from codecap.records import Box, ObjectPrompt, ObjectTrack, PromptFrame
from codecap.score.masks import rle

NOT_SEEN = "its mask is empty on all frames"


@dataclass
class Aim:
    """One object to be followed through a clip, and what was found of it.

    Attributes:
        anchors: the prompts by frame; empty when the object is absent.
        wanted: bool `(frames,)`, where the prompt says that it may be visible (the prompted frames always are).
        boxes, masks: what was found, by frame; masks as COCO run-length text.
    """

    prompt: ObjectPrompt
    anchors: dict[int, PromptFrame]
    wanted: np.ndarray
    boxes: dict[int, Box] = field(default_factory=dict)
    masks: dict[int, str] = field(default_factory=dict)

    @classmethod
    def of(cls, prompt: ObjectPrompt, frames: int, there: int) -> Aim:
        """Take a prompt.

        Args:
            frames: boxes that the track has.
            there: frames that the video has; in a shorter video nothing is looked for after its end.

        Raises:
            ValueError: it says that the object was found but on no frame, or names a frame that the video has not.
        """
        anchors = {item.frame: item for item in sorted(prompt.frames, key=lambda item: item.frame)}
        if prompt.status == "absent":
            anchors = {}
        elif prompt.status == "found" and not anchors:
            raise ValueError(f"prompt {prompt.name!r}: found, but on no frame")
        if anchors and max(anchors) >= min(frames, there):
            raise ValueError(f"prompt {prompt.name!r}: frame {max(anchors)} in a video of {min(frames, there)} frames")
        wanted = np.zeros(frames, bool)
        if anchors:
            for start_s, end_s in prompt.visible_s:
                wanted[frames_between(start_s, end_s, frames)] = True
            wanted[list(anchors)] = True
            wanted[there:] = False
        return cls(prompt, anchors, wanted)

    @property
    def first_anchor(self) -> int:
        return min(self.anchors)

    @property
    def first(self) -> int:
        """The first wanted frame."""
        return int(np.flatnonzero(self.wanted)[0])

    @property
    def last(self) -> int:
        """The last wanted frame."""
        return int(np.flatnonzero(self.wanted)[-1])

    def note(self, frame: int, mask: np.ndarray) -> None:
        """Keep the mask of a frame, bool `(height, width)`; an empty one, or one where the object is not wanted, is nothing."""
        if not self.wanted[frame]:
            return
        box = rle.box_of(mask)
        if box is not None:
            self.boxes[frame] = box
            self.masks[frame] = rle.encode(mask)

    def track(self) -> ObjectTrack:
        """One box a frame. An ambiguous prompt stays ambiguous; an object that was seen on no frame is absent."""
        boxes = [self.boxes.get(frame) for frame in range(len(self.wanted))]
        status, detail = self.prompt.status, self.prompt.detail
        if self.anchors and not self.boxes:
            status, detail = "absent", f"{detail}; {NOT_SEEN}" if detail else NOT_SEEN
        return ObjectTrack(name=self.prompt.name, status=status, boxes_xyxy=boxes, detail=detail)


def prompted_frames(aims: Sequence[Aim]) -> dict[int, list[int]]:
    """Numbers of the objects that have a prompt on a frame, by frame, in order."""
    frames: dict[int, list[int]] = {}
    for number, aim in enumerate(aims):
        for frame in aim.anchors:
            frames.setdefault(frame, []).append(number)
    return dict(sorted(frames.items()))


def signed_points(anchor: PromptFrame) -> tuple[list[tuple[float, float]], list[int]]:
    """The points of a prompt in pixels, positive ones first, and their labels: 1 on the object, 0 beside it."""
    return [*anchor.positive_xy, *anchor.negative_xy], [1] * len(anchor.positive_xy) + [0] * len(anchor.negative_xy)
