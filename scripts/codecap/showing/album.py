"""Draws planned pictures while a video is decoded, so that only encoded pictures and those just begun are in memory."""

from __future__ import annotations

import functools
import io
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from PIL import Image

from codecap.exchange import Picture
from codecap.showing.sheets import Sheet

GROUND = (128, 128, 128)  # between tiles
Encoding = Literal["jpeg", "png"]
ENCODINGS: dict[Encoding, tuple[str, dict[str, Any], str]] = {
    "jpeg": ("JPEG", {"quality": 95, "subsampling": 0}, "JPEG 95 4:4:4"),
    "png": ("PNG", {}, "PNG"),
}


class Album:
    """Watcher that makes the pictures of some sheets of one video.

    An answer is found again by the bytes of its pictures: Pillow scales and encodes by integers, the same on every machine.
    """

    def __init__(self, sheets: Iterable[Sheet], encoding: Encoding) -> None:
        self._format, self._options, _ = ENCODINGS[encoding]
        self._of_frame: dict[int, list[Sheet]] = defaultdict(list)
        for sheet in dict.fromkeys(sheets):
            for frame in sheet.frames:
                self._of_frame[frame].append(sheet)
        self.wanted = set(self._of_frame)
        self._begun: dict[Sheet, Image.Image] = {}
        self._pictures: dict[Sheet, Picture] = {}

    def see(self, frame: int, rgb: np.ndarray) -> None:
        tiles: dict[tuple[int, int], Image.Image] = {}
        for sheet in self._of_frame[frame]:
            if sheet.tile_px not in tiles:
                tiles[sheet.tile_px] = _scaled(rgb, sheet.tile_px)
            if sheet not in self._begun:
                self._begun[sheet] = Image.new("RGB", sheet.size_px, GROUND)
            place = sheet.frames.index(frame)
            self._begun[sheet].paste(tiles[sheet.tile_px], sheet.corner_of(place))
            if place == len(sheet.frames) - 1:
                self._pictures[sheet] = self._encoded(self._begun.pop(sheet))

    def result(self) -> dict[str, np.ndarray]:
        """Nothing that the store would keep."""
        return {}

    def __getitem__(self, sheet: Sheet) -> Picture:
        return self._pictures[sheet]

    def _encoded(self, picture: Image.Image) -> Picture:
        file = io.BytesIO()
        picture.save(file, self._format, **self._options)
        return Picture(file.getvalue(), f"image/{self._format.lower()}")


@dataclass(frozen=True)
class BlankAlbum:
    """Empty pictures of the right sizes, for an estimate of what questions cost before a video is there."""

    def __getitem__(self, sheet: Sheet) -> Picture:
        return _blank(sheet.size_px)


@functools.cache
def _blank(size_px: tuple[int, int]) -> Picture:
    file = io.BytesIO()
    Image.new("1", size_px).save(file, "PNG")
    return Picture(file.getvalue(), "image/png")


def _scaled(rgb: np.ndarray, size_px: tuple[int, int]) -> Image.Image:
    picture = Image.fromarray(rgb)
    return picture if picture.size == size_px else picture.resize(size_px, Image.Resampling.LANCZOS)
