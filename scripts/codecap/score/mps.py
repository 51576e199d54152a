"""Motion pattern similarity (MPS): do the same points move the same way at the same time?

Source: CodeCap-Bench, section 4.3.6, which names the ingredients (direction and magnitude of tracked displacements). **Ours** in
detail, for each point and step with displacements `d`, `d'` in units of the frame's diagonal:

    moving    |d| > 0.0005
    both move 0.5 (1 + cos(d, d')) / 2 + 0.5 (1 - | |d| - |d'| | / (|d| + |d'|))

`mps` is the mean where both move, `mps_strict` where at least one does, with 0 where only one does. Points are seeded on the
reference at the start of each shot and every second after it, and followed in both videos from the same places. Where a shot's
match has another length, both are brought to the same steps: of the longer one as many frames, evenly spaced, as the other has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import Field

from codecap import registry
from codecap.clock import FPS
from codecap.records import Clip, Row
from codecap.score import Description, Measurement, Shots, Task
from codecap.score.trackers import Tracker

NAME = "mps"
LABEL = "MPS"
UNIT = ""
RANGE = (0.0, 1.0)
HIGHER_IS_BETTER = True
NEEDS: tuple[str, ...] = ()
CLOCK = "shots"

STRICT = "mps_strict"


class Settings(Row):
    """Keys of the config.

    Attributes:
        tracker: plugin of `score/trackers`.
        trackers: settings of each tracker, by name.
        seed_every_s: time after which new points are taken.
        moving: least displacement a frame that counts as motion, in units of the frame's diagonal.
    """

    tracker: str
    trackers: dict[str, dict[str, Any]] = {}
    seed_every_s: float = Field(default=1.0, gt=0)
    moving: float = Field(default=0.0005, gt=0)


def load(settings: Mapping[str, Any]) -> MotionPatternSimilarity:
    told = Settings.model_validate(dict(settings))
    return MotionPatternSimilarity(registry.make("score.trackers", told.tracker, told.trackers.get(told.tracker, {})), told)


class MotionPatternSimilarity:
    def __init__(self, tracker: Tracker, settings: Settings) -> None:
        self.tracker = tracker
        self.settings = settings
        self.proxy = tracker.proxy
        self.protocol = f"MPS, moving > {settings.moving}, seeds every {settings.seed_every_s:g} s, {tracker.protocol}"

    def watch_reference(self, clip: Clip, shots: Shots) -> Tracks:  # noqa: ARG002
        spans = windows(shots, self.settings.seed_every_s)
        return Tracks(self.tracker, [list(range(first, last + 1)) for _, first, last in spans], seeds=None, windows=spans)

    def watch_candidate(self, clip: Clip, shots: Shots, reference: Description) -> Tracks:  # noqa: ARG002
        """`shots` are those of the reference, or the segments that stand for them."""
        steps = same_steps([tuple(window) for window in reference["windows"].tolist()], shots)
        return Tracks(self.tracker, [own for _, own in steps], seeds=reference)

    def compare(self, reference: Description, candidate: Description, task: Task) -> list[Measurement]:
        """Both columns; a shot without a point that counts is left out, and `detail` says how many were."""
        width_px, height_px = task.clip.width_px, task.clip.height_px
        unit = np.array([width_px, height_px]) / np.hypot(width_px, height_px)
        shots: dict[int, Agreement] = {}
        spans = windows(task.shots, self.settings.seed_every_s)
        steps = same_steps(spans, task.shots if task.segments is None else task.segments)
        for number, ((shot, first, _), (frames, _)) in enumerate(zip(spans, steps, strict=True)):
            shown = np.array(frames) - first
            tracks, valid = reference[f"tracks_{number}"][shown], reference[f"valid_{number}"][shown]
            other_tracks, other_valid = candidate[f"tracks_{number}"], candidate[f"valid_{number}"]
            agreed = agreement(
                np.diff(tracks, axis=0) * unit,
                np.diff(other_tracks, axis=0) * unit,
                both_ends(valid) & both_ends(other_valid),
                self.settings.moving,
            )
            shots[shot] = shots.get(shot, Agreement()) + agreed
        return [
            _mean("", [found.total / found.both if found.both else None for found in shots.values()], "both videos"),
            _mean(STRICT, [found.total / found.either if found.either else None for found in shots.values()], "either video"),
        ]


class Tracks:
    """Watcher: follows points span by span, so that it never holds more frames than one span has.

    Keeps, for each span `n`, float32 `tracks_n` `(frames, points, 2)`, xy in units of the frame's width and height, and bool
    `valid_n` `(frames, points)`. The reference's first positions are its seeds, and int32 `windows`
    `(spans, 3)` says what its spans are.

    Args:
        spans: the frames of each span in order; a span may begin with the frame that ends the one before it.
        seeds: the reference's tracks, whose seeds are followed; None to take new ones.
        windows: of the reference, see `windows`; None for a candidate.
    """

    def __init__(
        self, tracker: Tracker, spans: list[list[int]], seeds: Description | None, windows: list[tuple[int, int, int]] | None = None
    ) -> None:
        self.tracker = tracker
        self.spans = spans
        self.seeds = seeds
        self.wanted = {frame for span in spans for frame in span}
        self._number = 0
        self._held: dict[int, np.ndarray] = {}
        self._kept: Description = {} if windows is None else {"windows": np.array(windows, np.int32)}

    def see(self, frame: int, rgb: np.ndarray) -> None:
        self._held[frame] = self.tracker.prepare(rgb)
        while self._number < len(self.spans) and self.spans[self._number][-1] == frame:
            self._follow()
        if self._number < len(self.spans):
            first = self.spans[self._number][0]
            self._held = {number: prepared for number, prepared in self._held.items() if number >= first}

    def _follow(self) -> None:
        number = self._number
        frames = [self._held[frame] for frame in self.spans[number]]
        points = self.seeds[f"tracks_{number}"][0] if self.seeds is not None else self.tracker.seed(frames[0])
        tracks, valid = self.tracker.track(frames, points)
        self._kept[f"tracks_{number}"], self._kept[f"valid_{number}"] = tracks.astype(np.float32), valid
        self._number += 1

    def result(self) -> Description:
        return self._kept


@dataclass(frozen=True)
class Agreement:
    """What the points of some steps add up to: sum of the similarities, points that move in both, in at least one."""

    total: float = 0.0
    both: int = 0
    either: int = 0

    def __add__(self, other: Agreement) -> Agreement:
        return Agreement(self.total + other.total, self.both + other.both, self.either + other.either)


def windows(shots: Shots, every_s: float) -> list[tuple[int, int, int]]:
    """Spans over which points are followed: shot, first frame, last frame. A shot's spans share their end frames, so that every
    step of a shot lies in one span; none reaches over a cut.

    >>> windows([(0, 30), (30, 31)], 1.0)
    [(0, 0, 24), (0, 24, 29), (1, 30, 30)]
    """
    length = max(round(every_s * FPS), 1)
    spans = []
    for shot, (start, stop) in enumerate(shots):
        firsts = range(start, max(stop - 1, start + 1), length)
        spans += [(shot, first, min(first + length, stop - 1)) for first in firsts]
    return spans


def same_steps(windows: list[tuple[int, int, int]], segments: Shots) -> list[tuple[list[int], list[int]]]:
    """For each window the frames of the reference, and those of the candidate, between which displacements are compared.

    A frame in the middle of its share of a shot is matched with the frame on screen at the same share of the segment. Between the
    matches of a window's ends as many frames are taken, evenly, as the shorter side has; a single frame of the candidate stands
    still for as long as the reference has frames. With the shots themselves as `segments`, all frames are taken.

    >>> same_steps([(0, 0, 4)], [(10, 13)])
    [([0, 2, 4], [10, 11, 12])]
    >>> same_steps([(0, 0, 2)], [(0, 5)])
    [([0, 1, 2], [0, 2, 4])]
    >>> same_steps([(0, 0, 2)], [(7, 8)])
    [([0, 1, 2], [7, 7, 7])]
    """
    starts, stops = {}, {}
    for shot, first, last in windows:
        starts.setdefault(shot, first)
        stops[shot] = last + 1
    steps = []
    for shot, first, last in windows:
        start, stop = segments[shot]

        def match(frame: int, shot: int = shot, start: int = start, stop: int = stop) -> int:
            return start + int((frame - starts[shot] + 0.5) * (stop - start) / (stops[shot] - starts[shot]))

        own_first, own_last = match(first), match(last)
        count = (min(last - first, own_last - own_first) or last - first) + 1
        steps.append((_evenly(first, last, count), _evenly(own_first, own_last, count)))
    return steps


def _evenly(first: int, last: int, count: int) -> list[int]:
    """`count` frames from `first` on, evenly spread to `last`.

    >>> _evenly(0, 4, 3), _evenly(3, 9, 1)
    ([0, 2, 4], [3])
    """
    return [first + round(k * (last - first) / max(count - 1, 1)) for k in range(count)]


def agreement(first: np.ndarray, second: np.ndarray, valid: np.ndarray, moving: float) -> Agreement:
    """Compare displacements point by point.

    Args:
        first, second: `(steps, points, 2)`, xy in units of the frame's diagonal.
        valid: bool `(steps, points)`, the point is seen in both videos at both ends of the step.
        moving: least length of a displacement that counts as motion.

    >>> still, right = np.zeros((1, 1, 2)), np.array([[[0.01, 0.0]]])
    >>> seen = np.ones((1, 1), bool)
    >>> agreement(right, -right, seen, 0.0005)
    Agreement(total=0.5, both=1, either=1)
    >>> agreement(right, still, seen, 0.0005)
    Agreement(total=0.0, both=0, either=1)
    """
    first, second = first[valid].astype(np.float64), second[valid].astype(np.float64)
    length, other = np.linalg.norm(first, axis=1), np.linalg.norm(second, axis=1)
    moves, other_moves = length > moving, other > moving
    both = moves & other_moves
    first, second, length, other = first[both], second[both], length[both], other[both]
    direction = (1 + (first * second).sum(axis=1) / (length * other)) / 2
    magnitude = 1 - np.abs(length - other) / (length + other)
    return Agreement(
        total=float((0.5 * direction + 0.5 * magnitude).sum()),
        both=int(both.sum()),
        either=int((moves | other_moves).sum()),
    )


def both_ends(valid: np.ndarray) -> np.ndarray:
    """Steps `(frames - 1, points)` at both ends of which a point is seen."""
    return valid[:-1] & valid[1:]


def _mean(metric: str, shots: list[float | None], what: str) -> Measurement:
    """Mean over the shots that have a value."""
    counted = [value for value in shots if value is not None]
    if not counted:
        return Measurement(None, metric=metric, detail=f"no point moves in {what}")
    left_out = len(shots) - len(counted)
    detail = f"{left_out} of {len(shots)} shots left out: no point moves in {what}" if left_out else ""
    return Measurement(min(float(np.mean(counted)), 1.0), metric=metric, detail=detail)
