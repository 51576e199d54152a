"""Which tracks are objects worth annotating: salient, lasting, not the same thing twice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from codecap.annotate.tracks import Track
from codecap.boxes import area, iou

SHORTEST = 6  # frames for which an object is seen, unless its shot is shorter
LASTING = 48  # frames from which a longer presence makes nothing more salient
MOST_LOOKED_AT = 150  # tracks that are compared with one another
SAME_OVERLAP = 0.5  # mean IoU from which two tracks are one thing
INSIDE_SHARE = 0.9  # of a box that lies in another one
TOGETHER_PX = 3.0  # a part that moves by no more against the whole is no object of its own
FLAT_WORTH = 0.8  # what a smooth area counts against a figure: its rim is missing, and often it is the inside of one
PART_WORTH = 0.35  # what a mere part counts


@dataclass(frozen=True)
class Thing:
    """An object candidate, in canonical pixels.

    Attributes:
        first: frame in which `boxes_xyxy[0]` is.
        boxes_xyxy: float `(frames seen, 4)`.
        rgb: float `(frames seen, 3)`, mean colours of 0-255.
        score: how salient it is; only the order means something.
    """

    first: int
    boxes_xyxy: np.ndarray
    rgb: np.ndarray
    score: float

    @property
    def stop(self) -> int:
        """The frame after the last in which it is seen."""
        return self.first + len(self.boxes_xyxy)

    @property
    def centres(self) -> np.ndarray:
        return (self.boxes_xyxy[:, :2] + self.boxes_xyxy[:, 2:]) / 2


def thing_of(track: Track, scale: float, width_px: int, height_px: int, frames: int) -> Thing:
    """A track in canonical pixels, with its score.

    Args:
        scale: canonical pixels for one pixel of the small copy.
        frames: of the clip.
    """
    boxes = np.clip(track.boxes_xyxy() * scale, 0, [width_px, height_px] * 2)
    centres = (boxes[:, :2] + boxes[:, 2:]) / 2
    travel = np.linalg.norm(np.ptp(centres, axis=0)) / np.hypot(width_px, height_px)
    size = np.sqrt(np.median(area(boxes)) / (width_px * height_px))
    filled = np.median([region.area_px for region in track.regions]) * scale**2 / max(np.median(area(boxes)), 1.0)
    colours = track.colours()
    vivid = np.ptp(colours.mean(axis=0)) / 255
    worth = 0.3 + min(4 * travel, 1.0) + 0.5 * vivid + min(2 * size, 0.6)
    at_edge = (boxes[:, :2] <= scale).any(axis=1) | (boxes[:, 2:] >= np.array([width_px, height_px]) - scale).any(axis=1)
    worth *= (0.4 + 0.6 * min(filled, 1.0)) * np.sqrt(min(len(boxes) / min(LASTING, frames), 1.0)) * (1 - 0.4 * at_edge.mean())
    if track.regions[0].family == "flat":
        worth *= FLAT_WORTH
    return Thing(track.first, boxes, colours, float(worth))


def select(things: Iterable[Thing], most: int, shot_lengths: Sequence[int]) -> list[Thing]:
    """The most salient things, each once, at most `most`, the first and then the higher up first."""
    shortest = min(SHORTEST, *shot_lengths)
    ranked = sorted((thing for thing in things if len(thing.boxes_xyxy) >= shortest), key=_order)[:MOST_LOOKED_AT]
    chosen: list[Thing] = []
    left = [(thing.score, thing) for thing in ranked]
    while left and len(chosen) < most:
        left.sort(key=lambda pair: (-pair[0], _order(pair[1])))
        _, best = left.pop(0)
        chosen.append(best)
        left = [(score * _left_over(thing, best), thing) for score, thing in left]
        left = [(score, thing) for score, thing in left if score > 0]
    return sorted(chosen, key=lambda thing: (thing.first, *thing.boxes_xyxy[0][1::-1].tolist()))


def _order(thing: Thing) -> tuple[float, ...]:
    return (-thing.score, thing.first, *thing.boxes_xyxy[0].tolist())


def _left_over(thing: Thing, chosen: Thing) -> float:
    """What a thing still counts beside a chosen one: 0 if it is the same, little if it is only a part of it or holds it."""
    start, stop = max(thing.first, chosen.first), min(thing.stop, chosen.stop)
    if stop - start < 0.5 * min(len(thing.boxes_xyxy), len(chosen.boxes_xyxy)):
        return 1.0
    ours, theirs = (
        thing.boxes_xyxy[start - thing.first : stop - thing.first],
        chosen.boxes_xyxy[start - chosen.first : stop - chosen.first],
    )
    if np.mean(iou(ours, theirs)) > SAME_OVERLAP:
        return 0.0
    shared = area(np.concatenate([np.maximum(ours[:, :2], theirs[:, :2]), np.minimum(ours[:, 2:], theirs[:, 2:])], axis=1))
    if np.mean(shared / np.maximum(np.minimum(area(ours), area(theirs)), 1.0)) < INSIDE_SHARE:
        return 1.0
    apart = thing.centres[start - thing.first : stop - thing.first] - chosen.centres[start - chosen.first : stop - chosen.first]
    return PART_WORTH if np.linalg.norm(np.ptp(apart, axis=0)) < TOGETHER_PX else 1.0
