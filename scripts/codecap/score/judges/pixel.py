"""A judge that needs no model: it compares reduced pictures, where and when the focal point is.

**Ours.** Both verdicts count errors *against those of an empty candidate*, so that nothing is earned by chance: 1 means no
error, 0 means no better than a page that shows the reference's own background and never changes.

Static: on up to 6 instants of the interval, in the boxes of the point's objects. The empty candidate has the reference's most
common colour everywhere. The error of a pixel is the mean of its structure error (1 - the structure term of SSIM, grey) and its
colour error; the empty candidate's error tells how much each pixel is content, and weighs it. The share of that error which a
candidate does not make is multiplied by how right its colours are where the reference is empty. Half of the value is for showing
it when the reference does, half for ever showing it there: a judge sees the full video.

Dynamic: over the interval, in all that the objects' boxes sweep, the change map of an instant is the picture less the mean
picture of the interval. Agreement of two series of maps is 1 - sum |a - b| / (sum |a| + sum |b|) (Bray and Curtis 1957): 0
for a candidate that stands still, and for motion elsewhere. Agreement of motion over time is the same of the amount of change
from instant to instant, over about a quarter of a second. The value is their geometric mean, the maps counted twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from pydantic import Field
from scipy.ndimage import gaussian_filter1d

from codecap.clock import FPS, frames_between
from codecap.records import Annotation, Box, Clip, FocalPoint, Row
from codecap.score import Description, Task, Unscored
from codecap.score.judges import Judgement

LEVELS = (0.15, 0.35, 0.55, 0.75, 0.9)  # a value of at least the k-th of these is worth k + 1 points
INSTANTS = 6  # of a static point
MOST_INSTANTS = 120  # of a dynamic point: ten seconds at the full rate; a longer one is sampled more sparsely
SEARCH_S = 0.25  # a static point is looked for in the whole candidate this often
COLOUR_RANGE = 64.0  # difference of a channel, in levels, from which on a colour is simply wrong
DEAD_LEVELS = 6.0  # change that an encoder may add to a still picture
STRUCTURE_SIGMA_PX = 1.5
STRUCTURE_FLOOR = (0.03 * 255) ** 2  # C2 of SSIM: how little texture counts as none
CHANGE_SIGMA_PX = 1.5  # change maps are compared this blurred: a small misplacement is forgiven
MARGIN_PX = 2  # added around the boxes, in reduced pixels
GROUND_ERROR = 0.05  # of the empty candidate, below which a pixel of the reference counts as empty
MOTION_SIGMA_S = 0.12  # amounts of change are compared this blurred over time: a video that updates in steps has no phase


class Settings(Row):
    """Keys of the config.

    Attributes:
        long_side_px: size of the reduced pictures.
        rate_hz: reduced pictures that are kept a second.
    """

    long_side_px: int = Field(default=160, ge=32)
    rate_hz: int = Field(default=12, ge=1, le=FPS)


def load(settings: Mapping[str, Any]) -> PixelJudge:
    return PixelJudge(Settings.model_validate(dict(settings)))


class PixelJudge:
    proxy = True

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.protocol = f"pixel judge, {settings.long_side_px} px, {settings.rate_hz} fps, levels {LEVELS}"

    def watch(self, clip: Clip) -> Pictures:
        step = FPS / self.settings.rate_hz
        frames = {round(k * step) for k in range(clip.frames) if round(k * step) < clip.frames}
        return Pictures(sorted(frames | {clip.frames - 1}), self.settings.long_side_px)

    def judge(self, points: Sequence[FocalPoint], task: Task, reference: Description, candidate: Description) -> list[Judgement]:
        """0..5 with the value that it stands for; unscored where there is nothing to be compared."""
        return [judgement(point, boxes_of(point, task.annotation), task.clip, reference, candidate) for point in points]


class Pictures:
    """Watcher: uint8 RGB `pictures` `(instants, height, width, 3)`, reduced, and int32 `frames` `(instants,)`."""

    def __init__(self, frames: list[int], long_side_px: int) -> None:
        self.frames = frames
        self.wanted = set(frames)
        self.long_side_px = long_side_px
        self._pictures: list[np.ndarray] = []

    def see(self, frame: int, rgb: np.ndarray) -> None:  # noqa: ARG002
        height_px, width_px = rgb.shape[:2]
        scale = min(self.long_side_px / max(height_px, width_px), 1.0)
        size = (max(round(width_px * scale), 1), max(round(height_px * scale), 1))
        self._pictures.append(cv2.resize(rgb, size, interpolation=cv2.INTER_AREA))

    def result(self) -> Description:
        return {"pictures": np.stack(self._pictures), "frames": np.array(self.frames, np.int32)}


def judgement(
    point: FocalPoint,
    boxes: Sequence[Sequence[Box | None]],
    clip: Clip,
    reference: Description,
    candidate: Description,
) -> Judgement:
    value_of = static_value if point.kind == "static" else dynamic_value
    try:
        value = value_of(point, boxes, clip, reference, candidate)
    except Unscored as why:
        return Judgement(None, str(why))
    return Judgement(points_for(value), f"{point.kind} agreement {value:.3f}")


def boxes_of(point: FocalPoint, annotation: Annotation) -> list[list[Box | None]]:
    """Boxes, one a frame, of each object that a focal point speaks of; none when it names none."""
    return [thing.boxes_xyxy for thing in annotation.objects if thing.name in point.objects]


def points_for(value: float) -> int:
    """
    >>> [points_for(value) for value in (0.0, 0.15, 0.6, 1.0)]
    [0, 1, 3, 5]
    """
    return sum(value >= level for level in LEVELS)


def static_value(
    point: FocalPoint,
    boxes: Sequence[Sequence[Box | None]],
    clip: Clip,
    reference: Description,
    candidate: Description,
) -> float:
    """Mean of how well the candidate shows the point's content when it should, and how well it ever does, in [0, 1].

    Raises:
        Unscored: the reference is of one colour there.
    """
    held = _within(point, clip, reference["frames"])
    chosen = held[np.unique(np.linspace(0, len(held) - 1, INSTANTS).round().astype(int))]
    seen = [place for place in chosen if _visible(boxes, reference["frames"][place])]
    step = max(round(SEARCH_S * _rate_hz(reference)), 1)
    then, ever = [], []
    for place in seen or chosen:
        picture = reference["pictures"][place]
        region = _region(boxes, [reference["frames"][place]], clip, picture.shape[:2])
        content = Content.of(picture, region)
        if content is not None:
            then.append(content.kept_in(candidate["pictures"][place]))
            elsewhere = (content.kept_in(other) for other in candidate["pictures"][::step])
            ever.append(max(then[-1], *elsewhere))
    if not then:
        raise Unscored("the reference shows nothing but its background there")
    return float(np.mean(then) + np.mean(ever)) / 2


@dataclass(frozen=True)
class Content:
    """What a region of a reference picture shows beside its background.

    Attributes:
        place: rows and columns around the region, with room for the windows of the structure term.
        picture: uint8 RGB, cut there.
        weight: the empty candidate's error in the region, 0 outside of it; float32.
        ground: the region's pixels that are empty; bool.
    """

    place: tuple[slice, slice]
    picture: np.ndarray
    weight: np.ndarray
    ground: np.ndarray

    @classmethod
    def of(cls, picture: np.ndarray, region: np.ndarray) -> Content | None:
        """None when there is nothing but background."""
        rows, columns = np.flatnonzero(region.any(axis=1)), np.flatnonzero(region.any(axis=0))
        room = int(np.ceil(3 * STRUCTURE_SIGMA_PX))
        place = (slice(max(rows[0] - room, 0), rows[-1] + room + 1), slice(max(columns[0] - room, 0), columns[-1] + room + 1))
        cut = picture[place]
        background = np.broadcast_to(most_common_colour(picture), cut.shape)
        weight = pixel_error(cut, background) * region[place]
        return cls(place, cut, weight, region[place] & (weight < GROUND_ERROR)) if weight.any() else None

    def kept_in(self, candidate: np.ndarray) -> float:
        """Share of the empty candidate's error that a picture does not make, times how right the empty parts are, in [0, 1]."""
        cut = candidate[self.place]
        made = (self.weight * pixel_error(self.picture, cut)).sum() / (self.weight * self.weight).sum()
        wrong = colour_error(self.picture, cut)[self.ground].mean() if self.ground.any() else 0.0
        return float(max(1.0 - made, 0.0) * (1.0 - wrong))


def dynamic_value(
    point: FocalPoint,
    boxes: Sequence[Sequence[Box | None]],
    clip: Clip,
    reference: Description,
    candidate: Description,
) -> float:
    """Geometric mean of the agreement of change maps, counted twice, and of motion over time, in [0, 1].

    Raises:
        Unscored: nothing changes in the reference during the interval.
    """
    held = _with_ends(_within(point, clip, reference["frames"]), len(reference["frames"]))
    stride = int(np.ceil(len(held) / MOST_INSTANTS))
    held, rate_hz = held[::stride], _rate_hz(reference) / stride
    frames, shape = reference["frames"][held], reference["pictures"].shape[1:3]
    for region in (_region(boxes, frames, clip, shape), np.ones(shape, bool)):
        change = _changes(reference["pictures"][held], region)
        if change.any():
            break
    else:
        raise Unscored("nothing changes in the reference during the interval")
    other = _changes(candidate["pictures"][held], region)
    where, when = agreement(change, other), agreement(_amounts(change, rate_hz), _amounts(other, rate_hz))
    return float((where * where * when) ** (1 / 3))


def pixel_error(reference: np.ndarray, candidate: np.ndarray) -> np.ndarray:
    """Mean of the structure and the colour error of each pixel of two RGB pictures: float32 `(height, width)` in [0, 1]."""
    return (colour_error(reference, candidate) + 1.0 - np.maximum(structure(reference, candidate), 0.0)) / 2


def colour_error(reference: np.ndarray, candidate: np.ndarray) -> np.ndarray:
    """Largest difference of a channel of two RGB pictures, as a share of `COLOUR_RANGE`: float32 `(height, width)` in [0, 1]."""
    difference = np.abs(reference.astype(np.float32) - candidate.astype(np.float32)).max(axis=-1)
    return np.minimum(difference / COLOUR_RANGE, 1.0)


def structure(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """SSIM's contrast and structure term around each pixel of two RGB pictures: float32 `(height, width)` in [-1, 1], on grey."""
    x, y = (cv2.cvtColor(np.ascontiguousarray(picture), cv2.COLOR_RGB2GRAY).astype(np.float32) for picture in (first, second))
    mean_x, mean_y = _smooth(x), _smooth(y)
    variances = _smooth(x * x) - mean_x * mean_x + _smooth(y * y) - mean_y * mean_y
    return (2 * (_smooth(x * y) - mean_x * mean_y) + STRUCTURE_FLOOR) / (variances + STRUCTURE_FLOOR)


def agreement(first: np.ndarray, second: np.ndarray) -> float:
    """1 - sum |a - b| / (sum |a| + sum |b|), in [0, 1]; 1 for two arrays of zeros.

    >>> agreement(np.array([1.0, 0.0]), np.array([0.5, 0.0])), agreement(np.array([1.0, 0.0]), np.array([0.0, 3.0]))
    (0.6666666666666667, 0.0)
    """
    total = float(np.abs(first).sum() + np.abs(second).sum())
    return max(1.0 - float(np.abs(first - second).sum()) / total, 0.0) if total else 1.0


def most_common_colour(picture: np.ndarray) -> np.ndarray:
    """Median of the pixels in the fullest of 16x16x16 colour cells of an RGB picture: uint8 `(3,)`."""
    pixels = picture.reshape(-1, 3)
    cells = (pixels >> 4).astype(np.int32) @ np.array([256, 16, 1])
    return np.median(pixels[cells == np.bincount(cells).argmax()], axis=0).astype(np.uint8)


def _changes(pictures: np.ndarray, region: np.ndarray) -> np.ndarray:
    """Blurred change maps of a series `(instants, height, width, 3)` in a region: float32 `(instants, pixels, 3)`; small is 0."""
    series = pictures.astype(np.float32)
    series = series - series.mean(axis=0)
    blurred = np.stack([cv2.GaussianBlur(picture, (0, 0), CHANGE_SIGMA_PX) for picture in series])[:, region]
    return np.sign(blurred) * np.maximum(np.abs(blurred) - DEAD_LEVELS, 0.0)


def _amounts(changes: np.ndarray, rate_hz: float) -> np.ndarray:
    """Amount of change from each instant of change maps `(instants, pixels, 3)` to the next, blurred: `(instants - 1,)`."""
    amounts = np.abs(np.diff(changes, axis=0)).sum(axis=(1, 2))
    return gaussian_filter1d(amounts.astype(np.float64), MOTION_SIGMA_S * rate_hz, mode="nearest")


def _rate_hz(description: Description) -> float:
    """Pictures that were kept a second."""
    frames = description["frames"]
    return FPS * (len(frames) - 1) / max(int(frames[-1] - frames[0]), 1)


def _within(point: FocalPoint, clip: Clip, frames: np.ndarray) -> np.ndarray:
    """Places of the kept instants in the point's interval; the nearest one when none lies in it."""
    span = frames_between(point.start_s, point.end_s, clip.frames)
    held = np.flatnonzero((frames >= span.start) & (frames < span.stop))
    return held if len(held) else np.array([np.abs(frames - span.start).argmin()])


def _with_ends(held: np.ndarray, count: int) -> np.ndarray:
    """With one instant before and one after, so that a change at either end is seen."""
    return np.arange(max(held[0] - 1, 0), min(held[-1] + 2, count))


def _visible(boxes: Sequence[Sequence[Box | None]], frame: int) -> bool:
    return any(track[frame] is not None for track in boxes)


def _region(boxes: Sequence[Sequence[Box | None]], frames: Sequence[int], clip: Clip, shape: tuple[int, int]) -> np.ndarray:
    """All that the boxes cover on some frames, with a margin: bool `shape`; everything when there are none."""
    height, width = shape
    region = np.zeros(shape, bool)
    for track in boxes:
        for frame in frames:
            if (box := track[frame]) is not None:
                x0, x1 = (edge * width / clip.width_px for edge in (box[0], box[2]))
                y0, y1 = (edge * height / clip.height_px for edge in (box[1], box[3]))
                rows = slice(max(int(y0) - MARGIN_PX, 0), max(int(np.ceil(y1)) + MARGIN_PX, 0))
                columns = slice(max(int(x0) - MARGIN_PX, 0), max(int(np.ceil(x1)) + MARGIN_PX, 0))
                region[rows, columns] = True
    return region if region.any() else np.ones(shape, bool)


def _smooth(picture: np.ndarray) -> np.ndarray:
    return cv2.GaussianBlur(picture, (0, 0), STRUCTURE_SIGMA_PX)
