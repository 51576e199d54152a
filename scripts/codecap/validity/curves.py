"""Each metric's response to each kind of damage: its value over the grades, whether it is monotone, and where it must be.

A value counts on its column's scale, from 0 (or the least value above) to the best: a change of 0.02 of it is a change, less is
none. That is also by how much docs/metrics.md lets a curve rise that must fall.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Literal

from codecap.compare.comparison import Column
from codecap.compare.tasks import TaskRows, expected_items, video_value
from codecap.records import Annotation, Outcome, Render, Row, Score
from codecap.validity.damages import DAMAGES, UNCHANGED, Damage

LEAST = 0.02  # of the scale

Trend = Literal["falls", "rises", "flat", "wavers", "none"]
Values = Mapping[tuple[str, str, str], float | None]  # by candidate, clip and column


class Curve(Row):
    """A metric's mean over clips at each grade of a kind of damage.

    Attributes:
        grades: from 0 on.
        means: of the clips in `clips`; None at a grade where no clip has a value.
        values: of each of these clips, at each grade.
        change: from the first mean to the last, in shares of the scale; None for a column without one.
        against: most by which the means go back, likewise.
    """

    damage: str
    column: str
    grades: list[float]
    means: list[float | None]
    values: dict[str, list[float | None]]
    change: float | None = None
    against: float | None = None
    trend: Trend = "none"

    @property
    def clips(self) -> list[str]:
        return list(self.values)


def values_of(
    columns: Sequence[Column], scores: Iterable[Score], annotations: Mapping[str, Annotation]
) -> dict[tuple, float | None]:
    """Each candidate's value in each column, as a video's in the tables.

    Args:
        annotations: of the openings, by clip.
    """
    tasks: dict[tuple[str, str], TaskRows] = {}
    for row in scores:
        render = Render(system=row.system, clip_id=row.clip_id, key="", outcome=Outcome.OK)
        tasks.setdefault((row.system, row.clip_id), TaskRows(render=render)).scores[row.metric].append(row)
    return {
        (system, clip_id, column.name): video_value(column, task, expected_items(column, annotations[clip_id])).value
        for (system, clip_id), task in tasks.items()
        for column in columns
    }


def steps_of(damage: Damage) -> list[tuple[float, str]]:
    """The grades of a damage from 0 on, and the candidate of each."""
    steps = [(grade, damage.system(grade)) for grade in damage.grades]
    return steps if damage.grades[0] == 0 else [(0.0, UNCHANGED), *steps]


def curves_of(columns: Sequence[Column], values: Values, clips: Sequence[str]) -> list[Curve]:
    """All curves, kind of damage by kind of damage; those that no clip shows are left out."""
    found = [_curve(damage, column, values, clips) for damage in DAMAGES.values() for column in columns]
    return [curve for curve in found if curve.values]


def _curve(damage: Damage, column: Column, values: Values, clips: Sequence[str]) -> Curve:
    """Of the clips that have a value at every grade at which any has one: else a mean would change with who is in it."""
    steps = steps_of(damage)
    series = {clip: [values.get((system, clip, column.name)) for _, system in steps] for clip in clips}
    there = [any(found[place] is not None for found in series.values()) for place in range(len(steps))]
    whole = {
        clip: found
        for clip, found in series.items()
        if any(there[1:]) and all(value is not None for value, needed in zip(found, there, strict=True) if needed)
    }
    means = [_mean([found[place] for found in whole.values()]) for place in range(len(steps))]
    change, against, trend = _shape(means, scale_of(column))
    return Curve(
        damage=damage.name,
        column=column.name,
        grades=[grade for grade, _ in steps],
        means=means,
        values=whole,
        change=change,
        against=against,
        trend=trend,
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def scale_of(column: Column) -> float | None:
    """How far a column's values can go, from 0 or its least value above to its best; None for one that only describes.

    >>> scale_of(Column(name="kss", metric="kss", label="KSS", lowest=-1, highest=1, higher_is_better=True))
    1.0
    """
    if column.higher_is_better is None or column.highest is None:
        return None
    return float(column.highest - max(column.lowest or 0.0, 0.0))


def _shape(means: Sequence[float | None], scale: float | None) -> tuple[float | None, float | None, Trend]:
    known = [mean for mean in means if mean is not None]
    if scale is None or len(known) < 2:
        return None, None, "none"
    change = (known[-1] - known[0]) / scale
    falls = change < 0
    against = largest_rise(known if falls else [-mean for mean in known]) / scale
    if max(known) - min(known) < LEAST * scale:
        return change, against, "flat"
    if against > LEAST:
        return change, against, "wavers"
    return change, against, "falls" if falls else "rises"


def largest_rise(values: Sequence[float]) -> float:
    """Most by which a value lies above one before it; 0 where none does.

    >>> largest_rise([3.0, 1.0, 1.5, 2.0, 0.0])
    1.0
    """
    lowest, rise = values[0], 0.0
    for value in values[1:]:
        rise = max(rise, value - lowest)
        lowest = min(lowest, value)
    return rise
