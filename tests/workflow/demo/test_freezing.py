"""A frozen data set in which one annotation changes: what is scored again, counted from the store's log."""

import shutil
from pathlib import Path

import pytest

from codecap import config as configuration
from codecap.config import PROJECT
from codecap.publish.freezing import freeze
from codecap.records import Annotation, read_record, write_record

pytestmark = pytest.mark.slow

CHANGED, REWORDED = "B_001", "C_001"


def correct_a_box(path: Path) -> None:
    """As a reviewer does: one side of one object's first box, by a pixel."""
    told = read_record(path, Annotation)
    item = next(item for item in told.objects if item.boxes_xyxy[0] is not None)
    x0, y0, x1, y1 = item.boxes_xyxy[0]
    corrected = item.model_copy(update={"boxes_xyxy": [(x0, y0, x1, y1 - 1), *item.boxes_xyxy[1:]]})
    objects = [corrected if other is item else other for other in told.objects]
    write_record(path, told.model_copy(update={"objects": objects}))


def reword_a_point(path: Path) -> None:
    told = read_record(path, Annotation)
    first, *others = told.focal_points
    points = [first.model_copy(update={"description": first.description + ", seen well"}), *others]
    write_record(path, told.model_copy(update={"focal_points": points}))


def test_only_what_depends_on_a_changed_annotation_is_scored_again(demo, tmp_path):
    run, annotations = demo.copy(tmp_path / "run"), tmp_path / "annotations"
    shutil.copytree(PROJECT / "resources" / "demo" / "annotations", annotations)
    told = {"clips": str(tmp_path / "clips.tsv"), "annotations_folder": str(annotations), "systems": ["still", "blank"]}
    config = configuration.load(*run.overlays, overrides=told)
    freeze(config, PROJECT / "resources" / "demo" / "clips.tsv", version="1.0.0")
    correct_a_box(annotations / f"{CHANGED}.json")
    reword_a_point(annotations / f"{REWORDED}.json")
    assert freeze(config, version="1.1.0").version.changed == [CHANGED, REWORDED]

    run.configure(**told)
    before = run.made()
    run.finish("all")
    new = run.made() - before
    assert {system for _, system, _ in new} == {"still", "blank"} and set(new.values()) == {1}
    stages = {clip_id: {stage for stage, _, clip in new if clip == clip_id} for clip_id in {clip for _, _, clip in new}}
    of_objects = {"prompt_objects", "segment_objects", "score/object_iou"}
    assert stages.pop(REWORDED) == {"score/retention"}
    assert of_objects <= stages.pop(CHANGED) <= {*of_objects, "score/retention"} and not stages
