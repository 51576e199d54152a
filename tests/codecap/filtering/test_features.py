import math

import numpy as np
import pytest

from codecap.filtering.features import (
    changed_blocks,
    covering_colours,
    frames_looked_at,
    gradient,
    measure,
    measure_pictures,
    noise_levels,
)
from codecap.filtering.shifts import likely_shifts, unexplained_pixels
from codecap.video import CanonicalWriter, VideoError


def grey(level=128, height_px=176, width_px=320):
    return np.full((height_px, width_px, 3), level, np.uint8)


def noise(seed, height_px=176, width_px=320):
    return np.random.default_rng(seed).integers(0, 256, (height_px, width_px, 3), np.uint8)


def measured(picture_at, frames=48):
    return measure_pictures(((frame, picture_at(frame)) for frame in sorted(frames_looked_at(frames))), frames)


def test_a_plain_still_clip():
    features = measured(lambda _: grey())
    assert features["flat_share"] == 1 and features["static_share"] == 1 and features["duration_s"] == 2
    assert features["log10_colours"] == 0  # one colour
    assert features["changed_share"] == features["changing_texture"] == features["texture_share"] == 0


def test_noise_that_changes_is_texture_everywhere():
    features = measured(noise)
    assert features["changed_share"] == features["changing_texture"] == 1
    assert features["unexplained_texture"] > 0.95
    assert features["flat_share"] < 0.01


def test_a_shift_explains_scrolling():
    features = measured(lambda frame: np.roll(noise(0), frame, axis=1))
    assert features["changing_texture"] == 1 and features["unexplained_texture"] == 0


def test_shares_count_blocks_of_the_picture():
    """A quarter of the picture changes: 80 x 176 px of 320 x 176, in whole blocks."""

    def picture_at(frame):
        picture = grey()
        picture[:, :80] = 60 + 20 * (frame // 12)
        return picture

    features = measured(picture_at)
    assert features["changed_share"] == pytest.approx(0.25) and features["changing_texture"] == 0


def test_what_blinks_twice_a_second_is_not_still():
    features = measured(lambda frame: grey(0 if frame % 12 < 4 else 255))
    assert features["changed_share"] == 0 and features["static_share"] < 0.5


def test_gradient_is_the_larger_of_two_neighbours():
    picture = np.zeros((3, 3, 3), np.uint8)
    picture[1, 1, 2] = 9
    assert gradient(picture).tolist() == [[0, 9, 0], [9, 9, 0], [0, 0, 0]]


def test_colours_that_cover_95_per_cent():
    picture = grey(0, 10, 10)
    picture[0, :5] = 255  # 5 %: the other colour covers 95
    assert covering_colours(picture) == 1
    picture[0, :6] = 255
    assert covering_colours(picture) == 2


def test_three_pixels_do_not_change_a_block_and_four_do():
    before, after = grey(0, 16, 16), grey(0, 16, 16)
    after[0, :3] = 255
    assert not changed_blocks(before, after).any()
    after[0, 3] = 255
    assert changed_blocks(before, after).tolist() == [[True, False], [False, False]]


def test_noise_is_measured_in_its_own_unit():
    rng = np.random.default_rng(0)
    picture = np.clip(128 + rng.normal(0, 5, (180, 320, 1)), 0, 255).repeat(3, axis=2).astype(np.uint8)
    assert 3.0 < noise_levels(picture) < 5.5  # the quietest tenth of the blocks is below the 5 levels put in
    assert noise_levels(grey()) == 0


def test_shifts_of_parts_are_found_and_explain_them():
    before, after = noise(1), noise(1)
    after[:88] = np.roll(before[:88], 7, axis=1)
    after[88:] = np.roll(before[88:], -11, axis=1)
    assert {(0, 7), (0, -11)} <= set(likely_shifts(before, after))
    assert unexplained_pixels(before, after).mean() < 0.01


def test_a_clip_of_one_frame_and_a_file_that_is_none(tmp_path):
    with CanonicalWriter(tmp_path / "one.mp4", 64, 48) as writer:
        writer.add(grey(50, 48, 64))
    features = measure(tmp_path / "one.mp4")
    assert features["static_share"] == 1 and features["duration_s"] == pytest.approx(1 / 24)
    assert all(math.isfinite(value) for value in features.values())
    (tmp_path / "text.mp4").write_text("no video")
    with pytest.raises(VideoError, match=r"text\.mp4"):
        measure(tmp_path / "text.mp4")
