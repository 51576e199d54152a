"""Videos made for the tests: every picture carries its number, so that what is shown when can be read off the pixels."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

BITS = 8


@pytest.fixture(autouse=True)
def no_real_time():
    """SVT-AV1 makes the process that encodes with it a real-time one where that is root's: all others would stand still."""
    yield
    for task in Path("/proc/self/task").glob("*"):
        with contextlib.suppress(OSError):
            os.sched_setscheduler(int(task.name), os.SCHED_OTHER, os.sched_param(0))


def numbered(number: int, width_px: int = 64, height_px: int = 48) -> np.ndarray:
    """A picture of eight black or white columns: the number in binary, lowest bit left, on a grey foot. uint8 RGB."""
    picture = np.full((height_px, width_px, 3), 128, np.uint8)
    for bit in range(BITS):
        left, right = bit * width_px // BITS, (bit + 1) * width_px // BITS
        picture[: height_px * 3 // 4, left:right] = 255 * (number >> bit & 1)
    return picture


def remux(
    source: Path, target: Path, change: Callable[[int, av.Packet], bool | None], options: dict[str, str] | None = None
) -> Path:
    """Copy a film's packets. `change` is shown each with its number, may alter its times, and leaves it out by False."""
    with av.open(str(source)) as old, av.open(str(target), "w", options=options or {}) as new:
        stream = new.add_stream_from_template(old.streams.video[0])
        for number, packet in enumerate(old.demux(video=0)):
            if packet.size and change(number, packet) is not False:
                packet.stream = stream
                new.mux(packet)
    return target


def number_of(rgb: np.ndarray) -> int:
    """The number that a picture carries."""
    height_px, width_px = rgb.shape[:2]
    middles = [(2 * bit + 1) * width_px // (2 * BITS) for bit in range(BITS)]
    return sum(int(rgb[height_px // 3, middle].mean() > 127) << bit for bit, middle in enumerate(middles))


def make_film(
    path: Path,
    pts: Sequence[int],
    time_base: Fraction = Fraction(1, 24),
    *,
    rate: Fraction | int = 24,
    codec: str = "libx264",
    pix_fmt: str = "yuv420p",
    pictures: Sequence[np.ndarray] | None = None,
    options: dict[str, str] | None = None,
    sound_s: float = 0,
    set_up: Callable[[Any], None] | None = None,
) -> Path:
    """Write a video whose `k`-th picture has timestamp `pts[k]` and carries the number `k`.

    `set_up` is given the stream before the first picture; `sound_s` seconds of silence are added as a second stream.
    """
    pictures = pictures if pictures is not None else [numbered(number) for number in range(len(pts))]
    with av.open(str(path), "w") as container:
        quick = {"cpu-used": "8", "deadline": "realtime"} if codec == "libvpx-vp9" else {}
        stream = container.add_stream(codec, rate=rate, options=options or quick)
        stream.height, stream.width = pictures[0].shape[:2]
        stream.pix_fmt = pix_fmt
        stream.time_base = stream.codec_context.time_base = time_base
        if set_up is not None:
            set_up(stream)
        sound = container.add_stream("aac", rate=8000, layout="mono") if sound_s else None
        for stamp, picture in zip(pts, pictures, strict=True):
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")
            frame.pts, frame.time_base = stamp, time_base
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
        if sound is not None:
            silence = av.AudioFrame.from_ndarray(np.zeros((1, int(sound_s * 8000)), np.float32), format="fltp", layout="mono")
            silence.sample_rate, silence.pts, silence.time_base = 8000, 0, Fraction(1, 8000)
            container.mux(sound.encode(silence))
            container.mux(sound.encode(None))
    return path


@pytest.fixture
def film(tmp_path: Path) -> Callable[..., Path]:
    """`film(name, pts, ...)` as `make_film`, in the test's folder."""
    return lambda name, *args, **options: make_film(tmp_path / name, *args, **options)


@pytest.fixture
def copy_packets() -> Callable[..., Path]:
    return remux


@pytest.fixture
def read_number() -> Callable[[np.ndarray], int]:
    return number_of


@pytest.fixture
def draw_number() -> Callable[..., np.ndarray]:
    return numbered
