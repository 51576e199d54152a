"""From pictures to a video, in a thread of its own: decoded, counted and encoded while the browser draws the next ones."""

from __future__ import annotations

import contextlib
import random
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from codecap.render.engines import Picture, Stage
from codecap.render.failures import InfraError, PageFailure
from codecap.render.tally import FrameTally, frame_digest
from codecap.video import CanonicalWriter, VideoError, file_sha256, probe

SHUFFLE_SEED = 24
MOST_WAITING = 4  # pictures that the browser may be ahead


class Recorder:
    """Takes pictures in order; `tally` is complete after the `with` block. After a failure, pictures that wait are not recorded."""

    def __init__(self, writer: CanonicalWriter, tally: FrameTally) -> None:
        self._writer, self._tally = writer, tally
        self._thread = ThreadPoolExecutor(max_workers=1)
        self._waiting: deque[Future[None]] = deque()
        self._shown: Picture | None = None
        self._failed: BaseException | None = None

    def take(self, picture: Picture) -> None:
        """Hand over the next frame; raises what recording an earlier one has raised."""
        while len(self._waiting) >= MOST_WAITING or (self._waiting and self._waiting[0].done()):
            self._waiting.popleft().result()
        self._waiting.append(self._thread.submit(self._record, picture))

    def _record(self, picture: Picture) -> None:
        if self._failed is not None:
            raise self._failed
        try:
            self._encode(picture)
        except BaseException as error:
            self._failed = error
            raise

    def _encode(self, picture: Picture) -> None:
        if picture is self._shown:
            self._tally.repeat()
            self._writer.repeat()
        else:
            rgb = picture.rgb()
            self._tally.add(rgb)
            self._writer.add(rgb)
        self._shown = picture

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *why: object) -> None:
        try:
            while self._waiting:
                self._waiting.popleft().result()
        finally:
            self._thread.shutdown(cancel_futures=True)


@contextlib.contextmanager
def recording(mp4: Path, width_px: int, height_px: int, codec: str, tally: FrameTally) -> Iterator[Recorder]:
    """A recorder into a new video, which is finished also when the page fails, if it made a frame: it can be watched then.

    Raises:
        InfraError: the file cannot be written.
    """
    try:
        writer = CanonicalWriter(mp4, width_px, height_px, codec=codec)
        try:
            with Recorder(writer, tally) as recorder:
                yield recorder
        except PageFailure:
            if writer.frames:
                writer.close()
            raise
        else:
            writer.close()
        finally:
            writer.discard()
    except OSError as error:
        raise InfraError(f"{error.filename}: {error.strerror}") from error


def record(stage: Stage, frames: int, mp4: Path, size: tuple[int, int], codec: str, tally: FrameTally) -> None:
    """Draw all frames of a loaded page, in order, into a video of this size (width and height in pixels).

    Raises:
        PageFailure: the page's; the frames made until then are kept.
        InfraError: the file cannot be written.
    """
    with recording(mp4, *size, codec, tally) as recorder:
        for index in range(frames):
            recorder.take(stage.frame(index))


def repeatable(stage: Stage, digests: list[bytes], samples: int) -> tuple[bool | None, list[str]]:
    """Ask for some frames again: the last at once, others backwards, all shuffled. A failure is no failure of the render any more.

    Returns:
        Whether all were the same as the first time (None: not tested), and flags.
    """
    if samples == 0:
        return None, []
    last = len(digests) - 1
    sample = sorted({round(last * k / max(samples - 1, 1)) for k in range(samples)})
    shuffled = random.Random(SHUFFLE_SEED).sample(sample, len(sample))
    order = [last, *reversed(sample[:-1]), *shuffled]
    try:
        return all(frame_digest(stage.frame(index).rgb()) == digests[index] for index in order), []
    except PageFailure as failure:
        return False, [f"repeated_seek_{failure.outcome}"]


def checked_sha256(mp4: Path, frames: int) -> str:
    """Digest of a video's file, which holds what was written.

    Raises:
        InfraError: it does not.
    """
    try:
        found = probe(mp4).frames
    except VideoError as error:
        raise InfraError(f"what was written is damaged: {error}") from error
    if found != frames:
        raise InfraError(f"{mp4}: holds {found} frames of the {frames} that were written")
    return file_sha256(mp4)
