"""Frame truth: each frame of the 24 fps clock shows the picture whose number METRICS gives, for every kind of input."""

from __future__ import annotations

import dataclasses
import math
import struct
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image

from codecap.collect.onscreen import on_screen
from codecap.video import VideoError

MS = Fraction(1, 1000)
TS = Fraction(1, 90_000)
QUIET = {"x265-params": "log-level=none:keyint=12"}


@pytest.fixture
def shown(read_number):
    """`shown(path, ...)`: the number that each frame shows."""

    def numbers(path: Path, **part) -> list[int]:
        return [number for one in on_screen(path, **part) for number in [read_number(one.rgb())] * (one.stop - one.start)]

    return numbers


def by_hand(starts_s: Iterable[Fraction], end_s: Fraction) -> list[int]:
    """METRICS: for each i with i / 24 before the end, the number of the last picture that starts at or before i / 24."""
    starts_s = list(starts_s)
    return [
        max(number for number, start_s in enumerate(starts_s) if start_s <= Fraction(i, 24)) for i in range(math.ceil(end_s * 24))
    ]


@pytest.mark.parametrize(
    ("name", "codec", "pix_fmt", "options"),
    [
        ("h264_b_frames.mp4", "libx264", "yuv420p", {"bf": "3", "b-adapt": "0"}),
        ("h264_b_frames.avi", "libx264", "yuv420p", {"bf": "3", "b-adapt": "0"}),  # AVI holds no time of showing
        ("h264.flv", "libx264", "yuv420p", {"bf": "2"}),
        ("raw.h264", "libx264", "yuv420p", {"bf": "2"}),  # no times at all
        ("hevc.mp4", "libx265", "yuv420p", QUIET),
        ("hevc_10bit.mkv", "libx265", "yuv420p10le", QUIET),
        ("raw.hevc", "libx265", "yuv420p", QUIET),
        ("av1.mp4", "libsvtav1", "yuv420p", {"preset": "12"}),
        ("av1_10bit.webm", "libsvtav1", "yuv420p10le", {"preset": "12"}),
        ("vp8.webm", "libvpx", "yuv420p", {"deadline": "realtime", "cpu-used": "8", "auto-alt-ref": "1", "lag-in-frames": "8"}),
        ("vp9.mp4", "libvpx-vp9", "yuv420p", None),
        ("vp9_444.webm", "libvpx-vp9", "yuv444p", None),
        ("mpeg2.ts", "mpeg2video", "yuv420p", {"bf": "2"}),
        ("mpeg2.mpg", "mpeg2video", "yuv420p", {"bf": "2"}),
        ("mpeg4.avi", "mpeg4", "yuv420p", {"bf": "2"}),
        ("mjpeg.avi", "mjpeg", "yuvj420p", None),
        ("prores.mov", "prores_ks", "yuv422p10le", None),
        ("ffv1.mkv", "ffv1", "yuv444p", None),
        ("animation.mov", "qtrle", "rgb24", None),
        ("media.wmv", "wmv2", "yuv420p", None),
    ],
)
def test_codecs_and_containers(film, shown, name, codec, pix_fmt, options):
    source = film(name, range(40), Fraction(1, 25), rate=25, codec=codec, pix_fmt=pix_fmt, options=options)
    assert shown(source) == by_hand((Fraction(k, 25) for k in range(40)), Fraction(40, 25))


@pytest.mark.parametrize(
    "rate", [Fraction(5), Fraction(15), Fraction(24000, 1001), Fraction(30000, 1001), Fraction(50), Fraction(60)]
)
@pytest.mark.parametrize("name", ["rate.mp4", "rate.mkv", "rate.ts"])
def test_rates(film, shown, name, rate):
    pictures = math.ceil(rate * 2)
    source = film(name, range(pictures), 1 / rate, rate=rate, options={"bf": "2"})
    assert shown(source) == by_hand((k / rate for k in range(pictures)), pictures / rate)


DELAYS_MS = [70, 560, 40, 1000, 130]


@pytest.mark.parametrize("name", ["delays.gif", "delays.png", "delays.webp", "delays.avif"])
def test_pictures_with_delays(tmp_path, draw_number, shown, name):
    pictures = [Image.fromarray(draw_number(number)) for number in range(len(DELAYS_MS))]
    pictures[0].save(tmp_path / name, save_all=True, append_images=pictures[1:], duration=DELAYS_MS)
    starts_s = [sum(DELAYS_MS[:number]) * MS for number in range(len(DELAYS_MS))]
    assert shown(tmp_path / name) == by_hand(starts_s, sum(DELAYS_MS) * MS)


def boxes(data: bytes, start: int, stop: int) -> dict[bytes, tuple[int, int]]:
    """Place and size of an MP4's boxes between two places."""
    found = {}
    while start < stop:
        size, kind = struct.unpack_from(">I4s", data, start)
        found[kind] = start, size
        start += size
    return found


def with_edits(path: Path, edits: list[tuple[int, int]]) -> Path:
    """A copy of an MP4 that shows these stretches of its media: milliseconds, and tick to begin at (ISO/IEC 14496-12, 8.6.6)."""
    data = bytearray(path.read_bytes())
    around, start, stop = [], 0, len(data)
    for kind in (b"moov", b"trak", b"edts", b"elst"):  # moov is the last box: what is before it stays where it is
        place, size = boxes(data, start, stop)[kind]
        around.append(place)
        start, stop = place + 8, place + size
    entries = b"".join(struct.pack(">Iii", length_ms, media_time, 0x10000) for length_ms, media_time in edits)
    content = struct.pack(">II", 0, len(edits)) + entries
    data[start:stop] = content
    for place in around:
        struct.pack_into(">I", data, place, struct.unpack_from(">I", data, place)[0] + len(content) - (stop - start))
    edited = path.with_name("edited.mp4")
    edited.write_bytes(data)
    return edited


@pytest.mark.parametrize(
    ("edits", "wanted"),
    [
        ([(500, 31 * 512)], list(range(31, 43))),  # what is before the edit is decoded, but not shown
        ([(500, -1), (500, 31 * 512)], list(range(31, 43))),  # nothing for half a second: the clock starts with the first picture
        ([(500, 30 * 512), (250, 5 * 512)], [*range(30, 42), *range(5, 11)]),
        ([(250, 7 * 512), (250, 7 * 512)], [*range(7, 13), *range(7, 13)]),
    ],
)
def test_edit_lists(film, shown, edits, wanted):
    edited = with_edits(film("whole.mp4", range(60), options={"bf": "0", "g": "25"}), edits)
    assert shown(edited) == wanted
    assert shown(edited, start=8) == wanted[8:]


def test_edit_list_that_leaves_out_what_is_before_zero(film, copy_packets, shown):
    def ten_earlier(_: int, packet) -> None:
        packet.pts, packet.dts = packet.pts - 10 * 512, packet.dts - 10 * 512

    whole = film("whole.mp4", range(40), options={"bf": "2", "g": "25"})
    cut = copy_packets(whole, whole.with_name("cut.mp4"), ten_earlier, {"use_editlist": "1", "avoid_negative_ts": "disabled"})
    assert shown(cut) == list(range(10, 40))


@pytest.mark.parametrize(("name", "codec"), [("late.ts", "libx264"), ("late.mkv", "mpeg4"), ("late.webm", "libvpx-vp9")])
def test_recording_that_begins_between_two_key_frames(film, copy_packets, shown, name, codec):
    """What comes before the first key frame needs pictures that are not there; the clock starts with the key frame."""
    noise = np.random.default_rng(0).integers(0, 2, (32, 64), np.uint8).repeat(3, 0) * 255
    pictures = [np.repeat(np.roll(noise, 2 * number, 1)[..., None], 3, 2) for number in range(30)]
    for number, picture in enumerate(pictures):
        picture[:72] = 0
        picture[:72] = [[[255 * (number >> (x // 8) & 1)] * 3 for x in range(64)]]
    key_at_12 = {"g": "12", "bf": "0"} | ({"x264-params": "scenecut=0:keyint=12:min-keyint=12"} if codec == "libx264" else {})
    whole = film(f"whole{Path(name).suffix}", range(30), codec=codec, pictures=pictures, options=key_at_12)
    cut = copy_packets(whole, whole.with_name(name), lambda number, _: number >= 5)
    assert shown(cut) == list(range(12, 30))


def test_mp4_without_times_of_showing(film, copy_packets, shown):
    """Some recorders write the time of decoding alone, though pictures are decoded out of order."""

    def without(_: int, packet) -> None:
        packet.dts += 2 * 512
        packet.pts = packet.dts

    whole = film("whole.mp4", range(40), options={"bf": "2", "b-adapt": "0"})
    assert shown(copy_packets(whole, whole.with_name("without.mp4"), without)) == list(range(40))


def test_one_timestamp_is_wrong(film, copy_packets, shown):
    """The picture comes when the one before it goes."""

    def four_later(number: int, packet) -> None:
        if number == 11:
            packet.pts += 4 * 512

    whole = film("whole.mp4", range(30), options={"bf": "0"})
    assert shown(copy_packets(whole, whole.with_name("wrong.mp4"), four_later)) == list(range(30))


@pytest.mark.parametrize("b_frames", ["0", "2"])
def test_count_that_begins_anew(film, draw_number, shown, b_frames):
    """Two recordings in one file: the second one's pictures follow the first one's."""
    pictures = [draw_number(number) for number in range(40)]
    one = film("one.ts", range(20), pictures=pictures[:20], options={"bf": b_frames})
    two = film("two.ts", range(20), pictures=pictures[20:], options={"bf": b_frames})
    both = one.with_name("both.ts")
    both.write_bytes(one.read_bytes() + two.read_bytes())
    assert shown(both) == list(range(40))


def test_avi_whose_first_packet_is_apart(film, shown):
    """AVI counts packets; a muxer that was given a late first picture leaves a gap after it, in the order of decoding."""
    source = film("gap.avi", range(5, 45), options={"bf": "3", "x264-params": "keyint=3:min-keyint=1:b-adapt=1"})
    assert shown(source) == list(range(40))


def test_a_first_packet_without_a_time_of_decoding(film, shown):
    """Matroska holds none; of the first picture it cannot be told, and it is shown first all the same."""
    options = {"x264-params": "keyint=3:min-keyint=1:scenecut=40:open-gop=1:bframes=5:b-adapt=0"}
    source = film("first.mkv", range(60), Fraction(1, 60), rate=60, options=options)
    whole = shown(source)
    assert whole == by_hand((Fraction(k, 60) for k in range(60)), Fraction(1))
    assert shown(source, start=15, stop=20) == whole[15:20]


def test_variable_rate(film, shown):
    pts = [0, 100, 150, 400, 420, 700, 710, 1500, 1510, 1600, 1700]
    for name in ("vfr.mp4", "vfr.mkv"):
        found = shown(film(name, pts, MS, options={"bf": "2"}))
        assert found[:40] == by_hand([stamp * MS for stamp in pts], Fraction(5, 3))


def test_a_part_has_the_frames_of_the_whole(film, shown):
    source = film("x.mp4", range(120), Fraction(1, 30), rate=30, options={"g": "12"})
    whole = shown(source)
    for start, stop in [(0, 5), (1, 2), (17, 63), (40, None), (95, 96), (95, None)]:
        assert shown(source, start=start, stop=stop) == whole[start:stop]


def test_a_part_of_a_picture_that_stays(tmp_path, draw_number, shown):
    pictures = [Image.fromarray(draw_number(number)) for number in range(3)]
    for name in ("x.webp", "x.gif"):
        pictures[0].save(tmp_path / name, save_all=True, append_images=pictures[1:], duration=[100, 5000, 100])
        assert shown(tmp_path / name, start=50, stop=60) == [1] * 10


def test_a_part_that_is_not_there(film, shown):
    source = film("x.mp4", range(30), options={"g": "12"})
    for start, stop in [(20, 31), (30, 40), (500, 600), (30, None), (500, None)]:
        with pytest.raises(VideoError, match=rf"x.mp4: frames {start} .* asked for, but at 24 a second it has 30"):
            shown(source, start=start, stop=stop)
    for start, stop in [(-1, 4), (4, 4), (5, 4)]:
        with pytest.raises(ValueError, match="are none"):
            shown(source, start=start, stop=stop)


def test_odd_sizes_are_told(film, draw_number):
    source = film("odd.mp4", range(3), pictures=[draw_number(1, 65, 49)] * 3, pix_fmt="yuv444p")
    assert {(one.width_px, one.height_px, one.rgb().shape) for one in on_screen(source)} == {(65, 49, (49, 65, 3))}


def noisy(film, name: str, size: tuple[int, int], pix_fmt: str, interlaced: int) -> bytes:
    """Eight pictures of noise of one mean, whose parameters are told with each key frame."""
    pictures = np.random.default_rng(0).integers(0, 256, (8, *size, 3), np.uint8)
    options = {"x264-params": f"bframes=0:repeat-headers=1:interlaced={interlaced}", "crf": "4"}
    return film(name, range(8), pictures=pictures, pix_fmt=pix_fmt, options=options).read_bytes()


@pytest.mark.parametrize("forms", [("yuv420p", "yuv422p10le"), ("yuv422p10le", "yuv420p")])
def test_pixel_formats_change_among_interlaced_pictures(film, tmp_path, forms):
    """A filter for one format makes rubbish of another."""
    both = tmp_path / "both.ts"
    both.write_bytes(b"".join(noisy(film, f"{form}.ts", (48, 64), form, interlaced=1) for form in forms))
    means = [one.rgb().mean() for one in on_screen(both)]
    assert len(means) == 16 and means == pytest.approx([127.5] * 16, abs=8)


@pytest.mark.parametrize("interlaced", [0, 1])
def test_size_changes(film, tmp_path, interlaced):
    changing = tmp_path / "changing.ts"
    films = [noisy(film, f"{size[0]}.ts", size, "yuv420p", interlaced) for size in ((80, 96), (48, 64))]
    changing.write_bytes(b"".join(films))
    with pytest.raises(VideoError, match=r"changes from 96x80 to 64x48 at 0.333 s"):
        list(on_screen(changing))


def test_pixels_that_ffmpeg_cannot_convert(film):
    source = film("x.nut", [0, 1], codec="rawvideo", pix_fmt="rgb24")
    (first, *_) = on_screen(source)
    packed = dataclasses.replace(first, _frame=av.VideoFrame(64, 48, "rgb4"))
    with pytest.raises(VideoError, match=r"x.nut: has pixels of the form rgb4, which cannot be shown"):
        packed.rgb()


def test_pixels_that_are_very_long(film, shown):
    def long(stream) -> None:
        stream.codec_context.sample_aspect_ratio = Fraction(32, 1)

    source = film("long.mp4", [0], pictures=[np.zeros((1024, 2112, 3), np.uint8)], set_up=long)
    with pytest.raises(VideoError, match=r"is 67584x1024 px large, more than 67108864 px in all"):
        shown(source)
