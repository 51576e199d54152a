"""What captions cost, and what it bought (the paper's Figure 6): fidelity against dollars; tokens, rounds, minutes a caption."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from codecap.compare.comparison import Amount, Column, Comparison, Spent
from codecap.compare.pairs import RANKED
from codecap.publish.statistics import Statistics
from codecap.report.figures import style

NAME = "spending"
TITLE = "Cost and efficiency"
MOST_SYSTEMS = 24
AMOUNTS = (("cost_usd", "US dollars"), ("tokens", "tokens"), ("rounds", "rounds"), ("minutes", "minutes"))


def draw(comparison: Comparison, counted: Statistics) -> tuple[Figure, str] | None:  # noqa: ARG001
    groups = {system.name: system.group for system in comparison.systems}
    told = [row for row in comparison.spent if groups[row.system] in RANKED and any(getattr(row, name).n for name, _ in AMOUNTS)]
    if not told:
        return None
    told.sort(key=lambda row: (row.cost_usd.mean is None, -(row.cost_usd.mean or 0.0), -(row.minutes.mean or 0.0), row.system))
    shown, column = told[:MOST_SYSTEMS], _fidelity(comparison)
    dots = [row for row in shown if row.cost_usd.mean]
    scattered = column is not None and len(dots) > 1
    bars_in = 0.165 * len(shown) + 0.75
    made = style.figure(style.PAGE_IN, bars_in + (2.4 if scattered else 0.0))
    parts = made.subfigures(2, 1, height_ratios=[2.4, bars_in]) if scattered else [None, made]
    headings = {system.name: style.short(system.heading) for system in comparison.systems}
    looks = {row.system: number for number, row in enumerate(shown)}
    if scattered:
        axes = parts[0].subplots()
        _scatter(axes, comparison, column, dots, headings, looks)
        parts[0].legend(*axes.get_legend_handles_labels(), loc="outside right upper", ncols=1 + (len(dots) > 14))
    amounts = [(name, unit) for name, unit in AMOUNTS if any(getattr(row, name).n for row in shown)]
    panels = parts[1].subplots(1, len(amounts), sharey=True, squeeze=False)[0]
    for axes, (name, unit) in zip(panels, amounts, strict=True):
        _bars(axes, [getattr(row, name) for row in shown], unit, [headings[row.system] for row in shown])
    left_out = f" The {len(shown)} most expensive of {len(told)} systems." if len(told) > len(shown) else ""
    return made, f"Means of a caption, failed ones among them; nothing is drawn where no caption tells the number.{left_out}"


def _fidelity(comparison: Comparison) -> Column | None:
    main = [column for column in comparison.columns if column.table == "main" and column.higher_is_better]
    return main[-1] if main else None


def _scatter(
    axes: Axes, comparison: Comparison, column: Column, dots: list[Spent], headings: dict[str, str], looks: dict[str, int]
) -> None:
    """A dot a system: what a caption costs, and the last column of the paper's Table 1."""
    cells = {row.system: row.cells[column.name] for row in comparison.main}
    for row in dots:
        cell, number = cells[row.system], looks[row.system]
        if cell.mean is not None:
            kind = {"color": style.COLOURS[number % len(style.COLOURS)], "marker": style.MARKERS[number // len(style.COLOURS) % 8]}
            lengths = style.ends([cell.mean], [cell.low], [cell.high])
            name = headings[row.system]
            axes.errorbar([row.cost_usd.mean], [cell.mean], yerr=lengths, linestyle="none", elinewidth=0.7, label=name, **kind)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.margins(x=0.12)
    axes.set_xlabel("US dollars a caption")
    axes.set_ylabel(column.label + (" (stand-in)" if column.proxy else ""))


def _bars(axes: Axes, amounts: list[Amount], unit: str, names: list[str]) -> None:
    means = [amount.mean or 0.0 for amount in amounts]
    bars = axes.barh(range(len(names)), means, height=0.66, color=style.COLOURS[0])
    axes.bar_label(bars, ["" if amount.mean is None else _short(amount.mean) for amount in amounts], padding=2, fontsize=6)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlim(0, 1.4 * max(*means, 1e-9))
    axes.set_xlabel(unit)
    axes.xaxis.set_major_locator(MaxNLocator(3))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _short(value)))
    style.only_across(axes)


def _short(value: float) -> str:
    """
    >>> _short(0.0), _short(0.1234), _short(12.34), _short(123456.0), _short(2_340_000.0)
    ('0', '0.12', '12.3', '123k', '2.3M')
    """
    for size, sign in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.1f}".removesuffix(".0") + sign if value < 100 * size else f"{value / size:.0f}{sign}"
    return f"{value:.1f}".removesuffix(".0") if value >= 10 or value == round(value) else f"{value:.2g}"
