"""Colours of each codec: what comes back is what went in, and another decoder reads the same colours from the file's own tags."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import av
import cv2
import numpy as np
import pytest

from codecap.video import CODECS, CanonicalWriter, VideoInfo, encoding, file_sha256, probe, read_frames

SATURATED = list(product((0, 128, 255), repeat=3))
GREYS = [(level, level, level) for level in range(0, 256, 15)]
DARK = [(4, 2, 8), (12, 20, 9), (30, 3, 3), (3, 30, 3), (3, 3, 30), (20, 24, 38), (1, 0, 2)]
COLOURS = SATURATED + GREYS + DARK
COLUMNS = 9
FRAMES = 5


def patches(side_px: int, margin_px: int) -> np.ndarray:
    """All colours as squares, side by side, in a grey frame."""
    rows = -(-len(COLOURS) // COLUMNS)
    rgb = np.full((2 * margin_px + rows * side_px, 2 * margin_px + COLUMNS * side_px, 3), 127, np.uint8)
    for number, colour in enumerate(COLOURS):
        top, left = margin_px + number // COLUMNS * side_px, margin_px + number % COLUMNS * side_px
        rgb[top : top + side_px, left : left + side_px] = colour
    return rgb


def centres(rgb: np.ndarray, side_px: int) -> np.ndarray:
    """The 4 x 4 pixels in the middle of each patch of `patches(side_px, 0)`."""
    middle = side_px // 2 - 2
    tiles = rgb[: -(-len(COLOURS) // COLUMNS) * side_px].reshape(-1, side_px, COLUMNS, side_px, 3)
    return tiles[:, middle : middle + 4, :, middle : middle + 4].astype(int)


def written(path: Path, rgb: np.ndarray, codec: str) -> Path:
    with CanonicalWriter(path, rgb.shape[1], rgb.shape[0], codec) as writer:
        for _ in range(FRAMES):
            writer.add(rgb)
    return path


def by_opencv(mp4: Path) -> list[np.ndarray]:
    capture = cv2.VideoCapture(str(mp4))
    frames = []
    while (read := capture.read())[0]:
        frames.append(read[1][:, :, ::-1])
    capture.release()
    return frames


def off(frames: list[np.ndarray], rgb: np.ndarray) -> int:
    """Largest difference in levels, over all frames; what padding has added does not count."""
    assert len(frames) == FRAMES
    return max(int(np.abs(frame[: rgb.shape[0], : rgb.shape[1]].astype(int) - rgb).max()) for frame in frames)


@pytest.mark.parametrize("side_px", [40, 64])
def test_h264_keeps_the_colours_of_patches(tmp_path, side_px):
    rgb = patches(side_px, 0)
    mp4 = written(tmp_path / "patches.mp4", rgb, "h264")
    for frames in ([frame for _, frame in read_frames(mp4)], by_opencv(mp4)):
        assert len(frames) == FRAMES
        assert max(np.abs(centres(frame, side_px) - centres(rgb, side_px)).max() for frame in frames) <= 2


@pytest.mark.parametrize(("side_px", "margin_px"), [(16, 0), (17, 3), (5, 1), (1, 0)])
@pytest.mark.parametrize(("codec", "levels"), [("h264_444", 2), ("lossless", 0)])
def test_every_pixel_comes_back_at_any_place_and_size(tmp_path, codec, levels, side_px, margin_px):
    rgb = patches(side_px, margin_px)
    mp4 = written(tmp_path / "patches.mp4", rgb, codec)
    height_px, width_px = rgb.shape[:2]
    assert probe(mp4) == VideoInfo(FRAMES, width_px + width_px % 2, height_px + height_px % 2)
    assert off([frame for _, frame in read_frames(mp4)], rgb) <= levels
    assert off(by_opencv(mp4), rgb) <= levels


def test_noise_is_lossless_too(tmp_path):
    noise = np.random.default_rng(0).integers(0, 256, (6, 31, 47, 3), np.uint8)
    with CanonicalWriter(tmp_path / "noise.mp4", 47, 31, "lossless") as writer:
        for rgb in noise:
            writer.add(rgb)
    frames = [frame for _, frame in read_frames(tmp_path / "noise.mp4", start=2)]
    assert all((frame[:31, :47] == rgb).all() for frame, rgb in zip(frames, noise[2:], strict=True))


@pytest.mark.parametrize(
    ("codec", "pixels", "matrix", "span"),
    [("h264", "yuv420p", 1, 1), ("h264_444", "yuv444p", 1, 1), ("lossless", "gbrp", 0, 2)],
)
def test_the_file_says_which_colours_it_has(tmp_path, codec, pixels, matrix, span):
    with av.open(str(written(tmp_path / "a.mp4", patches(16, 0), codec))) as container:
        context = container.streams.video[0].codec_context
        assert (context.name, context.pix_fmt) == ("h264", pixels)
        assert (context.colorspace, context.color_range) == (matrix, span)
        assert (context.color_primaries, context.color_trc) == (1, 1)


@pytest.mark.parametrize("codec", CODECS)
def test_repeat_is_the_frame_as_it_was_when_added(tmp_path, codec):
    rgb = patches(16, 0)
    with CanonicalWriter(tmp_path / "repeated.mp4", rgb.shape[1], rgb.shape[0], codec) as writer:
        buffer = rgb.copy()
        writer.add(buffer)
        buffer[:] = 0  # a caller may use its buffer for the next frame
        for _ in range(FRAMES - 1):
            writer.repeat()
    assert file_sha256(tmp_path / "repeated.mp4") == file_sha256(written(tmp_path / "added.mp4", rgb, codec))


def test_encodings_are_told_apart_and_an_unknown_codec_is_refused(tmp_path):
    assert len({encoding(codec) for codec in CODECS}) == len(CODECS) == 4
    with pytest.raises(ValueError, match="'vp9' is unknown; there are h264, h264_small, h264_444, lossless"):
        CanonicalWriter(tmp_path / "x.mp4", 64, 48, "vp9")
    assert list(tmp_path.iterdir()) == []
