"""Canonical clips as streams of frames: read, written and digested without ever holding a video in memory.

A canonical clip is what METRICS calls the shared timeline: constant 24 fps, square pixels, even size, H.264 yuv420p, BT.709
limited range, no audio. References are brought to it at ingest, renders are written so; every other module reads only such clips.
A render may be written on the same clock in another codec of `CODECS`, whose colours are finer; it is read in the same way.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import TracebackType

import av
import numpy as np
from av.video.reformatter import ColorRange, Colorspace, Interpolation, VideoReformatter

from codecap import store
from codecap.clock import FPS
from codecap.errors import UserError, check_replaceable

KEYFRAME_INTERVAL = 2 * FPS  # a window of a clip is read from at most two seconds before it
_ACCURATE = Interpolation.FULL_CHR_H_INT | Interpolation.FULL_CHR_H_INP | Interpolation.ACCURATE_RND
EXACT = Interpolation.BICUBIC | _ACCURATE
EXACT_TO_HALF = Interpolation.AREA | _ACCURATE  # colour brought to half the resolution: the mean of what it stands for
BT709 = 1  # matrix, primaries and transfer all have this number in H.264
RGB_MATRIX = 0  # H.264's number for planes that are red, green and blue themselves


@dataclass(frozen=True)
class Codec:
    """How frames become H.264.

    Attributes:
        encoder: of FFmpeg.
        pixels: FFmpeg's pixel format that the encoder is given.
        rate: the encoder's option that says how much may be lost, and its value.
        params: what differs from the preset, as x264 writes it (`a=1:b=2`).
        scaling: how colour is brought to half the resolution, for `yuv420p`.
    """

    encoder: str
    pixels: str
    rate: tuple[str, int]
    preset: str
    params: str = ""
    scaling: Interpolation = EXACT

    @property
    def is_rgb(self) -> bool:
        return self.pixels == "rgb24"


FINER = "analyse=i4x4,i8x8:8x8dct=1:aq-mode=1:chroma-qp-offset=-4"
CODECS = {
    # For renders: an eighth to a half of the cost of x264's defaults, and closer to the frames. Colour at half the resolution.
    "h264": Codec("libx264", "yuv420p", ("crf", 18), "ultrafast", FINER, EXACT_TO_HALF),
    # For clips, which are made once and read by all: six tenths of the size of `h264` at two to three times its cost.
    # Without x264's macroblock tree, which reads memory that nobody has written: one file in a hundred differed by some bits.
    "h264_small": Codec("libx264", "yuv420p", ("crf", 14), "veryfast", "no-mbtree=1"),
    "h264_444": Codec("libx264", "yuv444p", ("qp", 0), "superfast"),  # nothing lost but the rounding to YUV: within 2 levels
    "lossless": Codec("libx264rgb", "rgb24", ("qp", 0), "ultrafast"),  # decodes to the very same RGB
}


def encoding(codec: str) -> str:
    """How a codec of `CODECS` encodes, readable; part of a render's protocol.

    >>> encoding("lossless")
    'x264 ultrafast qp 0 rgb24 bt709'

    Raises:
        ValueError: no such codec.
    """
    chosen = _codec(codec)
    params = f" {chosen.params}" if chosen.params else ""
    return f"x264 {chosen.preset} {chosen.rate[0]} {chosen.rate[1]}{params} {chosen.pixels} bt709"


def _codec(name: str) -> Codec:
    if name not in CODECS:
        raise ValueError(f"video codec {name!r} is unknown; there are {', '.join(CODECS)}")
    return CODECS[name]


class VideoError(UserError, ValueError):
    """A file that is not a readable (canonical) video; the message names the file and what is wrong."""


@dataclass(frozen=True)
class VideoInfo:
    frames: int
    width_px: int
    height_px: int

    @property
    def duration_s(self) -> float:
        return self.frames / FPS


def probe(mp4: Path) -> VideoInfo:
    """Size and frame count of a canonical clip, from its header (its packets are counted where the header has no count).

    Raises:
        VideoError: it cannot be opened, it is not on the 24 fps clock, or it holds no frame.
    """
    with _open(mp4) as container:
        stream = container.streams.video[0]
        frames = stream.frames or sum(1 for packet in container.demux(stream) if packet.size)
        if not frames:
            raise VideoError(f"{mp4}: holds no frame")
        if stream.average_rate != FPS:
            raise VideoError(f"{mp4}: {stream.average_rate} fps, not {FPS}; run `codecap ingest` on it first")
        return VideoInfo(frames=frames, width_px=stream.width, height_px=stream.height)


def read_frames(mp4: Path, start: int = 0, stop: int | None = None) -> Iterator[tuple[int, np.ndarray]]:
    """Decode a canonical clip in order.

    Args:
        start, stop: first frame, and the frame after the last (all by default); reached by a seek, not by decoding all before.

    Yields:
        Frame number, and uint8 RGB `(height, width, 3)`.

    Raises:
        VideoError: the file cannot be decoded to its end.
    """
    reformatter = VideoReformatter()  # one for all frames: it keeps its tables as long as the format stays
    for index, frame in decode(mp4, start, stop):
        yield index, to_rgb(frame, reformatter)


def decode(mp4: Path, start: int = 0, stop: int | None = None) -> Iterator[tuple[int, av.VideoFrame]]:
    """As `read_frames`, without the conversion to RGB (a third of the cost): for those who need few of the frames."""
    with _open(mp4) as container:
        stream = container.streams.video[0]
        stream.thread_type = "SLICE"  # frame threads hold many frames and have repeated the last ones
        last = stream.frames - 1  # -1 where the header does not say
        index = start - 1
        if start > 0:
            container.seek(int(Fraction(start, FPS) / stream.time_base), stream=stream)
        try:
            for frame in container.decode(stream):
                index = round(frame.pts * stream.time_base * FPS)
                if stop is not None and index >= stop:
                    return
                if index >= start:
                    yield index, frame
        except av.FFmpegError as error:
            raise VideoError(f"{mp4}: cannot be decoded after frame {index}: {error.strerror}") from error
        if start <= last and index < (last if stop is None else min(last, stop - 1)):
            raise VideoError(f"{mp4}: ends at frame {index}, but its header promises {last + 1} frames")


def to_rgb(frame: av.VideoFrame, reformatter: VideoReformatter | None = None) -> np.ndarray:
    """uint8 RGB `(height, width, 3)` of a decoded frame, by the colour space that it says it has (BT.709 when it says none).

    Args:
        reformatter: give the same one for all frames of a video, which saves setting it up for each.
    """
    if frame.format.is_rgb:
        return frame.to_ndarray(format="rgb24")
    space = frame.colorspace if frame.colorspace not in (0, 2, 3) else Colorspace.ITU709
    span = ColorRange.JPEG if frame.color_range == ColorRange.JPEG else ColorRange.MPEG
    rgb = (reformatter or VideoReformatter()).reformat(
        frame,
        format="rgb24",
        src_colorspace=space,
        dst_colorspace=Colorspace.DEFAULT,
        src_color_range=span,
        dst_color_range=ColorRange.JPEG,
        interpolation=EXACT,
        threads=1,
    )
    return rgb.to_ndarray()


class CanonicalWriter:
    """Writes frames as a canonical clip, one after another. Odd sizes are padded by repeating the last column or row.

    The file appears under its name whole or not at all: it is written beside it under a name of its own and renamed by `close`.
    One encoder thread and bit-exact muxing: the same frames give the same bytes on every machine with the same packages.
    Once the disk has failed, every further call raises that first error again: nothing more goes to the encoder.

    Args:
        codec: one of `CODECS`.

    Raises:
        ValueError: no such codec.
        OSError: the folder cannot be written to (full, read-only, no permission); the message names the file, nothing is left.

    >>> with CanonicalWriter(path, 640, 360) as writer:  # doctest: +SKIP
    ...     writer.add(rgb)
    """

    def __init__(self, mp4: Path, width_px: int, height_px: int, codec: str = "h264_small") -> None:
        self._codec = _codec(codec)
        self.mp4 = Path(mp4)
        self.width_px, self.height_px = width_px + width_px % 2, height_px + height_px % 2
        self.frames = 0
        self._last: av.VideoFrame | None = None  # the frame added last, as the encoder takes it
        self._failed: OSError | None = None
        self._reformatter = VideoReformatter()
        self._draft = draft_beside(self.mp4)
        try:
            self._container = av.open(
                f"file:{self._draft}", "w", format="mp4", options={"fflags": "+bitexact", "movflags": "+faststart"}
            )
            option, value = self._codec.rate
            options = {option: str(value), "preset": self._codec.preset, "x264-params": self._codec.params}
            self._stream = self._container.add_stream(self._codec.encoder, rate=FPS, options=options)
            self._set_up(self._stream)
        except BaseException:
            self._draft.unlink(missing_ok=True)
            raise

    def _set_up(self, stream: av.VideoStream) -> None:
        stream.width, stream.height, stream.pix_fmt = self.width_px, self.height_px, self._codec.pixels
        stream.time_base = stream.codec_context.time_base = Fraction(1, FPS)
        stream.gop_size = KEYFRAME_INTERVAL
        context = stream.codec_context
        context.thread_count = 1
        context.flags |= av.codec.context.Flags.bitexact
        context.color_range = ColorRange.JPEG if self._codec.is_rgb else ColorRange.MPEG
        context.color_primaries = context.color_trc = BT709
        context.colorspace = RGB_MATRIX if self._codec.is_rgb else BT709

    def add(self, rgb: np.ndarray) -> None:
        """Append one frame, uint8 RGB `(height, width, 3)`."""
        self._must_not_have_failed()
        rgb = pad_to_even(rgb)
        if rgb.shape != (self.height_px, self.width_px, 3):
            raise ValueError(f"{self.mp4}: frame of shape {rgb.shape} in a {self.width_px}x{self.height_px} video")
        self._last = self._encodable(np.ascontiguousarray(rgb))
        self.repeat()

    def _encodable(self, rgb: np.ndarray) -> av.VideoFrame:
        if self._codec.is_rgb:
            return av.VideoFrame.from_ndarray(rgb, format="rgb24")  # a copy: `repeat` may need it when `rgb` has changed
        return self._reformatter.reformat(
            av.VideoFrame.from_numpy_buffer(rgb, format="rgb24"),
            format=self._codec.pixels,
            src_colorspace=Colorspace.DEFAULT,
            dst_colorspace=Colorspace.ITU709,
            src_color_range=ColorRange.JPEG,
            dst_color_range=ColorRange.MPEG,
            interpolation=self._codec.scaling,
            threads=1,
        )

    def repeat(self) -> None:
        """Append the frame that was added last once more, without converting it again."""
        self._must_not_have_failed()
        if self._last is None:
            raise ValueError(f"{self.mp4}: there is no frame yet that could be repeated")
        self._last.pts, self._last.time_base = self.frames, Fraction(1, FPS)
        with self._disk_failures():
            self._container.mux(self._stream.encode(self._last))
        self.frames += 1

    def close(self) -> None:
        """Finish the file and give it its name.

        Raises:
            ValueError: no frame was added.
            OSError: as above.
        """
        try:
            self._must_not_have_failed()
            if not self.frames:
                raise ValueError(f"{self.mp4}: a clip has at least one frame, none was added")
            with self._disk_failures():
                self._container.mux(self._stream.encode(None))
                self._container.close()
                put_in_place(self._draft, self.mp4)
        finally:
            self.discard()

    def discard(self) -> None:
        """Give up: nothing of the file stays."""
        try:
            self._container.close()
        except OSError:
            pass  # a full disk shows here once more; the draft goes anyway
        finally:
            self._draft.unlink(missing_ok=True)

    def _must_not_have_failed(self) -> None:
        if self._failed is not None:
            raise self._failed

    @contextlib.contextmanager
    def _disk_failures(self) -> Iterator[None]:
        """The encoder has taken a frame whose packets are lost: another one of the same number crashes the process."""
        try:
            yield
        except OSError as error:
            self._failed = unwritable(self.mp4, error)
            raise self._failed from error

    def __enter__(self) -> CanonicalWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()


def draft_beside(path: Path) -> Path:
    """An empty file of a new hidden name in the folder of `path` (made if need be), to be filled and then `put_in_place`."""
    check_replaceable(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".draft")
    except OSError as error:
        raise unwritable(path, error) from error
    os.close(descriptor)
    return Path(draft)


def put_in_place(draft: Path, path: Path) -> None:
    """Give a finished draft its name, when its bytes are on the disk and readable as any new file is."""
    with draft.open("rb") as file:
        os.fsync(file.fileno())
    mask = os.umask(0)
    os.umask(mask)
    draft.chmod(0o666 & ~mask)
    draft.replace(path)


def unwritable(path: Path, error: OSError) -> OSError:
    """The same error as one plain message: which file, what is wrong, what to do."""
    cure = {
        errno.ENOSPC: "free some space, or choose a folder on another disk",
        errno.EDQUOT: "the quota is used up: free some space, or choose a folder on another disk",
        errno.EROFS: "choose a folder on a disk that can be written to",
        errno.EACCES: "choose a folder that you may write to",
        errno.ENAMETOOLONG: "choose a shorter name",
    }.get(error.errno or 0, "check the folder")
    return OSError(error.errno, f"cannot be written: {os.strerror(error.errno or 0)}; {cure}", str(path))


def pad_to_even(rgb: np.ndarray) -> np.ndarray:
    """Repeat the last row or column where the size is odd.

    >>> pad_to_even(np.zeros((3, 4, 3), np.uint8)).shape
    (4, 4, 3)
    """
    height_px, width_px = rgb.shape[:2]
    if height_px % 2 or width_px % 2:
        return np.pad(rgb, ((0, height_px % 2), (0, width_px % 2), (0, 0)), mode="edge")
    return rgb


def file_sha256(path: Path) -> str:
    """Digest of a file's bytes, read in pieces."""
    with store.open_at(path, lambda place: place.open("rb")) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _open(mp4: Path) -> av.container.InputContainer:
    try:
        options = {"protocol_whitelist": "file"}
        container = store.open_at(mp4, lambda place: av.open(f"file:{place}", options=options, metadata_errors="replace"))
    except (av.FFmpegError, OSError) as error:
        raise VideoError(f"{mp4}: cannot be opened as a video: {error.strerror}") from error
    if not container.streams.video:
        container.close()
        raise VideoError(f"{mp4}: has no video stream")
    return container
