"""`codecap reproduce` on a small run: the same numbers again, and the cause where something has been changed."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from codecap.cli import app
from codecap.fingerprint import code_parts
from codecap.reproducing import changes, sealing

COLUMNS = (
    "success",
    "object_iou",
    "retention_dynamic",
    "retention_static",
    "retention_overall",
    "kss",
    "unique_frames",
    "code_size",
)


def call(*words: str, status: int = 0) -> list[dict]:
    done = CliRunner().invoke(app, ["reproduce", "--json", *words])
    assert done.exit_code == status, (done.output, done.exception)
    return json.loads(done.stdout)


def one(cell: str, status: int = 1) -> dict:
    [found] = call(cell, status=status)
    return found


def state_of(folder: Path) -> dict[str, str]:
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*") if path.is_file()}


def only(pattern: str) -> Path:
    [path] = Path().glob(pattern)
    return path


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_every_number_comes_out_the_same_and_nothing_is_written(run):
    before = state_of(run)
    found = call(*[f"vtrace/{column}" for column in COLUMNS], *[f"vtrace/{column}/T_001" for column in COLUMNS])
    assert {made["verdict"] for made in found} == {"same"} and not any(made["causes"] or made["remarks"] for made in found)
    assert all(made["published"] == made["recomputed"] is not None for made in found)
    means = {made["cell"]: made["recomputed"] for made in found}
    assert means["vtrace/success"] == 50 and means["vtrace/success/T_001"] == 100
    assert means["vtrace/object_iou/T_001"] == pytest.approx(100 * 13 / 19) and means["vtrace/object_iou"] == pytest.approx(
        650 / 19
    )
    assert means["vtrace/retention_overall/T_001"] == 80 and means["vtrace/retention_overall"] == 40  # the failed clip counts 0
    assert means["vtrace/code_size"] == len("<p>page")  # of what was produced
    assert found[2]["low"] is not None and found[-1]["low"] is None
    assert state_of(run) == before


def test_cells_by_chance_are_those_of_the_seed(run):
    first, again, other = (call("--random", "3", "--seed", seed) for seed in ("1", "1", "2"))
    cells = [[made["cell"] for made in found] for found in (first, again, other)]
    assert cells[0] == cells[1] != cells[2] and len(set(cells[0])) == 3
    assert {made["verdict"] for made in first} == {"same"}
    [video] = call("--random", "1", "--seed", "1", "--videos")
    assert re.fullmatch(r"vtrace/\w+/T_00[12]", video["cell"]) and video["verdict"] == "same"


def test_another_video_in_a_renders_place(run):
    mp4 = only("store/bulk/render/vtrace/*/*.mp4")
    mp4.write_bytes(Path("clips/T_001.mp4").read_bytes())
    found = one("vtrace/kss")
    assert found["verdict"] == "differs" and found["recomputed"] > found["published"]
    assert found["causes"] == [
        f"vtrace/T_001: render: {mp4} has changed: sha256 {hashlib.sha256(mp4.read_bytes()).hexdigest()[:12]}, it was "
        f"{mp4.name.split('.')[2]}"
    ]


def test_a_change_that_moves_no_number_is_a_change_all_the_same(run):
    mp4 = only("store/bulk/render/vtrace/*/*.mp4")
    mp4.write_bytes(mp4.read_bytes() + b"\0\0\0\x08free")
    found = one("vtrace/kss")
    assert found["verdict"] == "changed" and found["published"] == found["recomputed"] and "render" in found["causes"][0]


def test_a_render_that_is_gone(run):
    only("store/bulk/render/vtrace/*/*.mp4").unlink()
    found = one("vtrace/kss")
    assert found["verdict"] == "not recomputed" and found["recomputed"] is None and found["published"] is not None
    assert re.fullmatch(r"vtrace/T_001: render: store/bulk/render/vtrace/\S+\.mp4 is gone", found["causes"][0])
    assert one("vtrace/kss/T_002", status=0)["verdict"] == "same"  # it failed, and has none


def test_another_reference(run):
    clip = Path("clips/T_001.mp4")
    clip.write_bytes(Path("clips/T_002.mp4").read_bytes())
    found = one("vtrace/kss")
    assert found["verdict"] == "not recomputed" and found["causes"][0].startswith(f"vtrace/T_001: reference: {clip} has changed")
    edit(Path("clips.tsv"), "T_001\tF\tclips/T_001.mp4\t", "T_001\tF\tclips/T_001.mp4\t" + "0" * 12)
    assert "the clips table names another video" in one("vtrace/kss")["causes"][0]


def test_another_annotation(run):
    edit(Path("annotations/T_001.json"), "It is red", "It is blue")
    found = one("vtrace/retention_static")
    assert found["verdict"] == "changed"  # stage 3 has not taken it in
    assert found["causes"] == ["vtrace/T_001: annotation: annotations/T_001.json says something else than when the number was made"]
    assert one("vtrace/kss", status=0)["verdict"] == "same"  # which asks no annotation
    rows = only("results/3_annotate/approved/*.jsonl")
    edit(rows, "[0.0,10.0,16.0,26.0]", "[0.0,10.0,40.0,26.0]")
    found = one("vtrace/object_iou")
    assert found["verdict"] == "differs" and f"annotation: {rows} says something else" in found["causes"][0]


def test_other_tracks(run):
    rows = only("results/6_score/tracks/vtrace/*.jsonl")
    edit(rows, "[3.0,10.0,19.0,26.0]", "[0.0,10.0,16.0,26.0]")
    found = one("vtrace/object_iou/T_001")
    assert found["verdict"] == "differs" and found["recomputed"] > found["published"]
    assert found["causes"] == [f"vtrace/T_001: tracks: the row of it in {rows} has changed"]


def test_a_published_number_that_the_rows_do_not_bear_out(run):
    comparison = Path("results/7_compare/comparison.json")
    told = json.loads(comparison.read_text())
    told["tasks"][0]["values"]["object_iou"] = 99.0
    comparison.write_text(json.dumps(told))
    found = one("vtrace/object_iou/T_001")
    assert found["verdict"] == "differs" and found["causes"] == ["vtrace/T_001: scores: stage 6 has 68.4211, published is 99"]


def test_a_published_mean_that_its_videos_do_not_bear_out(run):
    comparison = Path("results/7_compare/comparison.json")
    told = json.loads(comparison.read_text())
    told["main"][0]["cells"]["kss"]["mean"] = 0.99
    comparison.write_text(json.dumps(told))
    found = one("vtrace/kss")
    assert found["verdict"] == "differs" and found["published"] == 0.99
    assert found["causes"] == ["comparison: the published number is not what the numbers of its videos come to"]


def test_a_metric_that_is_not_configured_any_more_stops_no_other(run):
    config = Path("results/.config.json")
    told = json.loads(config.read_text())
    del told["metrics"]["kss"]
    config.write_text(json.dumps(told))
    gone, there = call("vtrace/kss", "vtrace/unique_frames", status=1)
    assert gone["verdict"] == "not recomputed" and "has no such metric any more" in gone["causes"][0]
    assert gone["published"] is not None and there["verdict"] == "same"


def test_a_judge_who_cannot_be_replayed(run):
    for pack in Path("store/durable/exchange/packs").iterdir():
        pack.unlink()
    found = one("vtrace/retention_overall")
    assert found["verdict"] == "not recomputed"
    assert "judge-1" in found["causes"][0] and "no recorded answer to this question, and nothing new is asked" in found["causes"][0]


def test_another_prompt_library_and_setting_are_named(run, monkeypatch):
    def other(*modules: str) -> dict[str, str]:
        parts = code_parts(*modules)
        return {
            name: "other" if name.endswith(("retention_judge.md", "score/kss.py")) or name == "numpy" else part
            for name, part in parts.items()
        }

    monkeypatch.setattr(sealing, "code_parts", other)
    config = Path("results/.config.json")
    told = json.loads(config.read_text())
    told["metrics"]["retention"]["judges"]["mllm"]["points_per_request"] = 2
    config.write_text(json.dumps(told))
    found = one("vtrace/retention_overall")
    causes = "\n".join(found["causes"])
    assert found["verdict"] == "not recomputed" and "no recorded answer" in causes  # another question
    assert "retention: prompt: resources/prompts/retention_judge.md has changed" in causes
    assert "retention: setting judges is {'mllm': {" in causes and "'points_per_request': 2" in causes
    kss = one("vtrace/kss", status=0)
    assert kss["verdict"] == "same" and kss["causes"] == []
    assert kss["remarks"][0] == "kss: code: scripts/codecap/score/kss.py has changed"
    assert re.fullmatch(r"kss: library: numpy other, it was [\d.]+", kss["remarks"][1])


def test_other_weights_are_named():
    before = sealing.Making(name="a", settings={}, parts={"x/y.py": "1"}, weights=["w 1"])
    now = before.model_copy(update={"weights": ["w 2"], "parts": {}})
    assert list(changes.differences(before, now)) == ["weights are w 2, they were w 1", "code: x/y.py is gone"]


def test_words_on_a_terminal(run):
    done = CliRunner().invoke(app, ["reproduce", "vtrace/object_iou/T_001"])
    assert done.stdout == "same            vtrace/object_iou/T_001  published 68.4211, made again 68.4211, 1 video\n"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "name a cell, as `codecap reproduce vtrace/kss`, or have some chosen: `--random 5`"),
        (["vtrace/kss", "--videos"], "--videos and --seed are about cells that are chosen by chance: say how many"),
        (["vtrace"], "vtrace: a cell is system/column or system/column/clip, as vtrace/success"),
        (["vtrase/kss"], "the comparison has no system 'vtrase'; there are vtrace"),
        (["vtrace/object"], "the comparison has no column 'object'; there are object_iou"),
        (["vtrace/kss/T_003"], "the comparison has no clip 'T_003'; there are T_00"),
    ],
)
def test_a_mistake_gets_one_clear_line(run, words, says):
    done = CliRunner().invoke(app, ["reproduce", *words])
    assert done.exit_code == 1 and says in done.stderr and done.stderr.count("\n") == 1


def test_a_run_that_noted_nothing(run):
    Path("results/7_compare/artefacts.json").unlink()
    done = CliRunner().invoke(app, ["reproduce", "vtrace/kss"])
    assert done.exit_code == 1 and "artefacts.json: no such file; go to the folder that the run works in, or run" in done.stderr
