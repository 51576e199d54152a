"""The rows hold for sound metrics and fail for broken ones."""

import pytest

from codecap import config, selftest
from codecap.registry import Unavailable
from codecap.score import mps
from codecap.score.judges import pixel
from codecap.selftest.rows import Sheet

CHEAP = ("retention", "mps", "kss", "lag", "unique_frames")
FEW = ["black", "frozen", "reversed", "other_clip", "late"]


def settings(*names: str) -> dict:
    whole = config.load(config.PROJECT / "config" / "demo.yaml")
    return {**whole, "metrics": {name: whole["metrics"][name] for name in names}}


@pytest.fixture
def run(clip_of, tmp_path, tile_clip, tile_annotation):
    clips = [clip_of("T_001", tile_clip()), clip_of("T_002", [255 - rgb[::-1] // 2 for rgb in tile_clip(48, seed=4)])]
    annotations = {"T_001": tile_annotation("T_001")}

    def do(only=FEW, metrics=CHEAP, these=clips):
        return selftest.run(these, annotations, settings(*metrics), tmp_path / "scratch", only=only)

    return do


def test_sound_metrics_hold(run):
    checks = run()
    assert [check for check in checks if not check.held] == []
    shown = {(check.row, check.what) for check in checks if check.fit and check.clip == "T_001"}
    assert {
        ("black", "retention"),
        ("black", "kss"),
        ("frozen", "unique_frames"),
        ("frozen", "dynamic retention"),
        ("frozen", "mps_strict"),
        ("reversed", "dynamic retention"),
        ("other_clip", "retention"),
        ("late", "lag at 0.5 s"),
        ("late", "mps_strict, largest rise"),
    } <= shown


def test_a_judge_that_praises_everything_is_caught(run, monkeypatch):
    monkeypatch.setattr(pixel, "points_for", lambda value: 5)
    failed = {(check.row, check.what) for check in run(only=["black", "frozen"], metrics=["retention"]) if not check.held}
    assert failed == {("black", "retention"), ("frozen", "dynamic retention")}


def test_a_metric_that_counts_no_direction_is_caught(run, monkeypatch):
    monkeypatch.setattr(mps, "agreement", lambda first, second, valid, moving: mps.Agreement(1.0, 1, 1))
    failed = {(check.row, check.what) for check in run(only=["frozen", "reversed"], metrics=["mps"]) if not check.held}
    assert failed == {("frozen", "mps_strict"), ("reversed", "mps")}


def test_a_clip_that_cannot_show_a_row_is_named(run, clip_of, tmp_path, tile_clip):
    still = clip_of("T_still", tile_clip()[:1] * 30)
    checks = run(only=["reversed", "late", "other_clip", "shifted", "removed"], these=[still])
    assert {check.row for check in checks} == {"reversed", "late", "other_clip", "shifted", "removed"}
    assert all(check.held and not check.fit and check.detail for check in checks)
    assert "could not be shown" in selftest.report(checks)


def test_an_unknown_row_is_an_error_that_names_the_known_ones(run):
    with pytest.raises(Unavailable, match="no row called upside_down; there are: same_true_boxes, same"):
        run(only=["upside_down"])


def test_what_is_unscored_does_not_hold():
    sheet = Sheet("black", "T_001")
    assert not sheet.at_most("kss", None, 0.1).held
    assert not sheet.at_least("kss", None, 0.1).held
    assert not sheet.within("kss", None, 1.0, 1e-6).held
    assert not sheet.below("mps", None, 1.0, "identity").held
    assert not sheet.below("mps", 0.9, None, "identity").held


def test_thresholds_are_met_at_their_edge():
    sheet = Sheet("black", "T_001")
    assert sheet.at_most("iou", 0.0, 0.0).held
    assert sheet.below("as", 0.8, 1.0, "identity", by=0.2).held
    assert not sheet.below("as", 0.81, 1.0, "identity", by=0.2).held
    assert not sheet.below("dynamic", 20.0, 20.0, "static").held


def test_the_report_counts_what_fails():
    sheet = Sheet("black", "T_001")
    told = selftest.report([sheet.at_most("kss", 0.5, 0.1), sheet.at_most("kss", 0.05, 0.1), sheet.unfit("why")])
    lines = told.splitlines()
    assert lines[0].startswith("FAILS") and "0.5" in lines[0]
    assert lines[1].startswith("holds")
    assert lines[2].startswith("not fit") and "(why)" in lines[2]
    assert lines[-1] == "1 of 2 checks hold, 1 FAIL; 1 could not be shown on their clip"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "clips"),
    [
        (["frozen", "reversed"], slice(1, 3)),
        (["same_true_boxes", "same", "black", "removed"], slice(1, 2)),
    ],
)
def test_the_demo_holds(rows, clips, tmp_path):
    from codecap.clips_table import read_clips
    from codecap.records import Annotation, read_record

    folder = config.PROJECT / "resources" / "demo"
    chosen = read_clips(folder / "clips.tsv")[clips]
    annotations = {clip.clip_id: read_record(folder / "annotations" / f"{clip.clip_id}.json", Annotation) for clip in chosen}
    checks = selftest.run(chosen, annotations, config.load(config.PROJECT / "config" / "demo.yaml"), tmp_path, only=rows)
    assert [check for check in checks if not check.held] == []
    assert sum(check.fit for check in checks) > len(rows)
