"""Whether a fetched file is a video, and all of it."""

from __future__ import annotations

from pathlib import Path

from codecap.collect.sources import NotToBeHad
from codecap.video import VideoError

OWN_TOLERANCE_S = 0.5  # a file may end so much earlier than its header says
SITE_TOLERANCE_S, SITE_TOLERANCE = 1.5, 0.03  # or than its site says, or by this share: sites round


def check_whole(path: Path, duration_s: float | None = None) -> None:
    """Read a file's packets to its end; nothing is decoded.

    Args:
        duration_s: how long its site says that it is.

    Raises:
        NotToBeHad: it is no video (`not_a_video`), or a part of one (`cut_short`).
    """
    if missing := _missing_of_riff(path):
        raise NotToBeHad("cut_short", f"its last {missing} bytes are missing")
    try:
        end_s = _end_s(path)
    except VideoError as error:
        reason = str(error).removeprefix(f"{path}: ")
        cut = any(words in reason for words in ("cut short", "cut off", "is empty"))
        raise NotToBeHad("cut_short" if cut else "not_a_video", reason) from None
    if duration_s and end_s is not None and end_s < duration_s - max(SITE_TOLERANCE_S, SITE_TOLERANCE * duration_s):
        raise NotToBeHad("cut_short", f"ends after {end_s:.2f} s, where its site says {duration_s:.2f} s")


def _end_s(path: Path) -> float | None:
    """When the last packet of its pictures ends, in seconds from the beginning of the first; None for an animated WebP.

    Raises:
        VideoError: it is no video, or cut short by what it says itself.
    """
    import av

    from codecap.collect.intact import Span, check_bytes
    from codecap.collect.opening import open_video

    video = open_video(path)
    with video.container as container:
        if video.animated_webp:
            return None
        check_bytes(video)
        span, stamps = Span(video), []
        try:
            for packet in container.demux(span.streams):
                if packet.size:
                    span.add(packet)
                if packet.stream.type == "video" and packet.pts is not None:
                    stamps.append((packet.pts, packet.pts + (packet.duration or 0)))
        except (av.FFmpegError, OSError) as error:
            raise VideoError(f"{path}: is cut short, or damaged: {error.strerror}") from error
        span.check(OWN_TOLERANCE_S)
        if not stamps:
            return None
        return float((max(end for _, end in stamps) - min(start for start, _ in stamps)) * video.stream.time_base)


def _missing_of_riff(path: Path) -> int:
    """How many bytes the header of an AVI or WebP promises beyond the file's end; 0 for any other file."""
    with Path(path).open("rb") as file:
        head = file.read(12)
    if head[:4] != b"RIFF":
        return 0
    return max(int.from_bytes(head[4:8], "little") + 8 - Path(path).stat().st_size, 0)
