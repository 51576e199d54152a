"""Each kind of damage does what it says, by as much as its grade says."""

from __future__ import annotations

import colorsys

import numpy as np
import pytest

from codecap.selftest import rows
from codecap.validity import damages
from codecap.validity.damages import DAMAGES, frames_of

from .conftest import FRAMES, number_of


def numbers(clip, annotation, name: str, grade: float) -> list[int]:
    return [number_of(rgb) for rgb in frames_of(clip, annotation, DAMAGES[name], grade)]


def middle(clip, annotation, name: str, grade: float) -> np.ndarray:
    return list(frames_of(clip, annotation, DAMAGES[name], grade))[44]


def test_grades_are_those_of_the_self_test_where_it_has_them_and_grow():
    assert (damages.SHIFTS, damages.DELAYS_S) == (rows.SHIFTS, rows.DELAYS_S)
    for damage in DAMAGES.values():
        assert list(damage.grades) == sorted(set(damage.grades)) and len(damage.grades) >= 4


def test_speed_shows_frames_sooner_and_the_last_one_stands(clip, annotation):
    assert numbers(clip, annotation, "speed", 2.0) == [*range(0, FRAMES, 2), *[FRAMES - 1] * (FRAMES // 2)]
    slight = numbers(clip, annotation, "speed", 1.25)
    assert slight[:9] == [0, 1, 2, 3, 5, 6, 7, 8, 10] and slight[-1] == FRAMES - 1 and len(slight) == FRAMES


def test_frozen_stands_for_its_share_of_the_time(clip, annotation):
    assert numbers(clip, annotation, "frozen", 0.25) == [*range(36), *[36] * 12]
    assert numbers(clip, annotation, "frozen", 1.0) == [0] * FRAMES


def test_as_many_frames_as_the_clip_has(clip, annotation):
    for damage in DAMAGES.values():
        for grade in damage.grades if damage.make else ():
            assert sum(1 for _ in frames_of(clip, annotation, damage, grade)) == FRAMES, damage.name
    assert sum(1 for _ in frames_of(clip, annotation, None, 0)) == FRAMES


def test_hues_are_turned_by_the_angle_and_grey_stays(clip, annotation):
    rgb = middle(clip, annotation, "colour", 120)
    red, grey = rgb[16, 48] / 255, rgb[4, 90].astype(int)
    assert colorsys.rgb_to_hsv(*red)[0] == pytest.approx(1 / 3, abs=0.02)
    assert np.ptp(grey) <= 6


def test_blur_takes_edges_away_and_keeps_the_mean(clip, annotation):
    sharp, slight, severe = (middle(clip, annotation, "blur", grade).astype(float) for grade in (1e-4, 0.01, 0.02))
    edge = [float(np.abs(np.diff(rgb[:, :, 0], axis=1)).max()) for rgb in (sharp, slight, severe)]
    assert edge[0] > edge[1] > edge[2]
    assert severe.mean() == pytest.approx(sharp.mean(), abs=2)


def test_objects_go_in_the_order_of_the_annotation(clip, annotation):
    half, all_of_them = (middle(clip, annotation, "removed", grade).astype(int) for grade in (0.5, 1.0))
    assert half[16, 48].min() > 200 and half[44, 72].argmax() == 2  # the red one is gone, the blue one is there
    assert all_of_them[44, 72].min() > 200
    assert [item.name for item in damages.removed(annotation, 0.25)] == ["red"]


def test_a_damage_that_is_drawn_has_no_frames(clip, annotation):
    with pytest.raises(ValueError, match="text is drawn"):
        frames_of(clip, annotation, DAMAGES["text"], 0.5)
