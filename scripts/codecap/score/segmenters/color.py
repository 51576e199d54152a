"""Segmenter `color`: follows objects by their pixels, edges and colours, without weights. A stand-in for SAM.

Each prompted frame teaches how the object looks; from it the object is followed forward to the end and backward to the start,
and where two prompts frame a stretch of video, the better of both ways counts. It follows rigid objects closely, deforming ones
as far as their colour is their own, and it cannot tell look-alikes apart but by where they are: their tracks are `ambiguous`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from codecap.boxes import iou
from codecap.clock import frames_between
from codecap.records import ObjectPrompt, ObjectTrack
from codecap.score.segmenting import pictures
from codecap.score.segmenting.following import NOT_SEEN, Follower, Look, Sighting, learn, twin_distance

TWIN_CHECK_FRAMES = 24  # an object is compared with the rest of the picture this often,
TWIN_CHECK_QUALITY = 0.8  # when it is surely there
BRIDGED_FRAMES = (
    8  # between two prompts so near, an object that is seen on neither way is taken to go straight from one to the other
)


def load(settings: Mapping[str, object]) -> ColorSegmenter:
    """The segmenter; it has no settings."""
    if settings:
        raise ValueError(f"segmenter color has no setting {', '.join(sorted(settings))}")
    return ColorSegmenter()


@dataclass(frozen=True)
class ColorSegmenter:
    protocol: str = "color 1: masked template, edge and colour patch, both ways, long side 960"
    proxy: bool = True

    def segment(self, mp4: Path, frames: int, prompts: Sequence[ObjectPrompt]) -> list[ObjectTrack]:
        """Follow each prompt through a canonical clip; see the protocol in `segmenters`.

        Args:
            frames: boxes in each track; a shorter video has None after its end, a longer one is cut.

        Raises:
            ValueError: a prompt that is not absent has no frame with a box, or one beyond `frames`.
        """
        courses = [_Course.of(prompt, frames) for prompt in prompts]
        active = [course for course in courses if course.anchors]
        if active:
            first = min(course.first for course in active)
            last = max(course.last for course in active)
            start, stop = min(min(course.anchors) for course in active), max(max(course.anchors) for course in active)
            _run(pictures.forward(mp4, start, last + 1), active, [course.onward for course in active], find_twins=True)
            _run(pictures.backward(mp4, first, stop + 1), active, [course.back for course in active], find_twins=False)
        return [course.track(frames) for course in courses]


@dataclass
class _Course:
    """One prompt and what was seen of its object, both ways."""

    prompt: ObjectPrompt
    anchors: dict[int, np.ndarray]  # frame: box
    wanted: np.ndarray  # bool (frames,), where the prompt says that the object may be visible
    looks: dict[int, Look | None] = field(default_factory=dict)
    onward: dict[int, Sighting] = field(default_factory=dict)
    back: dict[int, Sighting] = field(default_factory=dict)
    twin_px: float | None = None  # distance of the nearest look-alike that was seen

    @classmethod
    def of(cls, prompt: ObjectPrompt, frames: int) -> _Course:
        anchors = {item.frame: np.array(item.box_xyxy, np.float64) for item in prompt.frames}
        if prompt.status == "absent":
            anchors = {}
        elif prompt.status == "found" and not anchors:
            raise ValueError(f"prompt {prompt.name!r}: found, but on no frame")
        beyond = sorted(frame for frame in anchors if frame >= frames)
        if beyond:
            raise ValueError(f"prompt {prompt.name!r}: frame {beyond[0]} in a video of {frames} frames")
        wanted = np.zeros(frames, bool)
        for start_s, end_s in prompt.visible_s:
            wanted[frames_between(start_s, end_s, frames)] = True
        wanted[list(anchors)] = True
        return cls(prompt, anchors, wanted)

    @property
    def first(self) -> int:
        return int(np.flatnonzero(self.wanted)[0])

    @property
    def last(self) -> int:
        return int(np.flatnonzero(self.wanted)[-1])

    def look(self, frame: int, picture: pictures.Picture) -> Look | None:
        if frame not in self.looks:
            self.looks[frame] = learn(picture, self.anchors[frame])
        return self.looks[frame]

    def note_twin(self, distance_px: float | None) -> None:
        if distance_px is not None:
            self.twin_px = min(distance_px, self.twin_px or distance_px)

    def at(self, frame: int) -> tuple[float, float, float, float] | None:
        """The box of a frame: of two ways, the one whose quality and nearness to its prompt say more."""
        onward, back = self.onward.get(frame, NOT_SEEN), self.back.get(frame, NOT_SEEN)
        if onward.box_xyxy is None or back.box_xyxy is None:
            return onward.box_xyxy or back.box_xyxy or self._bridge(frame)
        before = max(anchor for anchor in self.anchors if anchor <= frame)
        after = min(anchor for anchor in self.anchors if anchor >= frame)
        if before == after:
            return onward.box_xyxy
        part = (frame - before) / (after - before)
        if iou(np.array(onward.box_xyxy), np.array(back.box_xyxy)) > 0.5:
            return onward.box_xyxy if part <= 0.5 else back.box_xyxy
        return onward.box_xyxy if onward.quality - part >= back.quality - (1 - part) else back.box_xyxy

    def _bridge(self, frame: int) -> tuple[float, float, float, float] | None:
        before = max((anchor for anchor in self.anchors if anchor < frame), default=None)
        after = min((anchor for anchor in self.anchors if anchor > frame), default=None)
        if before is None or after is None or after - before > BRIDGED_FRAMES:
            return None
        part = (frame - before) / (after - before)
        box = (1 - part) * self.anchors[before] + part * self.anchors[after]
        return tuple(float(edge) for edge in box)

    def track(self, frames: int) -> ObjectTrack:
        status, detail = self.prompt.status, self.prompt.detail
        if status == "found" and self.twin_px is not None:
            status, detail = "ambiguous", "look-alikes in the picture; followed by where it is"
        boxes = [self.at(frame) if self.wanted[frame] else None for frame in range(frames)]
        if status != "absent" and self.anchors and not any(boxes):
            status, detail = "absent", "not seen on any frame"
        return ObjectTrack(name=self.prompt.name, status=status, boxes_xyxy=boxes, detail=detail)


def _run(
    frames: Iterator[tuple[int, pictures.Picture]],
    courses: Sequence[_Course],
    seen: Sequence[dict[int, Sighting]],
    find_twins: bool,
) -> None:
    """Follow all objects through frames in the order in which they come; `seen[k]` takes what is seen of `courses[k]`."""
    followers: list[Follower | None] = [None] * len(courses)
    for frame, picture in frames:
        for number, course in enumerate(courses):
            if not course.wanted[frame]:
                continue
            follower = followers[number]
            if frame in course.anchors:
                look = course.look(frame, picture)
                if look is None:
                    continue
                if find_twins:
                    course.note_twin(twin_distance(picture, look, look.box_xyxy))
                before, follower = follower, Follower(look, course.twin_px)
                follower.take_over(before)
                followers[number] = follower
                seen[number][frame] = follower.start(picture)
            elif follower is not None:
                seen[number][frame] = sighting = follower.step(picture)
                if find_twins and frame % TWIN_CHECK_FRAMES == 0 and sighting.quality > TWIN_CHECK_QUALITY:
                    course.note_twin(twin_distance(picture, follower.look, follower.box))
                    follower.twin_px = course.twin_px
