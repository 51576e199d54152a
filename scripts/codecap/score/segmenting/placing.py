"""Where in a picture an object is: a match near a place, the best places of a whole picture, and the patch by its colours."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from codecap.score.segmenting.appearance import Appearance, nearest_colour
from codecap.score.segmenting.pictures import Picture

LEAST_SEEN = 0.25  # share of the object's pixels that must lie in the picture
NOWHERE = -1.0
SAME_TINT, OTHER_TINT = 25.0, 75.0  # levels up to which a mean colour is the same, and from which it is another
PART_FITS, PART_NOISE = 0.15, 10.0  # a pixel is the object's up to this share of the contrast, or this many levels
PART_CLEAR = 0.8  # share of the object's pixels that fit where it is seen and do not where it is covered
PART_LEAST_PX = 12
PATCH_COLOUR = 40.0  # a pixel further than this from all of an object's colours is not of the object


@dataclass(frozen=True)
class Match:
    """A place where an object may be.

    Attributes:
        box_xyxy: float64 `(4,)` in pixels of the frame; parts of it may lie outside the picture.
        explained, edged: as in `appearance`.
        tint: distance, in levels, between the mean colour of the object's pixels and that of the place.
    """

    box_xyxy: np.ndarray
    explained: float
    edged: float
    tint: float = 0.0

    @property
    def quality(self) -> float:
        """In (-inf, 1]; about the share of the object that is there."""
        return self.explained * self.edged**0.5 if self.explained > 0 else self.explained

    @property
    def likeness(self) -> float:
        """`quality`, less where the colour is another one. A red thing on white explains an orange one well, but is not it;
        only where an object is followed from the frame before may it change its colour, as in a fade."""
        return self.quality * float(np.clip((OTHER_TINT - self.tint) / (OTHER_TINT - SAME_TINT), 0.0, 1.0))


def explained_map(window: np.ndarray, seen: np.ndarray | None, appearance: Appearance) -> np.ndarray:
    """*Explained* of a template at every place of a window.

    Args:
        window: float32 `(3, H, W)`, 0 outside the picture.
        seen: float32 `(H, W)`, 1 inside the picture; None when all of it is.

    Returns:
        float32 `(H - h + 1, W - w + 1)`; `NOWHERE` where too little of the object is in the picture.
    """
    cross = sum(_correlate(window[channel], appearance.weighted[channel]) for channel in range(3))
    energy = _correlate(np.einsum("chw,chw->hw", window, window), appearance.weight)
    if seen is None:
        pixels = max(float(appearance.weight.sum()), 1.0)
        distance = (energy - 2 * cross + float(appearance.power.sum())) / pixels
        return 1 - distance / appearance.contrast
    visible = _correlate(seen, appearance.weight)
    power = _correlate(seen, appearance.power)
    share = visible / max(float(appearance.weight.sum()), 1.0)
    explained = 1 - (energy - 2 * cross + power) / np.maximum(visible, 1.0) / appearance.contrast
    explained -= 0.1 * (1 - share)
    explained[share < LEAST_SEEN] = NOWHERE
    return explained


def match_near(picture: Picture, appearance: Appearance, box_xyxy: np.ndarray, reach_px: float, pull: float = 0.0) -> Match:
    """The best match with its corner within `reach_px` (of the frame) of a box's, exact to a fraction of a pixel.

    Args:
        pull: quality that a place at the end of the reach loses against one in the middle, in the choice only.
    """
    scale = picture.scale(appearance.level)
    height, width = appearance.size
    corner = np.asarray(box_xyxy)[:2] * scale[:2] - appearance.inset_xyxy[:2]
    reach = np.maximum(np.ceil(reach_px * scale[:2]), 2).astype(int)
    left, top = np.round(corner).astype(int) - reach
    window, seen = _window(picture.planes(appearance.level), top, left, height + 2 * reach[1], width + 2 * reach[0])
    if seen is not None and not seen.any():
        return Match(np.asarray(box_xyxy, np.float64), NOWHERE, 0.0)
    explained = explained_map(window, seen, appearance)
    preferred = explained
    if pull:
        down = (np.arange(explained.shape[0]) + top - corner[1])[:, None] / reach[1]
        along = (np.arange(explained.shape[1]) + left - corner[0])[None, :] / reach[0]
        preferred = explained - pull * np.sqrt(down**2 + along**2)
    y, x = np.unravel_index(int(np.argmax(preferred)), explained.shape)
    return _match_at(picture, appearance, window, seen, explained, (int(y), int(x)), (top, left))


def best_places(picture: Picture, appearance: Appearance, count: int, least: float) -> list[Match]:
    """Up to `count` separate places of the whole picture where the object is explained by `least` or more, best first."""
    planes = picture.planes(appearance.level)
    height, width = appearance.size
    margin_y, margin_x = height // 2, width // 2
    window, seen = _window(planes, -margin_y, -margin_x, planes.shape[1] + 2 * margin_y, planes.shape[2] + 2 * margin_x)
    if window.shape[1] < height or window.shape[2] < width:
        return []
    explained = explained_map(window, seen, appearance)
    left = explained.copy()
    places: list[Match] = []
    for _ in range(4 * count):
        y, x = (int(v) for v in np.unravel_index(int(np.argmax(left)), left.shape))
        if left[y, x] < least or len(places) == count:
            break
        places.append(_match_at(picture, appearance, window, seen, explained, (y, x), (-margin_y, -margin_x)))
        reach_y, reach_x = max(height // 2 - 1, 1), max(width // 2 - 1, 1)
        left[max(y - reach_y, 0) : y + reach_y + 1, max(x - reach_x, 0) : x + reach_x + 1] = NOWHERE
    return sorted(places, key=lambda place: -place.likeness)


@dataclass(frozen=True)
class Part:
    """What is left to see of an object behind something that has cut it off along its sides.

    Attributes:
        box_xyxy: of the part, in pixels of the frame.
        rows, columns: of the template.
        share: of the object's pixels.
        explained: of these.
    """

    box_xyxy: np.ndarray
    rows: slice
    columns: slice
    share: float
    explained: float


def part_at(picture: Picture, appearance: Appearance, match: Match) -> Part | None:
    """Cut away rows and columns at the sides of a match where the pixels are not the object's.

    None when that leaves nothing, or the cut is not clear: a thing that has changed its shape fits here and there on both sides.
    """
    scale = picture.scale(appearance.level)
    left, top = np.round(match.box_xyxy[:2] * scale[:2] - appearance.inset_xyxy[:2]).astype(int)
    height, width = appearance.size
    window, seen = _window(picture.planes(appearance.level), top, left, height, width)
    own = appearance.weight > 0 if seen is None else (appearance.weight > 0) & (seen > 0)
    distance = ((window - appearance.planes) ** 2).sum(axis=0)
    fits = own & (distance < max(PART_FITS * appearance.contrast, 3 * PART_NOISE**2))
    y0, y1, x0, x1 = 0, height, 0, width
    for _ in range(2):
        y0, y1 = _trimmed(fits[:, x0:x1].sum(axis=1), own[:, x0:x1].sum(axis=1), y0, y1)
        x0, x1 = _trimmed(fits[y0:y1].sum(axis=0), own[y0:y1].sum(axis=0), x0, x1)
    kept = own[y0:y1, x0:x1]
    gone = own.sum() - kept.sum()
    if kept.sum() < PART_LEAST_PX or fits[y0:y1, x0:x1].sum() < PART_CLEAR * kept.sum():
        return None
    if gone == 0 or fits.sum() - fits[y0:y1, x0:x1].sum() > (1 - PART_CLEAR) * gone:
        return None
    box = match.box_xyxy * scale
    corner = np.array([left, top])
    inner = np.array([x0, y0, x1, y1]) + np.tile(corner, 2)
    own_y, own_x = np.flatnonzero(own.any(axis=1)), np.flatnonzero(own.any(axis=0))
    cut = np.array([x0 > own_x[0], y0 > own_y[0], x1 <= own_x[-1], y1 <= own_y[-1]])
    return Part(
        box_xyxy=np.where(cut, inner, box) / scale,
        rows=slice(y0, y1),
        columns=slice(x0, x1),
        share=float(kept.sum() / max(float(appearance.weight.sum()), 1.0)),
        explained=1 - float(distance[y0:y1, x0:x1][kept].mean()) / appearance.contrast,
    )


def _trimmed(fitting: np.ndarray, own: np.ndarray, start: int, stop: int) -> tuple[int, int]:
    """The lines of `start..stop` without those at either end where less than half of the object's pixels fit."""
    good = np.flatnonzero((own > 0) & (2 * fitting >= own))
    good = good[(good >= start) & (good < stop)]
    return (int(good[0]), int(good[-1]) + 1) if len(good) else (start, start)


@dataclass(frozen=True)
class Patch:
    """Connected pixels in an object's colours.

    Attributes:
        box_xyxy: in pixels of the frame.
        area_px: pixels of the level.
        shares: float64 `(n,)`, how much of the patch is nearest to each of the object's colours.
    """

    box_xyxy: np.ndarray
    area_px: int
    shares: np.ndarray


def patch_near(picture: Picture, appearance: Appearance, box_xyxy: np.ndarray, reach_px: float) -> Patch | None:
    """The pixels in the object's colours, not its surroundings', that hang together with those in a box."""
    scale = picture.scale(appearance.level)
    planes = picture.planes(appearance.level)
    box = np.asarray(box_xyxy) * scale
    reach = reach_px * scale[:2]
    left, top = (max(int(np.floor(edge)), 0) for edge in box[:2] - reach)
    right = min(int(np.ceil(box[2] + reach[0])), planes.shape[2])
    bottom = min(int(np.ceil(box[3] + reach[1])), planes.shape[1])
    if right - left < 2 or bottom - top < 2:
        return None
    window = planes[:, top:bottom, left:right]
    distances = np.stack([nearest_colour(window, colour[None]) for colour in appearance.own])
    nearest = distances.min(axis=0)
    ours = (nearest < PATCH_COLOUR**2) & (nearest < nearest_colour(window, appearance.surrounding))
    count, labels, stats, _ = cv2.connectedComponentsWithStats(ours.astype(np.uint8), connectivity=8)
    y0, x0 = int(max(box[1] - top, 0)), int(max(box[0] - left, 0))
    core = labels[y0 : int(np.ceil(box[3] - top)), x0 : int(np.ceil(box[2] - left))]
    within = np.bincount(core.ravel(), minlength=count)
    within[0] = 0
    chosen = np.flatnonzero((within >= 0.5 * stats[:, cv2.CC_STAT_AREA]) | (within >= 0.3 * max(within.sum(), 1)))
    chosen = chosen[(within[chosen] > 0) & (stats[chosen, cv2.CC_STAT_AREA] >= 3)]
    if not len(chosen):
        return None
    x, y = stats[chosen, cv2.CC_STAT_LEFT], stats[chosen, cv2.CC_STAT_TOP]
    x1, y1 = x + stats[chosen, cv2.CC_STAT_WIDTH], y + stats[chosen, cv2.CC_STAT_HEIGHT]
    found = np.array([x.min() + left, y.min() + top, x1.max() + left, y1.max() + top], np.float64)
    mine = np.isin(labels, chosen)
    shares = np.bincount(distances[:, mine].argmin(axis=0), minlength=len(appearance.own)) / mine.sum()
    return Patch(found / scale, int(mine.sum()), shares)


def colour_share(picture: Picture, appearance: Appearance, box_xyxy: np.ndarray) -> float:
    """Share, in [0, 1], of the picture's pixels in an object's colours that lie in its box; seen two levels more coarsely."""
    level = appearance.level + 2
    planes = picture.planes(level)
    nearest = nearest_colour(planes, appearance.own)
    ours = (nearest < PATCH_COLOUR**2) & (nearest < nearest_colour(planes, appearance.surrounding))
    x0, y0, x1, y1 = (np.asarray(box_xyxy) * picture.scale(level)).round().astype(int)
    inside = int(ours[max(y0, 0) : max(y1, y0 + 1), max(x0, 0) : max(x1, x0 + 1)].sum())
    return inside / max(int(ours.sum()), 1)


def _match_at(
    picture: Picture,
    appearance: Appearance,
    window: np.ndarray,
    seen: np.ndarray | None,
    explained: np.ndarray,
    peak_yx: tuple[int, int],
    origin_yx: tuple[int, int],
) -> Match:
    """The match at one place of a map, moved to the top of the parabola through its neighbours."""
    y, x = peak_yx
    height, width = appearance.size
    best = float(explained[y, x])
    step_y, rise_y = _summit(explained[:, x], y)
    step_x, rise_x = _summit(explained[y, :], x)
    patch = window[:, y : y + height, x : x + width]
    edge = appearance.edge if seen is None else appearance.edge * seen[y : y + height, x : x + width]
    total = float(edge.sum())
    distance = ((patch - appearance.beside) ** 2).sum(axis=0)
    edged = float(np.minimum(distance, edge).sum()) / total if total > 0 else 1.0
    weight = appearance.weight if seen is None else appearance.weight * seen[y : y + height, x : x + width]
    pixels = max(float(weight.sum()), 1.0)
    tint = float(np.linalg.norm(np.einsum("chw,hw->c", patch - appearance.planes, weight) / pixels))
    corner = np.array([x + step_x + origin_yx[1], y + step_y + origin_yx[0]] * 2)
    box = (corner + appearance.inset_xyxy) / picture.scale(appearance.level)
    return Match(box, min(best + rise_y + rise_x, 1.0), edged, tint)


def _summit(line: np.ndarray, at: int) -> tuple[float, float]:
    """Step from the largest value of a line to the top of the parabola through its neighbours, and how much it rises."""
    if not 0 < at < len(line) - 1:
        return 0.0, 0.0
    before, here, after = (float(value) for value in line[at - 1 : at + 2])
    bend = before - 2 * here + after
    if bend >= -1e-6 or before <= NOWHERE or after <= NOWHERE or here < max(before, after):
        return 0.0, 0.0
    step = 0.5 * (before - after) / bend
    return step, -0.25 * (before - after) * step


def _window(planes: np.ndarray, top: int, left: int, height: int, width: int) -> tuple[np.ndarray, np.ndarray | None]:
    """Cut `(3, height, width)` out of planes; outside them it is 0 and the second array, float32 `(height, width)`, is 0."""
    rows, columns = planes.shape[1:]
    if top >= 0 and left >= 0 and top + height <= rows and left + width <= columns:
        return planes[:, top : top + height, left : left + width], None
    window = np.zeros((3, height, width), np.float32)
    seen = np.zeros((height, width), np.float32)
    y0, x0, y1, x1 = max(top, 0), max(left, 0), min(top + height, rows), min(left + width, columns)
    if y1 > y0 and x1 > x0:
        window[:, y0 - top : y1 - top, x0 - left : x1 - left] = planes[:, y0:y1, x0:x1]
        seen[y0 - top : y1 - top, x0 - left : x1 - left] = 1.0
    return window, seen


def _correlate(plane: np.ndarray, template: np.ndarray) -> np.ndarray:
    return cv2.matchTemplate(np.ascontiguousarray(plane), template, cv2.TM_CCORR)
