"""Why tasks failed, by system and all together (the paper's Figure 10). What we failed at is no failure of a system."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from codecap.compare.comparison import Cause, Causes, System, TaskEntry
from codecap.records import Outcome


def causes_of(systems: Sequence[System], entries: Sequence[TaskEntry]) -> list[Causes]:
    """One entry a system, then one of all but floors and ceilings, where there are several of these."""
    ranked = {system.name for system in systems if system.group in ("agentic", "non_agentic")}
    found = [_causes(system.name, [entry for entry in entries if entry.system == system.name]) for system in systems]
    if len(ranked) > 1:
        found.append(_causes(None, [entry for entry in entries if entry.system in ranked]))
    return found


def _causes(system: str | None, entries: Sequence[TaskEntry]) -> Causes:
    ours = sum(entry.outcome is Outcome.INFRA_ERROR for entry in entries)
    counted = Counter(entry.outcome for entry in entries if entry.outcome.scores_zero)
    tasks, failed = len(entries) - ours, counted.total()
    order = list(Outcome)
    return Causes(
        system=system,
        tasks=tasks,
        failed=failed,
        rate_percent=100 * failed / tasks if tasks else None,
        causes=[
            Cause(outcome=outcome, count=count, share_percent=100 * count / failed)
            for outcome, count in sorted(counted.items(), key=lambda pair: (-pair[1], order.index(pair[0])))
        ],
    )
