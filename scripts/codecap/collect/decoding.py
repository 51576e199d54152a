"""The pictures of a video in the order in which they are shown, from its beginning or from a key frame further on."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterator
from itertools import chain

import av
from av.video.frame import PictureType

from codecap.collect.intact import Span, check_bytes
from codecap.collect.opening import FETCH_AGAIN, OpenVideo
from codecap.video import VideoError

# Codecs whose key frames need nothing of what was before them. Others are decoded from their beginning.
SELF_CONTAINED = {"av1", "ffv1", "h264", "hevc", "mjpeg", "mpeg2video", "mpeg4", "prores", "vp8", "vp9"}
INDEXED = "mp4"  # FFmpeg's demuxer of MP4 and MOV knows where each packet is
SEEK_EARLIER_S = 1  # so that there is a picture before the one that is asked for
HELD_BYTES = 2**28  # of packets between two key frames: more are not kept in memory


class Decoder:
    """Decodes the chosen stream of a video, once.

    Args:
        tolerance_s: how much earlier than its header says the video may end before it counts as cut short.

    Raises:
        VideoError: it is cut short.
    """

    def __init__(self, video: OpenVideo, tolerance_s: float) -> None:
        check_bytes(video)
        self._video, self._tolerance_s = video, tolerance_s
        self._span = Span(video)
        self._stamps = _Stamps(video.stream)
        self._self_contained = video.stream.codec_context.codec.canonical_name in SELF_CONTAINED
        self._packets = self._from_first_key_frame(video.container.demux(*self._span.streams))
        self._began = False  # whether there was a picture
        self._frames = self._decoded_in_order()  # a packet may give several: what is left of them waits here

    def pictures(self) -> Iterator[tuple[av.VideoFrame, int | None]]:
        """Frames, `pts` set, with their durations in ticks: from where the decoder is, to the end.

        Raises:
            VideoError: the data is damaged, or ends early.
        """
        path, at_s = self._video.path, None
        try:
            for frame in self._frames:
                if frame.is_corrupt:
                    raise VideoError(f"{path}: is damaged at {_seconds(frame.time)}; {FETCH_AGAIN}")
                at_s = frame.time if frame.time is not None else (at_s or 0.0)
                yield frame, frame.duration
        except av.FFmpegError as error:
            raise VideoError(f"{path}: is damaged after {_seconds(at_s)} ({error.strerror}); {FETCH_AGAIN}") from error
        check_bytes(self._video)  # again: it may have been cut while it was read
        self._span.check(self._tolerance_s)

    def skip_to(self, pts: int) -> list[tuple[av.VideoFrame, int | None]] | None:
        """Go on without decoding what is not needed for the pictures from `pts` on.

        Returns:
            The last two pictures that come before or at `pts`, and the one after; `pictures` goes on behind them. They are the
            very ones that decoding from the beginning gives. None where that is not certain: then this decoder is spent.
        """
        if not self._self_contained:
            return None
        try:
            if INDEXED in self._video.container.format.name.split(","):
                earlier = int(SEEK_EARLIER_S / self._video.stream.time_base)
                self._video.container.seek(pts - earlier, stream=self._video.stream)
                self._packets = self._video.container.demux(*self._span.streams)
            held = self._packets_from_key_before(pts)
            if held is None:
                return None
            self._video.stream.codec_context.flush_buffers()
            self._packets = chain(held, self._packets)
            self._frames = self._decoded_in_order()
            return self._landed(pts, key=held[0].pts)
        except av.FFmpegError:
            return None  # whoever decodes it from the beginning learns what is wrong

    def _from_first_key_frame(self, packets: Iterator[av.Packet]) -> Iterator[av.Packet]:
        """Leave out what comes before the first key frame, as in a recording that began between two: it needs what is not there.
        A stream in which there is none for long is given whole."""
        early: list[av.Packet] = []
        held_bytes = 0
        for packet in packets if self._self_contained else ():
            self._span.add(packet)
            if packet.stream is self._video.stream:
                early.append(packet)
                held_bytes += packet.size
                if packet.is_keyframe:
                    early = [packet]
                if packet.is_keyframe or not packet.size or held_bytes > HELD_BYTES:
                    break
        yield from early
        yield from packets

    def _packets_from_key_before(self, pts: int) -> list[av.Packet] | None:
        """Read up to the key frame after `pts`: the packets from the last key frame on that has two pictures up to `pts`."""
        stretches: deque[list[av.Packet]] = deque(maxlen=3)  # each begins with a key frame; the last one is after `pts`
        last_dts, held_bytes = None, 0
        for packet in self._packets:
            self._span.add(packet)
            if packet.stream is not self._video.stream:
                continue
            if packet.size:
                if packet.pts is None or packet.dts is None or (last_dts is not None and packet.dts <= last_dts):
                    return None  # times that are missing or wrong are mended from the beginning on
                last_dts = packet.dts
                self._stamps.fed(packet)
                if packet.is_keyframe:
                    stretches.append([])
                    held_bytes = sum(one.size for stretch in stretches for one in stretch)
            if stretches:
                stretches[-1].append(packet)
                held_bytes += packet.size
            if held_bytes > HELD_BYTES or not packet.size or (packet.is_keyframe and packet.pts > pts):
                break
        if not stretches or held_bytes > HELD_BYTES or self._stamps.in_decoding_order:
            return None
        for first in reversed(range(len(stretches))):
            held = list(chain.from_iterable(list(stretches)[first:]))
            if held[0].pts <= pts and sum(packet.size > 0 and packet.pts <= pts for packet in held) > 1:
                return held
        return None

    def _landed(self, pts: int, key: int) -> list[tuple[av.VideoFrame, int | None]] | None:
        """Decode from the key frame that has the timestamp `key` up to the first picture after `pts`."""
        before: deque[tuple[av.VideoFrame, int | None]] = deque(maxlen=2)
        trusted, last = False, None
        for frame in self._frames:
            if frame.pts is None or (last is not None and frame.pts <= last):
                return None
            if not trusted:  # pictures that are shown before the key frame may need others that are not there
                if frame.pts > key or (frame.pts == key and not (frame.key_frame and frame.pict_type == PictureType.I)):
                    return None
                trusted = frame.pts == key
            if trusted:
                if frame.is_corrupt:
                    return None
                last = frame.pts
                if frame.pts > pts:
                    return [*before, (frame, frame.duration)] if len(before) == 2 else None
                before.append((frame, frame.duration))
        return list(before) if len(before) == 2 else None

    def _decoded_in_order(self) -> Iterator[av.VideoFrame]:
        for packet in self._packets:
            self._span.add(packet)
            if packet.stream is not self._video.stream:
                continue
            self._stamps.fed(packet)
            for frame in self._pictures_of(packet):
                self._began = True
                frame.pts = self._stamps.of(frame)
                yield frame

    def _pictures_of(self, packet: av.Packet) -> list[av.VideoFrame]:
        """Before the first picture errors are normal: a recording may start between two key frames."""
        try:
            return packet.decode()
        except av.InvalidDataError:
            if not self._began and packet.size:
                return []
            raise


class _Stamps:
    """Timestamps of decoded pictures.

    A decoder gives a picture the timestamp of its packet. Where that only counts packets (AVI has no other, and some MP4s lack
    the offsets between decoding and showing), pictures that are decoded ahead of others get the timestamps of those. One knows it
    by a constant distance between both times in a stream that reorders its pictures; then the smallest timestamp that is waiting
    belongs to the next picture.
    """

    def __init__(self, stream: av.VideoStream) -> None:
        self._waiting: list[int] = []
        self._began = False
        self._distance: int | None = None
        self.in_decoding_order = bool(stream.codec_context.has_b_frames)  # until a packet says otherwise

    def fed(self, packet: av.Packet) -> None:
        """Call for each packet that goes to the decoder."""
        self._began = self._began or packet.is_keyframe  # of what is before nothing can be decoded
        if not self._began or not self.in_decoding_order or packet.pts is None or packet.is_discard:
            return
        heapq.heappush(self._waiting, packet.pts)
        if packet.dts is not None and len(self._waiting) > 1:  # the first packet of an AVI may be far from the second
            distance = packet.pts - packet.dts
            self._distance = distance if self._distance is None else self._distance
            self.in_decoding_order = distance == self._distance

    def of(self, frame: av.VideoFrame) -> int | None:
        """The timestamp of the picture that the decoder gave next."""
        if not self.in_decoding_order or not self._waiting:
            return frame.pts
        return heapq.heappop(self._waiting)


def _seconds(time: float | None) -> str:
    return "the start" if time is None else f"{float(time):.2f} s"
