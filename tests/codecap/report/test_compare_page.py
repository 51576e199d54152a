"""Scripts of the page that compares two systems: their numbers are those of the comparison, clip by clip."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from codecap.records import Outcome
from codecap.report.compare_page import columns_compared, context, write_scripts


@pytest.fixture(scope="module")
def folder(run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("compare") / "data"
    write_scripts(made, run.comparison, {row.clip_id: row for row in run.annotations}, {"B_001": "cannot be read"})
    return made


def shared(folder: Path) -> dict:
    return json.loads((folder / "clips.js").read_text(encoding="utf-8").removeprefix("takeClips(").removesuffix(");\n"))


def of(folder: Path, name: str) -> dict:
    text = (folder / f"system-{name}.js").read_text(encoding="utf-8")
    head = f'takeSystem("{name}", '
    assert text.startswith(head)
    return json.loads(text.removeprefix(head).removesuffix(");\n"))


def test_clips_and_columns(run, folder: Path) -> None:
    found = shared(folder)
    assert [clip["id"] for clip in found["clips"]] == [clip.clip_id for clip in run.comparison.clips]
    assert [clip["still"] for clip in found["clips"]] == [clip.clip_id != "B_001" for clip in run.comparison.clips]
    assert found["clips"][0]["focal_points"][0][:3] == ["f1", "static", 0.0]
    assert [name for name, _ in found["clips"][0]["objects"]] == ["slider", "panel", "toast"]
    signs = {column["name"]: column["sign"] for column in found["columns"]}
    assert (signs["success_rate"], signs["kss"], signs["code_size"]) == (1, 1, -1) and "lag" not in signs  # it ranks nobody


def test_values_are_the_tasks(run, folder: Path) -> None:
    for task in run.comparison.tasks:
        found = of(folder, task.system)
        place = [clip.clip_id for clip in run.comparison.clips].index(task.clip_id)
        assert found["outcomes"][place] == task.outcome.value
        for column in columns_compared(run.comparison)[1:]:
            value = found["values"][column.name][place]
            assert value == (None if task.values[column.name] is None else pytest.approx(task.values[column.name], abs=1e-5))
        success = {Outcome.OK: 100.0, Outcome.INFRA_ERROR: None}.get(task.outcome, 0.0)
        assert found["values"]["success_rate"][place] == success


def test_differences_of_means_are_those_of_the_pairs(run, folder: Path) -> None:
    """What the page computes from the clips is what the comparison says of the pair."""
    compared = 0
    for pair in run.comparison.pairs:
        first, second = (of(folder, name)["values"][pair.column] for name in (pair.first, pair.second))
        both = [(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None]
        assert len(both) == pair.n
        assert np.mean([a - b for a, b in both]) == pytest.approx(pair.mean, abs=1e-4)
        mean, low, *_ = of(folder, pair.first)["pairs"][pair.second][pair.column]
        assert (mean, low) == (pytest.approx(pair.mean, abs=1e-5), pair.low and pytest.approx(pair.low, abs=1e-5))
        compared += 1
    assert compared > 100


def test_items_stand_in_the_annotations_order(run, folder: Path) -> None:
    vtrace, hostile = of(folder, "vtrace")["items"], of(folder, "hostile")["items"]
    task = next(task for task in run.comparison.tasks if (task.system, task.clip_id) == ("vtrace", "A_000"))
    points = {item.item: item.value for item in task.items if item.metric == "retention"}
    assert vtrace["retention"][0] == [points[f"f{number}"] for number in (1, 2, 3, 4)]
    assert len(vtrace["object_iou"][0]) == 3
    assert hostile["retention"][0] == [0.0] * 4  # a failed task
    place = [clip.category for clip in run.comparison.clips].index("C")
    assert vtrace["retention"][place][1] is None  # it has no score


def test_choices(run) -> None:
    found = context(run.comparison)
    assert [heading for heading, _ in found["choices"]] == ["Agentic systems", "Non-agentic systems", "Floors", "Ceilings"]
    assert [label for _, label, _ in found["item_metrics"]] == ["Object IoU", "Retention"]
