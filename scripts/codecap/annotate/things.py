"""Which tracks are objects worth annotating: salient, lasting, whole, and not the same thing twice.

What counts for a track: it moves, it comes or goes within its shot, its colour is vivid and stands out from what is around it, it
is neither a speck nor half the picture, it is there for long, it fills its box, and the box moves and grows without jumps. What
counts against it: it is only a part that moves with a whole, or it resembles what has been chosen already.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from codecap.annotate.tracks import Track
from codecap.boxes import area, iou

SHORTEST = 6  # frames for which an object is seen, unless its shot is shorter
LASTING = 48  # frames from which a longer presence makes nothing more salient
MOST_LOOKED_AT = 300  # tracks that are compared with one another
EVERY = 2  # frames between the instants at which they are compared
SAME_OVERLAP = 0.5  # mean IoU from which two tracks are one thing
SURE_OVERLAP = 0.75  # mean IoU from which a track of another family confirms one
INSIDE_SHARE = 0.9  # of a box that lies in another one
TOGETHER_SHARE = 0.01  # of the picture's diagonal: a part that moves by no more against the whole is no object of its own
CLEAR_LEVELS = 80.0  # of contrast, from which more makes nothing more salient
WITH_SHARE = 0.25  # of its way: nor one that does so, as what is cut off by the same edge does
SPECK = 0.05  # square root of the share of the picture: what is smaller counts less
WHOLE_SCORE = 0.15  # what the whole of a part has of its score, at least
LARGEST_WHOLE = 0.2  # of the picture: what is larger is a place, not an object
HEIR_WORTH = 0.95  # what a whole of two parts and more counts of the best one's score
LONGER, LONGER_SCORE = 1.4, 0.5  # a track of the same thing that is so much longer is taken if it has that much of the score
LARGER, LARGER_SCORE = 1.1, 0.7  # and so is one that is larger
MOVES_WORTH, VIVID_WORTH, COMES_WORTH = 1.0, 0.3, 0.2  # what counts beside 0.3 for being there
FLAT_WORTH = 0.8  # what a smooth area counts against a figure: its rim is missing, and often it is the inside of one
PART_WORTH = 0.35  # what a mere part counts
NESTED_WORTH = 0.5  # what a thing counts for each chosen one that it lies in or holds
KIN_WORTH = 0.92  # what a thing counts for each chosen one that looks like it
KIN_LEVELS, KIN_RATIO = 45.0, 1.3  # it does: sum of the channels' differences, ratio of the areas
LEAST_SHARE = 0.42  # of the best one's score: what counts less, beside what is chosen, is left out
CONFIRMED_WORTH = 1.2  # what a thing counts that regions of another family show in the same place


@dataclass(frozen=True)
class Thing:
    """An object candidate, in canonical pixels.

    Attributes:
        first: frame in which `boxes_xyxy[0]` is.
        boxes_xyxy: float `(frames seen, 4)`.
        rgb: float `(frames seen, 3)`, mean colours of 0-255.
        score: how salient it is; only the order means something.
        family: of the regions that it was made of.
    """

    first: int
    boxes_xyxy: np.ndarray
    rgb: np.ndarray
    score: float
    family: str = "figure"

    @property
    def stop(self) -> int:
        """The frame after the last in which it is seen."""
        return self.first + len(self.boxes_xyxy)

    @property
    def centres(self) -> np.ndarray:
        return (self.boxes_xyxy[:, :2] + self.boxes_xyxy[:, 2:]) / 2


def thing_of(track: Track, scale: float, width_px: int, height_px: int, shot: tuple[int, int]) -> Thing:
    """A track in canonical pixels, with its score.

    Args:
        scale: canonical pixels for one pixel of the small copy.
        shot: first frame of the track's shot, and the frame after the last.
    """
    boxes = np.clip(track.boxes_xyxy() * scale, 0, [width_px, height_px] * 2)
    centres = (boxes[:, :2] + boxes[:, 2:]) / 2
    typical_px = float(max(np.median(area(boxes)), 1.0))
    size = np.sqrt(typical_px / (width_px * height_px))
    colours = track.colours()
    travel = np.linalg.norm(np.ptp(centres, axis=0)) / np.hypot(width_px, height_px)
    vivid = np.ptp(colours.mean(axis=0)) / 255
    contrast = np.median([region.contrast for region in track.regions])
    at_edge = (boxes[:, :2] <= scale).any(axis=1) | (boxes[:, 2:] >= np.array([width_px, height_px]) - scale).any(axis=1)
    comes, goes = track.first > shot[0] and not at_edge[0], track.last + 1 < shot[1] and not at_edge[-1]
    worth = 0.3 + min(4 * travel, MOVES_WORTH) + VIVID_WORTH * vivid + COMES_WORTH * (comes + goes)
    worth *= min(size / SPECK, 1.0) * (0.4 + 0.6 * min(contrast / CLEAR_LEVELS, 1.0))
    worth *= np.sqrt(min(len(boxes) / min(LASTING, shot[1] - shot[0]), 1.0)) * (1 - 0.4 * at_edge.mean())
    filled = np.median([region.area_px for region in track.regions]) * scale**2 / typical_px
    worth *= (0.4 + 0.6 * min(filled, 1.0)) / (1 + 5 * _jumpiness(boxes) / np.sqrt(typical_px))
    if track.regions[0].family in ("flat", "panel"):
        worth *= FLAT_WORTH
    return Thing(track.first, boxes, colours, float(worth), track.regions[0].family)


def select(things: Iterable[Thing], most: int, shot_lengths: Sequence[int], width_px: int, height_px: int) -> list[Thing]:
    """The most salient things, each once, at most `most`, the first and then the higher up first; none that counts little.

    Args:
        shot_lengths: frames of each shot.
        width_px, height_px: of the picture.
    """
    shortest = min(SHORTEST, *shot_lengths)
    ranked = sorted((thing for thing in things if len(thing.boxes_xyxy) >= shortest), key=_order)[:MOST_LOOKED_AT]
    pairs = _Pairs(ranked, width_px, height_px)
    scores = pairs.scores_among_others()
    least = LEAST_SHARE * scores.max(initial=0.0)
    chosen: list[int] = []
    left = np.arange(len(ranked))
    while len(left) and len(chosen) < most:
        found = int(left[np.argmax(scores[left])])  # the first of equals, which `_order` has put first
        if scores[found] < least:
            break
        best = pairs.fullest(found, left, scores)
        chosen.append(best)
        scores *= np.where(pairs.kin(best), KIN_WORTH, 1.0)
        scores *= np.where(pairs.within[best] | pairs.within[:, best], NESTED_WORTH, 1.0)
        left = left[(left != best) & (left != found) & ~pairs.same[best, left] & ~pairs.same[found, left]]
    best_of = [replace(ranked[number], score=float(scores[number])) for number in chosen]
    return sorted(best_of, key=lambda thing: (thing.first, *thing.boxes_xyxy[0][1::-1].tolist()))


class _Pairs:
    """How ranked things stand to one another; matrices are bool `(things, things)`.

    Attributes:
        same: the two are one thing.
        confirms: they are surely one thing, seen by regions of different families.
        within: the first lies in the second.
        part: and moves with it.
    """

    def __init__(self, things: Sequence[Thing], width_px: int, height_px: int) -> None:
        self.picture_px = width_px * height_px
        together_px = TOGETHER_SHARE * np.hypot(width_px, height_px)
        count = len(things)
        self.scores = np.array([thing.score for thing in things])
        self.colours = np.array([np.median(thing.rgb, axis=0) for thing in things])
        self.areas = np.array([max(np.median(area(thing.boxes_xyxy)), 1.0) for thing in things])
        self.lasting = np.array([len(thing.boxes_xyxy) for thing in things])
        self.same, self.confirms, self.within, self.part = (np.zeros((count, count), bool) for _ in range(4))
        boxes = _sampled(things)
        seen = ~np.isnan(boxes[..., 0])
        lasting = seen.sum(axis=1)
        families = np.array([thing.family for thing in things])
        for one in range(count):
            common = seen & seen[one]
            both = common.sum(axis=1)
            overlap, inside, apart, travel = _against(boxes[one], boxes, common)
            brief = np.minimum(lasting, lasting[one])
            enough = (both > 0) & (both >= 0.5 * brief)
            self.same[one] = enough & (overlap > SAME_OVERLAP)
            self.confirms[one] = (both >= 0.7 * lasting[one]) & (overlap > SURE_OVERLAP) & (families != families[one])
            self.within[one] = (both >= 0.5 * lasting[one]) & (inside > INSIDE_SHARE) & ~self.same[one]
            self.part[one] = self.within[one] & (apart < np.maximum(together_px, WITH_SHARE * travel))
        for matrix in (self.same, self.confirms, self.within, self.part):
            np.fill_diagonal(matrix, False)

    def scores_among_others(self) -> np.ndarray:
        """What each thing counts before any is chosen, `(things,)`: a whole nearly as much as the best of its parts."""
        scores = self.scores * np.where(self.confirms.any(axis=1), CONFIRMED_WORTH, 1.0)
        whole = self.areas < LARGEST_WHOLE * self.picture_px
        part = self.part & whole[None] & (self.scores[None] > WHOLE_SCORE * self.scores[:, None])
        inherited = HEIR_WORTH * np.where(part, scores[:, None], 0.0).max(axis=0, initial=0.0)
        heir = (part.sum(axis=0) >= 2) & ~part.any(axis=1)
        return np.maximum(np.where(part.any(axis=1), PART_WORTH, 1.0) * scores, np.where(heir, inherited, 0.0))

    def fullest(self, one: int, left: np.ndarray, scores: np.ndarray) -> int:
        """Which of the tracks of the same thing, among those left, tells most of it: the longest, then the largest one."""
        twins = left[self.same[one, left]]
        longer = twins[(self.lasting[twins] > LONGER * self.lasting[one]) & (scores[twins] > LONGER_SCORE * scores[one])]
        if len(longer):
            return int(longer[np.argmax(scores[longer])])
        as_long = self.lasting[twins] * LONGER > self.lasting[one]
        larger = twins[as_long & (self.areas[twins] > LARGER * self.areas[one]) & (scores[twins] > LARGER_SCORE * scores[one])]
        return int(larger[np.argmax(scores[larger])]) if len(larger) else one

    def kin(self, one: int) -> np.ndarray:
        """Which things look like one of them, `(things,)`."""
        ratio = self.areas / self.areas[one]
        alike = np.abs(self.colours - self.colours[one]).sum(axis=1) < KIN_LEVELS
        return alike & (np.maximum(ratio, 1 / ratio) < KIN_RATIO)


def _sampled(things: Sequence[Thing]) -> np.ndarray:
    """Boxes at every `EVERY`-th frame, `(things, instants, 4)`, NaN where a thing is not there."""
    last = max((thing.stop for thing in things), default=0)
    boxes = np.full((len(things), -(-last // EVERY), 4), np.nan, np.float32)
    for number, thing in enumerate(things):
        start = -(-thing.first // EVERY)
        told = thing.boxes_xyxy[start * EVERY - thing.first :: EVERY]
        boxes[number, start : start + len(told)] = told
    return boxes


def _against(one: np.ndarray, boxes: np.ndarray, common: np.ndarray) -> tuple[np.ndarray, ...]:
    """Of boxes `(instants, 4)` against others `(things, instants, 4)`, over the instants in `common`, each `(things,)`.

    Mean IoU; mean share of the one that lies in the other; range of the centres' distance, and of the one's centre, in pixels.
    All are 0 without common instants.
    """
    both = np.maximum(common.sum(axis=1), 1)
    shared = np.where(
        common, area(np.concatenate([np.maximum(one[:, :2], boxes[..., :2]), np.minimum(one[:, 2:], boxes[..., 2:])], axis=-1)), 0.0
    )
    overlap = np.where(common, iou(one, boxes), 0.0).sum(axis=1) / both
    inside = np.where(common, shared / np.maximum(area(one), 1.0), 0.0).sum(axis=1) / both
    centre = (one[:, :2] + one[:, 2:]) / 2
    apart = centre - (boxes[..., :2] + boxes[..., 2:]) / 2
    return overlap, inside, _range_px(apart, common), _range_px(np.broadcast_to(centre, apart.shape), common)


def _range_px(points: np.ndarray, common: np.ndarray) -> np.ndarray:
    """Diagonal `(things,)` of the box that the points `(things, instants, 2)` of the common instants span; 0 without any."""
    highest = np.where(common[..., None], points, -np.inf).max(axis=1, initial=-np.inf)
    lowest = np.where(common[..., None], points, np.inf).min(axis=1, initial=np.inf)
    return np.linalg.norm(np.where(common.any(axis=1)[:, None], highest - lowest, 0.0), axis=1)


def _jumpiness(boxes_xyxy: np.ndarray) -> float:
    """Mean over time of the largest second difference of a box's sides, in pixels; 0 for a steady motion."""
    return float(np.abs(np.diff(boxes_xyxy, n=2, axis=0)).max(axis=1).mean()) if len(boxes_xyxy) > 2 else 0.0


def _order(thing: Thing) -> tuple[float, ...]:
    return (-thing.score, thing.first, *thing.boxes_xyxy[0].tolist())
