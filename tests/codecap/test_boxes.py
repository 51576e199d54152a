"""Overlaps worked out by hand, and what an overlap is by definition."""

import numpy as np
import pytest

from codecap import boxes


@pytest.mark.parametrize(
    ("a", "b", "by_hand"),
    [
        ((0, 0, 4, 4), (0, 0, 4, 4), 1.0),
        ((0, 0, 4, 4), (2, 2, 6, 6), 4 / 28),
        ((0, 0, 4, 4), (4, 0, 8, 4), 0.0),  # they touch
        ((0, 0, 10, 1), (2, 0, 4, 1), 0.2),  # one inside the other
        ((1, 1, 1, 5), (1, 1, 1, 5), 0.0),  # no area
        ((0.5, 0, 1.5, 1), (1.0, 0, 2.0, 1), 1 / 3),
    ],
)
def test_iou_by_hand(a, b, by_hand):
    assert float(boxes.iou(np.array(a, float), np.array(b, float))) == pytest.approx(by_hand)


def test_iou_is_symmetric_bounded_and_blind_to_scale_and_place():
    generator = np.random.default_rng(0)
    corner, size = generator.uniform(0, 20, (2, 200, 2)), generator.uniform(1, 20, (2, 200, 2))
    a, b = np.concatenate([corner, corner + size], axis=-1)
    here = boxes.iou(a, b)
    assert ((here >= 0) & (here <= 1)).all() and (here > 0).any()
    assert np.allclose(here, boxes.iou(b, a))
    assert np.allclose(here, boxes.iou(3 * a + 5, 3 * b + 5))


def test_series_is_zero_where_one_is_missing_and_undefined_where_both_are():
    box = (0.0, 0.0, 2.0, 2.0)
    series = boxes.iou_series([box, box, None, None], [box, None, box, None])
    assert series[:3].tolist() == [1.0, 0.0, 0.0] and np.isnan(series[3])


def test_an_object_is_averaged_over_frames_where_either_is_seen():
    whole, half = (0.0, 0.0, 2.0, 2.0), (0.0, 0.0, 1.0, 2.0)
    reference = [whole, whole, None, None, None]
    candidate = [whole, half, half, None, None]
    assert boxes.object_iou(reference, candidate) == pytest.approx((1 + 0.5 + 0) / 3)
    assert boxes.object_iou(reference, [None] * 5) == 0.0
    assert boxes.object_iou(reference, [whole]) == 0.5  # a candidate that ends early
    assert boxes.video_iou([(reference, candidate), (reference, [None] * 5)]) == pytest.approx(0.25)


def test_an_object_that_is_never_visible_has_no_score():
    with pytest.raises(ValueError, match="visible in no frame"):
        boxes.object_iou([None, None], [(0, 0, 1, 1), None])
    with pytest.raises(ValueError, match="without objects"):
        boxes.video_iou([])


def test_clipped():
    assert boxes.clipped((-5, -5, 5, 5), 10, 10) == (0, 0, 5, 5)
    assert boxes.clipped((9.8, 0, 20, 5), 10, 10) is None
    assert boxes.clipped((11, 0, 20, 5), 10, 10) is None
