"""Which frames share a picture: single frames or, above a limit of pictures, time-ordered grids that keep every frame.

All pictures of a question have tiles of one size, as large as the limits allow: the fewest tiles a picture that keep within the
limit of pictures, in the arrangement that has to shrink them least.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

GAP_PX = 8  # between tiles, so that no two run into one another


@dataclass(frozen=True)
class Sheet:
    """A picture of one or more frames of one video, in order from left to right, then from top to bottom.

    Attributes:
        tile_px: width and height of a frame in it.
    """

    frames: tuple[int, ...]
    columns: int
    tile_px: tuple[int, int]

    @property
    def rows(self) -> int:
        return math.ceil(len(self.frames) / self.columns)

    @property
    def size_px(self) -> tuple[int, int]:
        """Width and height of the picture."""
        width_px, height_px = self.tile_px
        return self.columns * (width_px + GAP_PX) - GAP_PX, self.rows * (height_px + GAP_PX) - GAP_PX

    def corner_of(self, place: int) -> tuple[int, int]:
        """Left and top of the `place`-th tile."""
        row, column = divmod(place, self.columns)
        return column * (self.tile_px[0] + GAP_PX), row * (self.tile_px[1] + GAP_PX)


@dataclass(frozen=True)
class Limits:
    """What of a picture a provider looks at; a larger one it scales down itself.

    Attributes:
        longest_px: longest side.
        largest_px: area, in pixels.
    """

    longest_px: int
    largest_px: int


def arrange(groups: Sequence[Sequence[int]], size_px: tuple[int, int], most: int, limits: Limits) -> list[list[Sheet]]:
    """Lay out groups of frames, each in order, in at most `most` pictures together; no picture holds frames of two groups.

    Args:
        groups: frame numbers; an empty group has no picture.
        size_px: width and height of the frames.
        most: pictures.
        limits: of each picture. Frames are never enlarged.

    Raises:
        ValueError: there are more groups than pictures.
    """
    tiles = tiles_a_sheet([len(group) for group in groups], most)
    columns, tile_px = best_grid(tiles, size_px, limits)
    return [_sheets(group, tiles, columns, tile_px) for group in groups]


def tiles_a_sheet(counts: Sequence[int], most: int) -> int:
    """The fewest tiles a picture with which groups of so many frames fit in `most` pictures.

    >>> tiles_a_sheet([40, 10], 50), tiles_a_sheet([40, 11], 50), tiles_a_sheet([1200, 4], 50)
    (1, 2, 25)
    """
    if sum(count > 0 for count in counts) > most:
        raise ValueError(
            f"{most} pictures a request are too few: each of {sum(count > 0 for count in counts)} groups of frames needs one"
        )
    tiles = 1
    while sum(math.ceil(count / tiles) for count in counts) > most:
        tiles += 1
    return tiles


def best_grid(tiles: int, size_px: tuple[int, int], limits: Limits) -> tuple[int, tuple[int, int]]:
    """Columns and tile size of the grid that shrinks its tiles least; of equals the one with the fewest empty places, then
    the one nearest to a square.

    >>> limits = Limits(2048, 4_000_000)
    >>> best_grid(1, (1280, 720), limits), best_grid(4, (1280, 720), limits), best_grid(3, (640, 360), limits)
    ((1, (1280, 720)), (2, (1020, 573)), (1, (640, 360)))
    """

    def fit(columns: int) -> tuple[float, int, float]:
        rows = math.ceil(tiles / columns)
        return (
            scale_of(columns, rows, size_px, limits),
            tiles - columns * rows,
            -abs(math.log(columns * size_px[0] / (rows * size_px[1]))),
        )

    columns = max(range(1, tiles + 1), key=fit)
    scale = fit(columns)[0]
    return columns, (max(int(size_px[0] * scale), 1), max(int(size_px[1] * scale), 1))


def scale_of(columns: int, rows: int, size_px: tuple[int, int], limits: Limits) -> float:
    """The largest scale, at most 1, at which a grid with its gaps keeps within the limits."""
    width_px, height_px = columns * size_px[0], rows * size_px[1]
    across_px, down_px = GAP_PX * (columns - 1), GAP_PX * (rows - 1)
    by_side = min((limits.longest_px - across_px) / width_px, (limits.longest_px - down_px) / height_px)
    # (width * s + across) * (height * s + down) = largest
    linear = width_px * down_px + height_px * across_px
    constant = across_px * down_px - limits.largest_px
    by_area = (math.sqrt(linear**2 - 4 * width_px * height_px * constant) - linear) / (2 * width_px * height_px)
    return min(1.0, by_side, by_area)


def _sheets(group: Sequence[int], tiles: int, columns: int, tile_px: tuple[int, int]) -> list[Sheet]:
    """Parts whose sizes differ by one at most."""
    if not group:
        return []
    parts = np.array_split(np.array(group), math.ceil(len(group) / tiles))
    return [Sheet(tuple(int(frame) for frame in part), min(columns, len(part)), tile_px) for part in parts]
