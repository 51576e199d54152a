"""Rules about motion, on measured changes that are made by hand: 4 x 4 cells over a picture of 64 x 64 px, 48 frames."""

import numpy as np
import pytest

from codecap.annotate.changes import Changes
from codecap.annotate.validate import MOTION_RULES, problems
from codecap.records import AnnotatedObject, Annotation, Clip, FocalPoint

FRAMES = 48
CLIP = Clip(clip_id="A_1", category="A", mp4="a.mp4", sha256="0", frames=FRAMES, width_px=64, height_px=64)
LEFT, RIGHT = (2.0, 2.0, 14.0, 14.0), (50.0, 50.0, 62.0, 62.0)  # each in a corner's cell


def changes(first=None, last=None):
    """Nothing changes but, from one frame to another, all of the upper left cell."""
    counts = np.zeros((FRAMES, 4, 4), np.uint8)
    if first is not None:
        counts[first : last + 1, 0, 0] = 64
    return Changes(counts, counts, 64, 64)


def annotation(kind, boxes, start_s=0.0, end_s=1.0, objects=("it",)):
    other = FocalPoint(focal_id="g", kind="dynamic" if kind == "static" else "static", description="g", start_s=0, end_s=2)
    point = FocalPoint(focal_id="f", kind=kind, description="f", start_s=start_s, end_s=end_s, objects=list(objects))
    it = AnnotatedObject(name="it", description="it", boxes_xyxy=boxes)
    return Annotation(clip_id="A_1", objects=[it], focal_points=[point, other])


def rules_about_f(annotation, changes):
    return [problem.rule for problem in problems(annotation, CLIP, changes) if problem.about == "focal_points/f"]


def test_without_a_measurement_nothing_is_said_of_motion():
    assert problems(annotation("dynamic", [LEFT] * FRAMES), CLIP) == []


def test_a_static_point_over_what_changes_all_the_time():
    assert rules_about_f(annotation("static", [LEFT] * FRAMES), changes(0, 30)) == ["static_over_change"]
    assert rules_about_f(annotation("static", [RIGHT] * FRAMES), changes(0, 30)) == []
    assert rules_about_f(annotation("static", [LEFT] * FRAMES), changes(0, 6)) == []


def test_a_static_point_of_a_thing_that_moves_may_be_about_its_look():
    moving = [(2.0 + k, 2.0, 14.0 + k, 14.0) for k in range(FRAMES)]
    assert rules_about_f(annotation("static", moving), changes(0, 30)) == []


@pytest.mark.parametrize("objects, expected", [(("it",), ["dynamic_without_change"]), ((), [])])
def test_a_dynamic_point_needs_a_change_where_its_objects_are(objects, expected):
    assert rules_about_f(annotation("dynamic", [RIGHT] * FRAMES, objects=objects), changes(0, 30)) == expected
    assert rules_about_f(annotation("dynamic", [LEFT] * FRAMES, objects=objects), changes(0, 30)) == []


def test_a_dynamic_point_of_the_whole_picture_in_which_nothing_changes():
    assert rules_about_f(annotation("dynamic", [LEFT] * FRAMES, objects=()), changes()) == ["dynamic_without_change"]


def test_they_are_warnings():
    assert {severity for severity, _ in MOTION_RULES.values()} == {"warning"}
