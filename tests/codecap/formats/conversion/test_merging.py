import pytest

from codecap.formats.conversion.merging import onto, reviewed, told_changes
from codecap.records import AnnotatedObject, Annotation, FocalPoint, Review

BOX = (10.123456, 5.0, 20.0, 15.0)
BOXES_ONLY = {"boxes", "names"}


@pytest.fixture
def before():
    ball = AnnotatedObject(
        name="ball", description="red", visible_s=[(0.0, 1.0)], boxes_xyxy=[BOX] * 12 + [None] * 6 + [BOX] * 6 + [None] * 24,
        amodal_xyxy=[BOX] * 48,
    )  # fmt: skip
    cube = AnnotatedObject(name="cube", description="blue", boxes_xyxy=[BOX] * 48)
    point = FocalPoint(focal_id="p", kind="static", description="both", start_s=0.01, end_s=1.7, objects=["ball", "cube"])
    reviews = [Review(who="Ann", when="2026-01-01", changed="approved")]
    return Annotation(clip_id="A_001", objects=[ball, cube], focal_points=[point], reviews=reviews, proposer="embedded 1")


def changed(annotation, name, **update):
    objects = [item.model_copy(update=update) if item.name == name else item for item in annotation.objects]
    return annotation.model_copy(update={"objects": objects})


def rounded(annotation):
    def near(boxes):
        return [box and tuple(round(side, 2) for side in box) for box in boxes]

    objects = [
        AnnotatedObject(name=item.name, boxes_xyxy=near(item.boxes_xyxy), visible_s=[(0.0, 0.5)])
        for item in reversed(annotation.objects)
    ]
    return Annotation(clip_id=annotation.clip_id, objects=objects)


def test_what_nobody_touched_keeps_its_exact_values_and_its_order(before, clip):
    assert onto(rounded(before), before, clip, BOXES_ONLY) is before


def test_a_moved_box_is_taken_and_the_others_of_the_object_are_not_rounded(before, clip):
    boxes = list(before.objects[1].boxes_xyxy)
    boxes[7] = (11.0, 5.0, 20.0, 15.0)
    merged = onto(changed(rounded(before), "cube", boxes_xyxy=boxes), before, clip, BOXES_ONLY)
    assert merged == changed(before, "cube", boxes_xyxy=boxes)


def test_a_format_of_boxes_leaves_a_gap_in_view_until_the_boxes_change(before, clip):
    boxes = list(before.objects[0].boxes_xyxy)
    boxes[24:30] = [BOX] * 6
    merged = onto(changed(rounded(before), "ball", boxes_xyxy=boxes), before, clip, BOXES_ONLY)
    assert merged.objects[0].visible_s == [(0.0, 0.5), (0.75, 1.25)]
    assert merged.objects[0].description == "red" and merged.objects[0].amodal_xyxy == before.objects[0].amodal_xyxy


def test_removed_objects_are_gone_and_new_ones_stand_last(before, clip):
    read = rounded(before)
    new = AnnotatedObject(name="star", boxes_xyxy=[BOX] * 48)
    read = read.model_copy(update={"objects": [new, *(item for item in read.objects if item.name != "ball")]})
    merged = onto(read, before, clip, BOXES_ONLY)
    assert [item.name for item in merged.objects] == ["cube", "star"]
    assert merged.focal_points == before.focal_points
    assert told_changes(before, merged) == "1 object added, 1 object removed"


def test_focal_points_are_the_files_where_it_holds_them(before, clip):
    same_frames = before.focal_points[0].model_copy(update={"start_s": 0.0, "end_s": 41 / 24})
    read = rounded(before).model_copy(update={"focal_points": [same_frames]})
    assert onto(read, before, clip, {*BOXES_ONLY, "focal_points"}) is before
    later = same_frames.model_copy(update={"end_s": 42 / 24})
    read = read.model_copy(update={"focal_points": [later]})
    assert onto(read, before, clip, {*BOXES_ONLY, "focal_points"}).focal_points == [later]
    read = read.model_copy(update={"focal_points": []})
    assert onto(read, before, clip, {*BOXES_ONLY, "focal_points"}).focal_points == []


def test_a_change_that_nobody_vouches_for_is_yet_to_be_approved(before):
    other = changed(before, "cube", description="green")
    assert reviewed(before, before, None, "now", "imported") is before
    assert reviewed(before, before, "Kim", "now", "imported") is before
    draft = before.model_copy(update={"reviews": []})
    assert reviewed(draft, draft, "Kim", "now", "seen").reviews == [Review(who="Kim", when="now", changed="seen: nothing changed")]
    assert reviewed(other, before, None, "now", "imported").reviews == []
    assert reviewed(other, before, "Kim", "now", "imported from cvat").reviews == [
        *before.reviews, Review(who="Kim", when="now", changed="imported from cvat: 1 object changed"),
    ]  # fmt: skip
    assert reviewed(other, None, "Kim", "now", "imported").reviews[-1].changed == "imported: 2 objects added, 1 focal point added"
