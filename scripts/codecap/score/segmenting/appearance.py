"""How an object looks in one picture: its pixels, the colours that are its own, and the edge against what surrounds it.

A place in another picture is compared with it by two numbers:

- *explained*: 1 - D / D0, where D is the mean squared colour distance between the object's pixels and the place, and D0 that
  between the object's pixels and its background. 1: the same; 0: no better than bare background; below: worse.
- *edged*: how much of the object's edge contrast the place has, in [0, 1]. It is what tells a black ball from a black picture.

Only the object's own pixels are compared, so a change of background costs nothing. Colours are RGB, slightly blurred.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import cv2
import numpy as np

from codecap.score.segmenting.pictures import Picture

RING_PX = 3  # of surroundings that belong to the template
OWN_COLOUR = 24.0  # a colour this far from all of the surroundings' is the object's own
CLEAR_EDGE = 48.0  # levels; a stronger contrast is no clearer
LEAST_CONTRAST = 8.0  # of object against background, in levels; less drowns in the codec's noise
LEAST_OWN_SHARE = 0.03  # of the box; with less, the whole box is taken as the object
PALETTE_COLOURS = 8
FINE_AREA_PX = 64 * 64  # of a template at the level where it is placed exactly
COARSE_AREA_PX = 14 * 14  # of one that is looked for in the whole picture
LEAST_SIDE_PX = 4


@dataclass(frozen=True)
class Appearance:
    """A template at one level of the pyramid.

    Attributes:
        level: of the pyramid; all sizes here are in its pixels.
        planes: float32 `(3, h, w)`, the box and `RING_PX` around it.
        weight: float32 `(h, w)`, 1 on the object's pixels.
        beside: float32 `(3, h, w)`, at each pixel around the object the colour of the object's nearest pixels.
        edge: float32 `(h, w)`, squared colour distance of each surrounding pixel from `beside`, up to `CLEAR_EDGE`; 0 elsewhere.
        contrast: D0 above, summed over the channels.
        inset_xyxy: the box, from the template's upper left corner.
        own, surrounding: float32 `(n, 3)`, the palettes of the object and of its surroundings.
    """

    level: int
    planes: np.ndarray
    weight: np.ndarray
    beside: np.ndarray
    edge: np.ndarray
    contrast: float
    inset_xyxy: np.ndarray
    own: np.ndarray
    surrounding: np.ndarray

    @property
    def size(self) -> tuple[int, int]:
        """Height and width of the template."""
        return self.weight.shape

    @cached_property
    def weighted(self) -> np.ndarray:
        return self.planes * self.weight

    @cached_property
    def power(self) -> np.ndarray:
        """float32 `(h, w)`: squared length of each object pixel's colour."""
        return (self.weighted * self.planes).sum(axis=0)

    def cut(self, rows: slice, columns: slice) -> Appearance:
        """The same template with only a part of the object in it."""
        kept = np.zeros_like(self.weight)
        kept[rows, columns] = 1.0
        return replace(self, weight=self.weight * kept, edge=self.edge * kept)

    def changed(self, stretch: float = 1.0, mirrored: bool = False) -> Appearance:
        """The same object larger or smaller, or seen from the other side."""
        height, width = self.size
        size = (max(round(width * stretch), 3), max(round(height * stretch), 3))
        ratio = np.array([size[0] / width, size[1] / height] * 2)

        def resized(plane: np.ndarray) -> np.ndarray:
            plane = plane[:, ::-1] if mirrored else plane
            return cv2.resize(np.ascontiguousarray(plane), size, interpolation=cv2.INTER_LINEAR)

        x0, y0, x1, y1 = self.inset_xyxy
        inset = np.array([width - x1, y0, width - x0, y1]) if mirrored else self.inset_xyxy
        return Appearance(
            level=self.level,
            planes=np.stack([resized(plane) for plane in self.planes]),
            weight=(resized(self.weight) > 0.5).astype(np.float32),
            beside=np.stack([resized(plane) for plane in self.beside]),
            edge=resized(self.edge),
            contrast=self.contrast,
            inset_xyxy=inset * ratio,
            own=self.own,
            surrounding=self.surrounding,
        )


def level_for(picture: Picture, box_xyxy: np.ndarray, area_px: float) -> int:
    """The first level at which the box has at most `area_px`, but no side under `LEAST_SIDE_PX`."""
    level = 0
    while True:
        x0, y0, x1, y1 = box_xyxy * picture.scale(level)
        width, height = x1 - x0, y1 - y0
        if width * height <= area_px or min(width, height) < 2 * LEAST_SIDE_PX:
            return level
        level += 1


def look_at(picture: Picture, box_xyxy: np.ndarray, level: int) -> Appearance | None:
    """Learn how the object in a box looks; None when the box has no pixel in the picture."""
    planes = picture.planes(level)
    height, width = planes.shape[1:]
    box = np.asarray(box_xyxy) * picture.scale(level)
    left, top = max(int(np.floor(box[0])) - RING_PX, 0), max(int(np.floor(box[1])) - RING_PX, 0)
    right, bottom = min(int(np.ceil(box[2])) + RING_PX, width), min(int(np.ceil(box[3])) + RING_PX, height)
    if right - left < 3 or bottom - top < 3:
        return None
    crop = planes[:, top:bottom, left:right].copy()
    inset = box - [left, top, left, top]
    inside = _pixels_of(inset, crop.shape[1:])
    if not inside.any():
        return None
    # A pixel that touches the object is mixed with it: it says nothing of the surroundings.
    outside = cv2.dilate(inside.astype(np.uint8), np.ones((3, 3), np.uint8)) == 0
    surrounding = palette(crop[:, outside]) if outside.any() else np.empty((0, 3), np.float32)
    distance2 = nearest_colour(crop, surrounding)
    own = inside & (distance2 > OWN_COLOUR**2)
    if own.sum() < max(LEAST_OWN_SHARE * inside.sum(), 6):
        own = inside
    contrast = float(distance2[own].mean()) if len(surrounding) else float(crop[:, own].var(axis=1).sum())
    beside, edge = _edge(crop, own)
    return Appearance(
        level=level,
        planes=crop,
        weight=own.astype(np.float32),
        beside=beside,
        edge=edge,
        contrast=max(contrast, 3 * LEAST_CONTRAST**2),
        inset_xyxy=inset,
        own=palette(crop[:, own]),
        surrounding=surrounding,
    )


def palette(colours: np.ndarray) -> np.ndarray:
    """Dominant colours: float32 `(n, 3)`, at most `PALETTE_COLOURS`, of colours float32 `(3, pixels)` in [-128, 127]."""
    bins = np.clip((colours + 128) / 24, 0, 10).astype(np.int32)
    code = bins[0] * 121 + bins[1] * 11 + bins[2]
    _, index, count = np.unique(code, return_inverse=True, return_counts=True)
    means = np.stack([np.bincount(index, colours[channel]) / count for channel in range(3)], axis=1)
    order = np.argsort(-count, kind="stable")
    kept = order[: int(np.searchsorted(np.cumsum(count[order]), 0.97 * count.sum())) + 1][:PALETTE_COLOURS]
    return means[kept].astype(np.float32)


def nearest_colour(planes: np.ndarray, colours: np.ndarray) -> np.ndarray:
    """Squared distance of each pixel of `(3, h, w)` from the nearest of some colours `(n, 3)`; very large without any."""
    nearest = np.full(planes.shape[1:], 1e6, np.float32)
    for colour in colours:
        distance = planes[0] - colour[0]
        distance *= distance
        for channel in (1, 2):
            step = planes[channel] - colour[channel]
            step *= step
            distance += step
        np.minimum(nearest, distance, out=nearest)
    return nearest


def _pixels_of(box: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """bool `(h, w)`: pixels at least half of which lies in the box on each axis; always at least one on each axis."""
    inside = np.zeros(shape, bool)
    x0, y0 = (int(max(np.floor(edge + 0.5), 0)) for edge in box[:2])
    x1, y1 = int(max(np.floor(box[2] + 0.5), x0 + 1)), int(max(np.floor(box[3] + 0.5), y0 + 1))
    inside[y0:y1, x0:x1] = True
    return inside


def _edge(crop: np.ndarray, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`beside` and `edge` of `Appearance`: pixels within `RING_PX` of the object, against the mean of its pixels near them.

    Of the object only pixels off its rim count, which the blur has mixed with the ground, unless it is all rim.
    """
    small = np.ones((3, 3), np.uint8)
    inner = cv2.erode(own.astype(np.uint8), small) > 0
    reached = cv2.dilate(own.astype(np.uint8), np.ones((2 * RING_PX + 1, 2 * RING_PX + 1), np.uint8)) > 0
    touching = cv2.dilate(own.astype(np.uint8), small) > 0
    beside, count = _mean_near(crop, inner, RING_PX + 2)
    bare = count < 0.5
    if bare.any():
        beside[:, bare] = _mean_near(crop, own, RING_PX + 2)[0][:, bare]
    edge = np.minimum(((crop - beside) ** 2).sum(axis=0), CLEAR_EDGE**2)
    edge[touching | ~reached] = 0.0
    return beside, edge


def _mean_near(crop: np.ndarray, chosen: np.ndarray, reach: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean colour `(3, h, w)` of the chosen pixels in the square around each pixel, and how many they are."""
    kernel = (2 * reach + 1, 2 * reach + 1)
    weight = chosen.astype(np.float32)
    count = cv2.boxFilter(weight, -1, kernel, normalize=False, borderType=cv2.BORDER_CONSTANT)
    total = [cv2.boxFilter(plane * weight, -1, kernel, normalize=False, borderType=cv2.BORDER_CONSTANT) for plane in crop]
    return np.stack(total) / np.maximum(count, 1), count
