"""What a video file shows and when: its pictures in order, each with the time it comes on screen and the time it goes.

Any file that FFmpeg reads, streamed. A file that is damaged, cut short or no video at all ends in one clear `VideoError`.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import av

from codecap.video import VideoError

# Demuxers that read other files than the one named, or make pictures out of text.
NO_VIDEO_FILES = {"concat", "concatf", "dash", "hls", "imf", "lavfi", "rtsp", "sdp", "tty"}
FETCH_AGAIN = "fetch the file again, or repair it with FFmpeg"


@dataclass(frozen=True)
class Shown:
    """One picture of a video. Times are exact, in seconds from the moment the first picture comes on screen."""

    start_s: Fraction
    end_s: Fraction
    frame: av.VideoFrame


@dataclass(frozen=True)
class OpenVideo:
    """A video file that could be opened; `stream` is the one that a player would show."""

    path: Path
    container: av.container.InputContainer
    stream: av.VideoStream


def open_video(path: Path) -> OpenVideo:
    """Open a file and choose its video stream. The caller closes `container`.

    Raises:
        VideoError: there is no such file, it cannot be read, or there is no video in it; the message says which and what to do.
    """
    path = Path(path)
    head = _first_bytes(path)
    try:
        container = av.open(f"file:{path}", options={"protocol_whitelist": "file"})
    except (av.FFmpegError, OSError) as error:
        if head[4:8] == b"ftyp":
            reason = f"is an MP4 without its index (moov): it was cut off while it was written or fetched; {FETCH_AGAIN}"
        else:
            reason = f"is no video that FFmpeg can read ({error.strerror}); it begins with {head[:12]!r}; give a video file"
        raise VideoError(f"{path}: {reason}") from error
    pictures = [stream for stream in container.streams.video if not _is_cover(stream)]
    if not pictures or container.format.name in NO_VIDEO_FILES:
        kinds = sorted({stream.type for stream in container.streams}) or ["nothing"]
        found = f"a {container.format.name} file" if container.format.name in NO_VIDEO_FILES else f"only {', '.join(kinds)}"
        container.close()
        raise VideoError(f"{path}: has no video stream, it is {found}; give a video file")
    if pictures[0].codec_context is None:
        container.close()
        raise VideoError(f"{path}: its video codec is unknown to this FFmpeg; convert it to H.264 first")
    return OpenVideo(path, container, pictures[0])


def shown_frames(video: OpenVideo, tolerance_s: float) -> Iterator[Shown]:
    """All pictures of a video in the order in which they are shown, interlaced ones deinterlaced.

    The clock starts when the first picture is shown; edit lists are honoured as FFmpeg does. A picture ends when the next one
    starts, the last one after its own duration (a GIF's delay); where the file gives the last one none, it lasts as long as the
    one before it.

    Args:
        tolerance_s: how much earlier than its header says a video may end before it counts as cut short.

    Raises:
        VideoError: the file is damaged, ends early, has no picture, or its timestamps or its size do not hold.
    """
    path, stream = video.path, video.stream
    clock = _Clock(stream)
    held: av.VideoFrame | None = None
    start = end = before = Fraction(0)
    _check_length(video)
    for frame, duration in _deinterlaced(_decoded(video, tolerance_s), stream):
        time = clock.start(frame.pts, end)
        if held is not None:
            if time < start:
                raise VideoError(
                    f"{path}: its timestamps go back from {float(start):.3f} s to {float(time):.3f} s; "
                    "cut it there, or remux it with FFmpeg"
                )
            if (frame.width, frame.height) != (held.width, held.height):
                raise VideoError(
                    f"{path}: its picture changes from {held.width}x{held.height} to {frame.width}x{frame.height} at "
                    f"{float(time):.3f} s; cut it there"
                )
            if time > start:  # else the later picture of the same instant is the one that stays
                yield Shown(start, time, held)
                before = time - start
        held, start = frame, time
        end = clock.end(frame.pts, duration, start)
    if held is None:
        raise VideoError(f"{path}: its video stream holds no picture; {FETCH_AGAIN}")
    end = end if end > start else start + before
    if end <= start:
        raise VideoError(f"{path}: is a single picture without a duration; give a video")
    yield Shown(start, end, held)


class _Clock:
    """Timestamps of a stream as exact seconds since its first picture.

    Matroska and FLV count in whole milliseconds, some MP4s in ticks that their frame rate does not divide: at 24 fps the pictures
    then say 0, 42, 83, 125 ms. Taken at their word they would come on screen just after the instants they belong to. So a
    timestamp within one tick of a multiple of the nominal frame duration is that multiple, wherever the tick is a millisecond or
    finer and does not divide the frame duration. A GIF's ticks (10 ms) are always taken at their word.
    """

    def __init__(self, stream: av.VideoStream) -> None:
        self._tick = Fraction(stream.time_base)
        rate = stream.guessed_rate
        self.nominal_s = 1 / Fraction(rate) if rate else Fraction(0)
        rounds = self.nominal_s and self._tick <= Fraction(1, 1000) and (self.nominal_s / self._tick).denominator != 1
        self._grid_s = self.nominal_s if rounds else None
        self._first: int | None = None

    def start(self, pts: int | None, end_of_last: Fraction) -> Fraction:
        """When a picture comes on screen; without a timestamp (a raw stream) right after the one before it."""
        if pts is None:
            return end_of_last
        if self._first is None:
            self._first = pts
        return self._exact((pts - self._first) * self._tick)

    def end(self, pts: int | None, duration: int | None, start: Fraction) -> Fraction:
        """When a picture goes if no other comes; equal to `start` if the file does not say."""
        if pts is None or self._first is None:
            return start + self.nominal_s
        return self._exact((pts + (duration or 0) - self._first) * self._tick)

    def _exact(self, time: Fraction) -> Fraction:
        if self._grid_s is None:
            return time
        near = round(time / self._grid_s) * self._grid_s
        return near if abs(near - time) <= self._tick else time


def _decoded(video: OpenVideo, tolerance_s: float) -> Iterator[tuple[av.VideoFrame, int | None]]:
    """Decode the chosen stream to its end; frames with their durations in ticks. Raises VideoError where the data is damaged."""
    path, stream = video.path, video.stream
    stream.thread_type = "SLICE"  # frame threads hold many frames, and have been seen to repeat the last ones
    promised = stream.duration  # of this stream; some formats give one for the whole file only
    streams = [stream] if promised else [one for one in video.container.streams if one.type in ("video", "audio")]
    begun_s, ended_s = None, None  # of all that was read
    at_s = None  # of the last picture
    try:
        for packet in video.container.demux(*streams):
            stamp = packet.pts if packet.pts is not None else packet.dts
            if stamp is not None:
                first_s, last_s = stamp * packet.time_base, (stamp + (packet.duration or 0)) * packet.time_base
                begun_s = first_s if begun_s is None else min(begun_s, first_s)
                ended_s = last_s if ended_s is None else max(ended_s, last_s)
            if packet.stream is not stream:
                continue
            for frame in _pictures_of(packet, nothing_yet=at_s is None):
                if frame.is_corrupt:
                    raise VideoError(f"{path}: is damaged at {_seconds(frame.time)}; {FETCH_AGAIN}")
                at_s = frame.time if frame.time is not None else (at_s or 0.0)
                yield frame, frame.duration
    except av.FFmpegError as error:
        raise VideoError(f"{path}: is damaged after {_seconds(at_s)} ({error.strerror}); {FETCH_AGAIN}") from error
    _check_length(video)
    if begun_s is None or ended_s is None:  # a raw stream: no times, no header
        return
    if promised:
        promised_s, there_s = promised * stream.time_base, ended_s - begun_s
    else:  # the whole file's, which counts from 0 and not from the first picture
        promised_s, there_s = Fraction(video.container.duration or 0, av.time_base), ended_s
    if there_s < promised_s - Fraction(tolerance_s):
        raise VideoError(
            f"{path}: is cut short: it ends after {float(there_s):.2f} s of the {float(promised_s):.2f} s that its header "
            f"promises; {FETCH_AGAIN}"
        )


def _pictures_of(packet: av.Packet, nothing_yet: bool) -> list[av.VideoFrame]:
    """Decode a packet. Before the first picture errors are normal: a recording may start between two key frames."""
    try:
        return packet.decode()
    except av.InvalidDataError:
        if nothing_yet and packet.size:
            return []
        raise


def _deinterlaced(
    frames: Iterator[tuple[av.VideoFrame, int | None]], stream: av.VideoStream
) -> Iterator[tuple[av.VideoFrame, int | None]]:
    """Pass frames on; from the first one on that says it is interlaced, through FFmpeg's bwdif (one frame out for each in)."""
    graph: av.filter.Graph | None = None
    timing: deque[tuple[int | None, int | None]] = deque()  # pts and duration of the frames inside the filter
    for frame, duration in frames:
        if graph is None:
            if not frame.interlaced_frame:
                yield frame, duration
                continue
            graph = _deinterlacer(stream)
        timing.append((frame.pts, duration))
        graph.push(frame)
        yield from _filtered(graph, timing)
    if graph is not None:
        graph.push(None)
        yield from _filtered(graph, timing)


def _deinterlacer(stream: av.VideoStream) -> av.filter.Graph:
    graph = av.filter.Graph()
    graph.link_nodes(
        graph.add_buffer(template=stream),
        graph.add("bwdif", "mode=send_frame:parity=auto:deint=interlaced"),
        graph.add("buffersink"),
    ).configure()
    return graph


def _filtered(graph: av.filter.Graph, timing: deque[tuple[int | None, int | None]]) -> Iterator[tuple[av.VideoFrame, int | None]]:
    while True:
        try:
            frame = graph.pull()
        except (av.BlockingIOError, av.EOFError):
            return
        frame.pts, duration = timing.popleft()  # the filter counts in half ticks
        yield frame, duration


def _check_length(video: OpenVideo) -> None:
    """Compare the file's size with what its index and an MP4's boxes promise, and look for a GIF's end mark."""
    path, kind = video.path, video.container.format.name
    size = path.stat().st_size
    needed = max((entry.pos + entry.size for entry in video.stream.index_entries), default=0)
    if "mp4" in kind.split(","):
        needed = max(needed, _end_of_boxes(path))
    if needed > size:
        raise VideoError(f"{path}: is cut short: it has {size} of the {needed} bytes that it says it has; {FETCH_AGAIN}")
    if kind == "gif":
        with path.open("rb") as file:
            file.seek(max(size - 16, 0))
            if not file.read().rstrip(b"\0\r\n ").endswith(b";"):
                raise VideoError(f"{path}: is cut short: the end mark of a GIF is missing; {FETCH_AGAIN}")


def _end_of_boxes(path: Path) -> int:
    """Where the last of an MP4's top-level boxes says that it ends, in bytes (ISO/IEC 14496-12, 4.2)."""
    end = 0
    with path.open("rb") as file:
        while True:
            file.seek(end)
            head = file.read(16)
            if len(head) < 8 or not head[4:8].isalnum():  # the end, or something else behind the last box
                return end
            size = int.from_bytes(head[:4], "big")
            if size == 1:
                size = int.from_bytes(head[8:16], "big")
            if size < 8:  # 0: up to the end of the file
                return end
            end += size


def _first_bytes(path: Path) -> bytes:
    """The first 16 bytes, or a VideoError that says why there are none."""
    try:
        with path.open("rb") as file:
            head = file.read(16)
    except OSError as error:
        cure = {
            FileNotFoundError: "check the path",
            PermissionError: "make it readable for you (chmod u+r)",
            IsADirectoryError: "name the files in it",
        }.get(type(error), "check the disk")
        raise VideoError(f"{path}: cannot be read: {os.strerror(error.errno or 0)}; {cure}") from error
    if not head:
        raise VideoError(f"{path}: is empty; fetch the file again")
    return head


def _is_cover(stream: av.VideoStream) -> bool:
    """A still picture that a sound file carries."""
    return bool(stream.disposition & av.stream.Disposition.attached_pic)


def _seconds(time: float | None) -> str:
    return "the start" if time is None else f"{float(time):.2f} s"
