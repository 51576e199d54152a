"""Why tasks failed (the paper's Figure 10): shares of the causes, with count and rate of each system."""

from __future__ import annotations

from matplotlib.figure import Figure

from codecap.compare.comparison import Comparison
from codecap.publish.statistics import Statistics
from codecap.records import Outcome
from codecap.report.figures.shares import shares
from codecap.report.pages import OUTCOMES

NAME = "failures"
TITLE = "Why tasks failed"


def draw(comparison: Comparison, counted: Statistics) -> tuple[Figure, str] | None:  # noqa: ARG001
    headings: dict[str | None, str] = {system.name: system.heading for system in comparison.systems}
    headings[None] = "All but floors and ceilings"
    told = [row for row in comparison.causes if row.failed]
    if not told:
        return None
    used = {cause.outcome for row in told for cause in row.causes}
    kinds = [outcome for outcome in Outcome if outcome in used]
    percent = [[{cause.outcome: cause.share_percent for cause in row.causes}.get(kind, 0.0) for kind in kinds] for row in told]
    counts = [f"{row.failed} of {row.tasks} ({row.rate_percent:.1f} %)" for row in told]
    made = shares([headings[row.system] for row in told], [OUTCOMES[kind.value] for kind in kinds], percent, counts)
    return (
        made,
        "Shares of the causes among failed tasks; right: their number and rate. Tasks that we failed at are left out.",
    )
