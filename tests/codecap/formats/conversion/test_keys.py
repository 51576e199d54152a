import doctest

import numpy as np
import pytest

from codecap.formats.conversion import keys, objects
from codecap.formats.conversion.keys import APART_PX, Knot, boxes_at, key_frames


@pytest.mark.parametrize("module", [keys, objects])
def test_the_examples_hold(module):
    from pathlib import Path

    assert doctest.testmod(module, extraglobs={"Path": Path}).failed == 0


def drawn(boxes):
    run = range(len(boxes))
    return boxes_at([Knot(frame, boxes[frame]) for frame in key_frames(boxes, run)], run)


@pytest.mark.parametrize("seed", range(5))
def test_between_key_frames_every_box_is_where_it_was(seed):
    rng = np.random.default_rng(seed)
    steps = np.repeat(rng.normal(0, 3, (12, 4)), rng.integers(1, 30, 12), axis=0)
    boxes = [tuple(row) for row in (np.cumsum(steps, axis=0) + rng.uniform(-0.003, 0.003, steps.shape)).tolist()]
    assert len(key_frames(boxes, range(len(boxes)))) < len(boxes)
    assert np.abs(np.array(drawn(boxes)) - np.array(boxes)).max() <= APART_PX + 1e-9


def test_what_stands_still_or_moves_straight_takes_two_key_frames():
    still = [(5.0, 5.0, 9.0, 9.0)] * 1000
    straight = [(0.1 * t, 0.0, 0.1 * t + 7, 8.0) for t in range(1000)]
    assert key_frames(still, range(1000)) == key_frames(straight, range(1000)) == [0, 999]
    assert key_frames(still, range(3, 4)) == [3]


def test_there_is_no_box_without_a_knot_nor_before_the_first():
    assert boxes_at([], [0, 1]) == [None, None]
    assert boxes_at([Knot(1, (0, 0, 1, 1))], [0, 1, 9]) == [None, (0, 0, 1, 1), (0, 0, 1, 1)]
