"""Where a curve must be monotone: the rows of docs/metrics.md that speak of grades, clip by clip.

    shifted by 1, 2, 4, 8, 16 % of the width    mean IoU never rises, and falls strictly until it is under 2
    late by 0.1, 0.25, 0.5, 1 s                 dynamic retention and mps_strict do not rise by more than 0.02 of their range;
                                                the lag that is told is right within one frame

A clip that cannot show a row (it repeats itself, nothing moves) is named with the reason. A row that does not hold is told with its
values; it is never loosened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from codecap.clock import FPS
from codecap.compare.comparison import Column
from codecap.records import Clip, Row
from codecap.selftest import fitness
from codecap.validity.curves import LEAST, Values, largest_rise, scale_of, steps_of
from codecap.validity.damages import DAMAGES

GONE = 2.0  # a mean IoU, in percent, from which on nothing more can be lost
EXACT = 1e-6
LAG = "lag"
NO_RISE = f"never more than {LEAST:g} of its scale above a lesser delay"
WHAT = {  # what is demanded of a kind of damage and a column, in words
    ("shift", "object_iou"): f"falls at every grade until it is under {GONE:g}, and never rises",
    ("delay", "retention_dynamic"): NO_RISE,
    ("delay", "mps_strict"): NO_RISE,
    ("delay", LAG): "is the delay, within one frame",
}


class Demand(Row):
    """One thing that must hold of a clip's curve.

    Attributes:
        held: it does, or the clip is not fit for it.
        fit: the clip can show it; `detail` says why not.
    """

    damage: str
    column: str
    clip: str
    what: str
    value: float | None = None
    held: bool = True
    fit: bool = True
    detail: str = ""


def demands(values: Values, columns: Mapping[str, Column], clips: Mapping[str, Clip]) -> list[Demand]:
    """All demands of the columns that are there.

    Args:
        values: see `curves.values_of`.
        columns: by name.
        clips: the openings, by id.
    """
    unfit = {name: fitness.unfit_for_delay(clip) for name, clip in clips.items()}
    found: list[Demand] = []
    for (damage, name), what in WHAT.items():
        for clip in clips if name in columns else ():
            series = [values.get((system, clip, name)) for _, system in steps_of(DAMAGES[damage])]
            why = unfit[clip] if damage == "delay" else ""
            why = why or ("" if series[0] is not None else "the clip itself has no value")
            told = {"damage": damage, "column": name, "clip": clip, "what": what}
            if why:
                found.append(Demand(**told, fit=False, detail=why))
                continue
            value, held = _tried(damage, columns[name], series)
            detail = "values " + ", ".join("none" if at is None else f"{at:.3g}" for at in series)
            found.append(Demand(**told, value=value, held=held, detail=detail))
    return found


def _tried(damage: str, column: Column, series: Sequence[float | None]) -> tuple[float | None, bool]:
    """What is measured of a clip's values, from grade 0 on, and whether it holds; a value that is missing is none that holds."""
    known = [value for value in series if value is not None]
    if len(known) < len(series):
        return None, False
    if column.name == LAG:
        error = max(abs(value - grade) for value, (grade, _) in zip(known, steps_of(DAMAGES[damage]), strict=True))
        return error, error <= 1 / FPS + EXACT
    if damage == "shift":
        held = all(after < before or (after <= before and before < GONE) for before, after in pairwise(known))
        return max(after - before for before, after in pairwise(known)), held
    rise = largest_rise(known) / (scale_of(column) or 1.0)
    return rise, rise <= LEAST
