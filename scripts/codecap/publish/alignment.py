"""Where a clip lies in a video of other bytes, and whether what lies there is the same clip.

Both are told by prints (see `prints`). A difference is a mean over a frame's fields, in levels of 0 to 255.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from codecap.clock import FPS
from codecap.publish.prints import CHANNELS

EVERY = 12  # frames: at first every so many are compared
NEAR_BEST = 1.5  # levels: places that are not so much worse at first are compared in all their frames
MOST_PLACES = 400
AS_GOOD = 0.05  # levels: of places that differ by less, the one nearest to the published one is taken
MEAN_LEVELS = 4.0  # the same clip: the mean over its frames is no larger ...
FRAME_LEVELS = 8.0  # ... nor that of any of its frames ...
FIELD_LEVELS = 16.0  # ... nor that of a field over a half second


@dataclass(frozen=True)
class Likeness:
    """How far two clips of the same length differ, in levels.

    Attributes:
        mean: over all frames.
        frame: of the frame that differs most.
        field: of the field that differs most over a half second.
        at: number of the frame that differs most.
    """

    mean: float
    frame: float
    field: float
    at: int

    @property
    def same(self) -> bool:
        return self.mean <= MEAN_LEVELS and self.frame <= FRAME_LEVELS and self.field <= FIELD_LEVELS

    def __str__(self) -> str:
        most = f"{self.frame:.1f} in frame {self.at}, {self.field:.1f} in a field over a half second"
        return f"differs by {self.mean:.1f} levels in the mean, {most}"


def find(clip: np.ndarray, whole: np.ndarray, near: int) -> int | None:
    """The frame of a video at which a clip begins most likely; None where the video is shorter than the clip.

    Args:
        clip, whole: prints, uint8 `(frames, 288)`.
        near: where it began in the original; of places that are alike the nearest is taken.
    """
    places = len(whole) - len(clip) + 1
    if places < 1:
        return None
    sampled = np.arange(0, len(clip), EVERY)
    rough = np.zeros(places, np.float32)
    for frame in sampled:
        rough += _differences(whole[frame : frame + places], clip[frame])
    rough /= len(sampled)
    chosen = np.flatnonzero(rough <= rough.min() + NEAR_BEST)
    chosen = chosen[np.lexsort((abs(chosen - near), np.round(rough[chosen], 1)))][:MOST_PLACES]
    exact = np.array([_differences(whole[place : place + len(clip)], clip).mean() for place in chosen])
    alike = chosen[exact <= exact.min() + AS_GOOD]
    return int(alike[np.argmin(abs(alike - near))])


def likeness(clip: np.ndarray, other: np.ndarray) -> Likeness:
    """Compare two clips frame by frame.

    A frame may show any moment between its neighbours, as frames of another rate do: what lies between the levels of the other
    clip's frame and its neighbours does not differ. That holds both ways, so that neither may flash where the other does not.

    Args:
        clip, other: prints, uint8 `(frames, 288)`, of the same number of frames.
    """
    apart = np.maximum(_outside(clip, other), _outside(other, clip))
    frames = apart.mean(axis=1, dtype=np.float32)
    fields = apart.reshape(len(apart), -1, CHANNELS).mean(axis=2)
    span = min(len(fields), FPS // 2)
    summed = np.cumsum(np.vstack([np.zeros_like(fields[:1]), fields]), axis=0)
    lasting = (summed[span:] - summed[:-span]) / span
    at = int(np.argmax(frames))
    return Likeness(mean=float(frames.mean()), frame=float(frames[at]), field=float(lasting.max()), at=at)


def _outside(clip: np.ndarray, other: np.ndarray) -> np.ndarray:
    """int16 `(frames, 288)`: by how many levels each value is below or above all those of the other's frame and its neighbours."""
    beside = np.stack([np.roll(other, shift, axis=0) for shift in (-1, 0, 1)]).astype(np.int16)
    beside[0, -1], beside[2, 0] = other[-1], other[0]
    low, high = beside.min(axis=0), beside.max(axis=0)
    return np.maximum(np.maximum(low - clip, clip - high), 0)


def _differences(prints: np.ndarray, other: np.ndarray) -> np.ndarray:
    """float32 `(n,)`: mean difference of each of `n` prints from another, or from one each."""
    return np.abs(prints.astype(np.int16) - other.astype(np.int16)).mean(axis=1, dtype=np.float32)
