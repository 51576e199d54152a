"""Layers: what a page shows from when to when, and how it moves meanwhile."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from codecap.generate.tracing.motion import key_positions
from codecap.generate.tracing.plates import Plate
from codecap.generate.tracing.sprites import Sprite
from codecap.generate.tracing.stacking import stacked


@dataclass
class Layer:
    """One traced picture on the page.

    Attributes:
        content: what is traced: a plate, or a sprite.
        scale: pixels of the clip per pixel of the content.
        start, stop: frames of the clip; shown from `start` up to and without `stop`.
        track: float `(stop - start, 2)` or `(1, 2)`: displacement at each frame, in pixels of the clip.
        follows: the layer whose place it took.
        markup: SVG of the picture at displacement zero, once it is traced.
        expected_bytes: about how much markup there will be, before it is traced.
    """

    content: Plate | Sprite
    scale: int
    start: int
    stop: int
    track: np.ndarray
    follows: Layer | None = None
    markup: str = ""
    expected_bytes: float = 0.0
    _keys: tuple[np.ndarray, list[tuple[int, float, float]]] | None = field(default=None, repr=False)

    @property
    def keys(self) -> list[tuple[int, float, float]]:
        """Frame and displacement of each key position."""
        return [
            (self.start + index, float(self.track[index, 0]), float(self.track[index, 1])) for index in key_positions(self.track)
        ]

    @property
    def bytes(self) -> float:
        """Size on the page."""
        return (len(self.markup) or self.expected_bytes) + 40 + 16 * len(self.keys)

    @property
    def area_px(self) -> int:
        """Pixels of the clip that it covers."""
        if isinstance(self.content, Plate):
            return int(np.count_nonzero(self.content.opaque)) * self.scale**2
        return int(np.count_nonzero(self.content.mask)) * self.scale**2


def plate_layer(plate: Plate, scale: int, start: int, stop: int) -> Layer:
    """A plate over a scene; its markup is in pixels of its canvas."""
    return Layer(plate, scale, start, stop, (plate.offsets - np.array(plate.origin)) * scale)


def sprite_layers(sprites: list[Sprite], above: Counter[tuple[int, int]], scale: int) -> list[Layer]:
    """Sprites from the lowest to the highest, as the frames say where they lie on one another, else as they were made."""
    layers: dict[int, Layer] = {}
    for sprite in sprites:
        track = np.array(sprite.track[: sprite.stop - sprite.start]) * scale
        layers[sprite.number] = Layer(sprite, scale, sprite.start, sprite.stop, track, layers.get(sprite.follows))
    return [layers[number] for number in stacked([sprite.number for sprite in sprites], above)]
