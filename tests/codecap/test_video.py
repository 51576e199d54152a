"""Canonical clips as streams: what is written is what is read, from any frame on, and a broken file is never taken for whole."""

from __future__ import annotations

import errno
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from codecap import video
from codecap.video import CanonicalWriter, VideoError, VideoInfo, pad_to_even, probe, read_frames

FRAMES = 110  # more than two key frame intervals


def shade(number: int) -> np.ndarray:
    return np.full((32, 48, 3), (40 + number, 200 - number, 100), np.uint8)


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("clip") / "shades.mp4"
    with CanonicalWriter(path, 48, 32) as writer:
        for number in range(FRAMES):
            writer.add(shade(number))
    return path


def test_probe(clip):
    assert probe(clip) == VideoInfo(frames=FRAMES, width_px=48, height_px=32)
    assert probe(clip).duration_s == pytest.approx(FRAMES / 24)


def test_frames_come_back_in_their_colours(clip):
    for number, (index, rgb) in enumerate(read_frames(clip)):
        assert index == number
        assert np.abs(rgb.astype(int) - shade(number)).max() <= 3
    assert number == FRAMES - 1


@pytest.mark.parametrize("start", [0, 1, 46, 47, 48, 49, 95, 96, 97, 109])
@pytest.mark.parametrize("length", [1, 5, None])
def test_a_window_holds_the_same_frames_as_the_whole(clip, start, length):
    stop = None if length is None else start + length
    window = list(read_frames(clip, start, stop))
    assert [index for index, _ in window] == list(range(start, min(stop or FRAMES, FRAMES)))
    for index, rgb in window:
        assert np.abs(rgb.astype(int) - shade(index)).max() <= 3


def test_nothing_lies_behind_the_end(clip):
    assert list(read_frames(clip, FRAMES, FRAMES + 5)) == []
    assert list(read_frames(clip, 5, 5)) == []


def test_the_file_says_how_it_is_to_be_shown(clip):
    with av.open(str(clip)) as container:
        stream = container.streams.video[0]
        context = stream.codec_context
        assert len(container.streams) == 1
        assert (context.name, context.pix_fmt, stream.average_rate) == ("h264", "yuv420p", 24)
        assert {context.colorspace, context.color_primaries, context.color_trc, context.color_range} == {1}
        keys = [packet.pts * stream.time_base * 24 for packet in container.demux(stream) if packet.size and packet.is_keyframe]
    assert keys[0] == 0 and max(np.diff([*keys, FRAMES])) <= video.KEYFRAME_INTERVAL


def test_same_frames_same_bytes(tmp_path):
    rng = np.random.default_rng(0)
    frames = rng.integers(0, 256, (8, 32, 48, 3), np.uint8)
    for name in ("a.mp4", "b.mp4"):
        with CanonicalWriter(tmp_path / name, 48, 32) as writer:
            for rgb in frames:
                writer.add(rgb)
    assert (tmp_path / "a.mp4").read_bytes() == (tmp_path / "b.mp4").read_bytes()


def test_repeat_is_the_same_as_adding_again(tmp_path):
    with CanonicalWriter(tmp_path / "added.mp4", 48, 32) as added, CanonicalWriter(tmp_path / "repeated.mp4", 48, 32) as repeated:
        for number in (1, 60):
            repeated.add(shade(number))
            for _ in range(3):
                added.add(shade(number))
            repeated.repeat()
            repeated.repeat()
    assert (tmp_path / "added.mp4").read_bytes() == (tmp_path / "repeated.mp4").read_bytes()
    with CanonicalWriter(tmp_path / "x.mp4", 48, 32) as writer:
        with pytest.raises(ValueError, match="no frame yet"):
            writer.repeat()
        writer.add(shade(0))


def test_odd_sizes_are_padded_by_their_edge(tmp_path):
    rgb = np.arange(3 * 5 * 3, dtype=np.uint8).reshape(3, 5, 3)
    padded = pad_to_even(rgb)
    assert padded.shape == (4, 6, 3)
    assert (padded[:3, :5] == rgb).all() and (padded[3] == padded[2]).all() and (padded[:, 5] == padded[:, 4]).all()
    with CanonicalWriter(tmp_path / "odd.mp4", 47, 31) as writer:
        writer.add(np.zeros((31, 47, 3), np.uint8))
    assert probe(tmp_path / "odd.mp4") == VideoInfo(frames=1, width_px=48, height_px=32)


def test_a_frame_of_another_size_is_refused_and_nothing_stays(tmp_path):
    with (
        pytest.raises(ValueError, match=r"frame of shape \(16, 16, 3\) in a 48x32 video"),
        CanonicalWriter(tmp_path / "x.mp4", 48, 32) as writer,
    ):
        writer.add(shade(0))
        writer.add(np.zeros((16, 16, 3), np.uint8))
    assert list(tmp_path.iterdir()) == []


def test_a_clip_without_a_frame_is_refused_and_nothing_stays(tmp_path):
    with pytest.raises(ValueError, match="at least one frame"), CanonicalWriter(tmp_path / "x.mp4", 48, 32):
        pass
    assert list(tmp_path.iterdir()) == []


def test_the_name_appears_only_when_the_file_is_whole(tmp_path):
    path = tmp_path / "deeper" / "x.mp4"
    with CanonicalWriter(path, 48, 32) as writer:
        writer.add(shade(0))
        assert not path.exists()
    assert [file.name for file in path.parent.iterdir()] == ["x.mp4"]


def test_a_file_that_ends_early_is_an_error(clip, tmp_path):
    data = clip.read_bytes()
    path = tmp_path / "cut.mp4"
    path.write_bytes(data[: len(data) - 60])
    with pytest.raises(VideoError, match=str(path)):
        list(read_frames(path))


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [("empty.mp4", b"", "cannot be opened"), ("text.mp4", b"words " * 50, "cannot be opened"), ("gone.mp4", None, "No such file")],
)
def test_what_is_no_video_says_so(tmp_path, name, content, says):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(VideoError, match=says):
        probe(tmp_path / name)


def test_a_video_without_frames_or_on_another_clock(tmp_path):
    for name, rate, frames in (("none.mp4", 24, 0), ("slow.mp4", 25, 3)):
        with av.open(str(tmp_path / name), "w") as container:
            stream = container.add_stream("libx264", rate=rate)
            stream.width, stream.height, stream.pix_fmt = 48, 32, "yuv420p"
            container.start_encoding()
            for number in range(frames):
                container.mux(stream.encode(av.VideoFrame.from_ndarray(shade(number), format="rgb24")))
            container.mux(stream.encode(None))
    with pytest.raises(VideoError, match=r"holds no frame|no video stream|cannot be opened"):
        probe(tmp_path / "none.mp4")
    with pytest.raises(VideoError, match="25 fps, not 24; run `codecap ingest`"):
        probe(tmp_path / "slow.mp4")


def test_frames_are_counted_where_the_header_does_not(tmp_path):
    path = tmp_path / "fragments.mp4"
    with av.open(str(path), "w", options={"movflags": "frag_keyframe+empty_moov"}) as container:
        stream = container.add_stream("libx264", rate=24)
        stream.width, stream.height, stream.pix_fmt, stream.time_base = 48, 32, "yuv420p", Fraction(1, 24)
        for number in range(7):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(shade(number), format="rgb24")))
        container.mux(stream.encode(None))
    assert probe(path).frames == 7


def test_colours_of_a_frame_that_names_none_are_bt709():
    frame = av.VideoFrame.from_ndarray(np.full((3, 16, 16), 128, np.uint8), format="yuv444p")
    frame.planes[0].update(bytes([63]) * frame.planes[0].buffer_size)  # BT.709 of pure red: Y 63, Cb 102, Cr 240
    frame.planes[1].update(bytes([102]) * frame.planes[1].buffer_size)
    frame.planes[2].update(bytes([240]) * frame.planes[2].buffer_size)
    assert np.abs(video.to_rgb(frame).astype(int) - [255, 0, 0]).max() <= 2


FULL = """
import sys
from pathlib import Path
import numpy as np
from codecap.video import CanonicalWriter
rng = np.random.default_rng(0)
writer = CanonicalWriter(Path(sys.argv[1]), 640, 360)
for number in range(60):
    try:
        writer.add(rng.integers(0, 256, (360, 640, 3), np.uint8))
    except OSError as error:
        print(writer.frames, error.errno, error.filename, flush=True)
for further in (writer.repeat, writer.close, writer.close):
    try:
        further()
    except OSError as error:
        print(further.__name__, error.errno, flush=True)
"""


def test_a_full_disk_is_the_same_error_ever_after_and_nothing_stays(small_disk):
    """In a process of its own: an encoder that is given more after a failure crashes it."""
    path = small_disk / "x.mp4"
    run = subprocess.run([sys.executable, "-c", FULL, str(path)], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr[-2000:]
    *added, repeated, closed, again = run.stdout.splitlines()
    assert len(set(added)) == 1  # no frame counts once one was lost
    frames, number, name = added[0].split()
    assert (int(number), name) == (errno.ENOSPC, str(path))
    assert len(added) == 60 - int(frames) > 10
    assert [repeated, closed, again] == [f"{name} {errno.ENOSPC}" for name in ("repeat", "close", "close")]
    assert list(small_disk.iterdir()) == []
