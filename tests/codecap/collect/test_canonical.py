"""What counts as a canonical clip: one that the writer made does, and each single deviation does not."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest

from codecap.collect.canonical import why_not_canonical
from codecap.video import CanonicalWriter


def tagged(stream) -> None:
    context = stream.codec_context
    context.color_range = context.colorspace = context.color_primaries = context.color_trc = 1
    stream.gop_size = 48


@pytest.fixture
def canonical(tmp_path: Path, draw_number) -> Path:
    with CanonicalWriter(tmp_path / "canonical.mp4", 64, 48) as writer:
        for number in range(60):
            writer.add(draw_number(number))
    return tmp_path / "canonical.mp4"


def test_what_the_writer_makes_is_canonical(canonical):
    assert why_not_canonical(canonical) is None


def test_another_encoder_may_make_one_too(film):
    assert why_not_canonical(film("own.mp4", range(50), set_up=tagged, options={"preset": "medium", "bf": "3"})) is None


def every_third_is_missing() -> list[int]:
    return [number for number in range(30) if number % 3 != 1] + [30]


def untagged(stream) -> None:
    stream.gop_size = 48


def turned(stream) -> None:
    tagged(stream)
    stream.set_display_rotation(90)


def rare_keys(stream) -> None:
    tagged(stream)
    stream.gop_size = 96


def wide_pixels(stream) -> None:
    tagged(stream)
    stream.codec_context.sample_aspect_ratio = Fraction(4, 3)


@pytest.mark.parametrize(
    ("name", "pts", "told", "says"),
    [
        ("x.mkv", range(10), {}, "not MP4"),
        ("x.mov", range(10), {}, "not MP4"),
        ("x.mp4", range(10), {"sound_s": 0.4}, "more than a single"),
        ("x.mp4", range(10), {"pix_fmt": "yuv444p"}, "not H.264 yuv420p"),
        ("x.mp4", range(10), {"codec": "mpeg4"}, "not H.264 yuv420p"),
        ("x.mp4", range(10), {"rate": 30, "time_base": Fraction(1, 30)}, "24 fps clock"),
        ("x.mp4", range(3, 13), {}, "24 fps clock"),
        ("x.mp4", every_third_is_missing(), {"options": {"bf": "0"}}, "24 fps clock|i / 24"),
        ("x.mp4", range(10), {"set_up": untagged}, "not marked as BT.709"),
        ("x.mp4", range(100), {"set_up": rare_keys, "options": {"keyint_min": "96", "sc_threshold": "0"}}, "key frames"),
        ("x.mp4", range(10), {"set_up": turned}, "turned"),
        ("x.mp4", range(10), {"options": {"x264-params": "interlaced=1"}}, "interlaced"),
        ("x.mp4", range(10), {"set_up": wide_pixels}, "not square"),
    ],
)
def test_each_deviation_is_named(film, name, pts, told, says):
    path = film(name, list(pts), **{"set_up": tagged, **told})
    assert re.search(says, why_not_canonical(path) or "")


def test_damage_is_found(canonical):
    data = bytearray(canonical.read_bytes())
    data[-400:-100] = bytes(300)
    canonical.write_bytes(data)
    assert why_not_canonical(canonical) is not None
