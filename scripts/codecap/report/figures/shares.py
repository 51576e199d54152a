"""Shares of a whole as one bar a line, each with its kind's colour: tool calls by class, failures by cause."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from codecap.report.figures import style

LINE_IN, AROUND_IN = 0.19, 0.95
LEAST_TOLD = 7.0  # percent; a narrower part has no room for its number


def shares(names: Sequence[str], kinds: Sequence[str], percent: Sequence[Sequence[float]], ends: Sequence[str]) -> Figure:
    """
    Args:
        names: of the lines, from above.
        kinds: what the parts are, in their order.
        percent: of each line, one a kind.
        ends: what is said right of each line.
    """
    made = style.figure(style.PAGE_IN, AROUND_IN + LINE_IN * len(names))
    axes = made.subplots()
    left = [0.0] * len(names)
    for number, kind in enumerate(kinds):
        widths = [line[number] for line in percent]
        bars = axes.barh(range(len(names)), widths, left=left, height=0.72, label=kind, **style.look(number))
        told = [f"{width:.1f}" if width >= LEAST_TOLD else "" for width in widths]
        letters = style.letters_on(style.look(number)["color"])
        axes.bar_label(bars, told, label_type="center", fontsize=5.5, color=letters)
        left = [start + width for start, width in zip(left, widths, strict=True)]
    for place, text in enumerate(ends):
        axes.text(101, place, text, va="center", fontsize=6.5)
    axes.set_yticks(range(len(names)), [style.short(name) for name in names])
    axes.set_ylim(len(names) - 0.45, -0.55)
    axes.set_xlim(0, 100)
    axes.set_xlabel("percent")
    axes.spines["left"].set_visible(False)
    style.only_across(axes)
    handles, labels = axes.get_legend_handles_labels()
    style.legend_below(made, handles, labels, columns=5)
    return made
