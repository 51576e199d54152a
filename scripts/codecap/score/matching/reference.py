"""What the prompter learns of the reference: on a grid of frames, how each object looks and where its look-alikes are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from codecap.boxes import iou
from codecap.records import AnnotatedObject, Box, Clip
from codecap.score.segmenting.following import TWIN, Look, learn, places
from codecap.score.segmenting.pictures import Picture
from codecap.video import decode, to_rgb

STEP_FRAMES = 6
MOST_STEPS = 96  # in a long clip the grid is wider
TWINS_EVERY = 2  # steps; look-alikes move, but not far in so short a time
MOST_TWINS = 6
SAME_PICTURE = 6.0  # levels: a crop that changed less needs no new look


@dataclass(frozen=True)
class Sample:
    """One object on one frame of the reference.

    Attributes:
        box_xyxy: float64 `(4,)`.
        twins_xy: float64 `(twins, 2)`, centres of the places that look like it.
    """

    frame: int
    box_xyxy: np.ndarray
    look: Look
    twins_xy: np.ndarray

    @property
    def centre_xy(self) -> np.ndarray:
        return centre(self.box_xyxy)


@dataclass(frozen=True)
class KnownObject:
    name: str
    samples: list[Sample]

    @property
    def has_twins(self) -> bool:
        return any(len(sample.twins_xy) for sample in self.samples)

    def at(self, frame: int) -> Sample:
        """The sample nearest to a frame."""
        return min(self.samples, key=lambda sample: abs(sample.frame - frame))


def centre(box_xyxy: np.ndarray) -> np.ndarray:
    return (box_xyxy[:2] + box_xyxy[2:]) / 2


def grid(frames: int) -> range:
    """Frames that are looked at, in both videos."""
    return range(0, frames, max(STEP_FRAMES, math.ceil(frames / MOST_STEPS)))


def study(objects: Sequence[AnnotatedObject], clip: Clip) -> list[KnownObject]:
    """Learn the objects' looks from the reference, streamed once. An object that is visible on no frame of the grid is
    learned from the frame where it is largest."""
    wanted = {frame: set(range(len(objects))) for frame in grid(clip.frames)}
    for number, item in enumerate(objects):
        if not any(_box(item, frame) for frame in wanted):
            wanted.setdefault(_largest(item), set()).add(number)
    samples: list[list[Sample]] = [[] for _ in objects]
    for frame, decoded in decode(clip.mp4, 0, max(wanted) + 1):
        if frame not in wanted:
            continue
        picture = Picture(to_rgb(decoded))
        for number in sorted(wanted[frame]):
            if box := _box(objects[number], frame):
                sample = _sample(frame, picture, np.array(box), samples[number])
                if sample is not None:
                    samples[number].append(sample)
    return [KnownObject(item.name, known) for item, known in zip(objects, samples, strict=True)]


def _sample(frame: int, picture: Picture, box: np.ndarray, before: list[Sample]) -> Sample | None:
    last = before[-1] if before else None
    look = last.look if last is not None and _looks_the_same(picture, box, last) else learn(picture, box)
    if look is None:
        return None
    if last is not None and len(before) % TWINS_EVERY:
        return Sample(frame, box, look, last.twins_xy)
    others = [place.box_xyxy for place in places(picture, look, MOST_TWINS, TWIN) if iou(place.box_xyxy, box) < 0.3]
    return Sample(frame, box, look, np.array([centre(other) for other in others]).reshape(-1, 2))


def _looks_the_same(picture: Picture, box: np.ndarray, last: Sample) -> bool:
    if not np.array_equal(box, last.look.box_xyxy):
        return False
    fine = last.look.fine
    corner = np.round(box[:2] * picture.scale(fine.level)[:2] - fine.inset_xyxy[:2]).astype(int)
    height, width = fine.size
    now = picture.planes(fine.level)[:, corner[1] : corner[1] + height, corner[0] : corner[0] + width]
    return now.shape == fine.planes.shape and float(np.abs(now - fine.planes).max()) < SAME_PICTURE


def _box(item: AnnotatedObject, frame: int) -> Box | None:
    return item.boxes_xyxy[frame] if frame < len(item.boxes_xyxy) else None


def _largest(item: AnnotatedObject) -> int:
    def size(frame: int) -> float:
        box = item.boxes_xyxy[frame]
        return (box[2] - box[0]) * (box[3] - box[1]) if box else -1.0

    return max(range(len(item.boxes_xyxy)), key=size)
