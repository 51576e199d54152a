"""What each frame of a clip looks like in 288 bytes: a perceptual hash by which a clip is found again in other bytes.

A frame's print is the mean colour of its 12 x 8 fields. Other than the hashes by which duplicates are found, it tells single frames
apart, and keeps what changes a clip: colours, bars, another cut. It is a picture of 96 points, and nothing finer is in it.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
from pydantic import Field, field_validator

from codecap import video
from codecap.collect.onscreen import on_screen
from codecap.collect.picture import ToneCurve
from codecap.records import ClipId, RecordError, Row

ROWS, COLUMNS, CHANNELS = 8, 12, 3
BYTES = ROWS * COLUMNS * CHANNELS
MOST_FRAMES = 24 * 3600 * 2  # of a clip: more is no clip's print
LONGEST_TEXT = 60_000_000


class Prints(Row):
    """Those of a clip, as they are published."""

    clip_id: ClipId
    frames: int = Field(ge=1, le=MOST_FRAMES)
    packed: str = Field(max_length=LONGEST_TEXT)  # base64 of zlib of each frame's difference from the one before

    @field_validator("packed")
    @classmethod
    def _is_ascii(cls, packed: str) -> str:
        if not packed.isascii():
            raise ValueError("is no base64")
        return packed


def prints_of(mp4: Path) -> np.ndarray:
    """Prints of a canonical clip: uint8 `(frames, 288)`.

    Raises:
        codecap.video.VideoError: it cannot be decoded.
    """
    return np.stack([print_of(rgb) for _, rgb in video.read_frames(mp4)])


def prints_on_clock(path: Path, tone: ToneCurve, tolerance_s: float) -> np.ndarray:
    """Prints of any video on the 24 fps clock, as `prints_of`; a picture that stays is converted once.

    Args:
        tone, tolerance_s: as ingest has them.

    Raises:
        codecap.video.VideoError: it is no video, or is damaged.
    """

    def each() -> Iterator[np.ndarray]:
        for picture in on_screen(path, tone=tone, tolerance_s=tolerance_s):
            one = print_of(video.pad_to_even(picture.rgb()))
            yield from [one] * (picture.stop - picture.start)

    return np.stack(list(each()))


def print_of(rgb: np.ndarray) -> np.ndarray:
    """uint8 `(288,)` of a picture, uint8 RGB of any size."""
    return cv2.resize(rgb, (COLUMNS, ROWS), interpolation=cv2.INTER_AREA).reshape(BYTES)


def packed(clip_id: str, prints: np.ndarray) -> Prints:
    """Prints as text: little of it where little moves."""
    steps = np.diff(prints, axis=0, prepend=np.zeros((1, BYTES), np.uint8))
    text = base64.b64encode(zlib.compress(steps.tobytes(), 9)).decode()
    return Prints(clip_id=clip_id, frames=len(prints), packed=text)


def unpacked(told: Prints) -> np.ndarray:
    """Prints from their text: uint8 `(frames, 288)`.

    Raises:
        RecordError: the text is not of so many frames.
    """
    wanted = told.frames * BYTES
    try:
        inflater = zlib.decompressobj()
        data = inflater.decompress(base64.b64decode(told.packed, validate=True), wanted + 1)
    except (zlib.error, ValueError) as error:
        raise RecordError(f"prints of {told.clip_id}: cannot be unpacked: {error}; take the data set anew") from error
    if len(data) != wanted or not inflater.eof:
        raise RecordError(f"prints of {told.clip_id}: not those of {told.frames} frames; take the data set anew")
    steps = np.frombuffer(data, np.uint8).reshape(told.frames, BYTES)
    return np.cumsum(steps, axis=0, dtype=np.uint8)
