"""`codecap annotations check` and `agreement`, and `codecap dataset freeze`, on a folder with two clips."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

from codecap.cli import app
from codecap.clips_table import read_clips, write_clips
from codecap.records import AnnotatedObject, Annotation, Clip, FocalPoint, Review, write_record
from codecap.review.clip_review import ClipReview, Places
from codecap.video import CanonicalWriter, file_sha256

RUNNER = CliRunner()
FRAMES = 24
BOXES = [(4.0 + k, 4.0, 14.0 + k, 14.0) for k in range(FRAMES)]


def annotation(clip_id: str, boxes=BOXES) -> Annotation:
    card = AnnotatedObject(name="card", description="A red card", visible_s=[(0.0, 1.0)], boxes_xyxy=boxes)
    points = [
        FocalPoint(focal_id="goes", kind="dynamic", description="It goes right", start_s=0.0, end_s=1.0, objects=["card"]),
        FocalPoint(focal_id="ground", kind="static", description="The ground is grey", start_s=0.0, end_s=1.0),
    ]
    when = Review(who="Ann", when="2026-11-30", changed="approved")
    return Annotation(clip_id=clip_id, objects=[card], focal_points=points, reviews=[when])


@pytest.fixture
def clips(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Clip]:
    """In the working folder: the clips, their approved annotations, and `my.yaml`."""
    monkeypatch.chdir(tmp_path)
    found = []
    for clip_id in ("A_1", "A_2"):
        with CanonicalWriter(tmp_path / f"{clip_id}.mp4", 64, 36) as writer:
            for x0, y0, x1, y1 in np.array(BOXES, int):
                rgb = np.full((36, 64, 3), 128, np.uint8)
                rgb[y0:y1, x0:x1] = (200, 30, 30)
                writer.add(rgb)
        mp4 = tmp_path / f"{clip_id}.mp4"
        size = {"frames": FRAMES, "width_px": 64, "height_px": 36}
        found.append(Clip(clip_id=clip_id, category="A", mp4=mp4, sha256=file_sha256(mp4), **size))
        write_record(tmp_path / "approved" / f"{clip_id}.json", annotation(clip_id))
    write_clips(Path("clips.tsv"), found)
    told = {"clips": "clips.tsv", "clips_folder": None, "annotations_folder": "approved", "review": {"folder": "reviews"}}
    Path("my.yaml").write_text(yaml.safe_dump(told), encoding="utf-8")
    return found


def call(*words: str, status: int = 0) -> str:
    done = RUNNER.invoke(app, [*words, "--config", "my.yaml"])
    assert done.exit_code == status, (done.output, done.exception)
    return done.stdout


def test_right_annotations_pass_with_and_without_a_look_at_the_videos(clips):
    assert call("annotations", "check") == "2 clips, 0 errors, 0 warnings\n"
    assert json.loads(call("annotations", "check", "--videos", "--json")) == {"problems": [], "signals": {"A_1": {}, "A_2": {}}}


def test_the_videos_of_the_runs_own_table_are_where_the_run_has_put_them(clips):
    """`snakemake dataset` names them as they lie in the store, whatever `clips_folder` says of the committed table."""
    bulk = Path("store/bulk/clips")
    bulk.mkdir(parents=True)
    for clip in clips:
        clip.mp4.rename(bulk / clip.mp4.name)
    table = Path("results/3_annotate/clips.tsv")
    write_clips(table, [clip.model_copy(update={"mp4": bulk / clip.mp4.name}) for clip in clips], bulk)
    assert (
        call("annotations", "check", "--videos", "--from", "approved", "--table", str(table)) == "2 clips, 0 errors, 0 warnings\n"
    )


def test_what_is_wrong_and_what_is_doubtful_is_named(clips):
    write_record(Path("approved/A_1.json"), annotation("A_1", [*BOXES[:12], *[(40.0, 20.0, 50.0, 30.0)] * 12]))
    write_record(Path("approved/B_9.json"), annotation("B_9"))
    Path("approved/A_2.json").unlink()
    told = call("annotations", "check", "--videos", status=1)
    assert "A_1: doubt: card: jumps" in told and "at frame 12" in told
    assert "no approved annotation" in told and "[unknown_clip]" in told and "2 clips, 2 errors" in told
    assert "1 clips, 0 errors" in call("annotations", "check", "A_1")
    assert "Z_1: not in clips.tsv" in RUNNER.invoke(app, ["annotations", "check", "Z_1", "--config", "my.yaml"]).stderr
    call("annotations", "check", "--from", "nowhere", status=1)
    call("annotations", "check", "--table", "nowhere.tsv", status=1)


def test_two_reviewers_are_compared_by_what_they_did_with_the_same_draft(clips):
    call("annotations", "agreement", status=1)
    for who, box in (("Ann", (4.0, 4.0, 14.0, 14.0)), ("Ben", (4.0, 4.0, 14.0, 24.0))):
        places = Places(Path("reviews/A_1"), lambda: annotation("A_1"), twice=True)
        review = ClipReview(clips[0], places, who)
        edits = [("objects/card", {"base": None, "keys": {0: box}}), ("status", {"decision": "approve", "note": ""})]
        if who == "Ben":
            edits.insert(0, ("decision/focal_points/ground", "reject"))
        review.change(edits, 0)
    told = json.loads(call("annotations", "agreement", "--json"))
    assert told["box_iou"]["value"] == pytest.approx(0.5) and told["interval_iou"] == {
        "n": 1,
        "value": 1.0,
        "low": None,
        "high": None,
    }
    (clip,) = told["clips"]
    assert [clip[name] for name in ("both", "only_first", "only_second", "neither")] == [2, 1, 0, 0]
    shown = call("annotations", "agreement")
    assert "1 clips reviewed by two" in shown and "Ann and Ben" in shown and "Gwet's AC1" in shown


def test_freeze_writes_the_table_and_says_what_came_in(clips):
    write_record(Path("approved/A_2.json"), annotation("A_2").model_copy(update={"reviews": []}))
    told = call("dataset", "freeze", "--version", "1.0.0")
    assert "clips.tsv  version 1.0.0, 1 clips" in told and "came in or changed: A_1" in told
    assert [clip.dataset_version for clip in read_clips(Path("clips.tsv"))] == ["1.0.0"]
    assert "nothing has changed" in call("dataset", "freeze")
    call("dataset", "freeze", "--from", "nowhere.tsv", status=1)
