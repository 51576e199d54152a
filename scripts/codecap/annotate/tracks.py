"""Regions followed from frame to frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import linear_sum_assignment

from codecap.annotate.regions import Region
from codecap.boxes import iou

PATIENCE = 4  # frames that a region may be missing and still be the same
COLOUR_LEVELS = 60.0  # mean colours further apart (sum of the three channels' differences) are not of one thing
SIZE_RATIO = 2.5  # nor areas that differ by more from one frame to the next
REACH = 0.8  # how far a centre may be from where it is expected, in diagonals of its box, beside `REACH_PX`
REACH_PX = 8.0
WORST_COST = 1.2
HIDDEN = 48  # frames for which a thing may be hidden and still be the same
SAME_SIZE_RATIO = 1.5  # of the areas before and after


@dataclass
class Track:
    """One region over time: `regions[k]` is what was seen in frame `frames[k]`."""

    frames: list[int] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)

    def add(self, frame: int, region: Region) -> None:
        self.frames.append(frame)
        self.regions.append(region)

    @property
    def first(self) -> int:
        return self.frames[0]

    @property
    def last(self) -> int:
        return self.frames[-1]

    def expected_box(self, frame: int) -> np.ndarray:
        """Where it would be if it moved on as between its last two sightings, `(4,)`."""
        here = np.array(self.regions[-1].box_xyxy)
        if len(self.frames) < 2:
            return here
        step = _centre(here) - _centre(np.array(self.regions[-2].box_xyxy))
        ahead = step / (self.frames[-1] - self.frames[-2]) * (frame - self.frames[-1])
        return here + np.tile(ahead, 2)

    def boxes_xyxy(self) -> np.ndarray:
        """Boxes of all frames from the first to the last, `(last - first + 1, 4)`; short gaps are filled in a straight line."""
        told = np.array([region.box_xyxy for region in self.regions])
        times = np.arange(self.first, self.last + 1)
        return np.column_stack([np.interp(times, self.frames, told[:, side]) for side in range(4)])

    def colours(self) -> np.ndarray:
        """Mean RGB of all frames from the first to the last, `(last - first + 1, 3)`."""
        told = np.array([region.rgb for region in self.regions])
        times = np.arange(self.first, self.last + 1)
        return np.column_stack([np.interp(times, self.frames, told[:, channel]) for channel in range(3)])


class Tracker:
    """Follows the regions of one family through one shot."""

    def __init__(self) -> None:
        self.tracks: list[Track] = []
        self._live: list[Track] = []

    def add(self, frame: int, regions: Sequence[Region]) -> None:
        """Show the regions of the next frame."""
        taken = set()
        if self._live and regions:
            costs = self._costs(frame, regions)
            for old, new in zip(*linear_sum_assignment(costs), strict=True):
                if costs[old, new] < WORST_COST:
                    self._live[old].add(frame, regions[new])
                    taken.add(int(new))
        for number, region in enumerate(regions):
            if number not in taken:
                track = Track()
                track.add(frame, region)
                self.tracks.append(track)
                self._live.append(track)
        self._live = [track for track in self._live if frame - track.last < PATIENCE]
        if len(self.tracks) > 4 * len(self._live) + 200:
            self._forget_flickers(frame)

    def _costs(self, frame: int, regions: Sequence[Region]) -> np.ndarray:
        """`(live tracks, regions)`: 0 for the same box in the same colour, `WORST_COST` and more for what cannot be the same."""
        expected = np.array([track.expected_box(frame) for track in self._live])
        boxes = np.array([region.box_xyxy for region in regions])
        overlap = iou(expected[:, None], boxes[None])
        diagonals = np.hypot(expected[:, 2] - expected[:, 0], expected[:, 3] - expected[:, 1])
        apart = np.linalg.norm(_centre(expected)[:, None] - _centre(boxes)[None], axis=2) / (REACH * diagonals + REACH_PX)[:, None]
        ours = np.array([track.regions[-1].rgb for track in self._live])
        theirs = np.array([region.rgb for region in regions])
        tint = np.abs(ours[:, None] - theirs[None]).sum(axis=2) / COLOUR_LEVELS
        areas = np.log([track.regions[-1].area_px for track in self._live])[:, None] - np.log([r.area_px for r in regions])[None]
        size = np.abs(areas) / np.log(SIZE_RATIO)
        cost = 0.5 * (1 - overlap) + 0.3 * apart + 0.2 * tint + 0.2 * size
        return np.where((apart > 1) | (tint > 1) | (size > 1), 10.0, cost)

    def _forget_flickers(self, frame: int) -> None:
        """Drop what was seen for too short to be an object, so that restless clips stay small in memory."""
        self.tracks = [track for track in self.tracks if len(track.frames) > PATIENCE or frame - track.last < PATIENCE]


def stitched(tracks: Sequence[Track]) -> list[Track]:
    """Join tracks that one thing left before and after it was hidden, or one with what it passed.

    Each end is joined to the nearest beginning within `HIDDEN` frames that has its size and colour and lies where the end's motion
    leads, or where it stood.
    """
    order = sorted((track for track in tracks if len(track.frames) > PATIENCE), key=lambda track: (track.first, track.last))
    after: dict[int, int] = {}
    taken: set[int] = set()
    for place, track in sorted(enumerate(order), key=lambda pair: pair[1].last):
        fits = [
            (order[other].first, other)
            for other in range(place + 1, len(order))
            if other not in taken and 0 < order[other].first - track.last <= HIDDEN and _continues(track, order[other])
        ]
        if fits:
            after[place] = min(fits)[1]
            taken.add(after[place])
    joined = []
    for place in range(len(order)):
        if place in taken:
            continue
        whole, part = Track(), place
        while True:
            whole.frames += order[part].frames
            whole.regions += order[part].regions
            if part not in after:
                break
            part = after[part]
        joined.append(whole)
    return joined


def _continues(track: Track, later: Track) -> bool:
    """Whether a later track can be the same thing."""
    old, new = track.regions[-PATIENCE], later.regions[PATIENCE - 1]  # not the very ends, which what it passes has spoilt
    tint = sum(abs(a - b) for a, b in zip(old.rgb, new.rgb, strict=True))
    if tint > COLOUR_LEVELS / 2 or max(old.area_px / new.area_px, new.area_px / old.area_px) > SAME_SIZE_RATIO:
        return False
    there = _centre(np.array(new.box_xyxy))
    frames, boxes = track.frames[-3 * PATIENCE : -PATIENCE + 1], [r.box_xyxy for r in track.regions[-3 * PATIENCE : -PATIENCE + 1]]
    centres = _centre(np.array(boxes))
    pace = (centres[-1] - centres[0]) / max(frames[-1] - frames[0], 1)
    ahead = centres[-1] + pace * (later.frames[PATIENCE - 1] - frames[-1])
    reach = REACH_PX + 0.5 * np.hypot(*(np.array(new.box_xyxy[2:]) - np.array(new.box_xyxy[:2])))
    return bool(min(np.linalg.norm(there - ahead), np.linalg.norm(there - centres[-1])) < reach)


def _centre(boxes_xyxy: np.ndarray) -> np.ndarray:
    return (boxes_xyxy[..., :2] + boxes_xyxy[..., 2:]) / 2
