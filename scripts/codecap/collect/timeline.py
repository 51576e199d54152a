"""When pictures come on screen and go, in exact seconds, by timestamps that may be rounded, missing or wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

import av

MILLISECOND = Fraction(1, 1000)
Timed = tuple[Fraction, Fraction, av.VideoFrame]  # start, end if no other picture comes before, picture


class Timeline:
    """Timestamps of a stream as exact seconds since its first picture.

    Matroska and FLV count in whole milliseconds, some MP4s in ticks that their frame rate does not divide: at 24 fps the pictures
    then say 0, 42, 83, 125 ms. Taken at their word they would come on screen just after the instants they belong to. So a
    timestamp within one tick of a multiple of the nominal frame duration is that multiple, wherever the tick is a millisecond or
    finer and does not divide the frame duration. A GIF's ticks (10 ms) are always taken at their word.

    A decoder gives pictures in the order in which they are shown, so timestamps must not fall. A picture without one comes on
    screen when the one before it goes. So does a picture whose timestamp alone is out of order. Where timestamps fall and go on
    from there, the count began anew: the first such picture comes when the one before it goes, the others follow it.

    Args:
        tick_s: of the stream's timestamps.
        rate: nominal pictures a second; None where the file says none.
        first_pts: timestamp of the video's first picture, where the pictures given here are not the first ones.
    """

    def __init__(self, tick_s: Fraction, rate: Fraction | None, first_pts: int | None = None) -> None:
        self._tick_s = Fraction(tick_s)
        self._nominal_s = 1 / Fraction(rate) if rate else Fraction(0)
        divides = not self._nominal_s or (self._nominal_s / self._tick_s).denominator == 1
        self._grid_s = None if divides or self._tick_s > MILLISECOND else self._nominal_s
        self._zero_s = None if first_pts is None else first_pts * self._tick_s
        self._shift_s = Fraction(0)  # since the count began anew

    def timed(self, pictures: Iterable[tuple[av.VideoFrame, int | None]]) -> Iterator[Timed]:
        """Pictures, each with its duration in ticks, as start, end and picture. Starts never fall; an end may be before the next
        start (the picture stays on) or, where the file does not say, equal to its own start."""
        start_s: Fraction | None = None
        gone_s = Fraction(0)  # when the picture before goes
        for (frame, duration), following in _with_next(pictures):
            before_s = start_s
            stamp_s = self._right(frame.pts, before_s, gone_s, following[0].pts if following else None)
            length_s = (duration or 0) * self._tick_s
            if stamp_s is None:
                start_s = self._between(before_s, gone_s, following[0].pts if following else None)
                end_s = start_s + (length_s or self._nominal_s)
            else:
                start_s = stamp_s
                end_s = self._seconds(frame.pts, duration or 0)
            gone_s = end_s if end_s > start_s else start_s + self._nominal_s
            yield start_s, end_s, frame

    def _right(self, pts: int | None, before_s: Fraction | None, gone_s: Fraction, next_pts: int | None) -> Fraction | None:
        """What a timestamp says, None where it must be wrong. `before_s`: when the picture before came."""
        if pts is None:
            return None
        if self._zero_s is None:
            self._zero_s = pts * self._tick_s - gone_s
        stamp_s = self._seconds(pts)
        next_s = None if next_pts is None else self._seconds(next_pts)
        if before_s is None:
            return stamp_s
        if stamp_s < before_s:
            if next_s is not None and next_s >= before_s:
                return None
            self._shift_s += gone_s - stamp_s
            return gone_s
        return None if next_s is not None and before_s <= next_s < stamp_s else stamp_s

    def _between(self, before_s: Fraction | None, gone_s: Fraction, next_pts: int | None) -> Fraction:
        """When a picture without a right timestamp comes: when the one before goes, but not after the one that follows."""
        if before_s is None or next_pts is None or self._zero_s is None:
            return gone_s
        next_s = self._seconds(next_pts)
        return min(gone_s, next_s) if next_s >= before_s else gone_s

    def _seconds(self, pts: int, ticks: int = 0) -> Fraction:
        assert self._zero_s is not None
        time_s = (pts + ticks) * self._tick_s - self._zero_s
        if self._grid_s is not None:
            near_s = round(time_s / self._grid_s) * self._grid_s
            time_s = near_s if abs(near_s - time_s) <= self._tick_s else time_s
        return time_s + self._shift_s


def _with_next(pictures: Iterable[tuple[av.VideoFrame, int | None]]) -> Iterator:
    """Pairs of a picture and the one that follows it, None after the last."""
    waiting = None
    for picture in pictures:
        if waiting is not None:
            yield waiting, picture
        waiting = picture
    if waiting is not None:
        yield waiting, None
