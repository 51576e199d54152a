"""What of a corrected annotation makes which scores anew."""

import pytest

from codecap.records import AnnotatedObject, Annotation, FocalPoint, Review
from codecap.score.engine.lane import annotation_digest

BOXES = [(1.0, 1.0, 9.0, 9.0)] * 3
BALL, CUP = (AnnotatedObject(name=name, description=name, boxes_xyxy=BOXES) for name in ("ball", "cup"))
POINT = FocalPoint(focal_id="f1", kind="static", description="A ball", start_s=0, end_s=0.1, objects=["ball"])
BEFORE = Annotation(clip_id="A_1", objects=[BALL, CUP], focal_points=[POINT])

MOVED = {"boxes_xyxy": [(1.0, 1.0, 9.0, 8.0), *BOXES[1:]]}


def corrected(item, **told):
    return item.model_copy(update=told)


@pytest.mark.parametrize(
    ("after", "again"),
    [
        ({"objects": [BALL, corrected(CUP, **MOVED)]}, {"objects"}),
        ({"objects": [corrected(BALL, **MOVED), CUP]}, {"objects", "focal_points"}),
        ({"objects": [corrected(BALL, description="A red ball"), CUP]}, {"objects"}),
        ({"objects": [BALL]}, {"objects"}),
        ({"focal_points": [corrected(POINT, description="A red ball")]}, {"focal_points"}),
        ({"focal_points": [corrected(POINT, end_s=0.05)]}, {"focal_points"}),
        ({"focal_points": [corrected(POINT, objects=["cup"])]}, {"focal_points"}),
        ({"reviews": [Review(who="Ann", when="2026", changed="approved")], "proposer": "another"}, set()),
    ],
)
def test_only_what_a_metric_takes_from_it_makes_its_score_anew(after, again):
    changed = corrected(BEFORE, **after)
    needs = ("objects", "focal_points")
    assert {need for need in needs if annotation_digest(changed, need) != annotation_digest(BEFORE, need)} == again


def test_none_is_not_an_empty_one():
    for need in ("objects", "focal_points"):
        assert annotation_digest(None, need) != annotation_digest(Annotation(clip_id="A_1"), need)
