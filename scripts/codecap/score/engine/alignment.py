"""Which part of a video of another length stands for each shot of its reference: a monotone alignment.

**Ours.** The candidate is cut into as many segments as the reference has shots, in their order, without gaps, none empty, so that
the sum over shots of the mean cosine between a shot's samples and the pictures at the same shares of its segment is highest, found
by dynamic programming. A boundary leaves its proportional place only where that gains similarity: going the candidate's whole
length costs `PULL`. At most `CELLS` places of a boundary are tried (or as many as there are shots), evenly spread.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence

import numpy as np

from codecap.score import Shots

CELLS = 240
PULL = 0.02


def is_given(shots: Shots, frames: int) -> bool:
    """Whether there is nothing to choose: one shot, or no more frames than shots.

    >>> is_given([(0, 48)], 60), is_given([(0, 24), (24, 48)], 2), is_given([(0, 24), (24, 48)], 3)
    (True, True, False)
    """
    return len(shots) == 1 or frames <= len(shots)


def given(shots: Shots, frames: int) -> Shots:
    """The segments where `is_given`: the whole video; or for each shot one frame, which several shots may share.

    >>> given([(0, 5), (5, 9), (9, 12)], 2)
    [(0, 1), (1, 2), (1, 2)]
    """
    if len(shots) == 1:
        return [(0, frames)]
    at = [int((number + 0.5) * frames / len(shots)) for number in range(len(shots))]
    return [(frame, frame + 1) for frame in at]


def cells(shots: Shots, frames: int) -> list[int]:
    """Edges of the cells that a candidate of more frames than shots is cut into; each boundary is one of them."""
    count = min(frames, max(CELLS, len(shots)))
    return [number * frames // count for number in range(count + 1)]


def align(shots: Shots, edges: Sequence[int], likeness: Sequence[np.ndarray], pull: float = PULL) -> tuple[Shots, float]:
    """The best segments.

    Args:
        shots: of the reference.
        edges: of the candidate's cells, in its frames, from 0 to its end.
        likeness: for each shot `(samples, cells)`, cosines between its samples, evenly spaced, and the cells' pictures.

    Returns:
        One segment a shot, in the candidate's frames; and the mean over shots of the mean cosine.
    """
    count, last = len(edges) - 1, len(shots) - 1
    starts, stops = np.triu_indices(count + 1, 1)
    best = np.full(count + 1, -np.inf)
    best[0] = 0.0
    before = []
    for number, (_, stop) in enumerate(shots):
        sums = np.full((count + 1, count + 1), -np.inf)
        sums[starts, stops] = best[starts] + segment_values(likeness[number])
        before.append(sums.argmax(axis=0))
        best = sums.max(axis=0)
        if number < last:
            best = best - pull * np.abs(np.arange(count + 1) / count - stop / shots[-1][1])
    bounds = [count]
    for number in range(last, -1, -1):
        bounds.append(int(before[number][bounds[-1]]))
    bounds.reverse()
    found = list(itertools.pairwise(bounds))
    mean = float(np.mean([segment_value(likeness[number], *segment) for number, segment in enumerate(found)]))
    return [(edges[start], edges[stop]) for start, stop in found], mean


def segment_value(likeness: np.ndarray, start: int, stop: int) -> float:
    """Mean cosine of a shot's samples, `(samples, cells)`, with the cells at the same shares of a segment.

    >>> segment_value(np.array([[0.5, 0.0, 0.0], [0.0, 0.0, 1.0]]), 0, 3)
    0.75
    """
    samples = len(likeness)
    return float(np.mean([likeness[k, start + int((k + 0.5) / samples * (stop - start))] for k in range(samples)]))


def segment_values(likeness: np.ndarray) -> np.ndarray:
    """As `segment_value`, for all segments: float64 `(segments,)` in the order of `np.triu_indices`."""
    samples, count = likeness.shape
    return likeness[np.arange(samples), _places(samples, count)].mean(axis=1, dtype=np.float64)


@functools.lru_cache(maxsize=8)
def _places(samples: int, count: int) -> np.ndarray:
    """Cells that each segment of `count` cells shows to each sample: int32 `(segments, samples)`."""
    starts, stops = np.triu_indices(count + 1, 1)
    shares = (np.arange(samples) + 0.5) / samples
    return (starts[:, None] + (shares * (stops - starts)[:, None]).astype(int)).astype(np.int32)
