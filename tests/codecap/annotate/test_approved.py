import json

import pytest

from codecap.annotate.approved import content_digest, gather, is_approved, strays
from codecap.records import AnnotatedObject, Annotation, Clip, FocalPoint, Review, write_record


def clip(clip_id):
    return Clip(clip_id=clip_id, category="A", mp4="a.mp4", sha256="0", frames=24, width_px=100, height_px=60)


def right(clip_id):
    points = [FocalPoint(focal_id=kind, kind=kind, description=kind, start_s=0, end_s=1) for kind in ("static", "dynamic")]
    objects = [AnnotatedObject(name="ball", description="A ball", boxes_xyxy=[(1.0, 1.0, 9.0, 9.0)] * 24)]
    return Annotation(clip_id=clip_id, objects=objects, focal_points=points)


def test_a_bad_file_keeps_only_its_own_clip_back(tmp_path):
    write_record(tmp_path / "A_1.json", right("A_1"))
    (tmp_path / "A_2.json").write_text('{"clip_id": "A_2", "objects": [')
    told = right("A_3").model_dump(mode="json")
    told["objects"][0]["boxes_xyxy"][5] = [90, 1, 130, 9]
    (tmp_path / "A_3.json").write_text(json.dumps(told))
    (tmp_path / "A_4.json").write_bytes(b"\xff\xfe\x00")
    clips = [clip(f"A_{number}") for number in range(1, 6)]

    gathered, problems = gather(clips, tmp_path)

    assert gathered["A_1"] == right("A_1")
    assert "A_2.json" in gathered["A_2"] and "not a valid Annotation" in gathered["A_2"]
    assert "A_3.json" in gathered["A_3"] and "frame 5" in gathered["A_3"] and "100x60" in gathered["A_3"]
    assert "A_4.json" in gathered["A_4"] and "UTF-8" in gathered["A_4"]
    assert "A_5.json" in gathered["A_5"] and "no approved annotation" in gathered["A_5"]
    assert [problem.clip_id for problem in problems] == ["A_2", "A_3", "A_4", "A_5"]


@pytest.mark.parametrize("place", ["boxes_xyxy", "amodal_xyxy"])
@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e400"])
def test_what_is_no_number_keeps_its_clip_back(tmp_path, place, number):
    """JSON has no such numbers, but many programs write and read them."""
    told = right("A_1").model_dump(mode="json")
    told["objects"][0][place] = [[1, 1, 9, 9]] * 23 + [[1, 1, "HERE", 9]]
    (tmp_path / "A_1.json").write_text(json.dumps(told).replace('"HERE"', number))
    gathered, _ = gather([clip("A_1")], tmp_path)
    assert "A_1.json" in gathered["A_1"]


def test_a_warning_keeps_nothing_back(tmp_path):
    annotation = right("A_1").model_copy(update={"focal_points": right("A_1").focal_points[:1]})
    write_record(tmp_path / "A_1.json", annotation)
    gathered, problems = gather([clip("A_1")], tmp_path)
    assert gathered == {"A_1": annotation}
    assert [problem.rule for problem in problems] == ["missing_kind"]


def test_files_of_unknown_clips_are_named(tmp_path):
    write_record(tmp_path / "A_1.json", right("A_1"))
    write_record(tmp_path / "Z_9.json", right("Z_9"))
    assert [problem.clip_id for problem in strays(tmp_path, ["A_1", "A_2"])] == ["Z_9"]
    _, problems = gather([clip("A_1")], tmp_path, known=["A_1"])
    assert [(problem.clip_id, problem.rule) for problem in problems] == [("Z_9", "unknown_clip")]
    assert gather([clip("A_1")], tmp_path)[1] == []


def test_an_annotation_that_is_not_as_frozen_is_refused(tmp_path):
    write_record(tmp_path / "A_1.json", right("A_1"))
    frozen = clip("A_1").model_copy(update={"annotation_sha256": content_digest(right("A_1")), "dataset_version": "1.0.0"})
    assert gather([frozen], tmp_path) == ({"A_1": right("A_1")}, [])
    changed = right("A_1").model_copy(update={"focal_points": right("A_1").focal_points[::-1]})
    write_record(tmp_path / "A_1.json", changed)
    gathered, (problem,) = gather([frozen], tmp_path)
    assert problem.rule == "not_as_frozen" and "version 1.0.0" in problem.message and "A_1.json" in gathered["A_1"]


def test_approved_is_what_a_person_has_reviewed():
    reviewed = right("A_1").model_copy(update={"reviews": [Review(who="Ann", when="2026-11-30", changed="nothing")]})
    assert is_approved(reviewed) and not is_approved(right("A_1"))
    assert content_digest(reviewed) == content_digest(right("A_1"))
