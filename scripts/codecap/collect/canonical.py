"""Whether a file already is a canonical clip, so that ingest can take it as it is, byte for byte."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import av
from av.video.reformatter import ColorRange

from codecap.clock import FPS
from codecap.collect.picture import display_matrix
from codecap.video import BT709, KEYFRAME_INTERVAL


def why_not_canonical(path: Path) -> str | None:
    """The first thing in which a file differs from a canonical clip, None if it is one.

    A canonical clip is an MP4 (not QuickTime's MOV) whose only stream is H.264 yuv420p, with even width and height, square
    pixels and no display matrix; BT.709 matrix, primaries and transfer in limited range, as the stream and each frame say;
    frame `i` of `n` starts exactly at `i / 24` seconds and the last one ends at `n / 24`, as many as the header counts; key frames
    at most 48 frames apart, the first frame one; progressive; every frame decodes undamaged; titles and the like are UTF-8.
    """
    try:
        with av.open(f"file:{path}", options={"protocol_whitelist": "file"}) as container:
            return _differs_in_header(container) or _differs_in_packets(container) or _differs_in_frames(container)
    except (av.FFmpegError, OSError) as error:
        return f"cannot be decoded: {error.strerror}"
    except UnicodeDecodeError:  # PyAV opens no such file, unless it is told to
        return "a title or another text that is not UTF-8"


def _differs_in_header(container: av.container.InputContainer) -> str | None:
    if "mp4" not in container.format.name.split(",") or container.metadata.get("major_brand", "").strip() == "qt":
        return f"a {container.format.name} file, not MP4"
    if len(container.streams) != 1 or not container.streams.video:
        return "more than a single video stream"
    stream = container.streams.video[0]
    context = stream.codec_context
    if context is None or context.name != "h264" or context.pix_fmt != "yuv420p":
        return "not H.264 yuv420p"
    if stream.width % 2 or stream.height % 2:
        return f"an odd size, {stream.width}x{stream.height}"
    if (stream.sample_aspect_ratio or 1) != 1:
        return "pixels that are not square"
    if not _is_bt709(context):
        return "colours that are not marked as BT.709 limited range"
    if not stream.frames or stream.start_time != 0 or stream.duration * stream.time_base != Fraction(stream.frames, FPS):
        return "a header that is not on the 24 fps clock"
    return None


def _differs_in_packets(container: av.container.InputContainer) -> str | None:
    stream = container.streams.video[0]
    size = Path(container.name.removeprefix("file:")).stat().st_size
    if max((entry.pos + entry.size for entry in stream.index_entries), default=0) > size:
        return "an end that is cut off"
    starts, keys = set(), []
    for packet in container.demux(stream):
        if packet.size:
            starts.add(packet.pts * stream.time_base * FPS)
            if packet.is_keyframe:
                keys.append(packet.pts * stream.time_base * FPS)
    if starts != set(range(stream.frames)):
        return "frames that do not start at i / 24 s"
    gaps = [after - before for before, after in zip(keys, [*keys[1:], stream.frames], strict=True)]
    if not keys or keys[0] != 0 or max(gaps) > KEYFRAME_INTERVAL:
        return f"key frames more than {KEYFRAME_INTERVAL} frames apart"
    container.seek(0)
    return None


def _differs_in_frames(container: av.container.InputContainer) -> str | None:
    stream = container.streams.video[0]
    stream.thread_type = "SLICE"
    count = 0
    for frame in container.decode(stream):
        if frame.is_corrupt or frame.interlaced_frame or display_matrix(frame) is not None or not _is_bt709(frame):
            return f"frame {count} is damaged, interlaced, turned or not BT.709"
        if frame.pts * stream.time_base * FPS != count:
            return f"frame {count} is not where it should be"
        count += 1
    return None if count == stream.frames else f"{count} frames, but a header that counts {stream.frames}"


def _is_bt709(marked: av.VideoFrame | av.VideoCodecContext) -> bool:
    colours = {marked.colorspace, marked.color_primaries, marked.color_trc}
    return colours == {BT709} and marked.color_range == ColorRange.MPEG
