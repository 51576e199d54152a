"""What is shown when, against timestamps that the test itself wrote, and against Pillow's delays for a GIF."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image

from codecap.collect.opening import open_video
from codecap.collect.shown import shown_frames
from codecap.video import VideoError

MS = Fraction(1, 1000)
NO_B_FRAMES = {"bf": "0"}


def times(path: Path, tolerance_s: float = 0.5) -> list[tuple[Fraction, Fraction]]:
    video = open_video(path)
    with video.container:
        return [(shown.start_s, shown.end_s) for shown in shown_frames(video, tolerance_s)]


@pytest.mark.parametrize("options", [NO_B_FRAMES, {"bf": "2", "b-adapt": "0"}])
def test_variable_frame_rate_keeps_each_timestamp(film, options):
    pts = [0, 100, 150, 400, 420, 700, 710, 1500, 1510, 1600]
    found = times(film("vfr.mp4", pts, MS, options=options))
    assert [start for start, _ in found] == [Fraction(stamp, 1000) for stamp in pts]
    assert [end for _, end in found[:-1]] == [Fraction(stamp, 1000) for stamp in pts[1:]]


def test_time_starts_with_the_first_picture(film):
    found = times(film("late.mp4", [36 + k for k in range(6)]))
    assert found == [(Fraction(k, 24), Fraction(k + 1, 24)) for k in range(6)]


@pytest.mark.parametrize("name", ["rounded.mkv", "rounded.webm"])
@pytest.mark.parametrize("first", [0, 5])
def test_milliseconds_stand_for_the_instants_they_were_rounded_from(film, name, first):
    codec = "libvpx-vp9" if name.endswith("webm") else "libx264"
    found = times(film(name, [first + k for k in range(25)], codec=codec))
    assert found == [(Fraction(k, 24), Fraction(k + 1, 24)) for k in range(25)]


def test_stream_without_timestamps_runs_at_its_nominal_rate(film):
    found = times(film("raw.h264", range(10), Fraction(1, 30), rate=30, options=NO_B_FRAMES))
    assert found == [(Fraction(k, 30), Fraction(k + 1, 30)) for k in range(10)]


def test_gif_delays_are_those_that_pillow_reads(tmp_path, draw_number):
    delays_ms = [70, 560, 40, 20, 1000, 130]
    pictures = [Image.fromarray(draw_number(number)) for number in range(len(delays_ms))]
    path = tmp_path / "delays.gif"
    pictures[0].save(path, save_all=True, append_images=pictures[1:], duration=delays_ms, loop=0)
    with Image.open(path) as gif:
        by_pillow = []
        for number in range(gif.n_frames):
            gif.seek(number)
            by_pillow.append(gif.info["duration"])
    assert [(end - start) * 1000 for start, end in times(path)] == by_pillow == delays_ms


def test_interlaced_pictures_lose_their_combs_and_keep_their_times(film):
    def combed(step: int) -> np.ndarray:
        picture = np.zeros((96, 128, 3), np.uint8)
        picture[0::2, 4 * step : 4 * step + 20] = 255
        picture[1::2, 4 * step + 2 : 4 * step + 22] = 255
        return picture

    path = film(
        "interlaced.mp4",
        range(12),
        Fraction(1, 25),
        rate=25,
        pictures=[combed(step) for step in range(12)],
        options={"x264-params": "interlaced=1:tff=1", "crf": "10"},
    )
    video = open_video(path)
    with video.container:
        shown = [(one.start_s, one.end_s, one.frame.to_ndarray(format="gray").astype(int)) for one in shown_frames(video, 0.5)]
    assert [(start, end) for start, end, _ in shown] == [(Fraction(k, 25), Fraction(k + 1, 25)) for k in range(12)]
    combs = [np.abs(np.diff(picture, axis=0)).mean() for _, _, picture in shown]
    as_stored = np.abs(np.diff(combed(5)[..., 0].astype(int), axis=0)).mean()
    assert max(combs[1:-1]) < as_stored / 10


def sound_only(path: Path) -> None:
    with av.open(str(path), "w") as container:
        stream = container.add_stream("aac", rate=8000, layout="mono")
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 8000), np.float32), format="fltp", layout="mono")
        frame.sample_rate = 8000
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


def no_frame(path: Path) -> None:
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=24)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        container.start_encoding()


@pytest.mark.parametrize(
    ("name", "write", "says"),
    [
        ("empty.mp4", lambda path: path.write_bytes(b""), "is empty; fetch"),
        ("text.mp4", lambda path: path.write_text("no video\n" * 20), "is no video that FFmpeg can read"),
        ("list.mp4", lambda path: path.write_text("ffconcat version 1.0\nfile other.mp4\n"), "is no video|has no video stream"),
        ("words.mp4", lambda path: path.write_text("1\n00:00:00,000 --> 00:00:02,000\nhello\n"), "has no video stream"),
        ("sound.mp4", sound_only, "has no video stream, it is only audio"),
        ("none.mp4", no_frame, "no picture|no video"),
        ("folder.mp4", lambda path: path.mkdir(), "Is a directory"),
        ("missing.mp4", Path.exists, "No such file or directory; check the path"),
    ],
)
def test_what_is_no_video_says_so(tmp_path, name, write, says):
    path = tmp_path / name
    write(path)
    with pytest.raises(VideoError, match=says) as caught:
        times(path)
    assert str(caught.value).startswith(f"{path}: ")


@pytest.mark.parametrize("name", ["still.png", "still.jpg", "still.webp", "still.avif", "still.bmp"])
def test_one_picture_is_no_video(tmp_path, draw_number, name):
    Image.fromarray(draw_number(1)).save(tmp_path / name)
    with pytest.raises(VideoError, match=r"is a single picture \(\w+\); give a video"):
        times(tmp_path / name)


@pytest.mark.parametrize("index_first", [True, False])
@pytest.mark.parametrize("missing_bytes", [20, 4000])
def test_half_an_mp4_is_not_taken_for_a_whole_one(film, index_first, missing_bytes):
    noise = np.random.default_rng(0).integers(0, 256, (20, 48, 64, 3), np.uint8)
    whole = film("whole.mp4", range(20), pictures=noise)
    if index_first:
        remuxed = whole.with_name("index_first.mp4")
        with av.open(str(whole)) as source, av.open(str(remuxed), "w", options={"movflags": "+faststart"}) as target:
            stream = target.add_stream_from_template(source.streams.video[0])
            for packet in source.demux(video=0):
                if packet.size:
                    packet.stream = stream
                    target.mux(packet)
        whole = remuxed
    assert len(times(whole)) == 20
    cut = whole.with_name("cut.mp4")
    cut.write_bytes(whole.read_bytes()[:-missing_bytes])
    with pytest.raises(VideoError, match=r"cut short: it has \d+ of|was cut off"):
        times(cut)


def test_zeros_in_place_of_the_end_are_noticed(film):
    noise = np.random.default_rng(0).integers(0, 256, (20, 48, 64, 3), np.uint8)
    path = film("zeros.mp4", range(20), pictures=noise, options={**NO_B_FRAMES, "movflags": "+faststart"})
    data = bytearray(path.read_bytes())
    start, stop = data.index(b"mdat"), data.rindex(b"moov")
    if start > stop:
        start, stop = start, len(data)
    data[(start + stop) // 2 : stop - 8] = bytes(stop - 8 - (start + stop) // 2)
    path.write_bytes(data)
    with pytest.raises(VideoError, match=r"is damaged (at|after)"):
        times(path)


@pytest.mark.parametrize(("name", "codec"), [("short.webm", "libvpx-vp9"), ("short.mkv", "libx264")])
def test_a_matroska_that_ends_before_its_header_says(film, name, codec):
    noise = np.random.default_rng(0).integers(0, 256, (72, 48, 64, 3), np.uint8)
    path = film(name, range(72), codec=codec, pictures=noise)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(VideoError, match=r"cut short|damaged"):
        times(path)


def test_half_a_gif(tmp_path, draw_number):
    pictures = [Image.fromarray(draw_number(number)) for number in range(10)]
    path = tmp_path / "half.gif"
    pictures[0].save(path, save_all=True, append_images=pictures[1:], duration=100)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 2 // 3])
    with pytest.raises(VideoError, match=r"end mark of a GIF is missing|damaged"):
        times(path)


def test_sound_that_outlasts_the_picture_is_no_damage(film):
    assert len(times(film("sound.mkv", range(24), sound_s=3))) == 24


def test_no_permission(film):
    import os

    path = film("closed.mp4", range(3))
    path.chmod(0)
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)  # the superuser may read everything
    try:
        with pytest.raises(VideoError, match="Permission denied"):
            times(path)
    finally:
        if root:
            os.seteuid(0)


def test_a_timestamp_that_is_hours_away(film, copy_packets):
    def last_is_late(number: int, packet) -> None:
        if number == 9:
            packet.pts += 10_000_000
            packet.dts += 10_000_000

    path = copy_packets(film("x.mkv", range(10), options=NO_B_FRAMES), film("late.mkv", [0]), last_is_late)
    with pytest.raises(VideoError, match=r"by its timestamps one picture, at 0.33 s, stays for 10000 s; cut it there"):
        times(path)


@pytest.mark.parametrize(("name", "place", "width", "height"), [("x.gif", 6, 2, 2), ("x.webp", 24, 3, 3)])
def test_too_large(tmp_path, draw_number, name, place, width, height):
    """By what the header says: nothing of that size is made."""
    pictures = [Image.fromarray(draw_number(number)) for number in range(3)]
    pictures[0].save(tmp_path / name, save_all=True, append_images=pictures[1:], duration=100)
    data = bytearray((tmp_path / name).read_bytes())
    less = 1 if name.endswith("webp") else 0
    data[place : place + width] = (9000 - less).to_bytes(width, "little")
    data[place + width : place + width + height] = (8000 - less).to_bytes(height, "little")
    (tmp_path / name).write_bytes(data)
    with pytest.raises(VideoError, match=r"is 9000x8000 px large, more than 67108864 px in all; scale it down first"):
        times(tmp_path / name)
