"""Which system is better than which, and how sure is that: all pairs, ranks in a group, and what so many videos can find at all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations
from statistics import median

import numpy as np

from codecap import stats
from codecap.compare.certainty import Detectable, Pair, Rank
from codecap.compare.columns import SUCCESS
from codecap.compare.comparison import Column, System, SystemRow, TaskEntry
from codecap.compare.estimates import Group
from codecap.records import Outcome
from codecap.stats.bootstrap import SAME_DIGITS

RANKED: tuple[Group, ...] = ("agentic", "non_agentic")  # groups whose systems compete
PLANNED = (50, 100, 200, 323, 500, 1000)  # numbers of videos that somebody may plan with; 323 is the paper's


class Values:
    """The number of every (video, system) in each column that ranks, success of a task among them: 100 or 0."""

    def __init__(self, systems: Sequence[System], columns: Iterable[Column], entries: Iterable[TaskEntry]) -> None:
        self.systems = list(systems)
        self.columns = [SUCCESS, *(column for column in columns if column.higher_is_better is not None)]
        entries = list(entries)
        self.clips = sorted({entry.clip_id for entry in entries})
        lines = {clip: line for line, clip in enumerate(self.clips)}
        places = {system.name: place for place, system in enumerate(systems)}
        self._tables = {column.name: np.full((len(lines), len(places)), np.nan) for column in self.columns}
        for entry in entries:
            at = lines[entry.clip_id], places[entry.system]
            for column in self.columns:
                value = success_of(entry) if column is SUCCESS else entry.values[column.name]
                if value is not None:
                    self._tables[column.name][at] = value

    def of(self, column: Column) -> np.ndarray:
        """float64 `(videos, systems)`, NaN where there is no number."""
        return self._tables[column.name]

    def places_of(self, group: Group) -> list[int]:
        return [place for place, system in enumerate(self.systems) if system.group == group]


def success_of(entry: TaskEntry) -> float | None:
    """100 where a video was produced, 0 where the system failed, None where we did."""
    return None if entry.outcome is Outcome.INFRA_ERROR else 100.0 * (entry.outcome is Outcome.OK)


def pairs_of(values: Values, resamples: int, seed: int) -> list[Pair]:
    """All pairs of systems in all columns that rank, in the order of the systems.

    P-values are corrected by Holm's procedure within a group and a column; pairs of two groups, of floors or of ceilings are no
    contest, and are not corrected.
    """
    found = []
    for column in values.columns:
        told = _of_column(values, column, resamples, seed)
        corrected: dict[tuple[int, int], float] = {}
        for group in RANKED:
            family = [pair for pair in combinations(values.places_of(group), 2) if pair in told and told[pair].p_value is not None]
            corrected |= zip(family, stats.holm([told[pair].p_value for pair in family]), strict=True)
        table = values.of(column) if column.higher_is_better else -values.of(column)
        found += [_pair(values, column, pair, told[pair], corrected.get(pair), table) for pair in sorted(told)]
    return found


def _of_column(values: Values, column: Column, resamples: int, seed: int) -> dict[tuple[int, int], stats.Difference]:
    """Differences of all pairs that have a video in common; those on the same videos are drawn together."""
    table = values.of(column)
    there = np.isfinite(table)
    sharing: dict[bytes, list[tuple[int, int]]] = defaultdict(list)
    for pair in combinations(range(table.shape[1]), 2):
        shared = there[:, pair[0]] & there[:, pair[1]]
        if shared.any():
            sharing[shared.tobytes()].append(pair)
    found = {}
    for videos, pairs in sorted(sharing.items(), key=lambda item: item[0].count(1)):  # as many videos have the same draws
        lines = np.frombuffer(videos, bool)
        first, second = (table[lines][:, [pair[side] for pair in pairs]] for side in (0, 1))
        found |= zip(pairs, stats.paired_differences(first - second, resamples, seed=seed), strict=True)
    return found


def _pair(
    values: Values, column: Column, pair: tuple[int, int], told: stats.Difference, p_holm: float | None, signed: np.ndarray
) -> Pair:
    """
    Args:
        signed: values of the column, larger being better.
    """
    first, second = (values.systems[place] for place in pair)
    differences = signed[:, pair[0]] - signed[:, pair[1]]
    differences = differences[np.isfinite(differences)]
    sd = round(float(differences.std(ddof=1)), SAME_DIGITS) if len(differences) > 1 else None
    return Pair(
        column=column.name,
        first=first.name,
        second=second.name,
        family=first.group if first.group == second.group and first.group in RANKED else "",
        mean=told.mean,
        low=told.low,
        high=told.high,
        p_value=told.p_value,
        p_holm=p_holm,
        n=len(differences),
        first_better=int((differences > 0).sum()),
        second_better=int((differences < 0).sum()),
        sd=sd,
        detectable=None if sd is None else stats.detectable_difference(sd, len(differences)),
    )


def ranks_of(values: Values, rows: Iterable[SystemRow], resamples: int, seed: int) -> list[Rank]:
    """Places of the systems of a group in each column that ranks, where there are several."""
    by_system = {row.system: row for row in rows}
    found = []
    for column in values.columns:
        for group in RANKED:
            places = values.places_of(group)
            if len(places) < 2:
                continue
            told = stats.rank_intervals(values.of(column)[:, places], bool(column.higher_is_better), resamples, seed=seed)
            for place, rank in zip(places, told, strict=True):
                if rank is not None:
                    row = by_system[values.systems[place].name]
                    cell = row.success if column is SUCCESS else row.cells[column.name]
                    found.append(
                        Rank(
                            column=column.name,
                            group=group,
                            system=row.system,
                            rank=rank.rank,
                            low=rank.low,
                            high=rank.high,
                            incomplete=cell.incomplete,
                        )
                    )
    return found


def detectable_of(pairs: Iterable[Pair]) -> list[Detectable]:
    """The least difference that a comparison within a group finds, by its typical pair."""
    held: dict[tuple[str, Group], list[Pair]] = defaultdict(list)
    for pair in pairs:
        if pair.family and pair.sd is not None:
            held[pair.column, pair.family].append(pair)
    found = []
    for (column, group), of_group in held.items():
        sd, n = median(pair.sd for pair in of_group), round(median(pair.n for pair in of_group))
        found.append(
            Detectable(
                column=column,
                group=group,
                pairs=len(of_group),
                sd=sd,
                n=n,
                difference=stats.detectable_difference(sd, n),
                planned={videos: stats.detectable_difference(sd, videos) for videos in PLANNED},
            )
        )
    return found
