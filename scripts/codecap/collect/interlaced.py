"""Interlaced pictures made whole, by FFmpeg's bwdif: one picture out for each that goes in, at the same time."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import groupby

import av

Picture = tuple[av.VideoFrame, int | None]  # with its duration in ticks


def deinterlaced(pictures: Iterable[Picture], stream: av.VideoStream) -> Iterator[Picture]:
    """Pass pictures on; from the first one that says it is interlaced, through the filter, which changes those that say so.

    The filter looks at the picture before and the one after. So what becomes of a picture does not depend on where decoding
    began, if that was at least one picture earlier. A filter is made for one size and pixel format, and reads beyond the end of a
    picture of another: where they change, another filter begins.
    """
    for _, alike in groupby(pictures, key=lambda picture: _form(picture[0])):
        yield from _deinterlaced(alike, stream)


def _form(frame: av.VideoFrame) -> tuple[int, int, str]:
    return frame.width, frame.height, frame.format.name


def _deinterlaced(pictures: Iterable[Picture], stream: av.VideoStream) -> Iterator[Picture]:
    """Of pictures of one form."""
    filtered: _Filter | None = None
    held: Picture | None = None  # the last one, for as long as there is no filter
    for picture in pictures:
        if filtered is None and picture[0].interlaced_frame:
            filtered = _Filter(stream, picture, held)
            if held is None:
                continue
        if filtered is not None:
            yield from filtered.add(picture)
            continue
        if held is not None:
            yield held
        held = picture
    if filtered is not None:
        yield from filtered.end()
    elif held is not None:
        yield held


class _Filter:
    """bwdif. It makes the first picture of its life of that one's lines alone; so it is given `first` twice beforehand.

    Args:
        first: the first interlaced picture.
        before: the one before it, which goes in first; without one, `first` itself does.
    """

    def __init__(self, stream: av.VideoStream, first: Picture, before: Picture | None) -> None:
        self._graph = av.filter.Graph()
        width_px, height_px, form = _form(first[0])
        self._graph.link_nodes(
            self._graph.add_buffer(width=width_px, height=height_px, format=form, time_base=stream.time_base),
            self._graph.add("bwdif", "mode=send_frame:parity=auto:deint=interlaced"),
            self._graph.add("buffersink"),
        ).configure()
        inside = before or first
        for frame in (first[0], first[0], inside[0]):
            self._graph.push(frame)
        for _ in self._out():
            pass
        self._inside = deque([inside])

    def add(self, picture: Picture) -> Iterator[Picture]:
        self._inside.append(picture)
        self._graph.push(picture[0])
        yield from self._made()

    def end(self) -> Iterator[Picture]:
        self._graph.push(None)
        yield from self._made()

    def _made(self) -> Iterator[Picture]:
        for frame in self._out():
            source, duration = self._inside.popleft()
            frame.pts = source.pts  # the filter counts in half ticks
            yield frame, duration

    def _out(self) -> Iterator[av.VideoFrame]:
        while True:
            try:
                yield self._graph.pull()
            except (av.BlockingIOError, av.EOFError):
                return
