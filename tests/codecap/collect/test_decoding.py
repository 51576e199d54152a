"""A part is decoded from a key frame before it, and its pictures and times are, bit for bit, those of the whole."""

from __future__ import annotations

import hashlib
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from codecap.collect.decoding import Decoder
from codecap.collect.opening import open_video
from codecap.collect.shown import Shown, shown_frames

X264 = "keyint=12:min-keyint=12:scenecut=0"
OPEN = f"{X264}:open-gop=1:bframes=3:b-adapt=0"
X265 = "log-level=none:keyint=12:min-keyint=12"
VPX = {"deadline": "realtime", "cpu-used": "8", "g": "12", "auto-alt-ref": "1", "lag-in-frames": "8"}
PICTURES = 48
LONG = 150  # times a film of PICTURES


def sliding(number: int) -> np.ndarray:
    """Texture that moves by three pixels a picture, so that each picture is made of the one before. uint8 RGB."""
    noise = np.random.default_rng(0).integers(0, 256, (32, 64, 3), np.uint8).repeat(2, 0).repeat(2, 1)
    return np.roll(noise, 3 * number, 1)


def facts(shown: Shown) -> tuple[Fraction, Fraction, str]:
    picture = shown.frame.to_ndarray(format="rgb24" if shown.frame.format.is_rgb else "yuv444p16le")
    return shown.start_s, shown.end_s, hashlib.md5(picture.tobytes()).hexdigest()


def all_shown(path: Path, since_s: Fraction | int = 0) -> list[tuple[Fraction, Fraction, str]]:
    video = open_video(path)
    with video.container:
        return [facts(shown) for shown in shown_frames(video, 0.5, since_s)]


def make(film, name: str, codec: str, options: dict[str, str], pix_fmt: str = "yuv420p", **more) -> Path:
    rate = Fraction(30000, 1001)
    pictures = [sliding(number) for number in range(PICTURES)]
    return film(
        name, range(PICTURES), 1 / rate, rate=rate, codec=codec, pix_fmt=pix_fmt, options=options, pictures=pictures, **more
    )


def same_from_everywhere(path: Path) -> int:
    """Checks parts from several instants on, by turns at a picture's beginning and within it: on a key frame, beside it, far from
    it. The fewest pictures that were decoded for one."""
    whole = all_shown(path)
    fewest = len(whole)
    for turn, number in enumerate((1, 12, 13, 30, len(whole) - 1)):
        since_s = whole[number][0] + turn % 2 * Fraction(1, 77)
        wanted = [one for one in whole if one[1] > since_s]
        found = all_shown(path, since_s)
        assert found[-len(wanted) :] == wanted
        fewest = min(fewest, len(found))
    return fewest


@pytest.mark.parametrize(
    ("name", "codec", "options"),
    [
        ("h264.mp4", "libx264", {"x264-params": X264}),
        ("h264_open.mp4", "libx264", {"x264-params": OPEN}),
        ("h264_open.mkv", "libx264", {"x264-params": OPEN}),
        ("h264_open.ts", "libx264", {"x264-params": OPEN}),
        ("h264.flv", "libx264", {"x264-params": X264}),
        ("h264_fragments.mp4", "libx264", {"x264-params": X264, "movflags": "frag_keyframe+empty_moov"}),
        ("interlaced.mp4", "libx264", {"x264-params": f"{X264}:interlaced=1:tff=1"}),
        ("interlaced.ts", "libx264", {"x264-params": f"{OPEN}:interlaced=1:tff=1"}),
        ("hevc_open.mp4", "libx265", {"x265-params": f"{X265}:open-gop=1"}),
        ("hevc_radl.mkv", "libx265", {"x265-params": f"{X265}:open-gop=0:radl=2"}),
        ("av1.mp4", "libsvtav1", {"preset": "12", "g": "12"}),
        ("av1.webm", "libsvtav1", {"preset": "12", "g": "12"}),
        ("vp8.webm", "libvpx", VPX),
        ("vp9.webm", "libvpx-vp9", VPX),
        ("vp9.mp4", "libvpx-vp9", VPX),
        ("mpeg2.ts", "mpeg2video", {"bf": "2", "g": "12"}),
        ("mpeg2.mpg", "mpeg2video", {"bf": "2", "g": "12"}),
        ("mpeg4.avi", "mpeg4", {"bf": "2", "g": "12"}),
        ("ffv1.mkv", "ffv1", {"g": "12"}),
    ],
)
def test_parts_are_equal_and_little_is_decoded(film, name, codec, options):
    assert same_from_everywhere(make(film, name, codec, options)) < PICTURES / 2


@pytest.mark.parametrize(
    ("name", "codec", "pix_fmt", "options"),
    [
        ("refreshed.mp4", "libx264", "yuv420p", {"x264-params": f"{X264}:intra-refresh=1"}),  # has no key picture but the first
        ("counted.avi", "libx264", "yuv420p", {"x264-params": X264}),  # its times are known only in order
        ("raw.h264", "libx264", "yuv420p", {"x264-params": X264}),
        ("animation.mov", "qtrle", "rgb24", {"g": "12"}),
        ("media.wmv", "wmv2", "yuv420p", {"g": "12"}),
        ("x.gif", "gif", "rgb8", {}),
        ("x.apng", "apng", "rgb24", {}),
    ],
)
def test_parts_are_equal_where_all_must_be_decoded(film, name, codec, pix_fmt, options):
    path = make(film, name, codec, options, pix_fmt)
    whole = all_shown(path)
    assert all_shown(path, whole[40][0]) == whole


def test_interlaced_among_whole_pictures(film, tmp_path):
    """The filter looks at both neighbours: it must meet the same ones."""
    progressive = make(film, "progressive.ts", "libx264", {"x264-params": f"{X264}:bframes=0"})
    interlaced = make(film, "interlaced.ts", "libx264", {"x264-params": f"{X264}:bframes=0:interlaced=1:tff=1"})
    mixed = tmp_path / "mixed.ts"
    with av.open(str(mixed), "w") as target:
        stream = None
        for part, path in enumerate([progressive, interlaced, progressive, interlaced]):
            with av.open(str(path)) as source:
                stream = stream or target.add_stream_from_template(source.streams.video[0])
                for packet in source.demux(video=0):
                    if packet.size:
                        packet.pts += part * PICTURES * 3003
                        packet.dts += part * PICTURES * 3003
                        packet.stream = stream
                        target.mux(packet)
    whole = all_shown(mixed)
    assert len(whole) == 4 * PICTURES
    for number in (2 * PICTURES + 30, 3 * PICTURES - 2, 3 * PICTURES - 1, 3 * PICTURES, 3 * PICTURES + 1):
        found = all_shown(mixed, whole[number][0])
        assert found[-(len(whole) - number) :] == whole[number:] and len(found) < PICTURES * 2


def test_edited_and_turned_parts(film, copy_packets):
    def ten_earlier(_: int, packet) -> None:
        packet.pts, packet.dts = packet.pts - 10010, packet.dts - 10010

    path = make(film, "turned.mp4", "libx264", {"x264-params": OPEN}, set_up=lambda stream: stream.set_display_rotation(90))
    cut = copy_packets(path, path.with_name("cut.mp4"), ten_earlier, {"use_editlist": "1", "avoid_negative_ts": "disabled"})
    assert same_from_everywhere(cut) < PICTURES / 2


def test_variable_rate(film):
    stamps = np.cumsum(np.random.default_rng(1).integers(5, 400, PICTURES)).tolist()
    pictures = [sliding(number) for number in range(PICTURES)]
    for name in ("vfr.mp4", "vfr.mkv"):
        path = film(name, stamps, Fraction(1, 1000), pictures=pictures, options={"x264-params": OPEN})
        assert same_from_everywhere(path) < PICTURES / 2


def test_a_long_film_is_not_decoded_up_to_its_part(film):
    """Some minutes; a part near its end costs two stretches between key frames."""
    source = make(film, "short.mp4", "libx264", {"x264-params": OPEN})
    last = (LONG - 1) * PICTURES * 1001
    long = source.with_name("long.mp4")
    with av.open(str(long), "w") as target:
        stream = None
        for turn in range(LONG):
            with av.open(str(source)) as film_again:
                stream = stream or target.add_stream_from_template(film_again.streams.video[0])
                for packet in film_again.demux(video=0):
                    if packet.size:
                        packet.pts += turn * PICTURES * 1001
                        packet.dts += turn * PICTURES * 1001
                        packet.stream = stream
                        target.mux(packet)
    video = open_video(long)
    with video.container:
        decoder = Decoder(video, 0.5)
        first = next(decoder.pictures())[0]
        wanted = first.pts + last + 30 * 1001
        landed = decoder.skip_to(wanted)
        assert [frame.pts for frame, _ in landed] == [wanted - 1001, wanted, wanted + 1001]
    short = all_shown(source)
    found = all_shown(long, Fraction(last, 30000))
    assert [picture for *_, picture in found[-PICTURES + 12 :]] == [picture for *_, picture in short[12:]]
