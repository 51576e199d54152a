"""Motions whose kind is known by how the pictures are made: a field of dots, moved by a formula."""

import cv2
import numpy as np
import pytest

from codecap.filtering.motions import area_share, covering_vectors, motion_between, out_of_plane, rigid_share, sheared

DOTS = np.random.default_rng(3).uniform([10, 10], [310, 170], (150, 2))


def picture(dots, radius=3):
    drawn = np.full((180, 320, 3), 245, np.uint8)
    for number, (x, y) in enumerate(dots):
        ink = (37 * number % 200, 91 * number % 200, 53 * number % 200)
        cv2.circle(drawn, (round(16 * x), round(16 * y)), 16 * radius, ink, -1, cv2.LINE_AA, shift=4)
    return drawn


def about_the_middle(scale, shift=(0, 0)):
    return (DOTS - [160, 90]) * scale + [160, 90] + np.array(shift)


def test_nothing_moves():
    still = motion_between(picture(DOTS), picture(DOTS))
    assert (still.moving, still.rigid_share, still.sheared_share, still.vectors) == (0, 1.0, 0.0, 0)
    empty = np.full((180, 320, 3), 9, np.uint8)
    assert motion_between(empty, empty).moving == 0


@pytest.mark.parametrize("moved", [about_the_middle(1, (5, -3)), about_the_middle(1.04)], ids=["slide", "zoom"])
def test_what_slides_or_grows_is_rigid_and_not_sheared(moved):
    motion = motion_between(picture(DOTS), picture(moved))
    assert motion.moving > 80
    assert motion.rigid_share > 0.95 and motion.sheared_share < 0.01


def test_a_slide_is_one_vector():
    assert motion_between(picture(DOTS), picture(about_the_middle(1, (6, 0)))).vectors == 1


@pytest.mark.parametrize("scale", [(1.08, 0.92), (1.0, 1.12)], ids=["stretched", "along one axis"])
def test_a_drawing_that_is_stretched_as_a_whole_is_not_out_of_plane(scale):
    starts, ends = DOTS.astype(np.float32), about_the_middle(scale).astype(np.float32)
    assert sheared(starts, ends).mean() > 0.8 and len(out_of_plane(starts, ends)) == 0
    assert motion_between(picture(starts), picture(ends)).sheared_share < 0.03


def test_a_floor_in_perspective_is_sheared():
    """Rows below a horizon at y = 20 come nearer: a point at depth 1 / (y - 20) moves to 1 / (y - 20) - 0.0011."""
    floor = DOTS[DOTS[:, 1] > 60]
    nearer = 1 / (1 / (floor[:, 1] - 20) - 0.0011)
    moved = np.column_stack([160 + (floor[:, 0] - 160) * nearer / (floor[:, 1] - 20), 20 + nearer])
    assert motion_between(picture(floor), picture(moved)).sheared_share > 0.2


def test_things_on_ways_of_their_own_are_not_sheared():
    """Moves that have nothing to do with one another are no sheet."""
    own = DOTS + np.random.default_rng(1).uniform(-6, 6, DOTS.shape)
    motion = motion_between(picture(DOTS), picture(own))
    assert motion.sheared_share < 0.03 and motion.rigid_share < 0.7 and motion.vectors > 8


def test_three_layers_are_three_rigid_motions():
    rng = np.random.default_rng(0)
    points = rng.uniform(0, 300, (90, 2)).astype(np.float32)
    moves = np.repeat(np.float32([[3, 0], [6, 0], [12, 0]]), 30, axis=0)
    assert rigid_share(points, points + moves) == 1.0
    assert covering_vectors(moves) == 3


def test_points_at_the_edge_beyond_whole_squares_do_not_count():
    assert area_share(np.array([[319.0, 179.0]]), (180, 320)) == pytest.approx(1 / (9 * 16))
    assert area_share(np.array([[325.0, 5.0]]), (180, 330)) == 0
    assert area_share(np.empty((0, 2)), (180, 320)) == 0
