"""What each half second of a video looks like, in 64 bytes: the same for copies of it in another size, encoding or frame rate.

The hash of a half second is the mean luma of its frames in 8 x 8 fields, a byte each. It is a mean over time too, so that in a copy
whose half seconds begin elsewhere each lies between two neighbours of this one's, and not beside them. Bars around the picture are
taken off first, as they say how it was packed and not what it shows. They can also be the picture's own ground, which is wider in
one part of a video than in another: then the hash of the whole picture follows that of its inside.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import cv2
import numpy as np

from codecap.clock import FPS

RATE_HZ = 2
STEP = FPS // RATE_HZ  # frames of a half second
FIELDS = 8  # on a side
BYTES = FIELDS * FIELDS
KEPT_PX = 128  # side of the square of each half second that is kept until the bars are known
SEEN_PX = 256  # side of the square in which bars are looked for
BAR_LEVELS = 20  # all pixels of the bars differ by no more, all the time
LEAST_BAR, MOST_BAR = 0.02, 0.4  # width of a bar, as a share of the side: a narrower one is what encoders leave at an edge


class Hasher:
    """Hashes a video while its pictures pass. It holds 16 KB a half second.

    >>> hasher = Hasher()
    >>> hasher.add(np.full((90, 160, 3), 128, np.uint8), 0, 30)
    >>> len(hasher.hashes()), hasher.hashes()[0][:6]
    (3, '808080')
    """

    def __init__(self) -> None:
        self._halves: list[np.ndarray] = []  # uint8 (KEPT_PX, KEPT_PX) each
        self._sum = np.zeros((KEPT_PX, KEPT_PX), np.float32)
        self._frames = 0  # in the sum
        self._darkest = np.full((SEEN_PX, SEEN_PX), 255, np.uint8)
        self._brightest = np.zeros((SEEN_PX, SEEN_PX), np.uint8)

    def add(self, rgb: np.ndarray, start: int, stop: int) -> None:
        """The next picture, uint8 RGB of any size, and the frames that show it: `start` to before `stop`, without a gap."""
        luma = cv2.cvtColor(cv2.resize(rgb, (SEEN_PX, SEEN_PX), interpolation=cv2.INTER_AREA), cv2.COLOR_RGB2GRAY)
        np.minimum(self._darkest, luma, out=self._darkest)
        np.maximum(self._brightest, luma, out=self._brightest)
        kept = cv2.resize(luma, (KEPT_PX, KEPT_PX), interpolation=cv2.INTER_AREA).astype(np.float32)
        while start < stop:
            shown = min(stop - start, STEP - self._frames)
            self._sum += shown * kept
            self._frames += shown
            start += shown
            if self._frames == STEP:
                self._end_half()

    def hashes(self) -> list[str]:
        """One a half second, in hex: 64 bytes, or twice 64 where there are bars. A last one that is not full counts too."""
        if self._frames:
            self._end_half()
        if not self._halves:
            return []
        whole = (0.0, 1.0, 0.0, 1.0)
        inside = _inside(self._darkest, self._brightest)
        sides = [inside] if inside == whole else [inside, whole]
        told = [_fields(self._halves, *side) for side in sides]
        return [b"".join(fields[half].tobytes() for fields in told).hex() for half in range(len(self._halves))]

    def _end_half(self) -> None:
        self._halves.append(np.rint(self._sum / self._frames).astype(np.uint8))
        self._sum[:] = 0
        self._frames = 0


def read_hashes(hashes: Iterable[str]) -> list[np.ndarray]:
    """Hashes as numbers: float32 `(half seconds, 64)` of the picture without bars, and of the whole one where it has bars.

    Raises:
        ValueError: they are no hashes of this kind.
    """
    rows = [bytes.fromhex(one) for one in hashes]
    lengths = {len(row) for row in rows}
    if not rows:
        return [np.empty((0, BYTES), np.float32)]
    if lengths not in ({BYTES}, {2 * BYTES}):
        raise ValueError(f"hashes are {BYTES} or {2 * BYTES} bytes each, all of a video the same")
    told = np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), -1, BYTES).astype(np.float32)
    return [told[:, kind] for kind in range(told.shape[1])]


def _inside(darkest: np.ndarray, brightest: np.ndarray) -> tuple[float, float, float, float]:
    """Where the picture is between its bars: top, bottom, left and right as shares of its sides.

    Bars come in pairs of one width, as players add them. They are looked for above and below, then beside what is left. What is cut
    off is whole pixels of those that are kept, as a rest of a bar would outweigh what a sparse picture shows.
    """
    rows = _bar(darkest, brightest)
    inner = slice(rows, SEEN_PX - rows)
    columns = _bar(darkest[inner].T, brightest[inner].T)
    top, left = (math.ceil((width + 1) * KEPT_PX / SEEN_PX) / KEPT_PX if width else 0.0 for width in (rows, columns))
    return top, 1 - top, left, 1 - left


def _bar(darkest: np.ndarray, brightest: np.ndarray) -> int:
    """Width of the bars above and below, in pixels."""
    low = np.minimum.accumulate(np.minimum(darkest.min(axis=1), darkest[::-1].min(axis=1)))
    high = np.maximum.accumulate(np.maximum(brightest.max(axis=1), brightest[::-1].max(axis=1)))
    width = int(np.argmax(np.append(high.astype(int) - low > BAR_LEVELS, True)))
    return width if LEAST_BAR * len(low) <= width <= MOST_BAR * len(low) else 0


def _fields(halves: list[np.ndarray], top: float, bottom: float, left: float, right: float) -> np.ndarray:
    """Mean luma of the fields of a part of the pictures: uint8 `(half seconds, 8, 8)`."""
    down, across = _weights(top, bottom), _weights(left, right)
    return np.stack([np.rint(down @ half.astype(np.float32) @ across.T) for half in halves]).astype(np.uint8)


def _weights(start: float, stop: float) -> np.ndarray:
    """How much each of `KEPT_PX` pixels counts in each of the fields between two places: float32 `(8, KEPT_PX)`, rows sum to 1."""
    edges = KEPT_PX * np.linspace(start, stop, FIELDS + 1)
    pixels = np.arange(KEPT_PX)
    shared = np.minimum(edges[1:, None], pixels + 1) - np.maximum(edges[:-1, None], pixels)
    shared = np.maximum(shared, 0)
    return (shared / shared.sum(axis=1, keepdims=True)).astype(np.float32)
