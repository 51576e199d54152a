"""The benchmark of the report, on a run as small as it can be."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from codecap.bench import drawn_run, report
from codecap.bench.scale import as_table
from codecap.records import Annotation, ObjectTracks, read_rows


@pytest.mark.slow
def test_a_drawn_report_is_built_and_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawn_run, "VIDEOS", 2)
    monkeypatch.setattr(drawn_run, "FRAMES", 48)
    monkeypatch.setattr(report, "REPEATS", 1)
    found = {finding.what: finding for finding in report.measure(4, 20, tenth=True)}
    assert found["building"].value > 0 and found["building"].how.endswith("x 20/2 clips")
    assert found["folder without linked media"].value < 20
    assert found["linked videos and pages"].value > 0
    assert [name for name in found if name.endswith(" opens")] == [f"{kind} opens" for kind in report.READY_WHEN]
    assert all(0 < finding.value < report.PATIENCE_MS for name, finding in found.items() if name.endswith(" opens"))
    assert as_table(list(found.values())).count("\n") == len(found) - 1


def test_numbers_are_held_to_their_limits() -> None:
    built = report.Built(
        wall_s=20.0, cpu_s=30.0, peak_mb=200.4, files=500, own_mb=100.0, linked_mb=50.0, largest_page_mb=0.5
    )  # fmt: skip
    found = {row.what: row for row in report.findings(built, {"first page": 2001.0}, clips=320, held=32)}
    assert (found["building"].value, found["building"].holds) == (200.0, False)
    assert (found["folder without linked media"].value, found["folder without linked media"].holds) == (1000.0, True)
    assert (found["first page opens"].holds, found["building, peak memory"].value) == (False, 200)
    heavy = dataclasses.replace(built, peak_mb=1600.0)
    assert [row.what for row in report.findings(heavy, {}, clips=32, held=32) if not row.holds] == ["building, peak memory"]
    whole = {row.what: row for row in report.findings(built, {}, clips=32, held=32)}
    assert (whole["building"].value, whole["building"].how) == (20.0, "")


def test_a_drawn_run_is_the_same_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawn_run, "VIDEOS", 1)
    monkeypatch.setattr(drawn_run, "FRAMES", 12)
    first, second = (drawn_run.lay(tmp_path / name, 3, 4) for name in ("a", "b"))
    assert first.main == second.main and [row.name for row in first.columns][:2] == ["visual_similarity", "object_iou"]
    (annotation, *_) = read_rows(tmp_path / "a" / "annotations.jsonl", Annotation)
    assert [len(item.boxes_xyxy) for item in annotation.objects] == [12] * drawn_run.OBJECTS
    tracks = list(read_rows(tmp_path / "a" / "tracks" / "system_00.jsonl", ObjectTracks))
    assert len(tracks) == sum(task.mp4 is not None for task in first.tasks if task.system == "system_00")
