import doctest

import pytest

from codecap.annotate.validate import finding, words
from codecap.annotate.validate.words import said_twice
from codecap.records import AnnotatedObject, Annotation, Clip, FocalPoint

CLIP = Clip(clip_id="A_1", category="A", mp4="a.mp4", sha256="0", frames=2, width_px=100, height_px=60)
HERE, NEAR, AWAY = (10.0, 10.0, 30.0, 20.0), (12.0, 10.0, 32.0, 20.0), (60.0, 10.0, 80.0, 20.0)


def objects(*told):
    made = [
        AnnotatedObject(name=f"o{number}", description=text, boxes_xyxy=[box, box])
        for number, (text, box) in enumerate(told, start=1)
    ]
    return Annotation(clip_id="A_1", objects=made)


def points(*told, names=((), ())):
    made = [
        FocalPoint(focal_id=f"f{number}", kind="dynamic", description=text, start_s=start_s, end_s=end_s, objects=list(speaks_of))
        for number, ((text, start_s, end_s), speaks_of) in enumerate(zip(told, names, strict=True), start=1)
    ]
    return Annotation(clip_id="A_1", focal_points=made)


def twice(annotation) -> bool:
    return bool(list(said_twice(annotation, CLIP)))


@pytest.mark.parametrize(
    "one, other",
    [
        ("A red ball that bounces", "the red ball, bouncing"),
        ("Colour bar at the left", "color bar, left"),
        ("The counter", "counter."),
    ],
)
def test_the_same_in_other_forms_is_said_twice_wherever_it_is(one, other):
    assert twice(objects((one, HERE), (other, AWAY)))


@pytest.mark.parametrize(
    "one, other",
    [
        ("A red ball at the left edge of the board", "A red ball at the right edge of the board"),
        ("Third bar of the chart from 2019", "Third bar of the chart from 2020"),
        ("The ball hits the wall", "The wall hits the ball"),
        ("Amber bubble labelled Mill in the upper left half", "Amber bubble labelled Mill in the lower right half"),
        ("Red ball", "Red ball with a star"),
    ],
)
def test_what_a_word_or_a_number_tells_apart_is_not(one, other):
    assert not twice(objects((one, HERE), (other, AWAY)))


def test_a_text_that_holds_another_counts_where_both_are_in_one_place_or_time():
    assert twice(objects(("Red ball", HERE), ("A red ball with a star", NEAR)))
    long, short = "The red ball bounces off the right wall", "the ball bounces off the wall"
    assert twice(points((long, 0.0, 2.0), (short, 0.5, 2.0)))
    assert not twice(points((long, 0.0, 2.0), (short, 3.0, 4.0)))
    assert not twice(points((long, 0.0, 2.0), (short, 0.5, 2.0), names=(["a"], ["b"])))


def test_several_that_say_the_same_are_one_finding_that_names_them():
    (found,) = said_twice(objects(("Coin", HERE), ("coin", AWAY), ("the coins", AWAY)), CLIP)
    assert found.about == "objects/o1" and "'o2', 'o3'" in found.message


@pytest.mark.parametrize("module", [words, finding])
def test_examples_in_docstrings(module):
    assert doctest.testmod(module).failed == 0
