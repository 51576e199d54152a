import math

import cv2
import numpy as np
import pytest

from codecap.filtering.axes import INPUTS
from codecap.filtering.features import Measurement, changed_blocks, frames_looked_at, measure, measure_pictures, wants
from codecap.video import CanonicalWriter, VideoError


def grey(level=128, height_px=176, width_px=320):
    return np.full((height_px, width_px, 3), level, np.uint8)


def noise(seed, height_px=176, width_px=320):
    return np.random.default_rng(seed).integers(0, 256, (height_px, width_px, 3), np.uint8)


def measured(picture_at, frames=48):
    return measure_pictures(((frame, picture_at(frame)) for frame in range(frames)), frames)


def test_two_frames_a_second_are_looked_at_and_one_shortly_after_each():
    assert sorted(frames_looked_at(25)) == [0, 5, 12, 17, 24]
    assert all(wants(frame) for frame in frames_looked_at(100))


def test_a_plain_still_clip():
    features = measured(lambda _: grey())
    assert features["flat_share"] == 1 and features["static_share"] == 1 and features["duration_s"] == 2
    assert features["log2_colours"] == 0  # one colour
    assert features["changed_share"] == features["textured_change"] == features["texture_share"] == 0
    assert features["root_sheared"] == features["log2_vectors"] == 0 and features["rigid_share"] == 1


def test_noise_that_changes_is_texture_everywhere():
    features = measured(noise)
    assert features["changed_share"] == features["textured_change"] == 1
    assert features["flat_share"] < 0.01


def test_a_slide_is_few_movements_and_no_shear():
    texture = np.kron(np.random.default_rng(0).integers(0, 256, (22, 40, 3), np.uint8), np.ones((8, 8, 1), np.uint8))
    features = measured(lambda frame: np.roll(texture, frame, axis=1))
    assert features["rigid_share"] > 0.9 and features["log2_vectors"] <= 1 and features["root_sheared"] < 0.1


def test_shares_count_blocks_of_the_picture():
    """A quarter of the picture changes: 80 x 176 px of 320 x 176, in whole blocks."""

    def picture_at(frame):
        picture = grey()
        picture[:, :80] = 60 + 20 * (frame // 12)
        return picture

    features = measured(picture_at)
    assert features["changed_share"] == pytest.approx(0.25) and features["textured_change"] == 0


def test_what_blinks_twice_a_second_is_not_still():
    features = measured(lambda frame: grey(0 if frame % 12 < 4 else 255))
    assert features["changed_share"] == 0 and features["static_share"] < 0.5


def test_three_pixels_do_not_change_a_block_and_four_do():
    before, after = grey(0, 16, 16), grey(0, 16, 16)
    after[0, :3] = 255
    assert not changed_blocks(before, after).any()
    after[0, 3] = 255
    assert changed_blocks(before, after).tolist() == [[True, False], [False, False]]


def test_what_an_encoder_makes_of_a_still_picture_is_still():
    """Twice a second one half of it is written in another way: pixels change, and the mean of no block does."""
    smooth = grey()
    rough = smooth.copy()
    rough[:, :160:4], rough[:, 2:160:4] = 128 - 20, 128 + 20
    features = measured(lambda frame: rough if frame // 12 % 2 else smooth)
    assert features["changed_share"] == 0.5 and features["static_share"] == 1


def test_a_line_that_is_typed_is_not_still():
    """A letter of 6 x 8 px in half a second."""

    def typed(frame):
        page = grey(250)
        cv2.putText(page, "structured"[: 1 + frame // 12], (20, 60), cv2.FONT_HERSHEY_SIMPLEX, 0.3, (30, 30, 30), 1)
        return page

    assert measured(typed, 96)["static_share"] == 0


def test_frames_may_come_one_by_one_without_the_length():
    pictures = {frame: noise(frame) for frame in sorted(frames_looked_at(40))}
    clip = Measurement()
    for frame, rgb in pictures.items():
        clip.add(frame, rgb)
    assert clip.features(40) == measure_pictures(pictures.items(), 40)
    assert set(INPUTS) <= set(clip.features(40))


def test_a_clip_of_one_frame_and_files_that_are_none(tmp_path):
    with CanonicalWriter(tmp_path / "one.mp4", 64, 48) as writer:
        writer.add(grey(50, 48, 64))
    features = measure(tmp_path / "one.mp4")
    assert features["static_share"] == 1 and features["duration_s"] == pytest.approx(1 / 24)
    assert all(math.isfinite(value) for value in features.values())
    (tmp_path / "text.mp4").write_text("no video")
    with pytest.raises(VideoError, match=r"text\.mp4"):
        measure(tmp_path / "text.mp4")
    with pytest.raises(VideoError, match="without any frame"):
        Measurement().features(0)


@pytest.mark.parametrize("size", [(8, 2000), (2000, 8), (2, 2)])
def test_odd_shapes_are_measured(size):
    features = measured(lambda frame: noise(frame, *size), frames=18)
    assert all(math.isfinite(value) for value in features.values())
