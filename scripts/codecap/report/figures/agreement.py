"""Do judges agree with each other and with people (the paper's Figure 8)? A dot a video, a panel a pair of score sets."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from codecap.compare.comparison import Agreement, AgreementRow, Comparison
from codecap.publish.statistics import Statistics
from codecap.report.figures import style

NAME = "agreement"
TITLE = "Agreement of judges and people"
MOST_PANELS, A_ROW = 6, 3


def draw(comparison: Comparison, counted: Statistics) -> tuple[Figure, str] | None:  # noqa: ARG001
    agreement = comparison.agreement
    if agreement is None:
        return None
    every = list(dict.fromkeys((row.first, row.second) for row in agreement.rows))
    pairs = [pair for pair in every if any((video.first, video.second) == pair for video in agreement.videos)]
    if not pairs:
        return None
    shown = pairs[:MOST_PANELS]
    across = min(len(shown), A_ROW)
    rows = -(-len(shown) // across)
    width = style.PAGE_IN if across > 1 else style.COLUMN_IN
    made = style.figure(width, min(width / across, 2.9) * rows + 0.5)
    panels = np.atleast_1d(made.subplots(rows, across, squeeze=False)).ravel()
    handles: dict[str, object] = {}
    for axes, pair in zip(panels, shown, strict=False):
        handles |= _panel(axes, comparison, agreement, pair)
    for axes in panels[len(shown) :]:
        axes.remove()
    style.legend_below(made, list(handles.values()), list(handles), columns=4)
    left_out = f" The first {len(shown)} of {len(pairs)} pairs." if len(pairs) > len(shown) else ""
    told = "A dot a video: the mean over its focal points. Hollow: floors and ceilings, which are in no correlation. Dashed: equal."
    return made, told + left_out


def _panel(axes: Axes, comparison: Comparison, agreement: Agreement, pair: tuple[str, str]) -> dict[str, object]:
    """Draw one pair; returns the legend's handles by the systems' names."""
    systems = {system.name: (number, system) for number, system in enumerate(comparison.systems)}
    labels = {told.name: told.label for told in agreement.sets}
    videos = [video for video in agreement.videos if (video.first, video.second) == pair and video.kind == "overall"]
    axes.plot([0, 100], [0, 100], color=style.SOFT, linewidth=0.7, linestyle="--")
    handles = {}
    for name in dict.fromkeys(video.system for video in videos):
        number, system = systems[name]
        mine = [video for video in videos if video.system == name]
        colour, hollow = style.COLOURS[number % len(style.COLOURS)], system.group in ("floor", "ceiling")
        (handles[style.short(system.heading)],) = axes.plot(
            [video.first_value for video in mine], [video.second_value for video in mine], linestyle="none", markersize=3,
            marker=style.MARKERS[number // len(style.COLOURS) % len(style.MARKERS)], alpha=0.8, color=colour,
            markerfacecolor="none" if hollow else colour, markeredgewidth=0.6,
        )  # fmt: skip
    row = next(
        row
        for row in agreement.rows
        if (row.first, row.second, row.system, row.level, row.kind) == (*pair, None, "video", "overall")
    )
    axes.set_title(_correlation(row), fontsize=6.5)
    axes.set(xlim=(-3, 103), ylim=(-3, 103), aspect="equal", xlabel=labels[pair[0]], ylabel=labels[pair[1]])
    axes.set_xticks(range(0, 101, 25))
    axes.set_yticks(range(0, 101, 25))
    return handles


def _correlation(row: AgreementRow) -> str:
    told = row.pearson
    if told.value is None:
        return "no correlation"
    ends = "" if told.low is None else f" ({told.low:.3f} to {told.high:.3f})"
    return f"Pearson {told.value:.3f}{ends}, {row.n} videos"
