"""Background plates: what lies behind all that moves in a scene, standing still or drifting, put together from its frames."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import cv2
import numpy as np

from codecap.generate.tracing.differences import largest_channel
from codecap.generate.tracing.drift import find_drifts
from codecap.generate.tracing.scenes import Scene

SAMPLES = 15  # frames that a plate is made from where nothing drifts
DRIFTING_SAMPLES = 25
STRIP_ROWS = 48
STEADY_SHARE = 0.6  # of the frames that show a place of a plate must agree on it
SEEN_SHARE = 0.25  # of the frames in whose picture the place lies must do so, however often it is hidden
STEADY_LEVELS = 16  # grey levels within which they agree
NEEDED_SHARE = 0.1  # of the frames that show a place of a plate: it must be right in so many more than the plates below
ORDER_STEP = 2  # every second sample, and every second pixel, is enough to tell what lies above
SPECK_PX = 5  # smaller holes and specks of a plate are mended
SMALLEST_SHARE = 0.01  # of the picture: what a plate must show of its own
UNKNOWN = -1


@dataclass(frozen=True)
class Plate:
    """A picture, larger than the clip's if it drifts, and where it lies at each frame.

    Attributes:
        origin: place `x, y` on the canvas of the clip's upper left corner where the displacement is zero.
        offsets: float `(frames, 2)`: displacement of the canvas at each frame of the scene.
        canvas: uint8 RGB `(canvas height, canvas width, 3)`.
        source: int32 `(canvas height, canvas width)`: number of the clip's frame that each pixel is taken from, or -1.
        opaque: bool `(canvas height, canvas width)`: where it hides what is below.
    """

    origin: tuple[int, int]
    offsets: np.ndarray
    canvas: np.ndarray
    source: np.ndarray
    opaque: np.ndarray

    @property
    def moves(self) -> bool:
        return bool(np.any(self.offsets != self.offsets[0]))

    def view(self, index: int, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
        """What a frame of the scene shows of it: uint8 RGB `(height, width, 3)`, and bool, where it is opaque."""
        height, width = shape
        left, top = np.array(self.origin) - self.offsets[index]
        if left == int(left) and top == int(top):
            place = np.s_[int(top) : int(top) + height, int(left) : int(left) + width]
            return self.canvas[place], self.opaque[place]
        move = np.array([[1, 0, -left], [0, 1, -top]], np.float64)
        opaque = cv2.warpAffine(self.opaque.astype(np.uint8), move, (width, height), flags=cv2.INTER_NEAREST)
        canvas = cv2.warpAffine(self.canvas, move, (width, height), borderMode=cv2.BORDER_REPLICATE)
        return canvas, opaque.astype(bool)


@dataclass(frozen=True)
class Backdrop:
    """The plates of a scene, the lowest, which is opaque everywhere, first."""

    plates: list[Plate]
    shape: tuple[int, int]

    def picture(self, index: int) -> np.ndarray:
        """uint8 RGB `(height, width, 3)`, not to be written to."""
        whole, _ = self.plates[0].view(index, self.shape)
        for plate in self.plates[1:]:
            view, opaque = plate.view(index, self.shape)
            whole = np.where(opaque[..., None], view, whole)
        return whole

    def drifting(self, index: int) -> np.ndarray:
        """Where the frame shows a plate that moved since the frame before: bool `(height, width)`."""
        moved = np.zeros(self.shape, bool)
        for plate in self.plates:
            _, opaque = plate.view(index, self.shape)
            moved[opaque] = index > 0 and bool(np.any(plate.offsets[index] != plate.offsets[index - 1]))
        return moved


def backdrop_of(scene: Scene, tolerance: float) -> Backdrop:
    """Find what lies behind the moving things of a scene."""
    count, shape = len(scene.pictures), scene.pictures[0].shape[:2]
    drifts = find_drifts(scene.pictures, tolerance)
    samples = DRIFTING_SAMPLES if drifts else SAMPLES
    chosen = sorted(set(np.linspace(0, count - 1, min(count, samples)).round().astype(int).tolist()))
    still = np.zeros((count, 2))
    if not drifts:
        return Backdrop([_whole(_plate(scene, still, chosen, None))], shape)
    motions = [still, *drifts]
    first = [_plate(scene, offsets, chosen, None) for offsets in motions]
    agreeing = [_agreeing(scene, plate, chosen, shape) for plate in first]
    made = []
    for number, offsets in enumerate(motions):
        others = np.any([agrees & steady for k, (agrees, steady) in enumerate(agreeing) if k != number], axis=0)
        made.append(_plate(scene, offsets, chosen, others & ~agreeing[number][0]))
    order = _order(scene, made, chosen, shape)
    made = _uncovered(scene, motions, made, order, chosen)
    plates = [_whole(made[order[0]])]
    for rank, number in enumerate(order[1:], start=1):
        above = [made[higher] for higher in order[rank + 1 :]]
        plate = _needed(scene, Backdrop(plates, shape), made[number], above, chosen)
        if plate.opaque.sum() >= SMALLEST_SHARE * shape[0] * shape[1]:
            plates.append(plate)
    return Backdrop(plates, shape)


def _plate(scene: Scene, offsets: np.ndarray, chosen: list[int], hidden: np.ndarray | None) -> Plate:
    """Median of sample frames, each laid where its content belongs; every pixel is then taken from the frame nearest to it.

    Args:
        hidden: bool `(samples, height, width)`: where something else lies above.

    Returns:
        The plate, opaque where the samples agree.
    """
    height, width = scene.pictures[0].shape[:2]
    low, high = np.floor(offsets.min(axis=0)).astype(int), np.ceil(offsets.max(axis=0)).astype(int)
    origin = (int(high[0]), int(high[1]))
    shape = (height + int(high[1] - low[1]), width + int(high[0] - low[0]))
    corners = [tuple((np.array(origin) - np.round(offsets[index])).astype(int).tolist()) for index in chosen]
    canvas, source = np.zeros((*shape, 3), np.uint8), np.full(shape, UNKNOWN, np.int32)
    steady = np.zeros(shape, bool)
    numbers = np.array(chosen, np.int32) + scene.first
    views = [scene.pictures[index] for index in chosen]
    for top in range(0, shape[0], STRIP_ROWS):
        strip = np.s_[top : min(top + STRIP_ROWS, shape[0])]
        stack, within = _strip(views, hidden, corners, top, strip.stop - top, shape[1])
        picked, count, agree = _nearest_to_median(stack)
        rows, columns = np.indices(picked.shape)
        canvas[strip] = np.where(count[..., None] > 0, stack[picked, rows, columns], 0).astype(np.uint8)
        source[strip] = np.where(count > 0, numbers[picked], UNKNOWN)
        least = np.maximum(STEADY_SHARE * count, SEEN_SHARE * within)
        steady[strip] = agree >= np.maximum(least, min(2, len(chosen)))
    kernel = np.ones((SPECK_PX, SPECK_PX), np.uint8)
    mended = cv2.morphologyEx(steady.astype(np.uint8), cv2.MORPH_CLOSE, kernel)
    mended = cv2.morphologyEx(mended, cv2.MORPH_OPEN, np.ones((3, 3), np.uint8)).astype(bool)
    return Plate(origin, offsets, canvas, source, mended & (source != UNKNOWN))


def _strip(
    views: list[np.ndarray],
    hidden: np.ndarray | None,
    corners: list[tuple[int, int]],
    top: int,
    rows: int,
    columns: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Some rows of the canvas as each sample shows them: int16 `(samples, rows, columns, 3)`, -1 where it does not.

    With it the number of samples in whose picture each place lies, hidden or not.
    """
    stack = np.full((len(views), rows, columns, 3), -1, np.int16)
    within = np.zeros((rows, columns), np.int32)
    for number, (view, (left, upper)) in enumerate(zip(views, corners, strict=True)):
        start, stop = max(top, upper), min(top + rows, upper + view.shape[0])
        if start >= stop:
            continue
        target = stack[number, start - top : stop - top, left : left + view.shape[1]]
        within[start - top : stop - top, left : left + view.shape[1]] += 1
        target[:] = view[start - upper : stop - upper]
        if hidden is not None:
            target[hidden[number, start - upper : stop - upper]] = -1
    return stack, within


def _nearest_to_median(stack: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which sample lies nearest to the median of those known, how many are known, and how many of them agree with it."""
    known = stack[..., 0] >= 0
    count = known.sum(axis=0)
    ordered = np.sort(np.where(stack < 0, np.int16(32000), stack), axis=0)
    middle = np.maximum(count - 1, 0) // 2
    median = np.take_along_axis(ordered, middle[None, ..., None], axis=0)[0]
    apart = np.abs(stack - median[None])
    agree = ((apart.max(axis=-1) <= STEADY_LEVELS) & known).sum(axis=0)
    distance = np.where(known, apart.sum(axis=-1, dtype=np.int32), 32000)
    return distance.argmin(axis=0), count, agree


def _agreeing(scene: Scene, plate: Plate, chosen: list[int], shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """At each sample, where the frame looks like the plate, and where the plate is opaque: two bool `(samples, height, width)`."""
    agrees, opaque = [], []
    for index in chosen:
        view, there = plate.view(index, shape)
        agrees.append(largest_channel(cv2.absdiff(scene.pictures[index], view)) <= STEADY_LEVELS)
        opaque.append(there)
    return np.array(agrees), np.array(opaque)


def _order(scene: Scene, plates: list[Plate], chosen: list[int], shape: tuple[int, int]) -> list[int]:
    """Numbers of the plates from the lowest up: the order in which they are most often right."""
    counts: dict[tuple[int, ...], int] = dict.fromkeys(itertools.permutations(range(len(plates))), 0)
    for index in chosen[::ORDER_STEP]:
        frame = scene.pictures[index][::2, ::2]
        views = [plate.view(index, shape) for plate in plates]
        right = [largest_channel(cv2.absdiff(frame, view[::2, ::2])) <= STEADY_LEVELS for view, _ in views]
        opaque = [there[::2, ::2] for _, there in views]
        for order in counts:
            shown = right[order[0]]
            for number in order[1:]:
                shown = np.where(opaque[number], right[number], shown)
            counts[order] += int(np.count_nonzero(shown))
    return list(max(counts, key=counts.__getitem__))


def _uncovered(scene: Scene, motions: list[np.ndarray], plates: list[Plate], order: list[int], chosen: list[int]) -> list[Plate]:
    """The plates made again, each only from what the ones above it leave to be seen."""
    shape = scene.pictures[0].shape[:2]
    made = list(plates)
    hidden = np.zeros((len(chosen), *shape), bool)
    for number in reversed(order):
        if hidden.any():
            made[number] = _plate(scene, motions[number], chosen, hidden)
        agrees, opaque = _agreeing(scene, made[number], chosen, shape)
        hidden |= agrees & opaque
    return made


def _needed(scene: Scene, below: Backdrop, plate: Plate, above: list[Plate], chosen: list[int]) -> Plate:
    """A plate, left open where it is not more often right than what is below; where a higher one hides it does not count."""
    gain, shown = np.zeros(plate.opaque.shape, np.int32), np.zeros(plate.opaque.shape, np.int32)
    height, width = below.shape
    for index in chosen:
        frame = scene.pictures[index]
        own, _ = plate.view(index, below.shape)
        seen = ~np.any([upper.view(index, below.shape)[1] for upper in above], axis=0) if above else np.True_
        better = largest_channel(cv2.absdiff(frame, own)) <= STEADY_LEVELS
        worse = largest_channel(cv2.absdiff(frame, below.picture(index))) <= STEADY_LEVELS
        left, top = (np.array(plate.origin) - np.round(plate.offsets[index])).astype(int)
        place = np.s_[top : top + height, left : left + width]
        gain[place] += (better.astype(np.int32) - worse) * seen
        shown[place] += seen
    needed = (gain > NEEDED_SHARE * shown).astype(np.uint8)
    kernel = np.ones((SPECK_PX, SPECK_PX), np.uint8)
    needed = cv2.morphologyEx(cv2.morphologyEx(needed, cv2.MORPH_OPEN, kernel[:2, :2]), cv2.MORPH_CLOSE, kernel)
    return replace(plate, opaque=plate.opaque & needed.astype(bool))


def _whole(plate: Plate) -> Plate:
    return replace(plate, opaque=np.ones_like(plate.opaque))
