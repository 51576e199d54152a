"""Which tools agents call (the paper's Figure 7): shares of the classes, and how many calls a caption."""

from __future__ import annotations

from matplotlib.figure import Figure

from codecap.compare.comparison import Comparison
from codecap.generate.agents.trace import CLASSES
from codecap.publish.statistics import Statistics
from codecap.report.figures.shares import shares

NAME = "tool_calls"
TITLE = "Tool calls"


def draw(comparison: Comparison, counted: Statistics) -> tuple[Figure, str] | None:  # noqa: ARG001
    headings = {system.name: system.heading for system in comparison.systems}
    told = [row for row in comparison.spent if row.tools]
    if not told:
        return None
    kinds = [*CLASSES, *sorted({tool.name for row in told for tool in row.tools} - set(CLASSES))]
    percent = [[{tool.name: tool.share_percent for tool in row.tools}.get(kind, 0.0) for kind in kinds] for row in told]
    means = ["–" if row.tool_calls.mean is None else f"{row.tool_calls.mean:.1f} a caption" for row in told]
    made = shares([headings[row.system] for row in told], [kind.replace("_", " ") for kind in kinds], percent, means)
    return made, "Shares of the classes of tool calls, and their number a caption in the mean."
