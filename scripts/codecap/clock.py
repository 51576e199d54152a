"""The one clock: 24 frames a second, frame `i` is what is on screen at `i / 24` seconds."""

from __future__ import annotations

import math

FPS = 24


def time_of(frame: int) -> float:
    """Seconds at which frame `frame` is shown.

    >>> time_of(36)
    1.5
    """
    return frame / FPS


def frame_at(time_s: float, frames: int) -> int:
    """Index of the frame on screen at `time_s`, kept inside a video of `frames` frames.

    A time that lies on a frame's start belongs to that frame, whatever floating point makes of it.

    >>> frame_at(0.5, 100), frame_at(0.999 / 24, 100), frame_at(1 / 24, 100), frame_at(99.0, 100)
    (12, 0, 1, 99)
    """
    return min(max(math.floor(time_s * FPS + 1e-6), 0), frames - 1)


def frames_between(start_s: float, end_s: float, frames: int) -> range:
    """Frames on screen at some time in `[start_s, end_s)`, at least one.

    >>> list(frames_between(0.0, 0.125, 100))
    [0, 1, 2]
    """
    first = frame_at(start_s, frames)
    last = min(math.ceil(end_s * FPS - 1e-6) - 1, frames - 1)
    return range(first, max(last, first) + 1)


def midpoints(count: int, frames: int) -> list[int]:
    """Frames at `t = (k + 0.5) * T / count`: uniform samples that never sit on a video's ends.

    >>> midpoints(4, 48)
    [6, 18, 30, 42]
    """
    duration_s = frames / FPS
    return [frame_at((k + 0.5) * duration_s / count, frames) for k in range(count)]


def grid(rate_hz: float, frames: int, also_s: tuple[float, ...] = ()) -> list[int]:
    """Frames of a global sampling grid from time 0 on, with single instants added, in order and each once.

    >>> grid(2, 48, also_s=(0.7,))
    [0, 12, 16, 24, 36]
    """
    steps = range(math.ceil(frames / FPS * rate_hz - 1e-9))
    return sorted({frame_at(k / rate_hz, frames) for k in steps} | {frame_at(t, frames) for t in also_s})


def midpoint(start: int, stop: int) -> int:
    """The frame on screen at the middle of `[start, stop)`.

    >>> midpoint(0, 48), midpoint(7, 8), midpoint(2, 5)
    (24, 7, 3)
    """
    return (start + stop) // 2
