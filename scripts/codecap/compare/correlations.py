"""Do metrics agree on which videos are good? Their correlations over the videos of all systems."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codecap import stats
from codecap.compare.certainty import MetricCorrelation
from codecap.compare.columns import SUCCESS
from codecap.compare.comparison import TaskEntry
from codecap.compare.estimates import Interval
from codecap.compare.pairs import RANKED, Values
from codecap.records import Outcome


def correlations_of(values: Values, entries: Sequence[TaskEntry], resamples: int, seed: int) -> list[MetricCorrelation]:
    """All pairs of columns that rank, over the videos that were produced.

    A failed task is 0 in every column, and floors and ceilings are certain to be bad or good: both would raise any correlation.
    """
    columns = [column for column in values.columns if column is not SUCCESS]
    compared = {system.name for system in values.systems if system.group in RANKED}
    shown = [entry for entry in entries if entry.system in compared and entry.outcome is Outcome.OK]
    if len(columns) < 2 or not shown:
        return []
    table = np.array([[np.nan if (value := entry.values[column.name]) is None else value for column in columns] for entry in shown])
    numbers = {clip: number for number, clip in enumerate(sorted({entry.clip_id for entry in shown}))}
    told = stats.correlations(table, [numbers[entry.clip_id] for entry in shown], resamples, seed=seed)
    return [
        MetricCorrelation(
            first=columns[first].name,
            second=columns[second].name,
            n=pair.n,
            clips=pair.clusters,
            pearson=_interval(pair.pearson),
            spearman=_interval(pair.spearman),
        )
        for (first, second), pair in told.items()
    ]


def _interval(told: tuple[float, float | None, float | None] | None) -> Interval:
    return Interval() if told is None else Interval(value=told[0], low=told[1], high=told[2])
