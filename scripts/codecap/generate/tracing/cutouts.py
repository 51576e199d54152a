"""The second pass over a clip: cut plates and sprites out of the full-size frames."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np

from codecap import video
from codecap.generate.tracing.layers import Layer
from codecap.generate.tracing.plates import UNKNOWN, Plate
from codecap.generate.tracing.sprites import Sprite


def cut(mp4: Path, layers: list[Layer]) -> Iterator[tuple[Layer, np.ndarray, int, int]]:
    """Cut the pictures of layers out of a clip, in one pass.

    Yields:
        Layer, its picture as uint8 RGBA `(height, width, 4)` in pixels of the clip, and the place `x, y` of the picture's corner.
    """
    sprites: dict[int, list[Layer]] = defaultdict(list)
    plates: dict[int, list[Layer]] = defaultdict(list)
    for layer in layers:
        if isinstance(layer.content, Sprite):
            sprites[layer.content.start].append(layer)
        else:
            for number in np.unique(layer.content.source):
                if number != UNKNOWN:
                    plates[int(number)].append(layer)
    canvases: dict[int, np.ndarray] = {}
    for number, rgb in _frames(mp4, sorted(sprites.keys() | plates.keys())):
        for layer in sprites.get(number, []):
            yield layer, _sprite(layer, rgb), layer.content.x * layer.scale, layer.content.y * layer.scale
        for layer in plates.get(number, []):
            canvas = canvases.setdefault(id(layer), _canvas(layer.content, layer.scale))
            _lay(layer.content, layer.scale, number, layer.start, rgb, canvas)
            if number == layer.content.source.max():
                yield layer, canvases.pop(id(layer)), 0, 0


def _frames(mp4: Path, wanted: list[int]) -> Iterator[tuple[int, np.ndarray]]:
    """The wanted frames of a clip, uint8 RGB, in order."""
    if not wanted:
        return
    left = set(wanted)
    for number, frame in video.decode(mp4, wanted[0], wanted[-1] + 1):
        if number in left:
            yield number, video.to_rgb(frame)


def _sprite(layer: Layer, rgb: np.ndarray) -> np.ndarray:
    sprite, scale = layer.content, layer.scale
    height, width = sprite.mask.shape
    x, y = sprite.x * scale, sprite.y * scale
    piece = rgb[y : y + height * scale, x : x + width * scale]
    mask = sprite.mask.astype(np.float32)
    if scale > 1:
        mask = cv2.resize(mask, (width * scale, height * scale), interpolation=cv2.INTER_LINEAR)
    alpha = np.where(mask[: piece.shape[0], : piece.shape[1]] >= 0.5, 255, 0).astype(np.uint8)
    return np.dstack([piece, alpha])


def _canvas(plate: Plate, scale: int) -> np.ndarray:
    height, width = plate.source.shape
    return np.zeros((height * scale, width * scale, 4), np.uint8)


def _lay(plate: Plate, scale: int, number: int, start: int, rgb: np.ndarray, canvas: np.ndarray) -> None:
    """Copy the pixels that a plate takes from a frame to where they belong on its canvas."""
    shift = plate.offsets[min(number - start, len(plate.offsets) - 1)]
    left, top = (round(float(origin - offset)) for origin, offset in zip(plate.origin, shift, strict=True))
    height, width = -(-rgb.shape[0] // scale), -(-rgb.shape[1] // scale)
    place = np.s_[top : top + height, left : left + width]
    taken = ((plate.source[place] == number) & plate.opaque[place]).astype(np.uint8)
    if scale > 1:
        taken = cv2.resize(taken, None, fx=scale, fy=scale, interpolation=cv2.INTER_NEAREST)
    inside = taken[: rgb.shape[0], : rgb.shape[1]].astype(bool)
    target = canvas[top * scale :, left * scale :][: rgb.shape[0], : rgb.shape[1]]
    target[inside, :3] = rgb[inside]
    target[inside, 3] = 255
