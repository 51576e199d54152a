"""Means over videos with their intervals: of a system, of a category, and of a system against the best of its group."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from codecap import stats
from codecap.compare.comparison import CategoryRow, Column, Difference, System, SystemRow, TaskEntry
from codecap.compare.estimates import Estimate
from codecap.compare.tasks import VideoValue
from codecap.records import CATEGORIES, Outcome


def estimate(values: Sequence[VideoValue], resamples: int, seed: int) -> Estimate:
    """Mean over the videos that have a value, with its interval (of two or more: one video tells nothing of its spread)."""
    numbers = [value.value for value in values if value.value is not None]
    mean, low, high = stats.bootstrap_mean(numbers, resamples=resamples, seed=seed) if numbers else (None, None, None)
    states = [value.state for value in values]
    return Estimate(
        mean=mean,
        low=low,
        high=high,
        n=len(numbers),
        failed=states.count("failed"),
        unscored=states.count("unscored"),
        infra_error=states.count("infra_error"),
        unscored_items=sum(value.unscored_items for value in values),
    )


def _success(entries: Sequence[TaskEntry], resamples: int, seed: int) -> Estimate:
    """Video production success rate: 100 x ok / (tasks without infra_error)."""
    told = [
        VideoValue(None, "infra_error")
        if entry.outcome is Outcome.INFRA_ERROR
        else VideoValue(100.0 if entry.outcome is Outcome.OK else 0.0, "ok" if entry.outcome is Outcome.OK else "failed")
        for entry in entries
    ]
    return estimate(told, resamples, seed)


def _cells(entries: Sequence[TaskEntry], columns: Sequence[Column], resamples: int, seed: int) -> dict[str, Estimate]:
    return {
        column.name: estimate(
            [
                VideoValue(entry.values[column.name], entry.states[column.name], entry.unscored_items.get(column.name, 0))
                for entry in entries
            ],
            resamples,
            seed,
        )
        for column in columns
    }


def system_row(system: System, entries: Sequence[TaskEntry], columns: Sequence[Column], resamples: int, seed: int) -> SystemRow:
    mine = [entry for entry in entries if entry.system == system.name]
    costs = [entry.cost_usd for entry in mine if entry.cost_usd is not None]
    walls = [entry.caption_wall_s for entry in mine if entry.caption_wall_s is not None]
    return SystemRow(
        system=system.name,
        tasks=len(mine),
        ok=sum(entry.outcome is Outcome.OK for entry in mine),
        failed=sum(entry.outcome.scores_zero for entry in mine),
        infra_error=sum(entry.outcome is Outcome.INFRA_ERROR for entry in mine),
        salvaged=sum(entry.salvaged for entry in mine),
        impure=sum(bool(entry.certificate and entry.certificate.purity) for entry in mine),
        success=_success(mine, resamples, seed),
        cells=_cells(mine, columns, resamples, seed),
        cost_usd=sum(costs) if costs else None,
        wall_s=sum(walls) / len(walls) if walls else None,
    )


def by_category(
    systems: Sequence[System],
    entries: Sequence[TaskEntry],
    columns: Sequence[Column],
    categories: Mapping[str, str],
    resamples: int,
    seed: int,
) -> list[CategoryRow]:
    grouped: dict[tuple[str, str], list[TaskEntry]] = defaultdict(list)
    for entry in entries:
        grouped[categories[entry.clip_id], entry.system].append(entry)
    return [
        CategoryRow(
            category=category,
            system=system.name,
            tasks=len(grouped[category, system.name]),
            success=_success(grouped[category, system.name], resamples, seed),
            cells=_cells(grouped[category, system.name], columns, resamples, seed),
        )
        for category in CATEGORIES
        for system in systems
        if grouped.get((category, system.name))
    ]


def differences(
    systems: Sequence[System],
    main: Sequence[SystemRow],
    entries: Sequence[TaskEntry],
    columns: Sequence[Column],
    resamples: int,
    seed: int,
) -> list[Difference]:
    """Each system against the best of its group, in each column that ranks, on the videos that both have a value for."""
    rows = {row.system: row for row in main}
    numbers: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for entry in entries:
        for name, value in entry.values.items():
            if value is not None:
                numbers[entry.system][name][entry.clip_id] = value
    found = []
    for group in ("agentic", "non_agentic"):
        names = [system.name for system in systems if system.group == group]
        for column in columns:
            best = best_of(column, [rows[name] for name in names])
            if best is None:
                continue
            for name in names:
                mine, others = numbers[name][column.name], numbers[best][column.name]
                shared = sorted(mine.keys() & others.keys())
                if name == best or not shared:
                    continue
                told = stats.paired_difference(
                    [mine[clip] for clip in shared], [others[clip] for clip in shared], resamples=resamples, seed=seed
                )
                found.append(
                    Difference(
                        column=column.name,
                        system=name,
                        best=best,
                        mean=told.mean,
                        low=told.low,
                        high=told.high,
                        p_value=told.p_value,
                        n=len(shared),
                    )
                )
    return found


def best_of(column: Column, rows: Sequence[SystemRow]) -> str | None:
    """The system with the best mean, the first of equals; None where the column ranks nobody."""
    if column.higher_is_better is None:
        return None
    measured = [(row.cells[column.name].mean, row.system) for row in rows if row.cells[column.name].mean is not None]
    if not measured:
        return None
    choose = max if column.higher_is_better else min
    return choose(measured, key=lambda pair: pair[0])[1]
