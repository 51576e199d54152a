"""Animated WebP, by Pillow: FFmpeg opens such files, but decodes none of their pictures."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from PIL import Image

from codecap.collect.opening import refuse_large
from codecap.video import VideoError

TICK_S = Fraction(1, 1000)
HURRIED_MS = 10  # browsers take so short a delay for none, and show the picture for 100 ms; FFmpeg does so with GIFs
UNHURRIED_MS = 100
# What Pillow raises on files that are damaged, or too large for it.
DAMAGE = (OSError, EOFError, SyntaxError, ValueError, Image.DecompressionBombError)


def webp_frames(path: Path) -> Iterator[tuple[av.VideoFrame, int]]:
    """The pictures of an animated WebP as `rgba` frames, each with its timestamp and duration in milliseconds.

    Raises:
        VideoError: it is cut short, damaged or too large.
    """
    _check_head(path)
    now_ms = 0
    number = 0
    try:
        with Image.open(path, formats=["WEBP"]) as film:
            for number in range(film.n_frames):
                film.seek(number)
                rgba = np.asarray(film.convert("RGBA"))  # decodes it; the delay is known only then
                delay_ms = int(film.info["duration"])
                frame = av.VideoFrame.from_ndarray(rgba, format="rgba")
                frame.pts, frame.time_base = now_ms, TICK_S
                duration_ms = delay_ms if delay_ms > HURRIED_MS else UNHURRIED_MS
                yield frame, duration_ms
                now_ms += duration_ms
    except DAMAGE as error:
        raise VideoError(f"{path}: is damaged at picture {number} ({error}); fetch the file again") from error


def _check_head(path: Path) -> None:
    """Compare what the header says (RFC 9649, 2.4 and 2.7) with the file's size, and with what a picture may be."""
    with path.open("rb") as file:
        head = file.read(30)
    size, needed = path.stat().st_size, int.from_bytes(head[4:8], "little") + 8
    if size < max(needed, 30):
        raise VideoError(f"{path}: is cut short: it has {size} of the {needed} bytes that it says it has; fetch the file again")
    refuse_large(path, int.from_bytes(head[24:27], "little") + 1, int.from_bytes(head[27:30], "little") + 1)
