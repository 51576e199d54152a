"""Copies of videos that say nothing of where they come from: no name, no metadata, no time, no shared file."""

from __future__ import annotations

import os
from pathlib import Path

import av

from codecap import store, video
from codecap.clock import FPS

MADE_AT = 946_684_800  # the time that every file of a sheet bears: 2000-01-01, UTC
SHOWN_BY_BROWSERS = ("yuv420p", "yuvj420p")


def copy_plain(mp4: Path, target: Path) -> video.VideoInfo:
    """Copy a canonical video's pictures into a new file; colours at full resolution, which no browser plays, are encoded again.

    Returns:
        Its size and number of frames.

    Raises:
        VideoError: it cannot be read to its end.
    """
    info, mp4 = video.probe(mp4), store.at(mp4)
    with av.open(f"file:{mp4}") as container:
        shown = container.streams.video[0].codec_context.pix_fmt in SHOWN_BY_BROWSERS
    if shown:
        _remux(mp4, target)
    else:
        with video.CanonicalWriter(target, info.width_px, info.height_px) as writer:
            for _, rgb in video.read_frames(mp4):
                writer.add(rgb)
    return info


def forget_times(folder: Path) -> None:
    """Give all files and folders one and the same time."""
    for path in [*folder.rglob("*"), folder]:
        os.utime(path, (MADE_AT, MADE_AT))


def _remux(mp4: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    options = {"movflags": "faststart", "fflags": "+bitexact"}
    try:
        with av.open(f"file:{mp4}") as source, av.open(f"file:{target}", "w", format="mp4", options=options) as copy:
            stream = source.streams.video[0]
            written = copy.add_stream_from_template(stream)
            written.metadata.clear()
            for packet in source.demux(stream):
                if packet.size:
                    packet.stream = written
                    copy.mux(packet)
    except av.FFmpegError as error:
        raise video.VideoError(f"{mp4}: cannot be copied: {error.strerror}") from error
    if (left := video.probe(target)) != (whole := video.probe(mp4)):
        raise video.VideoError(f"{mp4}: a copy has {left.frames} frames at {FPS} fps, not {whole.frames}")
