import math

import pytest

from codecap.annotate.validate import RULES, problems, unknown_clips
from codecap.records import AnnotatedObject, Annotation, Clip, FocalPoint

FRAMES = 48
CLIP = Clip(clip_id="A_1", category="A", mp4="a.mp4", sha256="0", frames=FRAMES, width_px=100, height_px=60)
BOX = (10.0, 10.0, 30.0, 20.0)


def thing(name="ball", boxes=None, **told):
    return AnnotatedObject(name=name, description=told.pop("description", name), boxes_xyxy=boxes or [BOX] * FRAMES, **told)


def shifted(box, by):
    return (box[0] + by, box[1], box[2] + by, box[3])


def focal(number, kind, start_s=0.0, end_s=1.0, **told):
    told = {"description": f"point {number}"} | told
    return FocalPoint(focal_id=f"f{number}", kind=kind, start_s=start_s, end_s=end_s, **told)


def annotation(objects=None, focal_points=None, clip_id="A_1"):
    points = [focal(1, "static"), focal(2, "dynamic")] if focal_points is None else focal_points
    return Annotation(clip_id=clip_id, objects=[thing()] if objects is None else objects, focal_points=points)


def test_a_right_annotation_has_no_problems():
    assert problems(annotation(), CLIP) == []


@pytest.mark.parametrize(
    "rule, wrong",
    [
        ("other_clip", annotation(clip_id="B_1")),
        ("box_count", annotation([thing(boxes=[BOX] * 47)])),
        ("empty_box", annotation([thing(boxes=[(10.0, 10.0, 10.0, 20.0)] * FRAMES)])),
        ("empty_box", annotation([thing(boxes=[(30.0, 10.0, 10.0, 20.0)] * FRAMES)])),
        ("empty_box", annotation([thing(amodal_xyxy=[(10.0, 10.0, math.nan, 20.0)] * FRAMES)])),
        ("empty_box", annotation([thing(amodal_xyxy=[(10.0, -math.inf, 30.0, 20.0)] * FRAMES)])),
        ("empty_box", annotation([thing(amodal_xyxy=[(10.0, 10.0, 10.0, 20.0)] * FRAMES)])),
        ("box_outside_picture", annotation([thing(boxes=[(90.0, 10.0, 101.0, 20.0)] * FRAMES)])),
        ("box_outside_picture", annotation([thing(boxes=[(-3.0, 10.0, 20.0, 20.0)] * FRAMES)])),
        ("box_outside_visible", annotation([thing(visible_s=[(0.0, 1.0)])])),
        ("never_visible", annotation([thing(boxes=[None] * FRAMES)])),
        ("bad_interval", annotation(focal_points=[focal(1, "static"), focal(2, "dynamic", 1.0, 2.5)])),
        ("bad_interval", annotation([thing(visible_s=[(0.0, 3.0)])])),
        ("unknown_object", annotation(focal_points=[focal(1, "static", objects=["bal"]), focal(2, "dynamic")])),
        ("missing_kind", annotation(focal_points=[focal(1, "static")])),
        ("missing_kind", annotation(objects=[])),
        ("same_track", annotation([thing("a"), thing("b", boxes=[shifted(BOX, 0.2)] * FRAMES)])),
        ("no_description", annotation([thing(description=" ")])),
        ("blank_description", annotation(focal_points=[focal(1, "static", description=" . "), focal(2, "dynamic")])),
        ("said_twice", annotation([thing("a", description="same"), thing("b", [shifted(BOX, 40)] * FRAMES, description="same")])),
        (
            "object_not_there",
            annotation(
                [thing(boxes=[BOX] * 12 + [None] * 36)], [focal(1, "static", 1.0, 2.0, objects=["ball"]), focal(2, "dynamic")]
            ),
        ),
    ],
)
def test_each_rule_finds_its_problem_and_no_other_does(rule, wrong):
    found = problems(wrong, CLIP)
    assert [problem.rule for problem in found] == [rule]
    assert found[0].severity == RULES[rule][0]
    assert "A_1" in str(found[0]) and rule in str(found[0])


def test_a_finding_says_what_it_is_about_and_where_to_look():
    wrong = annotation([thing(boxes=[BOX] * 40 + [(90.0, 10.0, 120.0, 20.0)] * 8)], [focal(1, "static"), focal(2, "dynamic", 1, 3)])
    places = {problem.rule: (problem.about, problem.frame) for problem in problems(wrong, CLIP)}
    assert places == {"box_outside_picture": ("objects/ball", 40), "bad_interval": ("focal_points/f2", None)}


def test_two_objects_are_one_only_where_they_go_together_all_the_way():
    apart = [BOX] * 40 + [shifted(BOX, 12)] * 8
    assert problems(annotation([thing("a"), thing("b", boxes=apart)]), CLIP) == []
    shorter = [BOX] * 40 + [None] * 8
    assert problems(annotation([thing("a"), thing("b", boxes=shorter)]), CLIP) == []


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1e300])
def test_numbers_that_are_none_are_told_and_stop_nothing(bad):
    boxes = [BOX] * 47 + [(bad, 10.0, 30.0, 20.0)]
    told = annotation([thing(boxes=boxes, visible_s=[(0.0, bad)])], [focal(1, "static", 0.0, abs(bad)), focal(2, "dynamic")])
    assert "bad_interval" in {problem.rule for problem in problems(told, CLIP)}


def test_boxes_up_to_the_edge_are_inside():
    assert problems(annotation([thing(boxes=[(0.0, 0.0, 100.0, 60.0)] * FRAMES)]), CLIP) == []


def test_many_bad_boxes_are_one_message_that_counts_them():
    boxes = [BOX] * 40 + [(90.0, 10.0, 120.0, 20.0)] * 8
    (found,) = problems(annotation([thing(boxes=boxes)]), CLIP)
    assert "frame 40" in found.place and "7 more" in found.message and "100x60" in found.message


def test_annotations_of_clips_that_are_not_in_the_table():
    assert [problem.clip_id for problem in unknown_clips(["A_1", "Z_9"], ["A_1"])] == ["Z_9"]
