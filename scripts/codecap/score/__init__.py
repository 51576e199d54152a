"""Metrics: one module each, found by name; what they share is said here, how a shard is scored in `lane.py`.

A metric never opens a video. It hands out *watchers*, which are shown the frames of one decoding pass together with the watchers
of all other metrics of the lane, and compares what two watchers have kept: a *description* of the reference, made once a clip,
and one of the candidate. So a clip is decoded once however many metrics there are, and no video is ever held in memory.

A metric's module has:
    NAME                 its name, as in the config and in `Score.metric`
    LABEL                how a table heads it
    UNIT, RANGE          unit ("" when it has none) and (lowest, highest) value, infinite where there is no end
    HIGHER_IS_BETTER     None for a number that only describes; a failed task is 0 only where it is True
    NEEDS                what determines its value beside the two videos: some of "objects" and "focal_points" (of the annotation;
                         with the points go the boxes of the objects that they name), "tracks", "page"
    CLOCK                what its watcher sees of a candidate of another length than its reference (see `Metric.watch_candidate`):
                         "reference" (as when it is not said), "own", or "shots"
    Settings             a record of its settings, with their defaults; unknown ones are refused
    load(settings)       the `Metric`; called once a shard, and only when something has to be computed
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from codecap.records import Annotation, Clip, ObjectTracks, Render

Description = dict[str, np.ndarray]  # small: it is stored, and held while a shard runs
Shots = list[tuple[int, int]]  # first frame and the frame after the last, in order and without gaps


class Unscored(Exception):
    """This metric cannot be computed for this item, and it is not the system's fault; the message says why."""


class Unreached(Unscored):
    """It could not be computed this time (a service is down, a quota is used up): not stored, tried again at the next run."""


class Watcher(Protocol):
    """Looks at the frames of one video as they are decoded, in order, and keeps what it needs of them."""

    wanted: Container[int] | None  # frames that it wants to see; None: all

    def see(self, frame: int, rgb: np.ndarray) -> None:
        """Take one frame, uint8 RGB `(height, width, 3)`, valid during the call only (copy what is kept)."""
        ...

    def result(self) -> Description:
        """What was kept, when all frames were shown."""
        ...


@dataclass(frozen=True)
class Task:
    """One candidate to be scored against its reference."""

    clip: Clip
    render: Render  # outcome ok, `mp4` on the reference's clock
    shots: Shots
    annotation: Annotation | None = None
    tracks: ObjectTracks | None = None  # the reference's objects as found in the candidate
    page: Path | None = None  # the HTML, when the candidate is a code caption
    frames: int = 0  # of the candidate
    segments: Shots | None = None  # of a candidate of another length: for each shot its part, where a metric goes by shots


@dataclass(frozen=True)
class Measurement:
    """One number that a metric gives; a metric may give several, one an item."""

    value: float | None  # None: unscored, `detail` says why
    metric: str = ""  # a second column of the same metric ("mps_strict"); its NAME by default
    item: str | None = None
    kind: str | None = None
    detail: str = ""
    given: tuple[float, ...] = ()  # by a judge that was asked several times: its points each time


class Metric(Protocol):
    protocol: str  # the readable fingerprint of how the numbers are made
    proxy: bool  # a stand-in for the paper's metric

    def watch_reference(self, clip: Clip, shots: Shots) -> Watcher | None:
        """A watcher for the reference, or None when the metric needs no picture of it."""
        ...

    def watch_candidate(self, clip: Clip, shots: Shots, reference: Description) -> Watcher | None:
        """A watcher for a candidate. It sees exactly `clip.frames` frames of the reference's size, resized if need be: the frame on
        screen at the same instant; black after the candidate's end.

        Where the candidate has another length, and the metric's CLOCK is not "reference", `clip.frames` is the candidate's own
        count, and its own frames are seen. With "own", `shots` is one that spans them; with "shots", it has for each of the
        reference's shots, in order, the segment of the candidate that stands for it. None is empty, but where there are more
        shots than frames, several have the same frame.
        """
        ...

    def compare(self, reference: Description, candidate: Description, task: Task) -> list[Measurement]:
        """The numbers. Raises Unscored when they cannot be had."""
        ...
