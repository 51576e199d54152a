"""Where two videos show the same, by their perceptual hashes: what one shows at `t`, the other shows at `t + offset`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from codecap.collect.hashes import RATE_HZ, read_hashes

NEAR = 0.6  # half seconds may be the same when their pictures differ by no more than this times their shades (root mean square)
SAME, SAME_LEVELS = 0.3, 2.5  # and are the same when they differ by no more than this times their shades, or so many grey levels
SHADES = 1.0  # a picture whose fields differ by less among each other (standard deviation) is blank and proves nothing
LIKE, LIKE_SHORT = 0.8, 0.89  # correlation of the pictures of a stretch, and of one so short that chance could make it:
SHORT = 16  # half seconds
MOVES = 0.6  # grey levels: fields of a stretch that change by less over time stand still
MOVES_ALIKE = 0.65  # correlation of what changes in a stretch over time
LIKE_ANYWAY, MOVES_EQUAL = 0.6, 0.97  # the same of a stretch that moves in the very same way, as under a mark in a corner
STILL_ALIKE = 0.99  # of the pictures, where nothing changes
GAP = 2  # half seconds inside of a stretch that may differ
SHORTEST = 6  # half seconds of a stretch
TRIES = 6  # offsets of a pair that are looked at
CELLS_AT_ONCE = 1 << 18  # of the comparison of all with all
PHASES = (-0.5, -0.25, 0.0, 0.25, 0.5)  # half seconds around each of them


@dataclass(frozen=True)
class Overlap:
    """A stretch that two videos share.

    Attributes:
        start, stop: half seconds of the first video.
        offset: what it shows in half second `h`, the other shows in `h + offset`; quarters are told apart.
        likeness: correlation of the pictures, 0-1.
    """

    start: int
    stop: int
    offset: float
    likeness: float

    @property
    def offset_s(self) -> float:
        return self.offset / RATE_HZ

    @property
    def shared_s(self) -> float:
        return (self.stop - self.start) / RATE_HZ

    def in_other(self) -> tuple[float, float]:
        """The stretch in half seconds of the other video."""
        return self.start + self.offset, self.stop + self.offset

    def reversed(self) -> Overlap:
        """The same as the other video sees it."""
        start, stop = (round(edge) for edge in self.in_other())
        return Overlap(start, stop, -self.offset, self.likeness)


def overlaps(ours: Sequence[str], theirs: Sequence[str], shortest: int = SHORTEST) -> list[Overlap]:
    """The stretches of our video that the other one shows too, by their hashes, in order; none lies over another.

    Blank pictures belong to a stretch that goes on behind them, but prove nothing.
    """
    best: list[Overlap] = []
    for one in read_hashes(ours):
        for other in read_hashes(theirs):
            found = _apart(list(_stretches(one, other, shortest)))
            if sum(overlap.shared_s for overlap in found) > sum(overlap.shared_s for overlap in best):
                best = found
    return best


def shades(fields: np.ndarray) -> np.ndarray:
    """Standard deviation of the fields of each picture: float `(half seconds,)`."""
    return fields.std(axis=1)


def _stretches(ours: np.ndarray, theirs: np.ndarray, shortest: int) -> Iterator[Overlap]:
    for offset in _likely_offsets(ours, theirs):
        fine = max((offset + phase for phase in PHASES), key=lambda tried: _sameness(ours, theirs, tried))
        start, one, other = _side_by_side(ours, theirs, fine)
        for first, last in _runs(_same(one, other)):
            if last - first >= shortest and (likeness := _likeness(one[first:last], other[first:last])):
                yield Overlap(start + first, start + last, fine, likeness)


def _likely_offsets(ours: np.ndarray, theirs: np.ndarray) -> list[int]:
    """Offsets at which most half seconds may be the same, the best first."""
    if not len(ours) or not len(theirs):
        return []
    one, other = (fields - fields.mean(axis=1, keepdims=True) for fields in (ours, theirs))
    spread, others_spread = ((fields**2).mean(axis=1) for fields in (one, other))  # the squares of their shades
    counts = np.zeros(len(ours) + len(theirs) + 1, int)
    step = max(CELLS_AT_ONCE // len(theirs), 1)
    for row in range(0, len(ours), step):
        ours_now = slice(row, row + step)
        squares = spread[ours_now, None] + others_spread[None, :] - 2 / one.shape[1] * (one[ours_now] @ other.T)
        least = np.minimum(spread[ours_now, None], others_spread[None, :])
        rows, columns = np.nonzero((squares <= NEAR**2 * least) & (least >= SHADES**2))
        counts += np.bincount(columns - rows - row + len(ours), minlength=len(counts))
    ranked = np.argsort(-counts, kind="stable")[:TRIES]
    return [int(place) - len(ours) for place in ranked if counts[place]]


def _side_by_side(ours: np.ndarray, theirs: np.ndarray, offset: float) -> tuple[int, np.ndarray, np.ndarray]:
    """Our first half second that has one of theirs beside it, and both videos' pictures from there on, as long as both last."""
    whole = int(np.floor(offset))
    part = offset - whole
    between = theirs if not part else (1 - part) * theirs[:-1] + part * theirs[1:]
    start = max(0, -whole)
    stop = max(start, min(len(ours), len(between) - whole))
    return start, ours[start:stop], between[start + whole : stop + whole]


def _same(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """1 where pictures are the same and tell something, 0 where they are the same but blank, -1 where they differ."""
    shade = np.minimum(shades(one), shades(other))
    near = _difference(one, other) <= np.maximum(SAME * shade, SAME_LEVELS)
    return np.where(near, np.where(shade >= SHADES, 1, 0), -1)


def _difference(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """By how many grey levels the fields of pictures differ in the mean, one that is lighter as a whole not counted."""
    between = one - other
    return np.abs(between - np.median(between, axis=1, keepdims=True)).mean(axis=1)


def _sameness(ours: np.ndarray, theirs: np.ndarray, offset: float) -> float:
    """How much is the same at an offset, to compare offsets near each other: by squares, which tell best what lies between."""
    _, one, other = _side_by_side(ours, theirs, offset)
    shade = np.minimum(shades(one), shades(other))
    between = one - other
    squares = ((between - between.mean(axis=1, keepdims=True)) ** 2).mean(axis=1)
    return float(np.maximum((NEAR * shade) ** 2 - squares, 0)[shade >= SHADES].sum())


def _runs(same: np.ndarray) -> Iterator[tuple[int, int]]:
    """Stretches that begin and end with telling pictures that are the same, with gaps of at most `GAP` that are not."""
    places = np.flatnonzero(same == 1)
    if not len(places):
        return
    differing = np.concatenate([[0], np.cumsum(same == -1)])
    first = last = int(places[0])
    for place in map(int, places[1:]):
        if differing[place] - differing[last] > GAP:
            yield first, last + 1
            first = place
        last = place
    yield first, last + 1


def _likeness(one: np.ndarray, other: np.ndarray) -> float:
    """Correlation of two stretches, 0 where they do not show the same: their pictures must be alike, and so must what changes."""
    alike = _correlation(one - one.mean(), other - other.mean())
    changes = [stretch - stretch.mean(axis=0) for stretch in (one, other)]
    if max(float(np.sqrt((change**2).mean())) for change in changes) >= MOVES:
        moves = _correlation(*changes)
        same = alike >= (LIKE_SHORT if len(one) < SHORT else LIKE) and moves >= MOVES_ALIKE
        return alike if same or (alike >= LIKE_ANYWAY and moves >= MOVES_EQUAL) else 0.0
    return alike if alike >= STILL_ALIKE else 0.0


def _correlation(one: np.ndarray, other: np.ndarray) -> float:
    return float((one * other).sum() / max(np.sqrt((one**2).sum() * (other**2).sum()), 1e-9))


def _apart(found: list[Overlap]) -> list[Overlap]:
    """The longest stretches that do not lie over one another, in order."""
    chosen: list[Overlap] = []
    for overlap in sorted(found, key=lambda overlap: (overlap.start - overlap.stop, -overlap.likeness, abs(overlap.offset))):
        if all(overlap.stop <= other.start or other.stop <= overlap.start for other in chosen):
            chosen.append(overlap)
    return sorted(chosen, key=lambda overlap: overlap.start)
