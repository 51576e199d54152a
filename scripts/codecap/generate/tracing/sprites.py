"""A sprite: a cut-out of one frame that is looked for again, shifted, in the frames after it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import cv2
import numpy as np

from codecap.generate.tracing.differences import Region, difference

LOOSEST_TOLERANCE = 24.0  # grey levels between a sprite and the frame it is found in
TIGHTEST_TOLERANCE = 8.0
NEARBY_PX = 4  # searched around each place where a sprite may be
LARGEST_COLOURED_PX = 96  # side of a sprite searched for in colour; larger ones are in grey
SURE_SHARE = 0.97


@dataclass(frozen=True)
class Place:
    """A sprite laid on a frame: displacement since its source, and how much of what is seen of it agrees with the frame."""

    dx: float
    dy: float
    share: float
    body: np.ndarray | None = None  # bool, the sprite's pixels within `box`
    seen: np.ndarray | None = None  # bool, those that no higher sprite hides
    agrees: np.ndarray | None = None  # bool, those of the body that look like the frame
    box: tuple[int, int, int, int] = (0, 0, 0, 0)  # x0, y0, x1, y1 in the picture


NOWHERE = Place(0.0, 0.0, 0.0)


@dataclass
class Sprite:
    """Attributes:
    number: order of creation; a later one lies above.
    start: frame of the clip that it was cut from and is first shown at.
    x, y, mask, texture: its place there, bool `(height, width)`, uint8 RGB `(height, width, 3)`.
    changed_px: how many of its pixels differed from the backdrop.
    contrast: by how many grey levels they did, summed over them.
    follows: number of the sprite whose place it took, if any.
    stop: frame after the last that it is shown at.
    track: displacement x, y at each frame from `start` on.
    """

    number: int
    start: int
    x: int
    y: int
    mask: np.ndarray
    texture: np.ndarray
    changed_px: int
    contrast: float
    tolerance: float
    follows: int | None = None
    stop: int | None = None
    track: list[tuple[float, float]] = field(default_factory=lambda: [(0.0, 0.0)])

    @property
    def at(self) -> tuple[float, float]:
        return self.track[-1]

    @property
    def velocity(self) -> tuple[float, float]:
        if len(self.track) < 2:
            return 0.0, 0.0
        return self.track[-1][0] - self.track[-2][0], self.track[-1][1] - self.track[-2][1]

    def laid(self, picture: np.ndarray, covered: np.ndarray, dx: float, dy: float) -> Place:
        """Compare the sprite at a displacement with a frame.

        Args:
            picture: uint8 RGB `(height, width, 3)`.
            covered: bool `(height, width)`: pixels that a higher sprite hides.
        """
        height, width = self.mask.shape
        left, top = int(np.floor(dx)), int(np.floor(dy))
        mask, texture = self.mask, self.texture
        if (left, top) != (dx, dy):
            move = np.array([[1, 0, dx - left], [0, 1, dy - top]], np.float64)
            size = (width + 1, height + 1)
            texture = cv2.warpAffine(texture, move, size, borderMode=cv2.BORDER_REPLICATE)
            mask = cv2.warpAffine(mask.astype(np.float32), move, size) > 0.5
            height, width = mask.shape
        x0, y0 = max(self.x + left, 0), max(self.y + top, 0)
        x1, y1 = min(self.x + left + width, picture.shape[1]), min(self.y + top + height, picture.shape[0])
        if x0 >= x1 or y0 >= y1:
            return NOWHERE
        inner = np.s_[y0 - self.y - top : y1 - self.y - top, x0 - self.x - left : x1 - self.x - left]
        body = mask[inner]
        seen = body & ~covered[y0:y1, x0:x1]
        count = np.count_nonzero(seen)
        if not count:
            return NOWHERE
        distance = difference(texture[inner], picture[y0:y1, x0:x1])
        agrees = body & (distance <= self.tolerance)
        return Place(dx, dy, np.count_nonzero(agrees & seen) / count, body, seen, agrees, (x0, y0, x1, y1))

    def found(self, picture: np.ndarray, covered: np.ndarray, candidates: list[Region], reach: float) -> Place:
        """Look for the sprite where it was, where it was heading, and where regions of about its size are.

        Args:
            candidates: regions of the frame that differ from the backdrop.
            reach: a region this many pixels away may still be it.
        """
        here = self.at
        best = self.laid(picture, covered, *here)
        if best.share >= SURE_SHARE:
            return best
        ahead = (here[0] + self.velocity[0], here[1] + self.velocity[1])
        if self.velocity != (0.0, 0.0):
            best = max(best, self.laid(picture, covered, *ahead), key=lambda place: place.share)
            if best.share >= SURE_SHARE:
                return best
        starts = [ahead, here] if self.velocity != (0.0, 0.0) else [here]
        starts += self._alignments(candidates, ahead, reach)
        tried: set[tuple[int, int]] = set()
        for start in starts:
            near = (round(start[0]), round(start[1]))
            if any(max(abs(near[0] - x), abs(near[1] - y)) <= NEARBY_PX // 2 for x, y in tried):
                continue
            tried.add(near)
            refined = self._nearest(picture, *near)
            if refined is None:
                continue
            place = self.laid(picture, covered, *refined)
            if place.share > best.share + 0.01:
                best = place
            if best.share >= SURE_SHARE:
                break
        return best

    def disagreeing(self, picture: np.ndarray, covered: np.ndarray, dx: float, dy: float) -> np.ndarray:
        """Which of its pixels, laid at a displacement, are seen but do not look like the frame: bool `(height, width)`."""
        height, width = self.mask.shape
        back = np.array([[1, 0, -(self.x + dx)], [0, 1, -(self.y + dy)]], np.float64)
        there = cv2.warpAffine(picture, back, (width, height), borderMode=cv2.BORDER_REPLICATE)
        hidden = cv2.warpAffine(covered.astype(np.uint8), back, (width, height), flags=cv2.INTER_NEAREST, borderValue=1)
        return self.mask & (hidden == 0) & (difference(self.texture, there) > self.tolerance)

    def part(self, mask: np.ndarray, number: int) -> Sprite:
        """Some of its pixels as a sprite of their own, with the same past."""
        share = np.count_nonzero(mask) / np.count_nonzero(self.mask)
        rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
        place = np.s_[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        return replace(
            self,
            number=number,
            x=self.x + int(columns[0]),
            y=self.y + int(rows[0]),
            mask=mask[place],
            texture=self.texture[place],
            changed_px=max(1, round(share * self.changed_px)),
            contrast=share * self.contrast,
            track=list(self.track),
        )

    def _alignments(self, candidates: list[Region], ahead: tuple[float, float], reach: float) -> list[tuple[float, float]]:
        """Displacements that lay the sprite's box on a region of like size, nearest first; by centre and by each corner."""
        height, width = self.mask.shape
        found = []
        for region in candidates:
            alike = abs(region.width - width) <= 3 + 0.15 * width and abs(region.height - height) <= 3 + 0.15 * height
            if alike:
                found.append((region.x + (region.width - width) / 2 - self.x, region.y + (region.height - height) / 2 - self.y))
        found = [at for at in found if np.hypot(at[0] - ahead[0], at[1] - ahead[1]) <= reach]
        return sorted(found, key=lambda at: np.hypot(at[0] - ahead[0], at[1] - ahead[1]))[:3]

    def _nearest(self, picture: np.ndarray, dx: int, dy: int) -> tuple[float, float] | None:
        """Best displacement within a few pixels of one, to a fraction of a pixel (least squares, parabola through the minimum)."""
        reach = NEARBY_PX
        height, width = self.mask.shape
        x0, y0 = self.x + dx - reach, self.y + dy - reach
        x1, y1 = x0 + width + 2 * reach, y0 + height + 2 * reach
        cut = (max(0, -x0), max(0, -y0), max(0, x1 - picture.shape[1]), max(0, y1 - picture.shape[0]))
        if cut[0] + cut[2] >= width or cut[1] + cut[3] >= height:
            return None
        window = picture[max(0, y0) : y1 - cut[3], max(0, x0) : x1 - cut[2]]
        inner = np.s_[cut[1] : height - cut[3], cut[0] : width - cut[2]]
        texture, mask = self.texture[inner], self.mask[inner].astype(np.uint8)
        if max(height, width) > LARGEST_COLOURED_PX:
            window, texture = cv2.cvtColor(window, cv2.COLOR_RGB2GRAY), cv2.cvtColor(texture, cv2.COLOR_RGB2GRAY)
        else:
            mask = np.repeat(mask[..., None], 3, axis=2)
        errors = cv2.matchTemplate(window, texture, cv2.TM_SQDIFF, mask=mask)
        if not np.isfinite(errors).all():
            return None
        row, column = np.unravel_index(int(errors.argmin()), errors.shape)
        fine_x = _vertex(errors[row], int(column))
        fine_y = _vertex(errors[:, column], int(row))
        left, top = max(0, x0) + column + fine_x - cut[0], max(0, y0) + row + fine_y - cut[1]
        return float(left - self.x), float(top - self.y)


def _vertex(errors: np.ndarray, at: int) -> float:
    """Offset of the minimum of the parabola through three neighbours, -0.5 to 0.5; 0 at an end or within 0.1 of a whole pixel."""
    if not 0 < at < len(errors) - 1:
        return 0.0
    before, middle, after = (float(errors[index]) for index in (at - 1, at, at + 1))
    bend = before - 2 * middle + after
    if bend <= 0:
        return 0.0
    offset = float(np.clip(0.5 * (before - after) / bend, -0.5, 0.5))
    return 0.0 if abs(offset) < 0.1 else offset
