"""Opening a file as a video: what can be shown at all, and one clear error where nothing can."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import av
from av.codec.context import Flags

from codecap.collect.animated import HEAD_BYTES, is_animated_webp
from codecap.video import VideoError

# Demuxers that read other files than the one named, or make pictures out of text.
NO_VIDEO_FILES = {"concat", "concatf", "dash", "hls", "imf", "lavfi", "rtsp", "sdp", "tty"}
NO_FILMS = av.stream.Disposition.attached_pic | av.stream.Disposition.timed_thumbnails | av.stream.Disposition.still_image
LARGEST_PX = 2**26  # of a picture, twice that of 8K: a larger one takes gigabytes
FETCH_AGAIN = "fetch the file again, or repair it with FFmpeg"


@dataclass(frozen=True)
class OpenVideo:
    """A video file that could be opened; `stream` is the one that a player would show."""

    path: Path
    container: av.container.InputContainer
    stream: av.VideoStream

    @property
    def animated_webp(self) -> bool:
        """Whether it is one: FFmpeg opens them, but cannot decode them."""
        return self.container.format.name == "webp_pipe"

    def again(self) -> OpenVideo:
        """The same file opened anew, at its beginning. The caller closes its `container` too."""
        return open_video(self.path)


def open_video(path: Path) -> OpenVideo:
    """Open a file and choose its video stream. The caller closes `container`.

    Raises:
        VideoError: there is no such file, it cannot be read, or there is no video in it; the message says which and what to do.
    """
    path = Path(path)
    head = _first_bytes(path)
    try:
        container = av.open(f"file:{path}", options={"protocol_whitelist": "file"}, metadata_errors="replace")
    except (av.FFmpegError, OSError) as error:
        if head[4:8] == b"ftyp":
            reason = f"is an MP4 without its index (moov): it was cut off while it was written or fetched; {FETCH_AGAIN}"
        else:
            reason = f"is no video that FFmpeg can read ({error.strerror}); it begins with {head[:12]!r}; give a video file"
        raise VideoError(f"{path}: {reason}") from error
    try:
        stream = _film_in(path, container, head)
    except VideoError:
        container.close()
        raise
    stream.thread_type = "SLICE"  # frame threads hold many frames, and have been seen to repeat the last ones
    stream.codec_context.options = {"max_pixels": str(LARGEST_PX)}  # its size may change
    stream.codec_context.flags |= Flags.bitexact  # else some old codecs choose their arithmetic by the processor
    return OpenVideo(path, container, stream)


def _film_in(path: Path, container: av.container.InputContainer, head: bytes) -> av.VideoStream:
    form = container.format.name
    films = [stream for stream in container.streams.video if not stream.disposition & NO_FILMS]
    films = [stream for stream in films if not _is_photo(stream)] or films  # an animated AVIF has one beside its film
    if not films or form in NO_VIDEO_FILES:
        kinds = sorted({stream.type for stream in container.streams}) or ["nothing"]
        found = f"a {form} file" if form in NO_VIDEO_FILES else f"only {', '.join(kinds)}"
        raise VideoError(f"{path}: has no video stream, it is {found}; give a video file")
    if films[0].codec_context is None:
        raise VideoError(f"{path}: its video codec is unknown to this FFmpeg; convert it to H.264 first")
    if (form.endswith("_pipe") and not is_animated_webp(head)) or _is_photo(films[0]):
        raise VideoError(f"{path}: is a single picture ({films[0].codec_context.name}); give a video")
    refuse_large(path, films[0].width, films[0].height)
    return films[0]


def readable_name(path: Path) -> str:
    """A path as text; bytes of it that are no UTF-8, as old archives leave them, are replaced.

    >>> readable_name(Path("caf\\udce9.mp4")) == "caf\N{REPLACEMENT CHARACTER}.mp4"
    True
    """
    return os.fsencode(path).decode("utf-8", "replace")


def refuse_large(path: Path, width_px: int, height_px: int) -> None:
    """Raises VideoError for a picture of more than `LARGEST_PX`."""
    if width_px * height_px > LARGEST_PX:
        raise VideoError(f"{path}: is {width_px}x{height_px} px large, more than {LARGEST_PX} px in all; scale it down first")


def _is_photo(stream: av.VideoStream) -> bool:
    """An item of a HEIF or AVIF file, which is no track: FFmpeg gives it one picture of one second."""
    return stream.frames == 1 and stream.time_base == 1


def _first_bytes(path: Path) -> bytes:
    """The first `HEAD_BYTES`, or a VideoError that says why there are none."""
    if (name := readable_name(path)) != str(path):
        raise VideoError(f"{name}: its name is not text in UTF-8; rename it")
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise VideoError(f"{path}: is no ordinary file, but a pipe or a device; give a video file")
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
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
