"""Kinds of damage in grades, from slight to severe. Grade 0 of all but one is the clip as it is, encoded as a render is.

Each maker is a generator over the frames of a canonical clip, uint8 RGB `(height, width, 3)`, as many as the clip has.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from codecap.records import AnnotatedObject, Annotation, Clip
from codecap.spoiled import Frames, late, painted_over, shifted, unchanged
from codecap.video import read_frames

UNCHANGED = "unchanged"
WORDING = "text"
HUE_DEGREES = 2  # of OpenCV's 8-bit hue, which has 180 steps


@dataclass(frozen=True)
class Damage:
    """A kind of damage.

    Attributes:
        label: heads its panel.
        unit: what a grade is a number of.
        grades: from slight to severe.
        make: frames of a clip damaged by a grade; None for wrong words, whose page is drawn anew (see `wording`).
        percent: whether grades are shares, told in percent.
    """

    name: str
    label: str
    unit: str
    grades: tuple[float, ...]
    make: Callable[[Clip, Annotation, float], Frames] | None
    percent: bool = True

    def system(self, grade: float) -> str:
        """Under which name a grade's candidates stand in the place of a system.

        >>> DAMAGES["shift"].system(0.04)
        'shift-0.04'
        """
        return f"{self.name}-{grade:g}"

    def told(self, grade: float) -> str:
        """A grade as an axis says it.

        >>> DAMAGES["shift"].told(0.04), DAMAGES["delay"].told(0.25)
        ('4', '0.25')
        """
        return f"{100 * grade:g}" if self.percent else f"{grade:g}"


def faster(clip: Clip, factor: float) -> Frames:
    """Everything that many times as fast; its end stands for the rest of the time."""
    shown = [min(math.floor(frame * factor), clip.frames - 1) for frame in range(clip.frames)]
    yield from _at(clip, shown)


def frozen_from(clip: Clip, share: float) -> Frames:
    """For so large a share of the time, up to the end, the picture of its beginning stands."""
    first = round((1 - share) * clip.frames)
    yield from _at(clip, [min(frame, max(first, 0)) for frame in range(clip.frames)])


def turned_hue(clip: Clip, degrees: float) -> Frames:
    """All colours turned by an angle on the circle of hues; what is grey stays."""
    for _, rgb in read_frames(clip.mp4, 0, clip.frames):
        hsv = cv2.cvtColor(rgb, cv2.COLOR_RGB2HSV)
        hsv[..., 0] = (hsv[..., 0].astype(np.int32) + round(degrees / HUE_DEGREES)) % (360 // HUE_DEGREES)
        yield cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB)


def blurred(clip: Clip, share: float) -> Frames:
    """Blurred by a Gaussian whose sigma is a share of the height."""
    for _, rgb in read_frames(clip.mp4, 0, clip.frames):
        yield cv2.GaussianBlur(rgb, (0, 0), share * clip.height_px)


def without_objects(clip: Clip, annotation: Annotation, share: float) -> Frames:
    """So large a share of the objects, the first of the annotation first, painted over with what is around their boxes."""
    gone = removed(annotation, share)
    for index, rgb in read_frames(clip.mp4, 0, clip.frames):
        for item in gone:
            box = item.boxes_xyxy[index]
            rgb = rgb if box is None else painted_over(rgb, box)
        yield rgb


def removed(annotation: Annotation, share: float) -> Sequence[AnnotatedObject]:
    """The objects that are painted over."""
    return annotation.objects[: math.ceil(share * len(annotation.objects))]


def _at(clip: Clip, shown: Sequence[int]) -> Frames:
    """The clip's frames of these numbers, which never fall; one picture is held."""
    place, frames = 0, read_frames(clip.mp4, 0, clip.frames)
    for index, rgb in frames:
        while place < len(shown) and shown[place] == index:
            yield rgb
            place += 1
        if place == len(shown):
            return


def _of_clip(maker: Callable[[Clip, float], Frames]) -> Callable[[Clip, Annotation, float], Frames]:
    return lambda clip, _, grade: maker(clip, grade)


SHIFTS = (0.01, 0.02, 0.04, 0.08, 0.16)  # these two as the self-test has them
DELAYS_S = (0.1, 0.25, 0.5, 1.0)
QUARTERS = (0.25, 0.5, 0.75, 1.0)
DAMAGES = {
    damage.name: damage
    for damage in (
        Damage("shift", "Shifted to the right", "% of the width", SHIFTS, _of_clip(shifted)),
        Damage("delay", "Late", "s", DELAYS_S, _of_clip(late), percent=False),
        Damage("speed", "Too fast", "times as fast", (1.1, 1.25, 1.5, 2.0), _of_clip(faster), percent=False),
        Damage("colour", "Other colours", "degrees of hue", (15, 30, 60, 120), _of_clip(turned_hue), percent=False),
        Damage("blur", "Blurred", "sigma in % of the height", (0.0025, 0.005, 0.01, 0.02), _of_clip(blurred)),
        Damage("removed", "Objects removed", "% of the objects", QUARTERS, without_objects),
        Damage(WORDING, "Wrong words", "% of the words", (0.0, *QUARTERS), None),
        Damage("frozen", "Frozen", "% of the time", QUARTERS, _of_clip(frozen_from)),
    )
}


def frames_of(clip: Clip, annotation: Annotation, damage: Damage | None, grade: float) -> Frames:
    """The frames of a damaged clip; with no damage those of the clip itself.

    Raises:
        ValueError: the damage is not made of the clip's frames.
    """
    if damage is None:
        return unchanged(clip)
    if damage.make is None:
        raise ValueError(f"{damage.name} is drawn, not made of frames")
    return damage.make(clip, annotation, grade)
