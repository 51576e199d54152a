"""The curves as one figure on paper: a panel a kind of damage, a line a metric, all on one scale from 0 to the best value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from codecap.compare.comparison import Column
from codecap.report.figures import style
from codecap.validity.curves import Curve, scale_of
from codecap.validity.damages import DAMAGES, Damage

ACROSS = 4  # panels
PANEL_IN = 1.55  # height
STEM = "curves"


def drawn(columns: Sequence[Column]) -> list[Column]:
    """The columns that have a line: those with a scale, the paper's first; as many as there are colours."""
    scaled = [column for column in columns if scale_of(column) is not None]
    paper = [column for column in scaled if column.table != "beside" and column.part != "overall"]
    beside = [column for column in scaled if column not in paper and column.part != "overall"]
    return [*paper, *beside][: len(style.COLOURS)]


def write(curves: Sequence[Curve], columns: Sequence[Column], folder: Path) -> None:
    """Write `curves.svg` and `curves.pdf`."""
    with style.paper():
        style.save(figure(curves, drawn(columns)), folder / STEM)


def figure(curves: Sequence[Curve], columns: Sequence[Column]) -> Figure:
    shown = [damage for damage in DAMAGES.values() if any(curve.damage == damage.name for curve in curves)]
    down = -(-len(shown) // ACROSS) or 1
    made = style.figure(style.PAGE_IN, PANEL_IN * down + 0.45)
    axes = list(made.subplots(down, ACROSS, sharey=True, squeeze=False).flat)
    by_name = {(curve.damage, curve.column): curve for curve in curves}
    for damage, panel in zip(shown, axes, strict=False):
        _panel(panel, damage, by_name, columns)
    for panel in axes[len(shown) :]:
        panel.set_axis_off()
    for panel in axes[::ACROSS]:
        panel.set_ylabel("% of the scale")
    handles = [
        axes[0].plot([], [], color=style.COLOURS[number], marker=style.MARKERS[number], markersize=3)[0]
        for number in range(len(columns))
    ]
    style.legend_below(made, handles, [column.label for column in columns], columns=4)
    return made


def _panel(panel: Axes, damage: Damage, curves: Mapping[tuple[str, str], Curve], columns: Sequence[Column]) -> None:
    for number, column in enumerate(columns):
        curve, scale = curves.get((damage.name, column.name)), scale_of(column)
        if curve is None or not scale:
            continue
        points = [(place, 100 * mean / scale) for place, mean in enumerate(curve.means) if mean is not None]
        panel.plot(
            [place for place, _ in points],
            [value for _, value in points],
            color=style.COLOURS[number],
            marker=style.MARKERS[number],
            markersize=3,
            linewidth=1.0,
        )
    grades = next(curve.grades for (name, _), curve in curves.items() if name == damage.name)
    panel.set_xticks(range(len(grades)), [_tick(damage, grade) for grade in grades])
    panel.set_ylim(-4, 104)
    panel.set_title(damage.label)
    panel.set_xlabel(damage.unit)


def _tick(damage: Damage, grade: float) -> str:
    """The clip as it is stands at 0; of a speed, at 1.

    >>> _tick(DAMAGES["speed"], 0.0), _tick(DAMAGES["blur"], 0.0025)
    ('1', '0.25')
    """
    return "1" if damage.name == "speed" and grade == 0 else damage.told(grade)
