"""What a video file shows and when: its pictures in order, each with the time it comes on screen and the time it goes.

Any file that FFmpeg reads, and animated WebP, streamed. A file that is damaged, cut short or no video at all ends in one clear
`VideoError`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, islice

import av

from codecap.collect.decoding import Decoder
from codecap.collect.interlaced import deinterlaced
from codecap.collect.opening import FETCH_AGAIN, OpenVideo
from codecap.collect.timeline import Timed, Timeline
from codecap.collect.webp import TICK_S, webp_frames
from codecap.video import VideoError

LONGEST_STILL_S = 3600  # one picture for longer than this is a wrong timestamp


@dataclass(frozen=True)
class Shown:
    """One picture of a video. Times are exact, in seconds from the moment the first picture comes on screen."""

    start_s: Fraction
    end_s: Fraction
    frame: av.VideoFrame


def shown_frames(video: OpenVideo, tolerance_s: float, since_s: Fraction | int = 0) -> Iterator[Shown]:
    """The pictures of a video in the order in which they are shown, interlaced ones deinterlaced.

    The clock starts when the first picture is shown; edit lists are honoured as FFmpeg does. A picture ends when the next one
    starts, the last one after its own duration (a GIF's delay); where the file gives the last one none, it lasts as long as the
    one before it.

    Args:
        tolerance_s: how much earlier than its header says a video may end before it counts as cut short.
        since_s: the picture that is on screen at this time and those after it must be there, others may be left out. What comes
            before is not decoded where the file allows that; times and pictures are the same either way.

    Raises:
        VideoError: the file is damaged, ends early, has no picture, or its size changes.
    """
    if video.animated_webp:
        yield from _shown(video, Timeline(TICK_S, None).timed(webp_frames(video.path)))
        return
    decoder = Decoder(video, tolerance_s)
    pictures = decoder.pictures()
    begin = list(islice(pictures, 2))
    stamps = [frame.pts for frame, _ in begin]
    tick_s, rate = video.stream.time_base, video.stream.guessed_rate
    if since_s <= 0 or None in stamps or stamps != sorted(set(stamps)) or len(stamps) < 2:  # the clock's beginning must be sure
        every = deinterlaced(chain(begin, pictures), video.stream)
        yield from _shown(video, Timeline(tick_s, rate).timed(every))
        return
    first, first_pts = begin[0][0], stamps[0]
    landed = decoder.skip_to(first_pts + int(since_s / tick_s) - 1)  # one tick earlier: timestamps may be rounded
    if landed is None:
        again = video.again()
        with again.container:
            yield from shown_frames(again, tolerance_s)
        return
    later = deinterlaced(chain(landed, decoder.pictures()), video.stream)
    yield from _shown(video, Timeline(tick_s, rate, first_pts).timed(later), first)


def first_picture(video: OpenVideo) -> av.VideoFrame:
    """The first picture as it is decoded: it tells how all of them lie.

    Raises:
        VideoError: there is none.
    """
    frames = webp_frames(video.path) if video.animated_webp else Decoder(video, tolerance_s=0).pictures()
    first = next(iter(frames), None)
    if first is None:
        raise VideoError(f"{video.path}: its video stream holds no picture; {FETCH_AGAIN}")
    return first[0]


def _shown(video: OpenVideo, timed: Iterable[Timed], first: av.VideoFrame | None = None) -> Iterator[Shown]:
    """Each picture until the next one comes; the last one for its own duration."""
    held: av.VideoFrame | None = None
    start_s = end_s = before_s = Fraction(0)
    for time_s, goes_s, frame in timed:
        first = first or frame
        if (frame.width, frame.height) != (first.width, first.height):
            raise VideoError(
                f"{video.path}: its picture changes from {first.width}x{first.height} to {frame.width}x{frame.height} at "
                f"{float(time_s):.3f} s; cut it there"
            )
        if held is not None and time_s > start_s:  # else the later picture of the same instant is the one that stays
            _refuse_still(video, start_s, time_s)
            yield Shown(start_s, time_s, held)
            before_s = time_s - start_s
        held, start_s, end_s = frame, time_s, goes_s
    if held is None:
        raise VideoError(f"{video.path}: its video stream holds no picture; {FETCH_AGAIN}")
    end_s = end_s if end_s > start_s else start_s + before_s
    if end_s <= start_s:
        raise VideoError(f"{video.path}: is a single picture without a duration; give a video")
    _refuse_still(video, start_s, end_s)
    yield Shown(start_s, end_s, held)


def _refuse_still(video: OpenVideo, start_s: Fraction, end_s: Fraction) -> None:
    if end_s - start_s > LONGEST_STILL_S:
        raise VideoError(
            f"{video.path}: by its timestamps one picture, at {float(start_s):.2f} s, stays for {float(end_s - start_s):.0f} s; "
            "cut it there, or remux it with FFmpeg"
        )
