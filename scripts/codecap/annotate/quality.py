"""Doubts about tracks, measured from the boxes themselves: each signal has a name, a number from 0 to 1, and frames to look at.

A signal is no error. What jumps may do so in the video, what has a gap may be hidden: the numbers say what people look at first,
and where. Signals about two objects at once are in `identity`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

import numpy as np
from pydantic import Field

from codecap.annotate.identity import swaps
from codecap.annotate.looks import Looks
from codecap.annotate.runs import runs
from codecap.boxes import area, as_array
from codecap.clock import frames_between
from codecap.records import AnnotatedObject, Clip, Row
from codecap.score.masks import rle

Name = Literal["identity_swap", "jump", "gap", "rough_boxes", "unstable_mask"]

AROUND = 3  # frames before and after a step that say how the object moves
JUMP_SIZES, SURE_JUMP_SIZES = 0.5, 2.0  # sizes of the object (square root of its area) off its course: a jump, and surely one
LEAST_JUMP_PX = 8.0
FLICKER = 6  # frames: so short a gap is seldom something that hides the object
FLICKER_WORTH = 0.15
TREMBLE, SURE_TREMBLE = 0.01, 0.06  # of the box's side, there and back in the mean of all frames: rough, and hopeless
LEAST_SIDE_PX = 8.0  # smaller boxes are taken as so large: half a pixel is no trembling
UNSTEADY, SURE_UNSTEADY = 0.04, 0.2  # of its box that a mask gains or loses from frame to frame, in the mean
FARTHEST_PX = 1e6  # from the picture's corner; what is told further away is no place
SHOWN_FRAMES = 20  # of a signal, at most


class Signal(Row):
    """One doubt about one object's track.

    Attributes:
        value: 0 none, 1 sure.
        frames: where to look, in order; not all of many.
        told: what was measured, to be put after the object's name.
    """

    signal: Name
    value: float = Field(gt=0, le=1)
    frames: list[int]
    told: str


def signals(
    objects: Sequence[AnnotatedObject],
    clip: Clip,
    masks: Mapping[str, Mapping[int, str]] | None = None,
    looks: Looks | None = None,
    cuts: Collection[int] = (),
) -> dict[str, list[Signal]]:
    """The doubts about each object that has any, the gravest first.

    Args:
        objects: of one clip, with one box a frame; others are passed over.
        masks: by object and frame, as COCO's run-length text of the clip's size, where a segmenter found them.
        looks: what the objects look like on each frame, where that was measured.
        cuts: first frames of shots: across these nothing moves.
    """
    tracks = {item.name: _near(as_array(item.boxes_xyxy)) for item in objects if len(item.boxes_xyxy) == clip.frames}
    found: dict[str, list[Signal]] = {name: [] for name in tracks}
    for item in objects:
        if item.name not in tracks:
            continue
        boxes = tracks[item.name]
        there = [jump(boxes, cuts), gap(boxes, item, clip), rough_boxes(boxes)]
        if masks and item.name in masks:
            there.append(unstable_mask(boxes, masks[item.name], clip))
        found[item.name] += [signal for signal in there if signal is not None]
    for swap in swaps(tracks, looks):
        found[swap.name].append(Signal(signal="identity_swap", value=swap.value, frames=swap.frames[:SHOWN_FRAMES], told=swap.told))
    return {name: sorted(there, key=lambda signal: -signal.value) for name, there in found.items() if there}


def doubt(found: Mapping[str, Sequence[Signal]], objects: int, wrong: Collection[str] = ()) -> float:
    """How much a clip's tracks ask to be looked at, from 0 to 1: the root of the mean square of its objects' gravest doubts.

    Args:
        objects: of the clip, those without a doubt too.
        wrong: names of objects that have an error, which is no doubt any more: each counts 1.
    """
    sure = dict.fromkeys(wrong, 1.0)
    gravest = {name: max(signal.value for signal in there) for name, there in found.items() if there} | sure
    return float(np.sqrt(np.square([*gravest.values()]).sum() / max(objects, len(gravest), 1)))


def why(found: Mapping[str, Sequence[Signal]]) -> list[str]:
    """All doubts in words, the gravest first."""
    told = [(signal.value, f"{name}: {signal.told}") for name, there in found.items() for signal in there]
    return [words for _, words in sorted(told, key=lambda pair: (-pair[0], pair[1]))]


def jump(boxes_xyxy: np.ndarray, cuts: Collection[int] = ()) -> Signal | None:
    """Steps that leave the object's course, as its steps just before and after say it, and sudden changes of size."""
    off, size = _off_course(boxes_xyxy), np.sqrt(np.maximum(area(boxes_xyxy), 1.0))
    least = np.maximum(JUMP_SIZES * np.fmin(size[1:], size[:-1]), LEAST_JUMP_PX)
    frames = [int(frame) + 1 for frame in np.flatnonzero(off > least) if int(frame) + 1 not in cuts]
    if not frames:
        return None
    sizes = np.array([off[frame - 1] / np.fmin(size[frame], size[frame - 1]) for frame in frames])
    worst = int(np.argmax(sizes))
    told = f"jumps {off[frames[worst] - 1]:.0f} px off its course at frame {frames[worst]}{_more(len(frames) - 1)}"
    return Signal(signal="jump", value=_graded(sizes[worst], SURE_JUMP_SIZES), frames=frames[:SHOWN_FRAMES], told=told)


def gap(boxes_xyxy: np.ndarray, item: AnnotatedObject, clip: Clip) -> Signal | None:
    """Frames without a box on which the object is said to be visible; without intervals, short gaps between boxes."""
    seen = ~np.isnan(boxes_xyxy[:, 0])
    if not seen.any():
        return None
    shown = np.zeros(clip.frames, bool)
    for start_s, end_s in item.visible_s:
        if 0 <= start_s < end_s < float("inf"):
            shown[frames_between(start_s, end_s, clip.frames)] = True
    first, last = np.flatnonzero(seen)[[0, -1]]
    inner = [(start, stop) for start, stop in runs(~seen) if first < start and stop <= last]
    flickers = [(start, stop) for start, stop in inner if stop - start <= FLICKER]
    gaps = runs(shown & ~seen) if item.visible_s else flickers
    if not gaps:
        return None
    missing = sum(stop - start for start, stop in gaps)
    count = int(shown.sum()) if item.visible_s else int(last - first + 1)
    value = min(1.0, missing / count + FLICKER_WORTH * len(flickers))
    told = f"has no box on {missing} of the {count} frames on which it should be visible, first at frame {gaps[0][0]}"
    return Signal(signal="gap", value=value, frames=[start for start, _ in gaps][:SHOWN_FRAMES], told=told)


def rough_boxes(boxes_xyxy: np.ndarray) -> Signal | None:
    """Sides that go there and back from frame to frame; a straight or curved way does not."""
    steps = np.diff(boxes_xyxy, axis=0)
    turns = np.minimum(np.abs(steps[1:]), np.abs(steps[:-1])) * (steps[1:] * steps[:-1] < 0)
    sides = np.tile(boxes_xyxy[1:-1, 2:] - boxes_xyxy[1:-1, :2], 2)
    share = turns / np.maximum(sides, LEAST_SIDE_PX)
    known = ~np.isnan(share).any(axis=1)
    if not known.any():
        return None
    worst_side = share[known].max(axis=1)
    mean = float(worst_side.mean())
    if mean < TREMBLE:
        return None
    order = np.flatnonzero(known)[np.argsort(-worst_side, kind="stable")][:SHOWN_FRAMES]
    told = f"trembles: a side of its box goes there and back by {mean:.1%} of its length a frame"
    frames = sorted(int(frame) + 1 for frame in order if share[frame].max() >= TREMBLE)
    return Signal(signal="rough_boxes", value=_graded(mean, SURE_TREMBLE), frames=frames, told=told)


def unstable_mask(boxes_xyxy: np.ndarray, masks: Mapping[int, str], clip: Clip) -> Signal | None:
    """How much of its box a mask fills, from one frame to the next."""
    filled = np.full(len(boxes_xyxy), np.nan)
    size = area(boxes_xyxy)
    for frame, mask in masks.items():
        if frame < len(filled) and size[frame] > 0:
            filled[frame] = rle.decode(mask, clip.height_px, clip.width_px).sum() / size[frame]
    change = np.abs(np.diff(filled))
    known = np.flatnonzero(~np.isnan(change))
    mean = float(change[known].mean()) if len(known) else 0.0
    if mean < UNSTEADY:
        return None
    order = known[np.argsort(-change[known], kind="stable")][:SHOWN_FRAMES]
    told = f"has an unsteady mask: it gains or loses {mean:.0%} of its box a frame"
    frames = sorted(int(frame) + 1 for frame in order if change[frame] >= UNSTEADY)
    return Signal(signal="unstable_mask", value=_graded(mean, SURE_UNSTEADY), frames=frames, told=told)


def _near(boxes_xyxy: np.ndarray) -> np.ndarray:
    """The boxes without those that are far from any picture or hold what is no number, which the validator tells."""
    return np.where((np.abs(boxes_xyxy) < FARTHEST_PX).all(axis=1, keepdims=True), boxes_xyxy, np.nan)


def _off_course(boxes_xyxy: np.ndarray) -> np.ndarray:
    """Pixels `(frames - 1,)` by which each step of the box differs from the middle one of the steps around it; NaN without a box.

    The steps are those of all four sides: a box that is suddenly larger has left its course too.
    """
    steps = np.diff(boxes_xyxy, axis=0)
    padded = np.pad(steps, ((AROUND, AROUND), (0, 0)), constant_values=np.nan)
    around = [np.roll(padded, -shift, axis=0)[: len(steps)] for shift in range(2 * AROUND + 1) if shift != AROUND]
    near = np.sort(np.stack(around), axis=0)  # NaN go to the end
    known = np.sum(~np.isnan(near[:, :, 0]), axis=0)
    low, high = np.maximum(known - 1, 0) // 2, known // 2
    middle = (_chosen(near, low) + _chosen(near, np.where(known > 0, high, 0))) / 2
    return np.abs(steps - np.where(known[:, None] > 0, middle, 0.0)).max(axis=1, initial=0.0)


def _chosen(near: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Of sorted steps `(steps around, frames, 4)` the one in a place of its own on each frame, `(frames, 4)`."""
    return np.take_along_axis(near, place[None, :, None], axis=0)[0]


def _graded(value: float, sure: float) -> float:
    """A measure as a share of what makes it sure, in [0.01, 1]."""
    return float(np.clip(value / sure, 0.01, 1.0))


def _more(count: int) -> str:
    return f", and on {count} more frames" if count else ""
