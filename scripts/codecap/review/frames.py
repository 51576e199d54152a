"""The frames of a clip as pictures, each exactly the one that is asked for, with those around it at hand.

A clip's frames hang together: to show one, all since the last key frame, up to two seconds before, are decoded. So a thread decodes
what lies around the frame that was shown last, onward first and then back, and keeps the pictures. A frame that somebody waits for
goes first.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path

import av
import cv2
import numpy as np
from av.video.reformatter import VideoReformatter

from codecap import video
from codecap.clips import check_file
from codecap.errors import UserError
from codecap.records import Clip

QUALITY = 90  # of JPEG, 0-100
ONWARD, BACK = 16, 16  # frames that are kept ready around the one shown last,
FIRST_ONWARD = 4  # of these the first, before those behind;
BACK_LEAST = 8  # those behind are filled up when so few of them are left
NEAR = 24  # frames that are rather decoded on than reached by a new seek
KEPT_BYTES = 96 << 20  # of pictures, a clip
FILMS = 2  # clips whose decoder stays open
PATIENCE_S = 30.0  # for one frame


class FrameError(UserError):
    """A frame that cannot be shown; the message says why."""


class Films:
    """The clips that are looked at now; one that is not is closed."""

    def __init__(self) -> None:
        self._open: OrderedDict[str, Film] = OrderedDict()
        self._lock = threading.Lock()

    def jpeg(self, clip: Clip, frame: int) -> bytes:
        """A frame as JPEG.

        Raises:
            FrameError: the clip cannot be decoded to there.
            VideoError: the file is not there, or not the clip's.
        """
        return self._film(clip).jpeg(frame)

    def close(self) -> None:
        with self._lock:
            films = list(self._open.values())
            self._open.clear()
        for film in films:
            film.close()

    def _film(self, clip: Clip) -> Film:
        name = f"{clip.clip_id} {clip.sha256}"
        with self._lock:
            if name not in self._open:
                check_file(clip)
                self._open[name] = Film(clip)
            self._open.move_to_end(name)
            others = [self._open.popitem(last=False)[1] for _ in range(len(self._open) - FILMS)]
            film = self._open[name]
        for other in others:
            other.close()
        return film


class Film:
    """One clip's decoder, in a thread of its own, and the pictures that it has made."""

    def __init__(self, clip: Clip) -> None:
        self.clip = clip
        self._pictures: OrderedDict[int, bytes] = OrderedDict()
        self._bytes = 0
        self._asked: list[int] = []  # frames that somebody waits for
        self._shown: int | None = None  # the frame asked for last
        self._goes_back = False
        self._failed: dict[int, str] = {}
        self._closed = False
        self._changed = threading.Condition()
        self._decoder = _Decoder(clip.mp4)
        threading.Thread(target=self._work, name="frames", daemon=True).start()

    def jpeg(self, frame: int) -> bytes:
        """A frame as JPEG. Raises as `Films.jpeg`."""
        if not 0 <= frame < self.clip.frames:
            raise FrameError(f"{self.clip.clip_id}: has no frame {frame}; its frames are 0 to {self.clip.frames - 1}")
        with self._changed:
            self._goes_back = self._shown is not None and frame < self._shown
            self._shown = frame
            self._failed.pop(frame, None)
            if frame not in self._pictures and frame not in self._asked:
                self._asked.append(frame)
            self._changed.notify_all()
            self._changed.wait_for(lambda: frame in self._pictures or frame in self._failed or self._closed, PATIENCE_S)
            if frame in self._pictures:
                self._pictures.move_to_end(frame)
                return self._pictures[frame]
            raise FrameError(self._failed.get(frame, f"{self.clip.clip_id}: frame {frame} was not decoded in {PATIENCE_S:g} s"))

    def close(self) -> None:
        """Let the thread end; whoever waits for a frame is told."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _work(self) -> None:
        reformatter = VideoReformatter()
        while (wanted := self._next()) is not None:
            try:
                frame, decoded = self._decoder.towards(wanted)
                if self._is_wanted(frame):
                    self._keep(frame, encoded(video.to_rgb(decoded, reformatter)))
            except (video.VideoError, av.FFmpegError, OSError, cv2.error) as error:
                self._fail(wanted, str(error))

    def _next(self) -> int | None:
        """The frame to be decoded next, once there is one; None when the film is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._to_do() is not None)
            return None if self._closed else self._to_do()

    def _to_do(self) -> int | None:
        """A frame that somebody waits for; else one of those around the frame shown last."""
        if self._asked:
            return self._asked[0]
        if self._shown is None:
            return None
        onward = self._missing(range(self._shown + 1, min(self._shown + ONWARD + 1, self.clip.frames)))
        back = self._missing(range(max(self._shown - BACK, 0), self._shown))
        if back and back[-1] < self._shown - BACK_LEAST:
            back = []
        at = self._decoder.at
        on_the_way = [frame for frame in back if at is not None and at <= frame < at + NEAR]
        backward = (on_the_way or back)[:1]
        is_next = [frame for frame in onward if frame <= self._shown + FIRST_ONWARD and not self._goes_back]
        return next(iter([*is_next, *backward, *onward]), None)

    def _missing(self, frames: range) -> list[int]:
        return [frame for frame in frames if frame not in self._pictures and frame not in self._failed]

    def _is_wanted(self, frame: int) -> bool:
        with self._changed:
            near = self._shown is not None and -BACK <= frame - self._shown <= ONWARD
            return frame not in self._pictures and (near or frame in self._asked)

    def _keep(self, frame: int, picture: bytes) -> None:
        with self._changed:
            self._bytes += len(picture)
            self._pictures[frame] = picture
            while self._bytes > KEPT_BYTES and len(self._pictures) > 1:
                self._bytes -= len(self._pictures.popitem(last=False)[1])
            self._answer(frame)

    def _fail(self, frame: int, why: str) -> None:
        with self._changed:
            self._failed[frame] = why
            self._answer(frame)

    def _answer(self, frame: int) -> None:
        self._asked = [other for other in self._asked if other != frame]
        self._changed.notify_all()


class _Decoder:
    """Decodes onward from where it is, or from a new place.

    Attributes:
        at: the frame that comes next; None where it is nowhere.
    """

    def __init__(self, mp4: Path) -> None:
        self._mp4 = mp4
        self._run: Iterator[tuple[int, av.VideoFrame]] = iter(())
        self.at: int | None = None

    def towards(self, wanted: int) -> tuple[int, av.VideoFrame]:
        """The wanted frame, or one on the way to it, with its number.

        Raises:
            VideoError: it cannot be decoded.
        """
        if self.at is None or not self.at <= wanted < self.at + NEAR:
            self._run = video.decode(self._mp4, wanted)
        self.at = None
        found = next(self._run, None)
        if found is None:
            raise video.VideoError(f"{self._mp4}: ends before frame {wanted}")
        if found[0] > wanted:
            raise video.VideoError(f"{self._mp4}: has no frame {wanted}")
        self.at = found[0] + 1
        return found


def encoded(rgb: np.ndarray) -> bytes:
    """JPEG of a picture, uint8 RGB `(height, width, 3)`."""
    done, jpeg = cv2.imencode(".jpg", cv2.cvtColor(rgb, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
    if not done:
        raise cv2.error("not encoded")
    return jpeg.tobytes()
