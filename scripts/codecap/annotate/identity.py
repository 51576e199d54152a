"""Has a track gone over to another object? Told from where tracks lie and, where it was measured, from what they show.

Three things speak for it: two tracks change places from one frame to the next; two that were apart lie on one another for long; a
track shows what another one mostly shows, and not what it mostly shows itself, where the two do not overlap.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np

from codecap.annotate.looks import Looks
from codecap.annotate.runs import runs
from codecap.boxes import area, iou

SAME_PLACE, OTHER_PLACE = 0.5, 0.3  # IoU from one frame to the next of what stays, and of what has gone elsewhere
TOGETHER, APART = 0.7, 0.3  # IoU of two tracks that lie on one another, and of two that do not
LONG = 12  # frames: those that only pass one another are not so long together
SEEN_APART = 6  # frames
HIDDEN_SHARE = 0.1  # of a box that another one covers, from which it shows that other one
WHOLE_SHARE = 0.6  # of its usual area
OTHER_LOOK_LEVELS = 30.0  # mean difference from which two objects look different
LIKER = 0.5  # a track shows another object when it is so many times as far from that one's look as from its own
SHOWN_LONG = 6  # frames


@dataclass(frozen=True)
class Swap:
    """A track that may be that of another object from some frame on.

    Attributes:
        name: of the object that the track is said to be of.
        value: from above 0 to 1, how sure it is.
        frames: where it begins, each time.
        told: in words, to be put after the name.
    """

    name: str
    value: float
    frames: list[int]
    told: str


def swaps(tracks: Mapping[str, np.ndarray], looks: Looks | None = None) -> Iterator[Swap]:
    """What speaks for a swap, each kind at most once for one object and another.

    Args:
        tracks: boxes of the same frames, float64 `(frames, 4)` with NaN where there are none.
        looks: of objects of these names; where there is none for one, the boxes alone are asked.
    """
    gone = {name: iou(boxes[1:], boxes[:-1]) < OTHER_PLACE for name, boxes in tracks.items()}
    for one, other in combinations(tracks, 2):
        if (gone[one] & gone[other]).any():
            yield from _changed_places(one, other, tracks, gone[one] & gone[other])
        yield from _together(one, other, iou(tracks[one], tracks[other]))
    seen = [name for name in tracks if looks is not None and name in looks.pictures]
    typical = {name: looks.typical(name) for name in seen}
    for one, other in permutations(seen, 2):
        if np.abs(typical[one] - typical[other]).mean() >= OTHER_LOOK_LEVELS:
            liker = looks.apart(one, typical[other]) < LIKER * looks.apart(one, typical[one])
            yield from _shows(one, other, liker & _whole(tracks[one]) & ~_covered(tracks[one], tracks[other]), tracks[one])


def _changed_places(one: str, other: str, tracks: Mapping[str, np.ndarray], gone: np.ndarray) -> Iterator[Swap]:
    a, b = tracks[one], tracks[other]
    taken = gone & (iou(a[1:], b[:-1]) >= SAME_PLACE) & (iou(b[1:], a[:-1]) >= SAME_PLACE)
    frames = [int(frame) + 1 for frame in np.flatnonzero(taken)]
    for name, beside in ((one, other), (other, one)) if frames else ():
        yield Swap(name, 1.0, frames, f"changes places with {beside!r} at frame {frames[0]}")


def _together(one: str, other: str, overlap: np.ndarray) -> Iterator[Swap]:
    """Of both: which of the two lies on the other's object, the boxes do not say."""
    if (overlap < APART).sum() < SEEN_APART:
        return
    long = [(start, stop) for start, stop in runs(overlap >= TOGETHER) if stop - start >= LONG]
    count, frames = sum(stop - start for start, stop in long), [start for start, _ in long]
    value = min(1.0, 0.5 + count / len(overlap))
    for name, beside in ((one, other), (other, one)) if long else ():
        yield Swap(name, value, frames, f"lies on {beside!r} for {count} frames, first from frame {frames[0]} on")


def _shows(one: str, other: str, liker: np.ndarray, boxes_xyxy: np.ndarray) -> Iterator[Swap]:
    long = [(start, stop) for start, stop in runs(liker) if stop - start >= SHOWN_LONG]
    if long:
        count, frames = sum(stop - start for start, stop in long), [start for start, _ in long]
        value = min(1.0, 0.5 + count / int((~np.isnan(boxes_xyxy[:, 0])).sum()))
        yield Swap(one, value, frames, f"looks like {other!r} on {count} frames, first from frame {frames[0]} on")


def _whole(boxes_xyxy: np.ndarray) -> np.ndarray:
    """bool `(frames,)`: on which frames a box is about as large as it mostly is; a part may look like anything."""
    size = area(boxes_xyxy)
    return np.nan_to_num(size) >= WHOLE_SHARE * np.nanmedian(size) if np.isfinite(size).any() else np.zeros(len(size), bool)


def _covered(box_xyxy: np.ndarray, by_xyxy: np.ndarray) -> np.ndarray:
    """bool `(frames,)`: on which frames another box covers a part of a box."""
    shared = np.concatenate([np.maximum(box_xyxy[:, :2], by_xyxy[:, :2]), np.minimum(box_xyxy[:, 2:], by_xyxy[:, 2:])], axis=1)
    return np.nan_to_num(area(shared)) > HIDDEN_SHARE * np.maximum(np.nan_to_num(area(box_xyxy)), 1.0)
