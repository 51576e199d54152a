"""Prints and alignment: which differences are none, and which are."""

from __future__ import annotations

import numpy as np
import pytest

from codecap.publish.alignment import find, likeness
from codecap.publish.prints import BYTES, packed, print_of, unpacked
from codecap.records import RecordError


def walk(frames: int, seed: int = 1) -> np.ndarray:
    """Prints that change a little from frame to frame, and never come back: uint8 `(frames, 288)`."""
    random = np.random.default_rng(seed)
    return np.clip(128 + np.cumsum(random.normal(0, 3, (frames, BYTES)), axis=0), 0, 255).astype(np.uint8)


def test_a_print_holds_the_mean_colours_of_its_fields_from_left_to_right_then_downwards() -> None:
    rgb = np.zeros((80, 120, 3), np.uint8)
    rgb[10:20, 20:30] = (200, 100, 50)  # second row, third column
    told = print_of(rgb).reshape(8, 12, 3)
    assert told[1, 2].tolist() == [200, 100, 50] and told.astype(int).sum() == 350


def test_prints_come_back_from_their_text() -> None:
    prints = walk(50)
    assert (unpacked(packed("A_1", prints)) == prints).all()
    still = np.full((2000, BYTES), 200, np.uint8)
    assert len(packed("A_1", still).packed) < 4000  # what stands still costs little
    with pytest.raises(RecordError, match="not those of 49 frames"):
        unpacked(packed("A_1", prints).model_copy(update={"frames": 49}))
    with pytest.raises(RecordError, match="cannot be unpacked"):
        unpacked(packed("A_1", prints).model_copy(update={"packed": "!!!"}))


@pytest.mark.parametrize("start", [0, 7, 200, 340])
def test_a_clip_is_found_to_the_frame_under_noise(start: int) -> None:
    whole = walk(400)
    noise = np.random.default_rng(2).integers(-3, 4, (60, BYTES))
    clip = np.clip(whole[start : start + 60].astype(int) + noise, 0, 255).astype(np.uint8)
    assert find(clip, whole, near=100) == start


def test_of_places_that_are_alike_the_nearest_is_taken() -> None:
    still = np.full((400, BYTES), 90, np.uint8)
    assert find(still[:60], still, near=123) == 123
    assert find(still[:60], still, near=390) == 340  # the last one that there is room for
    loop = np.tile(walk(50), (8, 1))
    assert find(loop[:60], loop, near=160) == 150


def test_a_video_that_is_shorter_than_the_clip() -> None:
    assert find(walk(60), walk(59), near=0) is None


def test_frames_of_another_rate_are_the_same_clip() -> None:
    steps = np.linspace(0, 255, 96).astype(np.uint8)
    clip = np.tile(steps[:, None], (1, BYTES))
    late = clip[np.maximum(np.arange(96) - np.arange(96) % 2, 0)]  # every second picture is missing
    assert likeness(clip, late).same and likeness(late, clip).same


@pytest.mark.parametrize(
    ("change", "same"),
    [
        pytest.param(lambda prints: prints + 2, True, id="all a little brighter"),
        pytest.param(lambda prints: prints + 5, False, id="all brighter"),
        pytest.param(lambda prints: np.where(np.arange(len(prints))[:, None] == 40, 0, prints), False, id="one black frame"),
        pytest.param(lambda prints: np.where(np.arange(BYTES) < 3, 255, prints), False, id="one field is white"),
        pytest.param(lambda prints: np.roll(prints, 5, axis=0), False, id="five frames late"),
    ],
)
def test_what_is_the_same_clip(change, same: bool) -> None:
    steps = 40 + 150 * (np.arange(96)[:, None] * 3 // 7 % 2) * (np.arange(BYTES) % 2)
    clip = steps.astype(np.uint8)
    found = likeness(clip, change(clip).astype(np.uint8))
    assert found.same is same, found


def test_a_clip_of_one_frame() -> None:
    one = walk(1)
    assert likeness(one, one).same and find(one, walk(30), near=0) == 0
