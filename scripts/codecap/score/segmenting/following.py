"""One object from frame to frame: looked for near its predicted place in its first and latest looks, and as a patch of colours."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from codecap.boxes import clipped, iou
from codecap.score.segmenting.appearance import (
    COARSE_AREA_PX,
    FINE_AREA_PX,
    Appearance,
    level_for,
    look_at,
)
from codecap.score.segmenting.pictures import Picture
from codecap.score.segmenting.placing import Match, Part, Patch, best_places, colour_share, match_near, part_at, patch_near

PRESENT = 0.55  # quality below which an object is absent
AGAIN = 0.7  # likeness at which a lost one is taken to be back where it was
ELSEWHERE = 0.8  # and somewhere else
SURE_EXPLAINED, SURE_EDGED = 0.85, 0.9  # with these, no other explanation is looked for
TWIN = 0.75  # likeness of a second place that makes an object one of several look-alikes
STILL_MEAN, STILL_MOST = 1.0, 12.0  # levels: a region that changed less has not moved
LEAST_PART, PART_STEP = 0.15, 0.35  # share that is left to see of a covered object, and the most that goes from frame to frame
STRETCHES = (0.94, 1.065)
REACH = 0.75  # of the object's longer side, and the last step besides
TWIN_REACH = 0.6  # of the way to the nearest look-alike
MOST_REACH = 2.0  # times more after some frames without it
PULL = 0.15
SAME_SIZE = 0.08  # part of a side by which two looks of one size may differ
MEMORY = 4  # looks, of a thing that goes through phases
PATIENCE = 6  # frames for which a look-alike that was lost is still taken for itself when it is seen again
LEAST_REACH_PX = 8.0
UNIQUE_SHARE = 0.6  # of the pixels in an object's colours: with so many in its box, the colours are its own
PATCH_STEP, PATCH_STEP_UNIQUE = 0.8, 0.55  # least ratio of a patch's sizes on two frames, by whether its colours are its own
PATCH_TRUST_IOU = 0.75  # of patch and box on the prompt's frame


@dataclass(frozen=True)
class Look:
    """What is learned of an object on a frame where its box is known.

    Attributes:
        fine, coarse: its appearance at the level where it is placed, and where it is looked for in the whole picture.
        patch: its patch of colours on that frame; None when colours alone do not give the box.
        margin_xyxy: box minus the patch's box, in pixels of the frame.
        colours_unique: little else in the picture has its colours.
    """

    box_xyxy: np.ndarray
    fine: Appearance
    coarse: Appearance
    patch: Patch | None
    margin_xyxy: np.ndarray
    colours_unique: bool


@dataclass(frozen=True)
class Sighting:
    """An object on one frame: box clipped to the picture, or None when it is not seen, with the quality of the match."""

    box_xyxy: tuple[float, float, float, float] | None
    quality: float


NOT_SEEN = Sighting(None, 0.0)


def learn(picture: Picture, box_xyxy: np.ndarray) -> Look | None:
    """Learn an object's look from a box; None when the box lies outside the picture."""
    box = np.asarray(box_xyxy, np.float64)
    fine = look_at(picture, box, level_for(picture, box, FINE_AREA_PX))
    coarse = look_at(picture, box, level_for(picture, box, COARSE_AREA_PX))
    if fine is None or coarse is None:
        return None
    patch = patch_near(picture, fine, box, reach_px=0.25 * float(max(box[2] - box[0], box[3] - box[1])))
    if patch is not None and iou(patch.box_xyxy, box) < PATCH_TRUST_IOU:
        patch = None
    margin = box - patch.box_xyxy if patch is not None else np.zeros(4)
    unique = patch is not None and colour_share(picture, fine, box) >= UNIQUE_SHARE
    return Look(box, fine, coarse, patch, margin, unique)


def places(picture: Picture, look: Look, count: int, least: float) -> list[Match]:
    """Separate places of a picture where an object's likeness is `least` or more, best first: found coarsely, then placed."""
    found: list[Match] = []
    around_px = 1.5 / float(picture.scale(look.coarse.level)[0])
    for place in best_places(picture, look.coarse, count, least=least - 0.25):
        match = match_near(picture, look.fine, place.box_xyxy, around_px)
        if match.likeness >= least and all(iou(match.box_xyxy, other.box_xyxy) < 0.3 for other in found):
            found.append(match)
    return sorted(found, key=lambda match: -match.likeness)


def twin_distance(picture: Picture, look: Look, box_xyxy: np.ndarray) -> float | None:
    """How far the nearest other place of the picture is that looks like the object in the box; None without any.

    Returns:
        Pixels of the frame between the centres.
    """
    others = [place.box_xyxy for place in places(picture, look, count=5, least=TWIN) if iou(place.box_xyxy, box_xyxy) < 0.3]
    if not others:
        return None
    return min(float(np.linalg.norm(_centre_step(np.asarray(box_xyxy), other)[:2])) for other in others)


@dataclass
class Follower:
    """Follows one object from a frame where its box is known, one way in time.

    Attributes:
        twin_px: distance of its nearest look-alike, when it has any: then it is not looked for that far away, and not elsewhere
            once it is lost.
    """

    look: Look
    twin_px: float | None
    box: np.ndarray = field(init=False)
    velocity: np.ndarray = field(init=False)
    memory: list[Appearance] = field(init=False, default_factory=list)  # its latest other looks, the last one first
    area_px: int = field(init=False)
    lost: int = field(init=False, default=0)
    part: Part | None = field(init=False, default=None)  # that is not covered, when something covers the rest
    quality: float = field(init=False, default=1.0)
    _before: np.ndarray | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.box = self.look.box_xyxy
        self.velocity = np.zeros(4)
        self.area_px = self.look.patch.area_px if self.look.patch else 0

    def take_over(self, before: Follower | None) -> None:
        """Keep in mind how the object looked up to a new prompt, at the new one's size: one prompt's surroundings may hide a
        part of its outline, but a look from before it was covered would find it whole."""
        if before is None:
            return
        size = np.array(self.look.fine.size)
        known = [before.look.fine, *before.memory]
        alike = [look for look in known if (np.abs(np.array(look.size) - size) <= np.maximum(SAME_SIZE * size, 2)).all()]
        self.memory = alike[:MEMORY]

    def start(self, picture: Picture) -> Sighting:
        """Take the frame that the look was learned from."""
        self._before = self._region(picture)
        return self._sighting(picture)

    def step(self, picture: Picture) -> Sighting:
        """Find the object on the next frame."""
        region = self._region(picture)
        if self._before is not None and _still(region, self._before):
            self.velocity = np.zeros(4)
            return self._sighting(picture)
        if self.twin_px is not None and self.lost > PATIENCE:
            return NOT_SEEN
        match, piece = self._near(picture)
        if match.likeness < AGAIN if self.lost else match.quality < PRESENT:
            match, piece = self._elsewhere(picture), None
        if match is None:
            self.lost += 1
            self.velocity = self.velocity * 0.7
            self._before = region
            return NOT_SEEN
        self._accept(picture, match, piece)
        return self._sighting(picture)

    def _near(self, picture: Picture) -> tuple[Match, Patch | Part | None]:
        """The best explanation near the predicted place: the first look, the latest, a changed one, a patch of colour."""
        guess = self.box + self.velocity
        size = float(max(self.box[2] - self.box[0], self.box[3] - self.box[1]))
        speed = float(np.abs(self.velocity).max())
        reach = max(REACH * min(size, 120.0), LEAST_REACH_PX) + speed
        if self.twin_px is not None:
            reach = max(min(reach, TWIN_REACH * self.twin_px), LEAST_REACH_PX)
        elif self.lost:
            reach *= min(1 + 0.1 * self.lost, MOST_REACH)
        best = match_near(picture, self.look.fine, guess, reach, PULL)
        if _sure(best):
            return best, None
        if self.look.patch is None and (covered := self._part(picture, best, guess, reach)):
            return covered
        for number, appearance in enumerate(self.memory):
            best = _better(best, match_near(picture, appearance, guess, reach, PULL))
            if _sure(best):
                self.memory.insert(0, self.memory.pop(number))
                return best, None
        latest = self.memory[0] if self.memory else self.look.fine
        near = best.box_xyxy if best.quality > 0.3 else guess
        changed = [latest.changed(stretch) for stretch in STRETCHES] + [self.look.fine.changed(mirrored=True)]
        for form in changed:
            best = _better(best, match_near(picture, form, near, 0.5 * reach, PULL))
        patch = self._patch(picture, near if best.quality > PRESENT else guess)
        if patch is not None:
            quality = self._patch_quality(patch)
            if quality > best.quality:
                return Match(patch.box_xyxy + self.look.margin_xyxy, quality, 1.0), patch
        return best, None

    def _part(self, picture: Picture, match: Match, guess: np.ndarray, reach: float) -> tuple[Match, Part] | None:
        """The first look where something covers it: not much more of it than on the frame before, and the rest as it was."""
        if self.lost:
            return None
        first = self.look.fine
        if self.part is not None:
            match = match_near(picture, first.cut(self.part.rows, self.part.columns), guess, reach, PULL)
        part = part_at(picture, first, match)
        before = self.part.share if self.part is not None else 1.0
        if part is None or part.explained < SURE_EXPLAINED or part.share < max(LEAST_PART, before - PART_STEP):
            return None
        return Match(match.box_xyxy, part.explained * (0.7 + 0.3 * part.share), 1.0), part

    def _patch(self, picture: Picture, guess: np.ndarray) -> Patch | None:
        if self.look.patch is None or (self.lost and not self.look.colours_unique):
            return None
        size = float(max(guess[2] - guess[0], guess[3] - guess[1]))
        return patch_near(picture, self.look.fine, guess, max(0.5 * min(size, 160.0), LEAST_REACH_PX))

    def _patch_quality(self, patch: Patch) -> float:
        """0.6 x agreement of the colours with the prompt's + 0.4 x continuity of the size; 0 when the size jumps."""
        before, after = (
            self.box[2:] - self.box[:2],
            (patch.box_xyxy + self.look.margin_xyxy)[2:] - (patch.box_xyxy + self.look.margin_xyxy)[:2],
        )
        box_ratio = float(np.prod(np.minimum(before, after) / np.maximum(np.maximum(before, after), 1e-6)))
        ratio = min(box_ratio, min(patch.area_px, self.area_px) / max(patch.area_px, self.area_px, 1))
        if ratio < (PATCH_STEP_UNIQUE if self.look.colours_unique else PATCH_STEP):
            return 0.0
        return 0.6 * float(np.minimum(patch.shares, self.look.patch.shares).sum()) + 0.4 * ratio

    def _elsewhere(self, picture: Picture) -> Match | None:
        """A jump, or the way back of what had left the picture. What vanished inside it is not looked for in other places:
        that is how the next thing of its kind is taken for it."""
        inside = clipped(self.box, picture.width_px, picture.height_px)
        if self.twin_px is not None or (self.lost and inside is not None and _whole(self.box, inside)):
            return None
        found = places(picture, self.look, count=3, least=ELSEWHERE)
        return found[0] if found else None

    def _accept(self, picture: Picture, match: Match, piece: Patch | Part | None) -> None:
        self.velocity = _centre_step(self.box, match.box_xyxy) if self.lost == 0 else np.zeros(4)
        self.box, self.quality, self.lost = match.box_xyxy, match.quality, 0
        was_covered = self.part is not None
        self.part = piece if isinstance(piece, Part) else None
        if isinstance(piece, Patch):
            self.area_px = piece.area_px
        if self.part is None and not was_covered and not _sure(match):
            inside = clipped(self.box, picture.width_px, picture.height_px)
            if inside is not None and _whole(self.box, inside):
                self._remember(look_at(picture, np.array(inside), self.look.fine.level))
        self._before = self._region(picture)

    def _remember(self, appearance: Appearance | None) -> None:
        if appearance is not None:
            self.memory = [appearance, *self.memory][:MEMORY]

    def _sighting(self, picture: Picture) -> Sighting:
        if self.lost:
            return NOT_SEEN
        seen = self.box if self.part is None else self.part.box_xyxy
        return Sighting(clipped(seen, picture.width_px, picture.height_px), self.quality)

    def _region(self, picture: Picture) -> np.ndarray | None:
        """The object's surroundings, where it stands now; the whole picture when it is lost."""
        level = self.look.fine.level
        if self.lost:
            return picture.planes(self.look.coarse.level)
        planes = picture.planes(level)
        box = self.box * picture.scale(level)
        x0, y0 = (int(max(edge - 6, 0)) for edge in box[:2])
        x1, y1 = (int(max(edge + 6, 0)) for edge in box[2:])
        return planes[:, y0:y1, x0:x1].copy()


def _still(now: np.ndarray, before: np.ndarray) -> bool:
    if now.shape != before.shape or not now.size:
        return False
    change = np.abs(now - before)
    return float(change.max()) <= STILL_MOST and float(change.mean()) <= STILL_MEAN


def _sure(match: Match) -> bool:
    return match.explained >= SURE_EXPLAINED and match.edged >= SURE_EDGED


def _better(a: Match, b: Match) -> Match:
    return b if b.quality > a.quality + 0.02 else a


def _whole(box: np.ndarray, inside: tuple[float, float, float, float]) -> bool:
    return float(np.abs(box - np.array(inside)).max()) < 0.5


def _centre_step(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Motion of the centre, as a step for all four edges."""
    step = (after[:2] + after[2:] - before[:2] - before[2:]) / 2
    return np.array([step[0], step[1], step[0], step[1]])
