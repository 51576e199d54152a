"""Animated WebP: delays and pictures as they were written, transparency on white, damage as one clear error."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from codecap.collect.ingest import ingest_file
from codecap.collect.onscreen import on_screen
from codecap.collect.opening import open_video
from codecap.collect.shown import shown_frames
from codecap.video import VideoError, read_frames


def save(path, pictures, duration, **options):
    first, *others = [Image.fromarray(picture) for picture in pictures]
    first.save(path, save_all=True, append_images=others, duration=duration, **options)
    return path


def spans_ms(path):
    video = open_video(path)
    with video.container:
        return [(shown.start_s * 1000, shown.end_s * 1000) for shown in shown_frames(video, 0.5)]


def test_delays(tmp_path, draw_number):
    path = save(tmp_path / "x.webp", [draw_number(number) for number in range(4)], [70, 560, 15, 300])
    assert spans_ms(path) == [(0, 70), (70, 630), (630, 645), (645, 945)]


def test_no_delay_is_a_tenth_of_a_second_as_in_browsers(tmp_path, draw_number):
    path = save(tmp_path / "x.webp", [draw_number(number) for number in range(4)], [0, 10, 11, 40])
    assert spans_ms(path) == [(0, 100), (100, 200), (200, 211), (211, 251)]


def test_every_pixel_of_a_lossless_one(tmp_path):
    pictures = np.random.default_rng(0).integers(0, 256, (3, 31, 45, 3), np.uint8)
    path = save(tmp_path / "x.webp", pictures, 100, lossless=True)
    assert (np.stack([one.rgb() for one in on_screen(path)]) == pictures).all()


def test_transparent_pixels_lie_on_white(tmp_path):
    rgba = np.zeros((2, 16, 16, 4), np.uint8)
    rgba[..., 0] = 200
    rgba[0, :, :8, 3] = 255
    rgba[1, :, 8:, 3] = 255
    path = save(tmp_path / "x.webp", rgba, 100, lossless=True)
    left, right = (one.rgb() for one in on_screen(path))
    assert left[3, 3].tolist() == [200, 0, 0] and left[3, 12].tolist() == [255, 255, 255]
    assert right[3, 12].tolist() == [200, 0, 0] and right[3, 3].tolist() in ([255, 255, 255], [200, 0, 0])


def test_it_becomes_a_clip(tmp_path, draw_number, read_number):
    path = save(tmp_path / "x.webp", [draw_number(number) for number in range(6)], 125)
    facts = ingest_file(path, tmp_path / "x.mp4")
    assert facts.frames == 18 and not facts.copied
    assert [read_number(rgb) for _, rgb in read_frames(tmp_path / "x.mp4")] == [number for number in range(6) for _ in range(3)]
    ingest_file(path, tmp_path / "part.mp4", start=4, stop=10)
    assert [read_number(rgb) for _, rgb in read_frames(tmp_path / "part.mp4")] == [1, 1, 2, 2, 2, 3]


@pytest.mark.parametrize("kept", [33, 60, 200, -2])
def test_cut_short(tmp_path, draw_number, kept):
    path = save(tmp_path / "x.webp", [draw_number(number) for number in range(4)], 100)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(VideoError, match=r"x.webp: is cut short: it has \d+ of the \d+ bytes"):
        spans_ms(path)


def test_damaged(tmp_path):
    noise = np.random.default_rng(0).integers(0, 256, (4, 48, 64, 3), np.uint8)
    path = save(tmp_path / "x.webp", noise, 100)
    data = bytearray(path.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 4000] = bytes(4000)
    path.write_bytes(data)
    with pytest.raises(VideoError, match=r"x.webp: is damaged at picture \d"):
        list(on_screen(path))
