"""Whether a file has all the bytes and all the seconds that it says it has."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import av

from codecap.collect.opening import FETCH_AGAIN, OpenVideo
from codecap.video import VideoError


def check_bytes(video: OpenVideo) -> None:
    """Compare the file's size with what its index and an MP4's boxes promise, and look for a GIF's end mark.

    Raises:
        VideoError: it is cut short.
    """
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


class Span:
    """From when to when the packets of a file go, against what its header promises."""

    def __init__(self, video: OpenVideo) -> None:
        self._video = video
        self._promised = video.stream.duration  # of this stream; some formats give one for the whole file only
        every = [one for one in video.container.streams if one.type in ("video", "audio")]
        self.streams = [video.stream] if self._promised else every
        self._begun_s: Fraction | None = None
        self._ended_s: Fraction | None = None

    def add(self, packet: av.Packet) -> None:
        """Count a packet of one of the `streams`."""
        stamp = packet.pts if packet.pts is not None else packet.dts
        if stamp is None:
            return
        begins_s, ends_s = stamp * packet.time_base, (stamp + (packet.duration or 0)) * packet.time_base
        self._begun_s = begins_s if self._begun_s is None else min(self._begun_s, begins_s)
        self._ended_s = ends_s if self._ended_s is None else max(self._ended_s, ends_s)

    def check(self, tolerance_s: float) -> None:
        """Call at the end of the file.

        Raises:
            VideoError: it ended more than `tolerance_s` before the end that its header promises.
        """
        if self._begun_s is None or self._ended_s is None:  # a raw stream: no times, no header
            return
        if self._promised:
            promised_s, there_s = self._promised * self._video.stream.time_base, self._ended_s - self._begun_s
        else:  # the whole file's, which counts from 0 and not from the first picture
            promised_s, there_s = Fraction(self._video.container.duration or 0, av.time_base), self._ended_s
        if there_s < promised_s - Fraction(tolerance_s):
            raise VideoError(
                f"{self._video.path}: is cut short: it ends after {float(there_s):.2f} s of the {float(promised_s):.2f} s that "
                f"its header promises; {FETCH_AGAIN}"
            )


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
