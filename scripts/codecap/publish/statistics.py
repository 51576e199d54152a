"""What a data set is like in numbers, as the paper's Figure 3 has them: categories, durations, objects, focal points."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from codecap.clock import FPS
from codecap.records import CATEGORIES, Annotation, Row


class Counted(Protocol):
    """What is counted of a clip: of a row of the clips table, or of a comparison's."""

    clip_id: str
    category: str
    frames: int


class Spread(Row):
    """How a number is spread over the things that have it."""

    count: int
    mean: float
    median: float
    least: float
    most: float


class Statistics(Row):
    """Of a data set.

    Attributes:
        categories: clips of each category, by its letter.
        durations_s: of each clip, in the order of the ids.
        objects, static_points, dynamic_points: of each annotated clip, in the order of the ids.
        intervals_s: durations of all focal points, whichever their clip.
    """

    clips: int
    annotated: int
    categories: dict[str, int]
    durations_s: list[float]
    objects: list[int]
    static_points: list[int]
    dynamic_points: list[int]
    intervals_s: list[float]

    @property
    def focal_points(self) -> list[int]:
        return [static + dynamic for static, dynamic in zip(self.static_points, self.dynamic_points, strict=True)]


def statistics_of(clips: Iterable[Counted], annotations: Mapping[str, Annotation]) -> Statistics:
    """Count clips and what is annotated in them.

    Args:
        annotations: by clip id; a clip without one counts in the categories and durations only.
    """
    ordered = sorted(clips, key=lambda clip: clip.clip_id)
    told = [annotations[clip.clip_id] for clip in ordered if clip.clip_id in annotations]
    present = [clip.category for clip in ordered]
    return Statistics(
        clips=len(ordered),
        annotated=len(told),
        categories={letter: present.count(letter) for letter in CATEGORIES if letter in present},
        durations_s=[clip.frames / FPS for clip in ordered],
        objects=[len(annotation.objects) for annotation in told],
        static_points=[sum(point.kind == "static" for point in annotation.focal_points) for annotation in told],
        dynamic_points=[sum(point.kind == "dynamic" for point in annotation.focal_points) for annotation in told],
        intervals_s=[point.end_s - point.start_s for annotation in told for point in annotation.focal_points],
    )


def spread(values: Sequence[float]) -> Spread | None:
    """Mean, median and ends; None where there is no value.

    >>> spread([1, 2, 6]).mean, spread([1, 2, 6]).median
    (3.0, 2.0)
    """
    if not values:
        return None
    return Spread(
        count=len(values),
        mean=float(statistics.fmean(values)),
        median=float(statistics.median(values)),
        least=float(min(values)),
        most=float(max(values)),
    )


def in_bins(values: Iterable[float], width: float, bins: int) -> list[int]:
    """How many values fall into `[k * width, (k + 1) * width)`; the last bin takes all that is larger.

    >>> in_bins([0, 4.9, 5, 99], width=5, bins=3)
    [2, 1, 1]
    """
    counts = [0] * bins
    for value in values:
        counts[min(int(value / width + 1e-9), bins - 1)] += 1
    return counts
