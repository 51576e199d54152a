"""Frames of a clip as a model asks for them."""

import numpy as np
import pytest

from codecap.score.masks import frames as frames_module
from codecap.score.masks.frames import Frames
from codecap.video import CanonicalWriter, VideoError


@pytest.fixture(scope="module")
def mp4(tmp_path_factory):
    path = tmp_path_factory.mktemp("clip") / "clip.mp4"
    with CanonicalWriter(path, 32, 16, codec="lossless") as writer:
        for frame in range(110):
            writer.add(np.full((16, 32, 3), frame, np.uint8))
    return path


def level(rgb: np.ndarray) -> int:
    return int(rgb[0, 0, 0])


@pytest.mark.parametrize("order", [range(110), range(109, -1, -1), [50, 3, 109, 3, 47, 48, 96]])
def test_any_order_gives_the_right_frames(mp4, order):
    frames = Frames(mp4, 110, level)
    assert [frames[frame] for frame in order] == list(order)


def test_one_window_is_held_and_decoded_once_each_way(mp4, monkeypatch):
    decoded = []
    original = frames_module.read_frames
    monkeypatch.setattr(
        frames_module, "read_frames", lambda mp4, start, stop: decoded.append((start, stop)) or original(mp4, start, stop)
    )
    frames = Frames(mp4, 110, level)
    for frame in [*range(110), *reversed(range(110))]:
        assert frames[frame] == frame and len(frames._window) <= 48
    assert decoded == [(0, 48), (48, 96), (96, 110), (48, 96), (0, 48)]


def test_length_and_ends(mp4):
    assert len(Frames(mp4, 40, level)) == 40 and len(Frames(mp4, 500, level)) == 110
    assert (Frames(mp4, 1, level).width_px, Frames(mp4, 1, level).height_px) == (32, 16)
    with pytest.raises(IndexError):
        Frames(mp4, 40, level)[40]
    with pytest.raises(VideoError, match=r"none\.mp4"):
        Frames(mp4.with_name("none.mp4"), 40, level)
