"""The benchmark of the review page, on a clip as small as it can be."""

import dataclasses

import pytest

from codecap.bench import review


@pytest.mark.slow
def test_a_clip_is_opened_stepped_through_and_edited():
    waits = review.measure(4, 320, 180, 3, steps=3)
    assert all(0 < value < review.LIMIT_MS for value in dataclasses.asdict(waits).values())
    assert review.as_table(waits).count(" ms") == len(dataclasses.fields(waits))


def test_objects_stay_in_the_picture_and_move():
    boxes = [[review.box_of(number, frame, 1920, 1080) for frame in range(240)] for number in range(40)]
    assert all(0 <= x0 < x1 <= 1920 and 0 <= y0 < y1 <= 1080 for track in boxes for x0, y0, x1, y1 in track)
    assert all(len(set(track)) > 100 for track in boxes)
