"""Follows a scene frame by frame: what the backdrop does not show is cut out as a sprite and followed for as long as it fits."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

import cv2
import numpy as np

from codecap.generate.tracing.differences import Region, difference, filled, largest_channel, regions
from codecap.generate.tracing.plates import Backdrop
from codecap.generate.tracing.scenes import Scene
from codecap.generate.tracing.sprites import LOOSEST_TOLERANCE, NOWHERE, TIGHTEST_TOLERANCE, Place, Sprite

FITS_SHARE = 0.88  # of what is seen of a sprite; below, it is cut out anew
HELD_SHARE = 0.35  # below, it is not even shown while no new cut-out is allowed
GONE_SHARE = 0.3  # of the pixels that made it a sprite; fewer differ from the backdrop: it is gone
EDGE_PX = 1  # along a sprite's edge: blends, no new object
MOVING_EDGE_PX = 2
NOISE_PX = 5  # around what moves, a codec leaves noise
SLIVER_PX = 48  # a smaller region beside a sprite must be there for two frames before it is a thing of its own
PICTURES_PER_FRAME = 0.2  # area that may be cut out anew, in pictures; what is not used is saved up
PICTURES_SAVED = 3.0
COST_OF_ONE = 0.01  # pictures: what a sprite costs whatever its size
SMALLEST_OVERLAP_PX = 16  # by which the frames must speak for another order
DRIFTING_TOLERANCE = 3  # times the usual, where the backdrop itself moves: its edges are blends
SMALLEST_PART_PX = 24
SMALLEST_PART_SHARE = 0.08  # of a sprite, for it to be split
PART_FITS_SHARE = 0.8


@dataclass
class Followed:
    """The sprites of a scene, and for pairs (upper, lower) by how many pixels the frames say so."""

    sprites: list[Sprite] = field(default_factory=list)
    above: Counter[tuple[int, int]] = field(default_factory=Counter)


class Follower:
    """Explains the frames of scenes, one scene after another, as a backdrop with sprites on it.

    Args:
        tolerance: grey levels that count as a change.
    """

    def __init__(self, tolerance: float) -> None:
        self.tolerance = tolerance
        self.active: list[Sprite] = []  # the lowest first
        self.next_number = 0
        self.credit = PICTURES_SAVED
        self.done = Followed()

    def follow(self, scene: Scene, backdrop: Backdrop) -> None:
        """Follow a scene to its end; sprites that still fit stay active, for a scene that goes on before the same backdrop."""
        self.scene, self.backdrop = scene, backdrop
        self.left_before = np.zeros(scene.pictures[0].shape[:2], bool)
        self.picture_px = scene.pictures[0].shape[0] * scene.pictures[0].shape[1]
        for index in range(len(scene.pictures)):
            self._step(index)

    def close(self, stop: int) -> Followed:
        """End what is active at frame `stop`; returns all sprites since the last close."""
        for sprite in self.active:
            sprite.stop = stop
        done, self.done, self.active = self.done, Followed(), []
        self.credit = PICTURES_SAVED
        return done

    def _step(self, index: int) -> None:
        picture, behind = self.scene.pictures[index], self.backdrop.picture(index)
        strength = difference(picture, behind)
        if any(plate.moves for plate in self.backdrop.plates):
            strength[self.backdrop.drifting(index)] //= DRIFTING_TOLERANCE
        changed = strength > self.tolerance
        self.credit = min(self.credit + PICTURES_PER_FRAME, PICTURES_SAVED)
        found = regions(changed, strength, self.tolerance)
        placed, lost = self._place(picture, changed, found)
        wrong, edges = self._unexplained(changed, placed)
        left_over = self._lasting(regions(wrong, strength, self.tolerance), edges)
        self._count_overlaps(placed)
        placed += self._renew(index, behind, left_over, lost)
        kept = {sprite.number for sprite, _ in placed}
        for sprite, at in placed:
            sprite.track.append((at.dx, at.dy))
        self._end(index, kept)

    def _place(
        self, picture: np.ndarray, changed: np.ndarray, found: list[Region]
    ) -> tuple[list[tuple[Sprite, Place]], list[tuple[Sprite, Place]]]:
        """Lay the active sprites on the frame, the highest first.

        Returns:
            Those that fit, and those that do not at the best place found.
        """
        covered = np.zeros(changed.shape, bool)
        reach = 0.25 * max(changed.shape)
        placed, lost = [], []
        for sprite in list(reversed(self.active)):
            place = sprite.found(picture, covered, found, reach)
            differs = 0
            if place.seen is not None:
                x0, y0, x1, y1 = place.box
                differs = np.count_nonzero(place.seen & changed[y0:y1, x0:x1])
                hidden = 1.0 - np.count_nonzero(place.seen) / np.count_nonzero(sprite.mask)
                needed = GONE_SHARE * sprite.changed_px * (1.0 - min(hidden, 0.9))
            if place.seen is None or differs < needed:
                continue
            if place.share < FITS_SHARE:
                place = self._split(sprite, place, picture, covered, found, reach, placed) or place
                x0, y0, x1, y1 = place.box
            if place.share < FITS_SHARE:
                lost.append((sprite, place))
                continue
            placed.append((sprite, place))
            covered[y0:y1, x0:x1] |= place.seen
        return placed, lost

    def _split(
        self,
        sprite: Sprite,
        place: Place,
        picture: np.ndarray,
        covered: np.ndarray,
        found: list[Region],
        reach: float,
        placed: list[tuple[Sprite, Place]],
    ) -> Place | None:
        """Where a sprite's pixels have gone two ways, make two of it, from its start on. Returns the place of what it keeps."""
        kernel = np.ones((3, 3), np.uint8)
        apart = sprite.disagreeing(picture, covered, place.dx, place.dy).astype(np.uint8)
        apart = cv2.morphologyEx(cv2.morphologyEx(apart, cv2.MORPH_OPEN, kernel), cv2.MORPH_CLOSE, kernel)
        apart = apart.astype(bool) & sprite.mask
        smallest = max(SMALLEST_PART_PX, SMALLEST_PART_SHARE * np.count_nonzero(sprite.mask))
        if min(np.count_nonzero(apart), np.count_nonzero(sprite.mask & ~apart)) < smallest:
            return None
        part, kept = sprite.part(apart, self.next_number), sprite.part(sprite.mask & ~apart, sprite.number)
        part_place = part.found(picture, covered, found, reach)
        kept_place = kept.laid(picture, covered, place.dx, place.dy)
        if part_place.share < PART_FITS_SHARE or kept_place.share < PART_FITS_SHARE:
            return None
        if np.hypot(part_place.dx - place.dx, part_place.dy - place.dy) < 1.0:
            return None
        self.next_number += 1
        for name in ("x", "y", "mask", "texture", "changed_px", "contrast"):
            setattr(sprite, name, getattr(kept, name))
        self.active.insert(self.active.index(sprite), part)
        self.done.sprites.append(part)
        placed.append((part, part_place))
        x0, y0, x1, y1 = part_place.box
        covered[y0:y1, x0:x1] |= part_place.seen
        return replace(kept_place, share=1.0)

    def _unexplained(self, changed: np.ndarray, placed: list[tuple[Sprite, Place]]) -> tuple[np.ndarray, np.ndarray]:
        """Pixels that neither the backdrop nor a placed sprite shows right, without those along sprites' edges; and those edges."""
        wrong = changed.copy()
        edges = np.zeros(changed.shape, bool)
        for sprite, place in placed:
            x0, y0, x1, y1 = place.box
            wrong[y0:y1, x0:x1][place.seen] = ~place.agrees[place.seen]
            moves = (place.dx, place.dy) != sprite.at or (place.dx, place.dy) != (round(place.dx), round(place.dy))
            reach = MOVING_EDGE_PX if moves else EDGE_PX
            kernel = np.ones((2 * reach + 1, 2 * reach + 1), np.uint8)
            around = cv2.copyMakeBorder(place.seen.astype(np.uint8), reach, reach, reach, reach, cv2.BORDER_CONSTANT)
            rim = cv2.morphologyEx(around, cv2.MORPH_GRADIENT, kernel).astype(bool)
            rows, columns = slice(max(y0 - reach, 0), y1 + reach), slice(max(x0 - reach, 0), x1 + reach)
            target = edges[rows, columns]
            top, left = max(reach - y0, 0), max(reach - x0, 0)
            target |= rim[top : top + target.shape[0], left : left + target.shape[1]]
        seeds = wrong & ~edges
        kernel = np.ones((2 * MOVING_EDGE_PX + 1, 2 * MOVING_EDGE_PX + 1), np.uint8)
        return wrong & (cv2.dilate(seeds.astype(np.uint8), kernel) > 0), edges

    def _lasting(self, left_over: list[Region], edges: np.ndarray) -> list[Region]:
        """Without slivers beside sprites that were not there a frame ago."""
        before, self.left_before = self.left_before, np.zeros(edges.shape, bool)
        lasting = []
        near = cv2.dilate(edges.astype(np.uint8), np.ones((2 * NOISE_PX + 1, 2 * NOISE_PX + 1), np.uint8)).astype(bool)
        for region in left_over:
            place = np.s_[region.y : region.y + region.height, region.x : region.x + region.width]
            self.left_before[place] |= region.mask
            sliver = region.area < SLIVER_PX and (near[place] & region.mask).any()
            if not sliver or 2 * np.count_nonzero(before[place] & region.mask) >= region.area:
                lasting.append(region)
        return lasting

    def _renew(
        self,
        index: int,
        behind: np.ndarray,
        left_over: list[Region],
        lost: list[tuple[Sprite, Place]],
    ) -> list[tuple[Sprite, Place]]:
        """Cut out what is not explained, as far as credit goes. Returns the lost sprites that are kept on where it does not."""
        held = []
        waiting = np.zeros(self.scene.pictures[0].shape[:2], bool)
        for region in sorted(left_over, key=lambda region: -region.contrast):
            cost = region.width * region.height / self.picture_px + COST_OF_ONE
            if cost > self.credit:
                waiting[region.y : region.y + region.height, region.x : region.x + region.width] |= region.mask
                continue
            self.credit -= cost
            self._cut(index, behind, region, lost)
        for sprite, place in lost:
            x0, y0, x1, y1 = place.box
            if place.share >= HELD_SHARE and (waiting[y0:y1, x0:x1] & place.seen).any():
                held.append((sprite, place))
        return held

    def _cut(self, index: int, behind: np.ndarray, region: Region, lost: list[tuple[Sprite, Place]]) -> None:
        picture = self.scene.pictures[index]
        place = np.s_[region.y : region.y + region.height, region.x : region.x + region.width]
        apart = largest_channel(cv2.absdiff(picture[place], behind[place]))
        own = region.mask & (apart > 0.5 * self.tolerance)  # without the rim that averaging over 3x3 pixels added
        if not own.any():
            return
        body = filled(own)
        sprite = Sprite(
            number=self.next_number,
            start=self.scene.first + index,
            x=region.x,
            y=region.y,
            mask=body,
            texture=picture[place].copy(),
            changed_px=int(np.count_nonzero(body & region.mask)),
            contrast=float(apart[body].sum()),
            tolerance=float(np.clip(0.6 * apart[region.mask].mean(), TIGHTEST_TOLERANCE, LOOSEST_TOLERANCE)),
            follows=_closest(region, lost),
        )
        self.next_number += 1
        self.active.append(sprite)
        self.done.sprites.append(sprite)

    def _count_overlaps(self, placed: list[tuple[Sprite, Place]]) -> None:
        """Where two sprites lie on one another, the one that agrees with the frame is the upper; from then on it is laid first."""
        boxes = np.array([place.box for _, place in placed]).reshape(-1, 4)
        for number, (upper, place) in enumerate(placed):
            near = (boxes[:, :2] < place.box[2:]).all(axis=1) & (boxes[:, 2:] > place.box[:2]).all(axis=1)
            near[: number + 1] = False
            for lower, below in (placed[other] for other in np.flatnonzero(near)):
                x0, y0 = max(place.box[0], below.box[0]), max(place.box[1], below.box[1])
                x1, y1 = min(place.box[2], below.box[2]), min(place.box[3], below.box[3])
                first = np.s_[y0 - place.box[1] : y1 - place.box[1], x0 - place.box[0] : x1 - place.box[0]]
                second = np.s_[y0 - below.box[1] : y1 - below.box[1], x0 - below.box[0] : x1 - below.box[0]]
                both = place.body[first] & below.body[second]
                self.done.above[upper.number, lower.number] += int(np.count_nonzero(both & place.agrees[first]))
                self.done.above[lower.number, upper.number] += int(np.count_nonzero(both & below.agrees[second]))
                says = self.done.above[lower.number, upper.number] - self.done.above[upper.number, lower.number]
                if says > SMALLEST_OVERLAP_PX and self.active.index(lower) < self.active.index(upper):
                    self.active.remove(lower)
                    self.active.insert(self.active.index(upper) + 1, lower)

    def _end(self, index: int, kept: set[int]) -> None:
        now = self.scene.first + index
        for sprite in self.active:
            if sprite.number not in kept and sprite.start < now:
                sprite.stop = now
        self.active = [sprite for sprite in self.active if sprite.stop is None]


def _closest(region: Region, lost: list[tuple[Sprite, Place]]) -> int | None:
    """The lost sprite that the region covers most of."""
    best, most = None, 0
    for sprite, place in lost:
        if place is NOWHERE:
            continue
        x0, y0 = max(place.box[0], region.x), max(place.box[1], region.y)
        x1, y1 = min(place.box[2], region.x + region.width), min(place.box[3], region.y + region.height)
        area = max(x1 - x0, 0) * max(y1 - y0, 0)
        if area > most:
            best, most = sprite.number, area
    return best
