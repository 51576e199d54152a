"""What a template knows, on pictures whose pixels are known."""

import numpy as np
import pytest

from codecap.score.segmenting.appearance import look_at, palette
from codecap.score.segmenting.pictures import Picture, backward, forward
from codecap.score.segmenting.placing import best_places, match_near, part_at
from codecap.video import CanonicalWriter

RED, BLUE, GREY = (210, 40, 40), (40, 60, 200), (128, 128, 128)


def scene(*squares, ground=GREY, size=(120, 160)) -> Picture:
    rgb = np.full((*size, 3), ground, np.uint8)
    for (x, y, w, h), colour in squares:
        rgb[y : y + h, x : x + w] = colour
    return Picture(rgb)


def test_the_own_pixels_are_those_that_differ_from_what_is_around():
    look = look_at(scene(((50, 40, 30, 20), RED)), np.array([45.0, 35.0, 85.0, 65.0]), level=0)
    assert 30 * 20 <= look.weight.sum() <= 32 * 22  # the blur adds a rim, the margin of the box does not count
    assert np.allclose(look.own[0] + 128, RED, atol=3) and np.allclose(look.surrounding[0] + 128, GREY, atol=3)


def test_the_same_place_is_explained_and_bare_ground_is_not():
    picture, box = scene(((50, 40, 30, 20), RED)), np.array([50.0, 40.0, 80.0, 60.0])
    look = look_at(picture, box, level=0)
    same = match_near(picture, look, box, reach_px=5)
    assert same.explained == pytest.approx(1, abs=1e-3) and same.edged == pytest.approx(1, abs=1e-3)
    assert np.allclose(same.box_xyxy, box, atol=0.01)
    assert match_near(scene(), look, box, reach_px=5).quality == pytest.approx(0, abs=0.05)


def test_a_moved_object_is_placed_to_the_pixel_on_any_ground():
    look = look_at(scene(((50, 40, 30, 20), RED)), np.array([50.0, 40.0, 80.0, 60.0]), level=0)
    moved = match_near(scene(((57, 36, 30, 20), RED), ground=(20, 90, 60)), look, np.array([50.0, 40, 80, 60]), 10)
    assert np.allclose(moved.box_xyxy, [57, 36, 87, 56], atol=0.3) and moved.quality > 0.9


@pytest.mark.parametrize("ground", [RED, (0, 0, 0), (255, 255, 255)])
def test_a_picture_of_one_colour_holds_no_object_even_in_the_objects_own_colour(ground):
    for colour in (RED, (0, 0, 0)):
        look = look_at(scene(((50, 40, 30, 20), colour)), np.array([50.0, 40, 80, 60]), level=0)
        assert match_near(scene(ground=ground), look, np.array([50.0, 40, 80, 60]), 10).likeness < 0.3


def test_another_colour_is_unlike_even_if_ground_is_far_from_both():
    look = look_at(scene(((50, 40, 30, 20), RED), ground=(255, 255, 255)), np.array([50.0, 40, 80, 60]), level=0)
    orange = scene(((50, 40, 30, 20), (250, 130, 30)), ground=(255, 255, 255))
    match = match_near(orange, look, np.array([50.0, 40, 80, 60]), 5)
    assert match.likeness < 0.3 < match.quality


def test_partly_outside_the_picture():
    look = look_at(scene(((50, 40, 30, 20), RED)), np.array([50.0, 40, 80, 60]), level=0)
    match = match_near(scene(((0, 40, 18, 20), RED)), look, np.array([-8.0, 40, 22, 60]), 8)
    assert np.allclose(match.box_xyxy, [-12, 40, 18, 60], atol=0.5) and match.quality > 0.8


def test_all_places_of_a_picture_best_first():
    look = look_at(scene(((20, 20, 12, 12), RED)), np.array([20.0, 20, 32, 32]), level=0)
    places = best_places(scene(((100, 80, 12, 12), RED), ((30, 70, 12, 12), RED), ((70, 20, 12, 12), BLUE)), look, 5, 0.7)
    corners = sorted(tuple(np.round(place.box_xyxy[:2]).astype(int).tolist()) for place in places)
    assert corners == [(30, 70), (100, 80)]


def test_what_is_left_of_a_covered_object():
    rgb = scene(((50, 40, 30, 20), RED)).rgb(0).copy()
    rgb[45:60, 50:65] = BLUE
    picture, box = Picture(rgb), np.array([50.0, 40.0, 80.0, 60.0])
    look = look_at(picture, box, level=0)
    rgb = rgb.copy()
    rgb[30:50] = (250, 250, 250)  # a bar over its upper half
    covered = Picture(rgb)
    part = part_at(covered, look, match_near(covered, look, box, 0))
    assert np.allclose(part.box_xyxy, [50, 50, 80, 60], atol=1) and part.share == pytest.approx(0.5, abs=0.1)


def test_palette_by_hand():
    colours = np.array([[100.0, 0, 0]] * 70 + [[-50.0, 20, 20]] * 30).T
    assert np.allclose(palette(colours), [[100, 0, 0], [-50, 20, 20]])


def test_both_directions_give_the_same_frames_and_large_ones_are_worked_on_smaller(tmp_path):
    with CanonicalWriter(tmp_path / "grey.mp4", 1280, 64) as writer:
        for level in range(60):
            writer.add(np.full((64, 1280, 3), 4 * level, np.uint8))
    onward = [(frame, int(picture.rgb(0).mean())) for frame, picture in forward(tmp_path / "grey.mp4", 3, 57)]
    back = [(frame, int(picture.rgb(0).mean())) for frame, picture in backward(tmp_path / "grey.mp4", 3, 57)]
    assert onward == back[::-1] and [frame for frame, _ in onward] == list(range(3, 57))
    picture = next(forward(tmp_path / "grey.mp4", 0, 1))[1]
    assert picture.rgb(0).shape == (48, 960, 3) and np.allclose(picture.scale(1), [480 / 1280, 24 / 64] * 2)
