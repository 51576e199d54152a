"""`codecap humans` as typed, where a run's rows lie."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from codecap import config, plan
from codecap.clips_table import write_clips
from codecap.errors import UserError
from codecap.humans.material import read_material
from codecap.humans.sheet import SheetKey
from codecap.records import Annotation, HumanScore, Render, read_record, read_rows, write_rows

from .conftest import SYSTEMS


def codecap(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "codecap", *map(str, arguments)], capture_output=True, text=True, cwd=cwd)


@pytest.fixture
def run(material, tmp_path: Path) -> Path:
    """A folder with the rows of the small run, and its configuration."""
    write_clips(tmp_path / "clips.tsv", material.clips.values())
    annotations = [Annotation(clip_id=clip_id, focal_points=list(points.values())) for clip_id, points in material.points.items()]
    write_rows(tmp_path / "results/3_annotate/approved/00.jsonl", Annotation, annotations)
    for system in SYSTEMS:
        mine = [render for (name, _), render in material.renders.items() if name == system]
        write_rows(tmp_path / f"results/5_render/{system}/00.jsonl", Render, mine)
    models = dict.fromkeys(config.load()["models"]) | {
        name: {"label": name, "harness": "vtrace", "mode": "blank", "role": entry.get("role", "system")}
        for name, entry in material.systems.items()
    }
    told = {"clips": "clips.tsv", "clips_folder": None, "buckets": 1, "models": models}
    (tmp_path / "my.yaml").write_text(yaml.safe_dump(told))
    return tmp_path


def test_a_sheet_and_the_way_back(run):
    made = codecap("humans", "sheet", "--out", "sheet", "--config", "my.yaml", "--per-category", 1, cwd=run)
    assert made.returncode == 0, made.stderr
    assert (run / "sheet" / "index.html").is_file()
    assert "of 2 systems; clips by category: A 1, B 1" in made.stdout and "left out: nightjar has no video of B_one" in made.stdout
    key = read_record(run / "sheet.key.json", SheetKey)
    (run / "scores.csv").write_text(
        "sheet,item,score,rater,scored_at\n"
        + "".join(f"{key.sheet},{item.item},{number % 6},Ada,2026-11-30T10:00:00Z\n" for number, item in enumerate(key.items))
    )
    back = codecap("humans", "import", "scores.csv", "--key", "sheet.key.json", "--config", "my.yaml", cwd=run)
    assert back.returncode == 0, back.stderr
    assert "`humans: store/durable/humans`" in back.stdout
    (file,) = (run / "store/durable/humans").glob("*.jsonl")
    assert len(list(read_rows(file, HumanScore))) == len(key.items) == 6
    again = codecap("humans", "sheet", "--out", "sheet", "--config", "my.yaml", cwd=run)
    assert again.returncode == 1 and "is there already" in again.stderr and "Traceback" not in again.stderr


def test_two_sheets_without_a_seed_differ(run):
    for name in ("one", "two"):
        codecap("humans", "sheet", "--out", name, "--config", "my.yaml", cwd=run)
    one, two = (read_record(run / f"{name}.key.json", SheetKey) for name in ("one", "two"))
    assert one.seed != two.seed and one.sheet != two.sheet
    assert not {item.item for item in one.items} & {item.item for item in two.items}


def test_a_folder_without_a_run_says_so(tmp_path, run, monkeypatch):
    told = codecap("humans", "sheet", "--out", "sheet", cwd=tmp_path / "results")  # the demo's configuration, never run here
    assert told.returncode == 1 and "no renders of this configuration" in told.stderr and "Traceback" not in told.stderr
    monkeypatch.chdir(run)
    assert read_material(config.load(Path("my.yaml"))).shows("zebrafinch", "B_one")


def test_the_plan_has_the_files_of_the_folder_that_the_config_names(run, monkeypatch):
    monkeypatch.chdir(run)
    assert plan.make(config.load(Path("my.yaml"))).humans == []
    Path("people").mkdir()
    for name in ("b.jsonl", "a.jsonl", "notes.txt"):
        (Path("people") / name).touch()
    assert plan.make(config.load(Path("my.yaml"), overrides={"humans": "people"})).humans == ["people/a.jsonl", "people/b.jsonl"]
    with pytest.raises(UserError, match="humans: there is no folder nobody; `codecap humans import` makes it"):
        plan.make(config.load(Path("my.yaml"), overrides={"humans": "nobody"}))
