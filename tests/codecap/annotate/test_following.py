"""A proposal's objects in every frame: followed, or drawn from mark to mark; what would be an error is left out."""

import logging

import pytest

from codecap.annotate.following import between_marks, followed, without_errors
from codecap.records import (
    AnnotatedObject,
    Annotation,
    Clip,
    FocalPoint,
    ObjectPrompt,
    ObjectTrack,
    PromptFrame,
    Proposal,
    ProposedObject,
)

FRAMES = 48
CLIP = Clip(clip_id="A_1", category="A", mp4="a.mp4", sha256="0", frames=FRAMES, width_px=100, height_px=60)
LEFT, RIGHT = (0.0, 10.0, 10.0, 20.0), (20.0, 30.0, 30.0, 40.0)


def prompt(name="ball", visible_s=((0.0, 2.0),), **marks):
    frames = [PromptFrame(frame=int(frame.removeprefix("at_")), box_xyxy=box) for frame, box in marks.items()]
    return ObjectPrompt(name=name, status="found", visible_s=list(visible_s), frames=frames)


class Segmenter:
    """Finds what it is told to: boxes of a whole track by the object's name."""

    protocol, proxy = "told", True

    def __init__(self, **tracks):
        self.tracks = tracks

    def segment(self, mp4, frames, prompts):
        made = []
        for one in prompts:
            box = self.tracks.get(one.name)
            status = "ambiguous" if box is None else "found"
            made.append(ObjectTrack(name=one.name, status=status, boxes_xyxy=[box] * frames, detail="has look-alikes"))
        return made


def proposal(*prompts, points=()):
    objects = [ProposedObject(description=f"the {one.name}", prompt=one) for one in prompts]
    return Proposal(clip_id="A_1", status="ok", objects=objects, focal_points=list(points), protocol="a model")


def focal(number, *names):
    return FocalPoint(focal_id=f"f{number}", kind="static", description=f"point {number}", start_s=0, end_s=1, objects=list(names))


def test_between_two_marks_it_moves_in_a_straight_line_and_beyond_them_it_rests():
    boxes = between_marks(prompt(at_10=LEFT, at_30=RIGHT), FRAMES)
    assert boxes[0] == boxes[10] == LEFT and boxes[30] == boxes[47] == RIGHT
    assert boxes[15] == (5.0, 15.0, 15.0, 25.0)


def test_outside_of_its_intervals_and_in_one_without_a_mark_it_has_no_box():
    boxes = between_marks(prompt(visible_s=[(0.0, 0.5), (1.0, 1.25), (1.5, 2.0)], at_6=LEFT, at_40=RIGHT), FRAMES)
    assert [frame for frame, box in enumerate(boxes) if box is not None] == [*range(12), *range(36, 48)]
    assert set(boxes[:12]) == {LEFT} and set(boxes[36:]) == {RIGHT}  # no line from one interval to the next


def test_what_the_segmenter_does_not_find_is_drawn_from_mark_to_mark_and_told(caplog):
    with caplog.at_level(logging.WARNING):
        drafted = followed(proposal(prompt("ball", at_0=LEFT), prompt("cube", at_0=LEFT, at_47=RIGHT)), CLIP, Segmenter(ball=RIGHT))
    ball, cube = drafted.objects
    assert set(ball.boxes_xyxy) == {RIGHT} and (cube.boxes_xyxy[0], cube.boxes_xyxy[47]) == (LEFT, RIGHT)
    assert [record.message for record in caplog.records] == [
        "A_1: cube is not found by the segmenter (has look-alikes): drawn from mark to mark"
    ]
    assert (ball.description, ball.visible_s, drafted.proposer) == ("the ball", [(0.0, 2.0)], "a model | told")


def test_of_two_objects_with_one_track_one_is_left_out_and_no_point_speaks_of_it(caplog):
    prompts = [prompt(name, at_0=LEFT) for name in ("ball", "same")]
    points = [focal(1, "ball", "same"), focal(2, "same")]
    with caplog.at_level(logging.WARNING):
        drafted = followed(proposal(*prompts, points=points), CLIP, Segmenter(ball=LEFT, same=LEFT))
    assert [item.name for item in drafted.objects] == ["ball"]
    assert [point.objects for point in drafted.focal_points] == [["ball"], []]
    assert "left out of the draft: object 'same'" in caplog.text


@pytest.mark.parametrize(
    "boxes", [[None] * FRAMES, [LEFT] * 3, [(5.0, 5.0, 5.0, 9.0)] * FRAMES, [(90.0, 1.0, 130.0, 9.0)] * FRAMES]
)
def test_an_object_with_an_error_is_left_out(boxes):
    wrong = AnnotatedObject(name="wrong", description="w", boxes_xyxy=boxes)
    right = AnnotatedObject(name="right", description="r", boxes_xyxy=[RIGHT] * FRAMES)
    made = without_errors(Annotation(clip_id="A_1", objects=[wrong, right], focal_points=[focal(1, "wrong")]), CLIP)
    assert [item.name for item in made.objects] == ["right"] and made.focal_points == [focal(1)]
