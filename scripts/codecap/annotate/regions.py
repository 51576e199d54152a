"""What a single picture is made of: regions of one colour, and figures that stand out from the grounds.

A *ground* is a large smooth area (a sky, a page, a panel's inside) and all that has its colour. A *flat* region is a smaller smooth
area: a tile, a bar. What is left when all grounds are taken away is a *figure*: a word, an icon with its outline. A *blob* is a
figure without thin lines, such as a disc with a name on it that stands on the lines of a grid. An *accent* is what has colours
that are rare in the picture: a sprite before a landscape that has no ground. A *panel* is a smooth area by a stricter measure,
with most of its box filled: a card that is hardly brighter than the page.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np
from scipy.ndimage import uniform_filter

Family = Literal["flat", "figure", "blob", "accent", "panel"]
FAMILIES: tuple[Family, ...] = ("flat", "figure", "blob", "accent", "panel")

SMOOTH_LEVELS = 12  # grey levels: neighbours that differ by no more are of one region
GROUND_SHARE = 0.06  # of the picture: a smooth area this large is a ground if it reaches two sides of the picture
SPAN_SHARE = 0.6  # of the picture's width or height: an area that spans so much is a ground already when of `STRIP_SHARE`
STRIP_SHARE = 0.015  # of the picture
GROUND_LEVELS = 10  # grey levels: what differs by no more from a ground's mean colour belongs to it
LARGE_GROUND_SHARE = 0.25  # and this large if it reaches none
SMALLEST_SHARE = 0.0004  # of the picture: no smaller region is an object
SMALLEST_PX = 5  # nor a thinner or shorter one, in pixels of the small copy
MOST = 60  # regions of a family that are followed, the largest first
FIRM_SHARE = 0.4  # of a figure's contrast with the ground: what has less is its rim
LINE_PX = 7  # a line thinner than this is no part of a blob
RARE_SHARE = 0.015  # of the picture: colours that, with their neighbours, have less are an accent
PANEL_LEVELS = 5  # grey levels: as `SMOOTH_LEVELS`, for panels
AROUND_PX = 4  # outside a region's box, where it is compared with what is around it
PANEL_FILLED = 0.6  # of its box, at least
WORD_GAP_PX = 3  # parts of a figure may be that far apart, as the letters of a word are


@dataclass(frozen=True)
class Region:
    """Part of one picture.

    Attributes:
        box_xyxy: in pixels of the picture, x1 and y1 exclusive.
        area_px: pixels that belong to it.
        rgb: mean colour of these pixels, 0-255.
        contrast: levels by which that colour differs, in the channel where most, from the mean of what is around the box.
    """

    family: Family
    box_xyxy: tuple[float, float, float, float]
    area_px: int
    rgb: tuple[float, float, float]
    contrast: float


def regions_of(rgb: np.ndarray) -> list[Region]:
    """The regions of a picture, uint8 RGB `(height, width, 3)`, all families, the largest first in each."""
    smooth = _smooth(rgb, SMOOTH_LEVELS)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(smooth.astype(np.uint8), connectivity=4)
    whole_px = labels.size
    ground = _are_grounds(stats, rgb.shape[1], rgb.shape[0])
    flat = _fit(stats, whole_px) & ~ground
    flat[0] = False
    found = _described(rgb, labels, stats, np.flatnonzero(flat), "flat")
    figure, distance = _figure_mask(rgb, labels, np.flatnonzero(ground))
    blob = cv2.morphologyEx(figure, cv2.MORPH_OPEN, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (LINE_PX, LINE_PX)))
    for family, mask in (("figure", figure), ("blob", blob), ("accent", _rare_mask(rgb))):
        _, labels, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
        fit = _fit(stats, whole_px)
        fit[0] = False
        found += _described(rgb, labels, stats, np.flatnonzero(fit), family, None if family == "accent" else distance)
    return found + _panels(rgb)


def _panels(rgb: np.ndarray) -> list[Region]:
    """Smooth areas by the stricter measure that fill their boxes and are no grounds."""
    smooth = _smooth(rgb, PANEL_LEVELS)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(smooth.astype(np.uint8), connectivity=4)
    box_px = stats[:, cv2.CC_STAT_WIDTH].astype(float) * stats[:, cv2.CC_STAT_HEIGHT]
    filled = stats[:, cv2.CC_STAT_AREA] / np.maximum(box_px, 1.0)
    fit = _fit(stats, labels.size) & (filled >= PANEL_FILLED) & ~_are_grounds(stats, rgb.shape[1], rgb.shape[0])
    fit[0] = False
    return _described(rgb, labels, stats, np.flatnonzero(fit), "panel")


def _rare_mask(rgb: np.ndarray) -> np.ndarray:
    """uint8 mask of colours of which, within about 24 levels a channel, the picture has less than `RARE_SHARE`.

    Specks and lines of one pixel are dropped, and gaps of one closed.
    """
    four = (rgb >> 4).astype(np.int32)
    codes = (four[..., 0] << 8) | (four[..., 1] << 4) | four[..., 2]
    counts = np.bincount(codes.ravel(), minlength=16**3).reshape(16, 16, 16).astype(np.float64)
    near = 27 * uniform_filter(counts, 3, mode="constant")  # a sum over 3 x 3 x 3 cells
    rare = (near < RARE_SHARE * codes.size).astype(np.uint8).ravel()[codes]
    four_px = np.ones((2, 2), np.uint8)
    opened = cv2.dilate(cv2.erode(rare, four_px, anchor=(1, 1)), four_px, anchor=(0, 0))  # MORPH_OPEN would shift it by a pixel
    return cv2.morphologyEx(opened, cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8))


def _smooth(rgb: np.ndarray, levels: int) -> np.ndarray:
    """Bool: the pixel differs by at most so many levels from its right and lower neighbours."""
    edge = np.zeros(rgb.shape[:2], bool)
    edge[:, :-1] = _most(cv2.absdiff(rgb[:, 1:], rgb[:, :-1])) > levels
    edge[:-1] |= _most(cv2.absdiff(rgb[1:], rgb[:-1])) > levels
    return ~edge


def _most(channels: np.ndarray) -> np.ndarray:
    """`(height, width)`: the largest of three channels `(height, width, 3)`. numpy takes far longer along so short an axis."""
    first, second, third = cv2.split(channels)
    return cv2.max(cv2.max(first, second), third)


def _sides_reached(stats: np.ndarray, width_px: int, height_px: int) -> np.ndarray:
    """For each component, how many sides of the picture its box touches."""
    left, top = stats[:, cv2.CC_STAT_LEFT], stats[:, cv2.CC_STAT_TOP]
    right, bottom = left + stats[:, cv2.CC_STAT_WIDTH], top + stats[:, cv2.CC_STAT_HEIGHT]
    sides = (left <= 1, top <= 1, right >= width_px - 1, bottom >= height_px - 1)
    return np.sum([side.astype(int) for side in sides], axis=0)


def _are_grounds(stats: np.ndarray, width_px: int, height_px: int) -> np.ndarray:
    """Which components are grounds; the first, which is what is not smooth, never."""
    share = stats[:, cv2.CC_STAT_AREA] / (width_px * height_px)
    span = np.maximum(stats[:, cv2.CC_STAT_WIDTH] / width_px, stats[:, cv2.CC_STAT_HEIGHT] / height_px)
    reach = _sides_reached(stats, width_px, height_px)
    ground = (share > LARGE_GROUND_SHARE) | ((share > GROUND_SHARE) & (reach >= 2)) | ((share > STRIP_SHARE) & (span > SPAN_SHARE))
    ground[0] = False
    return ground


def _fit(stats: np.ndarray, whole_px: int) -> np.ndarray:
    """Components of a size that an object has."""
    large = stats[:, cv2.CC_STAT_AREA] >= SMALLEST_SHARE * whole_px
    broad = np.minimum(stats[:, cv2.CC_STAT_WIDTH], stats[:, cv2.CC_STAT_HEIGHT]) >= SMALLEST_PX
    box_px = stats[:, cv2.CC_STAT_WIDTH].astype(float) * stats[:, cv2.CC_STAT_HEIGHT]
    return large & broad & (box_px < 0.6 * whole_px)


def _figure_mask(rgb: np.ndarray, labels: np.ndarray, grounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """uint8 mask of what is no ground, and no edge between two grounds, with small gaps closed.

    And float32, by how many levels each pixel differs from the ground colour that is nearest to it (255 without grounds).
    """
    of_ground = np.zeros(labels.shape, np.float32)  # number of the ground, 0 where there is none
    distance = np.full(labels.shape, 255, np.float32)
    for number, label in enumerate(grounds, start=1):
        inside = labels == label
        colour = np.array(cv2.mean(rgb, inside.astype(np.uint8))[:3], np.float32)
        apart = _most(np.abs(rgb - colour))
        np.minimum(distance, apart, out=distance)
        of_ground[inside | ((apart <= GROUND_LEVELS) & (of_ground == 0))] = number
    around = np.ones((5, 5), np.uint8)
    highest = cv2.dilate(of_ground, around)
    lowest = cv2.erode(np.where(of_ground > 0, of_ground, np.float32(len(grounds) + 1)), around)
    between = (highest > 0) & (lowest < highest)
    mask = ((of_ground == 0) & ~between).astype(np.uint8)
    return cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((1, WORD_GAP_PX), np.uint8)), distance


def _described(
    rgb: np.ndarray, labels: np.ndarray, stats: np.ndarray, chosen: np.ndarray, family: Family, distance: np.ndarray | None = None
) -> list[Region]:
    """The chosen components as regions; with `distance` to the ground, their boxes are drawn tight."""
    chosen = chosen[np.argsort(-stats[chosen, cv2.CC_STAT_AREA], kind="stable")][:MOST]
    sums = cv2.integral(rgb, sdepth=cv2.CV_64F) if len(chosen) else np.zeros((1, 1, 3))
    regions = []
    for label in chosen:
        left, top, width, height, area = (int(value) for value in stats[label])
        window = np.s_[top : top + height, left : left + width]
        inside = labels[window] == label
        colour = cv2.mean(rgb[window], inside.astype(np.uint8))[:3]
        if family == "accent":
            box = (left, top, left + width, top + height)
        elif distance is None:  # a pixel on the right or lower edge of a smooth area counts as an edge: grown back by one
            box = (left, top, min(left + width + 1, labels.shape[1]), min(top + height + 1, labels.shape[0]))
        else:
            x0, y0, x1, y1 = _tight(inside, distance[window])
            box = (left + x0, top + y0, left + x1, top + y1)
        contrast = float(np.abs(np.array(colour) - _mean_around(sums, box)).max())
        regions.append(Region(family, tuple(float(value) for value in box), area, colour, contrast))
    return regions


def _mean_around(sums: np.ndarray, box_xyxy: tuple[int, int, int, int]) -> np.ndarray:
    """Mean RGB `(3,)` of the frame of `AROUND_PX` around a box, from the picture's integral `(height + 1, width + 1, 3)`."""

    def total(x0: int, y0: int, x1: int, y1: int) -> np.ndarray:
        return sums[y1, x1] - sums[y0, x1] - sums[y1, x0] + sums[y0, x0]

    x0, y0, x1, y1 = box_xyxy
    bottom, right = sums.shape[0] - 1, sums.shape[1] - 1
    wide = (max(x0 - AROUND_PX, 0), max(y0 - AROUND_PX, 0), min(x1 + AROUND_PX, right), min(y1 + AROUND_PX, bottom))
    pixels = (wide[2] - wide[0]) * (wide[3] - wide[1]) - (x1 - x0) * (y1 - y0)
    return (total(*wide) - total(*box_xyxy)) / max(pixels, 1)


def _tight(inside: np.ndarray, distance: np.ndarray) -> tuple[int, int, int, int]:
    """Box of a component without its faint rim, which is half ground: blurred edges, and colour that the encoder spread."""
    firm = inside & (distance >= FIRM_SHARE * np.percentile(distance[inside], 75))
    columns, rows = np.flatnonzero(firm.any(axis=0)), np.flatnonzero(firm.any(axis=1))
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1
