"""Retention with the pixel judge: nothing by chance, everything for the same, and less for less."""

from itertools import pairwise

import numpy as np
import pytest

from codecap.records import AnnotatedObject, Annotation, FocalPoint
from codecap.score import Unscored, retention
from codecap.score.judges import pixel

FRAMES, HEIGHT_PX, WIDTH_PX = 72, 180, 320


def scene(k: int, *, ball: tuple[int, int, int] | None = (230, 60, 50), label: bool = True, ground: int = 235) -> np.ndarray:
    """A ball that crosses the picture from left to right, and a striped label that stands still at the upper right."""
    rgb = np.full((HEIGHT_PX, WIDTH_PX, 3), ground, np.uint8)
    if label:
        rgb[20:60, 220:300] = (40, 70, 160)
        rgb[30:34, 230:290] = rgb[40:44, 230:290] = 255
    if ball is not None:
        x = 10 + 3 * k
        rgb[110:150, x : x + 40] = ball
    return rgb


VIDEO = [scene(k) for k in range(FRAMES)]
BALL = AnnotatedObject(name="ball", boxes_xyxy=[(10 + 3 * k, 110, 50 + 3 * k, 150) for k in range(FRAMES)])
LABEL = AnnotatedObject(name="label", boxes_xyxy=[(220, 20, 300, 60)] * FRAMES)


def point(focal_id: str, kind: str, start_s: float, end_s: float, *objects: str) -> FocalPoint:
    return FocalPoint(
        focal_id=focal_id, kind=kind, description="what is there", start_s=start_s, end_s=end_s, objects=list(objects)
    )


POINTS = [
    point("label", "static", 0.5, 2.0, "label"),
    point("all", "static", 1.0, 1.2),
    point("crosses", "dynamic", 0.5, 2.5, "ball"),
    point("moves", "dynamic", 1.0, 1.3),
]
ANNOTATION = Annotation(clip_id="T_001", objects=[BALL, LABEL], focal_points=POINTS)


@pytest.fixture
def values(measure):
    def run(candidate, annotation=ANNOTATION, reference=VIDEO) -> dict[str, float | None]:
        metric = retention.load({"judge": "pixel"})
        return {found.item: found.value for found in measure(metric, reference, candidate, annotation=annotation)}

    return run


def test_the_same_video_is_full_in_every_point(values):
    assert values(VIDEO) == dict.fromkeys(("label", "all", "crosses", "moves"), 100.0)


@pytest.mark.parametrize("level", [0, 128, 235, 255])
def test_an_empty_video_earns_nothing_whatever_its_colour(values, level):
    empty = [np.full_like(VIDEO[0], level)] * FRAMES
    assert values(empty) == dict.fromkeys(("label", "all", "crosses", "moves"), 0.0)


def test_a_frozen_video_keeps_what_stands_still_alone(values):
    found = values([VIDEO[0]] * FRAMES)
    assert found["label"] == 100.0
    assert found["crosses"] == found["moves"] == 0.0


def test_a_missing_object_costs_its_own_points(values):
    found = values([scene(k, label=False) for k in range(FRAMES)])
    assert found["label"] == 0.0
    assert found["crosses"] == 100.0
    assert found["all"] < 80.0


def test_a_wrong_colour_costs_a_part(values):
    found = values([scene(k, ball=(60, 160, 60)) for k in range(FRAMES)])
    assert found["label"] == 100.0
    assert 0.0 < found["crosses"] < 100.0


def test_a_wrong_ground_costs_static_points(values):
    assert values([scene(k, ground=150) for k in range(FRAMES)])["all"] == 0.0


def test_reversed_motion_keeps_what_stands_still(values):
    found = values(VIDEO[::-1])
    assert found["label"] == 100.0
    assert found["crosses"] <= 40.0


def test_the_later_the_less(values):
    late = [values([VIDEO[max(k - delay, 0)] for k in range(FRAMES)])["crosses"] for delay in (0, 2, 6, 12, 24)]
    assert late[0] == 100.0
    assert all(after <= before for before, after in pairwise(late))
    assert late[-1] <= 40.0


def test_content_that_comes_at_another_time_counts_half(values):
    """The label appears only after the point's interval: it is never there when it should be, and once shown right."""
    found = values([scene(k, label=k >= 60) for k in range(FRAMES)])
    assert found["label"] == 40.0


def test_a_point_shorter_than_the_sampling_is_judged_on_the_nearest_picture(values):
    short = Annotation(clip_id="T_001", objects=[LABEL], focal_points=[point("blink", "static", 1.04, 1.05, "label")])
    assert values(VIDEO, short) == {"blink": 100.0}


def test_nothing_changes_in_the_reference(measure):
    still = [VIDEO[0]] * FRAMES
    one = Annotation(clip_id="T_001", focal_points=[POINTS[3], POINTS[1]])
    dynamic, static = measure(retention.load({"judge": "pixel"}), still, still, annotation=one)
    assert dynamic.value is None
    assert "nothing changes" in dynamic.detail
    assert static.value == 100.0


def test_an_empty_reference_shows_nothing(measure):
    flat = [np.full((60, 80, 3), 9, np.uint8)] * 24
    one = Annotation(clip_id="T_001", focal_points=[point("void", "static", 0.0, 0.5)])
    (found,) = measure(retention.load({"judge": "pixel"}), flat, flat, annotation=one)
    assert found.value is None
    assert "nothing but its background" in found.detail


@pytest.mark.parametrize("annotation", [None, Annotation(clip_id="T_001")])
def test_without_focal_points_it_is_unscored(measure, annotation):
    with pytest.raises(Unscored, match="no annotated focal points"):
        measure(retention.load({"judge": "pixel"}), VIDEO, VIDEO, annotation=annotation)


def test_a_video_of_one_frame(measure):
    one = Annotation(clip_id="T_001", focal_points=[point("s", "static", 0.0, 0.5), point("d", "dynamic", 0.0, 0.5)])
    static, dynamic = measure(retention.load({"judge": "pixel"}), VIDEO[:1], VIDEO[:1], annotation=one)
    assert static.value == 100.0
    assert dynamic.value is None


def test_agreement_of_disjoint_changes_is_zero():
    first, second = np.zeros((2, 4)), np.zeros((2, 4))
    first[0, 0], second[1, 3] = 5.0, 7.0
    assert pixel.agreement(first, second) == 0.0
    assert pixel.agreement(first, first) == 1.0
    assert pixel.agreement(first, -first) == 0.0
    assert pixel.agreement(first, 2 * first) == pytest.approx(1 - 5 / 15)


def test_most_common_colour_is_that_of_the_ground():
    assert pixel.most_common_colour(scene(0)).tolist() == [235, 235, 235]
