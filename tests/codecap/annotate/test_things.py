import numpy as np
import pytest

from codecap.annotate.regions import Region
from codecap.annotate.things import Thing, select, thing_of
from codecap.annotate.tracks import Track

WIDTH_PX, HEIGHT_PX, FRAMES = 640, 360, 96

RED, GREEN, BLUE, GREY = (220.0, 40.0, 40.0), (40.0, 200.0, 60.0), (40.0, 60.0, 220.0), (128.0, 128.0, 128.0)


def resting(box, frames=FRAMES):
    return np.tile(np.array(box, float), (frames, 1))


def moving(box, dx, dy=0.0, frames=FRAMES):
    """A box that moves by so much in all, evenly."""
    way = np.linspace(0, 1, frames)[:, None] * np.array([dx, dy, dx, dy])
    return np.array(box, float) + way


def thing(boxes, score=1.0, rgb=RED, first=0, family="figure"):
    return Thing(first, boxes, np.tile(rgb, (len(boxes), 1)), score, family)


def chosen(things, most=16, frames=FRAMES):
    return select(things, most, [frames], WIDTH_PX, HEIGHT_PX)


def test_one_thing_seen_twice_is_chosen_once_and_the_better_one():
    better, worse = thing(resting((100, 100, 140, 140)), 2.0), thing(resting((101, 99, 142, 140)), 1.0, family="flat")
    (found,) = chosen([worse, better])
    assert found.boxes_xyxy is better.boxes_xyxy


def test_a_brief_track_does_not_displace_the_lasting_one_of_the_same_thing():
    lasting, brief = thing(resting((100, 100, 140, 140)), 1.0), thing(resting((100, 100, 140, 140), 20), 1.2, first=30)
    (found,) = chosen([brief, lasting])
    assert found.boxes_xyxy is lasting.boxes_xyxy


def test_two_things_side_by_side_are_both_chosen_even_when_alike():
    assert len(chosen([thing(resting((100, 100, 140, 140))), thing(resting((150, 100, 190, 140)))])) == 2


def test_what_takes_the_place_of_another_later_is_another_thing():
    before, after = thing(resting((100, 100, 140, 140), 40)), thing(resting((100, 100, 140, 140), 40), first=50)
    assert [found.first for found in chosen([after, before])] == [0, 50]


@pytest.mark.parametrize("dx", [0, 200])
def test_a_whole_goes_before_its_parts(dx):
    whole = thing(moving((100, 100, 260, 220), dx), 1.0)
    parts = [thing(moving(box, dx), 1.4, colour) for box, colour in [((110, 110, 150, 150), GREEN), ((180, 150, 240, 200), BLUE)]]
    (found,) = chosen([*parts, whole], most=1)
    assert found.boxes_xyxy is whole.boxes_xyxy
    assert [item.boxes_xyxy is whole.boxes_xyxy for item in chosen([*parts, whole])] == [True]  # what is only a part counts little


def test_what_counts_little_beside_the_best_is_left_out():
    places = [(40, 40, 80, 80), (140, 40, 180, 80), (240, 40, 280, 80)]
    things = [
        thing(resting(box), score, colour) for box, score, colour in zip(places, (1.0, 0.5, 0.3), (RED, GREEN, BLUE), strict=True)
    ]
    assert len(chosen(things)) == 2
    assert len(chosen(things[1:])) == 2  # beside what is no better, it is not little


def test_variety_goes_before_one_more_of_many_alike():
    alike = [thing(resting((20 + 60 * k, 100, 60 + 60 * k, 140)), 1.0) for k in range(6)]
    other = thing(resting((300, 250, 400, 300)), 0.8, BLUE)
    assert any(item.boxes_xyxy is other.boxes_xyxy for item in chosen([*alike, other], most=4))


def test_a_flicker_is_nothing_but_in_a_shot_of_few_frames_all_counts():
    assert chosen([thing(resting((100, 100, 140, 140), 4))]) == []
    assert len(chosen([thing(resting((100, 100, 140, 140), 4))], frames=4)) == 1
    assert chosen([]) == []


def test_the_order_in_which_things_come_does_not_matter():
    rng = np.random.default_rng(5)
    corners = rng.integers(0, 300, (30, 2))
    things = [
        thing(resting((x, y, x + 40, y + 30)), float(score))
        for (x, y), score in zip(corners, 0.9 + rng.random(30) / 10, strict=True)
    ]
    told = [[item.boxes_xyxy[0].tolist() for item in chosen(order, most=8)] for order in (things, things[::-1])]
    assert told[0] == told[1] and len(told[0]) == 8


def followed(boxes, rgb=RED, contrast=100.0, family="figure", first=0):
    track = Track()
    for frame, box in enumerate(boxes, start=first):
        area_px = int((box[2] - box[0]) * (box[3] - box[1]))
        track.add(frame, Region(family, tuple(map(float, box)), area_px, rgb, contrast))
    return track


def score(boxes, **told):
    return thing_of(followed(boxes, **told), 1.0, WIDTH_PX, HEIGHT_PX, (0, FRAMES)).score


def test_what_makes_a_track_salient():
    usual = resting((300, 150, 340, 190))
    rng = np.random.default_rng(1)
    assert score(moving((200, 150, 240, 190), 200)) > score(usual)
    assert score(usual, rgb=GREY, contrast=20.0) < score(usual, rgb=GREY, contrast=120.0)
    assert score(resting((300, 150, 306, 156))) < score(usual)
    assert score(usual[:20]) < score(usual[:48])
    assert score(usual + rng.integers(-8, 8, usual.shape)) < score(usual)
    assert score(usual[24:72], first=24) > score(usual[:48])  # it appears and disappears


def test_boxes_of_the_small_copy_come_back_in_canonical_pixels_inside_the_picture():
    found = thing_of(followed(resting((100, 50, 240, 90))), 3.0, WIDTH_PX, HEIGHT_PX, (0, FRAMES))
    assert found.boxes_xyxy[0].tolist() == [300, 150, 640, 270]
