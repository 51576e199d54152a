"""A video's likeness to its frames, checked on videos made by another encoder in both colour matrices."""

from __future__ import annotations

from pathlib import Path

import av
import cv2
import numpy as np
import pytest
from skimage.metrics import structural_similarity

from codecap.bench.fidelity import decode_png, video_ssim
from codecap.video import to_rgb

FRAMES, WIDTH_PX, HEIGHT_PX = 8, 384, 256


def picture(index: int) -> np.ndarray:
    rgb = np.full((HEIGHT_PX, WIDTH_PX, 3), (200, 60, 30), np.uint8)
    rgb[64:192, 8 * index : 8 * index + 128] = (30, 120, 220)
    return rgb


def png(rgb: np.ndarray) -> bytes:
    return cv2.imencode(".png", rgb[:, :, ::-1])[1].tobytes()


def video(path: Path, frames: list[np.ndarray], matrix: str, tag: int | None, quality: str = "10") -> Path:
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=24, options={"crf": quality})
        stream.width, stream.height, stream.pix_fmt = WIDTH_PX, HEIGHT_PX, "yuv420p"
        if tag is not None:
            stream.codec_context.colorspace = tag
        for rgb in frames:
            frame = av.VideoFrame.from_ndarray(rgb, format="rgb24").reformat(format="yuv420p", dst_colorspace=matrix)
            if tag is None:
                frame.colorspace = 2
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


@pytest.mark.parametrize(("matrix", "tag"), [("ITU601", None), ("ITU709", None), ("ITU709", 1), ("ITU601", 5)])
def test_colours_are_read_as_they_were_written(tmp_path, matrix, tag):
    frames = [picture(index) for index in range(FRAMES)]
    found = video_ssim(video(tmp_path / "clip.mp4", frames, matrix, tag), [png(rgb) for rgb in frames])
    assert found > 0.986  # the other matrix gives 0.98


def test_the_likeness_is_that_of_another_implementation(tmp_path):
    frames = [picture(index) for index in range(FRAMES)]
    mp4 = video(tmp_path / "clip.mp4", frames, "ITU709", 1, quality="40")
    with av.open(str(mp4)) as container:
        decoded = [to_rgb(frame) for frame in container.decode(video=0)]
    expected = [
        structural_similarity(a, b, channel_axis=2, data_range=255, gaussian_weights=True, sigma=1.5, use_sample_covariance=False)
        for a, b in zip(decoded, frames, strict=True)
    ]
    found = video_ssim(mp4, [png(rgb) for rgb in frames])
    assert found == pytest.approx(sum(expected) / FRAMES, abs=1e-4)
    assert found < 0.992


def test_a_late_video_is_less_alike(tmp_path):
    frames = [picture(index) for index in range(FRAMES)]
    mp4 = video(tmp_path / "clip.mp4", frames, "ITU709", 1)
    late = [png(rgb) for rgb in [frames[0], *frames[:-1]]]
    assert video_ssim(mp4, late) < video_ssim(mp4, [png(rgb) for rgb in frames]) - 0.02


def test_a_late_video_of_a_program_that_keeps_the_time_itself_is_compared_at_its_own_time(tmp_path):
    frames = [picture(index) for index in range(FRAMES)]
    mp4 = video(tmp_path / "clip.mp4", [frames[0], frames[0], *frames[:-2]], "ITU709", 1)
    pngs = [png(rgb) for rgb in frames]
    assert video_ssim(mp4, pngs, most_late=1) < 0.98
    assert video_ssim(mp4, pngs, most_late=3) > 0.986


def test_a_video_with_a_frame_too_few_is_told(tmp_path):
    frames = [picture(index) for index in range(FRAMES)]
    mp4 = video(tmp_path / "clip.mp4", frames[:-1], "ITU709", 1)
    with pytest.raises(ValueError, match="7 frames, 8 were asked for"):
        video_ssim(mp4, [png(rgb) for rgb in frames])


def test_a_picture_comes_back_in_red_green_blue():
    assert np.array_equal(decode_png(png(picture(3))), picture(3))
