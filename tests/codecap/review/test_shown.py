"""Boxes that keys make of a machine's, by hand."""

import pytest

from codecap.review.shown import shown_boxes

BASE = [(float(x), 0.0, x + 10.0, 10.0) for x in range(8)]


def moved(box, by):
    return (box[0] + by, box[1], box[2] + by, box[3])


def test_without_keys_it_is_the_base_within_the_visible_intervals():
    assert shown_boxes(BASE, {}, [(1 / 24, 3 / 24)], 8) == [None, BASE[1], BASE[2], *[None] * 5]
    assert shown_boxes(BASE, {}, [], 8) == BASE


def test_the_correction_of_one_key_holds_everywhere():
    assert shown_boxes(BASE, {3: moved(BASE[3], 5.0)}, [], 8) == [moved(box, 5.0) for box in BASE]


def test_between_two_keys_corrections_are_interpolated():
    shown = shown_boxes(BASE, {2: moved(BASE[2], 0.0), 6: moved(BASE[6], 8.0)}, [], 8)
    assert [box[0] - base[0] for box, base in zip(shown, BASE, strict=True)] == [0, 0, 0, 2, 4, 6, 8, 8]


def test_without_a_base_keys_are_interpolated_and_hold_to_the_ends():
    shown = shown_boxes(None, {2: (0.0, 0.0, 4.0, 4.0), 4: (8.0, 0.0, 16.0, 4.0)}, [(1 / 24, 6 / 24)], 8)
    assert shown == [None, (0, 0, 4, 4), (0, 0, 4, 4), (4, 0, 10, 4), (8, 0, 16, 4), (8, 0, 16, 4), None, None]
    assert shown_boxes(None, {}, [], 3) == [None] * 3


def test_a_null_key_hides_until_the_next_one():
    shown = shown_boxes(BASE, {2: moved(BASE[2], 1.0), 4: None, 6: moved(BASE[6], 3.0)}, [], 8)
    assert shown == [*(moved(box, 1.0) for box in BASE[:4]), None, None, *(moved(box, 3.0) for box in BASE[6:])]


def test_nothing_is_corrected_before_a_null_key_that_is_the_first():
    assert shown_boxes(BASE, {5: None}, [], 8) == [*BASE[:5], None, None, None]


def test_a_key_counts_in_its_own_run():
    base = [*BASE[:3], None, None, *BASE[5:]]
    shown = shown_boxes(base, {1: moved(BASE[1], 2.0), 4: (50.0, 0.0, 60.0, 10.0)}, [], 8)
    assert shown == [*(moved(box, 2.0) for box in BASE[:3]), (50, 0, 60, 10), (50, 0, 60, 10), *BASE[5:]]


def test_what_a_correction_moves_out_of_the_picture_is_cut_off():
    shown = shown_boxes(BASE, {0: (5.0, -0.0, 15.0, 10.0), 7: (4.0, 0.0, 14.0, 10.0)}, [], 8, (16, 9))
    assert shown[0] == (5, 0, 15, 9) and shown[7] == (4, 0, 14, 9) and max(box[2] for box in shown) == 15
    assert shown_boxes(BASE, {0: moved(BASE[0], 5.0)}, [], 8, (16, 16))[7] == (12, 0, 16, 10)
    assert shown_boxes(BASE, {}, [], 8, (4, 4)) == BASE  # a machine's own box is for the validator to judge


@pytest.mark.parametrize("visible", [[(0.0, 2 / 24), (2 / 24, 8 / 24)], [(0.0, 5 / 24), (1 / 24, 8 / 24)], [(0.0, 99.0)]])
def test_intervals_that_touch_or_overlap_are_one(visible):
    assert shown_boxes(BASE, {0: moved(BASE[0], 3.0)}, visible, 8) == [moved(box, 3.0) for box in BASE]
