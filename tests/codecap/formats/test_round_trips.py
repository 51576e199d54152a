"""What goes out comes back: all that a format holds, coordinates within 0.01 px."""

from pathlib import Path

import numpy as np
import pytest

from codecap import registry
from codecap.boxes import as_array
from codecap.clips_table import read_clips
from codecap.config import PROJECT
from codecap.formats.conversion import transfer
from codecap.formats.conversion.merging import onto
from codecap.records import Annotation, read_record

FORMATS = registry.available("formats")
DEMO = PROJECT / "resources" / "demo"
SOME = "E_001"  # whose objects come late, leave, and come back


def test_the_formats_are_these():
    assert FORMATS == ["coco", "cvat", "label_studio", "mot"]
    assert set(registry.load("formats", "mot").HOLDS) == {"boxes", "names"}


@pytest.fixture(params=FORMATS)
def form(request):
    return registry.load("formats", request.param)


def there_and_back(form, annotation, clip, folder: Path) -> Annotation:
    path = folder / f"{clip.clip_id}{form.SUFFIX}"
    form.write(annotation, clip, path)
    assert form.names(path) == [clip.clip_id]
    return form.read(path, clip)


def assert_held(before: Annotation, after: Annotation, holds):
    assert [item.name for item in after.objects] == [item.name for item in before.objects]
    for old, new in zip(before.objects, after.objects, strict=True):
        assert [box is None for box in new.boxes_xyxy] == [box is None for box in old.boxes_xyxy]
        assert np.nanmax(abs(as_array(new.boxes_xyxy) - as_array(old.boxes_xyxy))) < 0.01
        if "descriptions" in holds:
            assert new.description == old.description
        if "visible_s" in holds:
            assert new.visible_s == old.visible_s
        if "amodal" in holds:
            assert (new.amodal_xyxy is None) == (old.amodal_xyxy is None)
            if old.amodal_xyxy is not None:
                assert np.nanmax(abs(as_array(new.amodal_xyxy) - as_array(old.amodal_xyxy))) < 0.01
    if "focal_points" in holds:
        assert [point.model_copy(update={"start_s": 0.0, "end_s": 9.0}) for point in after.focal_points] == [
            point.model_copy(update={"start_s": 0.0, "end_s": 9.0}) for point in before.focal_points
        ]
        for old, new in zip(before.focal_points, after.focal_points, strict=True):  # frames are whole in Label Studio
            assert 0 <= old.start_s - new.start_s < 1 / 24 + 1e-9 and 0 <= new.end_s - old.end_s < 1 / 24 + 1e-9


def test_all_that_a_format_holds_comes_back(form, annotation, clip, tmp_path):
    assert_held(annotation, there_and_back(form, annotation, clip, tmp_path), form.HOLDS)


def test_put_onto_what_was_exported_nothing_is_lost_or_rounded(form, annotation, clip, tmp_path):
    back = there_and_back(form, annotation, clip, tmp_path)
    assert onto(back, annotation, clip, form.HOLDS) == annotation


def test_an_annotation_without_objects_or_points_comes_back(form, clip, tmp_path, annotation):
    bare = annotation.model_copy(update={"objects": []})
    assert there_and_back(form, bare, clip, tmp_path / "1").objects == []
    bare = annotation.model_copy(update={"focal_points": []})
    assert there_and_back(form, bare, clip, tmp_path / "2").focal_points == []


def test_numbers_that_are_not_round_stay_within_the_hundredth(form, clip, tmp_path, annotation):
    rng = np.random.default_rng(7)
    corners = rng.uniform(0, 400, (48, 2))
    boxes = [tuple(row) for row in np.concatenate([corners, corners + rng.uniform(0.6, 80, (48, 2))], axis=1).tolist()]
    restless = annotation.model_copy(update={"objects": [annotation.objects[0].model_copy(update={"boxes_xyxy": boxes})]})
    assert_held(restless, there_and_back(form, restless, clip, tmp_path), form.HOLDS)


@pytest.mark.parametrize("name", FORMATS)
def test_the_demo_comes_back_as_it_was(name, tmp_path):
    clips = {clip.clip_id: clip for clip in read_clips(DEMO / "clips.tsv")}
    if name != "coco":
        clips = {SOME: clips[SOME]}
    paths = [path for _, path in transfer.export(name, clips.values(), DEMO / "annotations", tmp_path)]
    assert len(paths) == len(clips) == (5 if name == "coco" else 1)
    bare = transfer.read(name, paths, clips)
    rows = transfer.merge(name, bare, DEMO / "annotations", who="Kim", when="2026-11-30")
    for plain, row in zip(bare, rows, strict=True):
        before = read_record(DEMO / "annotations" / f"{row.clip.clip_id}.json", Annotation)
        assert_held(before, plain.annotation, registry.load("formats", name).HOLDS)
        assert row.annotation == before and row.changed == "nothing changed" and row.usable
