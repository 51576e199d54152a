"""What a single picture is made of: regions of one colour, and figures that stand out from the grounds.

A *ground* is a large smooth area (a sky, a page, a panel's inside). A *flat* region is a smaller smooth area: a tile, a bar, a disc.
A *figure* is what is left when all grounds are taken away: a sprite of many colours, a word, an icon with its outline.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np

Family = Literal["flat", "figure"]

SMOOTH_LEVELS = 12  # grey levels: neighbours that differ by no more are of one region
GROUND_SHARE = 0.06  # of the picture: a smooth area this large is a ground if it reaches two sides of the picture
LARGE_GROUND_SHARE = 0.25  # and this large if it reaches none
SMALLEST_SHARE = 0.0004  # of the picture: no smaller region is an object
SMALLEST_PX = 5  # nor a thinner or shorter one, in pixels of the small copy
MOST = 60  # regions of a family that are followed, the largest first
WORD_GAP_PX = 3  # parts of a figure may be that far apart, as the letters of a word are


@dataclass(frozen=True)
class Region:
    """Part of one picture.

    Attributes:
        box_xyxy: in pixels of the picture, x1 and y1 exclusive.
        area_px: pixels that belong to it.
        rgb: mean colour of these pixels, 0-255.
    """

    family: Family
    box_xyxy: tuple[float, float, float, float]
    area_px: int
    rgb: tuple[float, float, float]


def regions_of(rgb: np.ndarray) -> list[Region]:
    """The regions of a picture, uint8 RGB `(height, width, 3)`, both families, the largest first in each."""
    smooth = _smooth(rgb)
    count, labels, stats, _ = cv2.connectedComponentsWithStats(smooth.astype(np.uint8), connectivity=4)
    whole_px = labels.size
    areas = stats[:, cv2.CC_STAT_AREA]
    reach = _sides_reached(stats, rgb.shape[1], rgb.shape[0])
    ground = ((areas > GROUND_SHARE * whole_px) & (reach >= 2)) | (areas > LARGE_GROUND_SHARE * whole_px)
    ground[0] = False
    flat = _fit(stats, whole_px) & ~ground
    flat[0] = False
    found = _described(rgb, labels, stats, np.flatnonzero(flat), "flat", grow_px=1)
    figure = _figure_mask(labels, ground)
    count, labels, stats, _ = cv2.connectedComponentsWithStats(figure, connectivity=8)
    fit = _fit(stats, whole_px)
    fit[0] = False
    return found + _described(rgb, labels, stats, np.flatnonzero(fit), "figure", grow_px=0)


def _smooth(rgb: np.ndarray) -> np.ndarray:
    """Bool: the pixel differs by at most `SMOOTH_LEVELS` from its right and lower neighbours."""
    edge = np.zeros(rgb.shape[:2], bool)
    edge[:, :-1] = cv2.absdiff(rgb[:, 1:], rgb[:, :-1]).max(axis=2) > SMOOTH_LEVELS
    edge[:-1] |= cv2.absdiff(rgb[1:], rgb[:-1]).max(axis=2) > SMOOTH_LEVELS
    return ~edge


def _sides_reached(stats: np.ndarray, width_px: int, height_px: int) -> np.ndarray:
    """For each component, how many sides of the picture its box touches."""
    left, top = stats[:, cv2.CC_STAT_LEFT], stats[:, cv2.CC_STAT_TOP]
    right, bottom = left + stats[:, cv2.CC_STAT_WIDTH], top + stats[:, cv2.CC_STAT_HEIGHT]
    sides = (left <= 1, top <= 1, right >= width_px - 1, bottom >= height_px - 1)
    return np.sum([side.astype(int) for side in sides], axis=0)


def _fit(stats: np.ndarray, whole_px: int) -> np.ndarray:
    """Components of a size that an object has."""
    large = stats[:, cv2.CC_STAT_AREA] >= SMALLEST_SHARE * whole_px
    broad = np.minimum(stats[:, cv2.CC_STAT_WIDTH], stats[:, cv2.CC_STAT_HEIGHT]) >= SMALLEST_PX
    box_px = stats[:, cv2.CC_STAT_WIDTH].astype(float) * stats[:, cv2.CC_STAT_HEIGHT]
    return large & broad & (box_px < 0.6 * whole_px)


def _figure_mask(labels: np.ndarray, ground: np.ndarray) -> np.ndarray:
    """uint8 mask of what is no ground, and no edge between two grounds, with small gaps closed."""
    grounds = np.where(ground[labels], labels, 0).astype(np.float32)
    around = np.ones((5, 5), np.uint8)
    highest = cv2.dilate(grounds, around)
    lowest = cv2.erode(np.where(grounds > 0, grounds, np.float32(labels.max() + 1)).astype(np.float32), around)
    border = (highest > 0) & (lowest < highest)
    mask = ((grounds == 0) & ~border).astype(np.uint8)
    joined = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((1, WORD_GAP_PX), np.uint8))
    return joined


def _described(
    rgb: np.ndarray, labels: np.ndarray, stats: np.ndarray, chosen: np.ndarray, family: Family, grow_px: int
) -> list[Region]:
    height_px, width_px = labels.shape
    chosen = chosen[np.argsort(-stats[chosen, cv2.CC_STAT_AREA], kind="stable")][:MOST]
    regions = []
    for label in chosen:
        left, top, width, height, area = (int(value) for value in stats[label])
        window = np.s_[top : top + height, left : left + width]
        colour = cv2.mean(rgb[window], (labels[window] == label).astype(np.uint8))[:3]
        # A pixel on the right or lower edge of a smooth area counts as an edge: grown back by one.
        box = (left, top, min(left + width + grow_px, width_px), min(top + height + grow_px, height_px))
        regions.append(Region(family, tuple(float(value) for value in box), area, colour))
    return regions
