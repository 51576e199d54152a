"""The study as a folder to read: a page, the figure, and the numbers as tables."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from codecap.clock import FPS
from codecap.compare.comparison import Column
from codecap.records import Annotation, Clip, Score
from codecap.report.pages import RESOURCES, environment, write_page
from codecap.validity import drawing, placing
from codecap.validity.curves import LEAST, Curve, curves_of, scale_of, steps_of, values_of
from codecap.validity.damages import DAMAGES
from codecap.validity.demands import Demand, demands

BESIDE = ("report.css", "theme.js", "validity.css")
CURVES_CSV, DEMANDS_CSV = "curves.csv", "demands.csv"


def build(
    folder: Path, columns: Sequence[Column], scores: Iterable[Score], openings: Mapping[str, tuple[Clip, Annotation]], title: str
) -> list[Demand]:
    """Write the page, `curves.csv`, `demands.csv`, `curves.svg`, `curves.pdf`, `protocols.json` and what the page needs beside it.

    Args:
        columns: of the metrics, see `compare.columns`.
        scores: of all candidates.
        openings: the clips that were damaged, with their annotations, by id.
        title: of the run, for the page's head.

    Returns:
        What must hold of the curves, each with whether it does.
    """
    folder.mkdir(parents=True, exist_ok=True)
    clips = {name: clip for name, (clip, _) in openings.items()}
    values = values_of(columns, scores, {name: annotation for name, (_, annotation) in openings.items()})
    curves = curves_of(columns, values, list(openings))
    must_hold = demands(values, {column.name: column for column in columns}, clips)
    _write_csv(folder / CURVES_CSV, ["damage", "grade", "unit", "column", "clip", "value"], _points(curves))
    names = list(Demand.model_fields)
    _write_csv(folder / DEMANDS_CSV, names, ([getattr(row, name) for name in names] for row in must_hold))
    drawing.write(curves, columns, folder)
    placing.write_protocols(columns, folder)
    (folder / placing.ASSETS).mkdir(exist_ok=True)
    for name in BESIDE:
        shutil.copyfile(RESOURCES / name, folder / placing.ASSETS / name)
    made = environment(RESOURCES)
    write_page(folder / "index.html", made, "validity.html.j2", _context(title, columns, curves, must_hold, clips))
    return must_hold


def _context(
    title: str, columns: Sequence[Column], curves: Sequence[Curve], must_hold: Sequence[Demand], clips: Mapping[str, Clip]
) -> dict[str, Any]:
    """All that the template names."""
    scaled = [column for column in columns if scale_of(column) is not None]
    by_name = {(curve.damage, curve.column): curve for curve in curves}
    shown = [damage for damage in DAMAGES.values() if any(curve.damage == damage.name for curve in curves)]
    return {
        "title": title,
        "columns": columns,
        "scaled": scaled,
        "damages": shown,
        "cells": {
            (damage.name, column.name): _cell(by_name.get((damage.name, column.name))) for damage in shown for column in scaled
        },
        "curves": by_name,
        "steps": {damage.name: [grade for grade, _ in steps_of(damage)] for damage in shown},
        "least_percent": 100 * LEAST,
        "demands": must_hold,
        "broken": [row for row in must_hold if not row.held],
        "clips": clips,
        "duration_s": max((clip.frames for clip in clips.values()), default=0) / FPS,
        "proxy": any(column.proxy for column in columns),
        "figure": f"{drawing.STEM}.svg",
        "files": [CURVES_CSV, DEMANDS_CSV, f"{drawing.STEM}.svg", f"{drawing.STEM}.pdf"],
    }


def _cell(curve: Curve | None) -> dict[str, Any]:
    """A cell of the table of who sees what: the loss in percent of the scale, how dark it is drawn, and whether it wavers."""
    if curve is None or curve.change is None:
        return {"text": "–", "shade": 0, "trend": "none", "clips": 0}
    loss = -100 * curve.change
    return {"text": f"{round(loss)}", "shade": round(min(max(loss, 0.0), 100.0)), "trend": curve.trend, "clips": len(curve.clips)}


def _points(curves: Iterable[Curve]) -> Iterable[list[Any]]:
    """Rows of the table of curves: means first (no clip named), then each clip's values."""
    for curve in curves:
        unit = DAMAGES[curve.damage].unit
        for clip, series in {"": curve.means, **curve.values}.items():
            for grade, value in zip(curve.grades, series, strict=True):
                yield [curve.damage, f"{grade:g}", unit, curve.column, clip, "" if value is None else repr(round(value, 9))]


def _write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
