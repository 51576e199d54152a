"""One clip through a video segmenter: all objects in one pass onward and one back, in memory that does not grow with the clip.

Each object has a state of its own in the library, so that its track depends on its own prompts and on no other object. The states
go over the frames together and share what costs most, the features of a frame.

The networks of the SAM family see, beside the frame itself, the frames that were prompted, the last few masks (7) and the last few
object pointers (16). What is older is never read again, but the libraries keep it: here it is dropped frame by frame. So a clip of
any length is followed as in one window, bit for bit, and no mask has to be handed over from window to window.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

from codecap.records import ObjectPrompt, PromptFrame
from codecap.score.masks.aims import Aim, prompted_frames
from codecap.score.masks.frames import Frames
from codecap.score.segmenters import Segmented

PROCEDURE = "box and signed points on each prompted frame, each object onward and back from its first one, boxes of masks"
Way = Iterator[tuple[int, np.ndarray]]  # frames in order, and the object's mask on each: bool (height, width), as the video is
T = TypeVar("T")


class Session(Protocol):
    """One clip and one object in a library's own state."""

    reach: int  # of how many frames before the current one the network reads what it found
    memory: Iterable[Mapping[str, dict[int, Any]]]  # what it found, each under "non_cond_frame_outputs" by frame

    def prompt(self, frame: int, anchor: PromptFrame) -> None:
        """Show a frame's prompt."""
        ...

    def propagate(self, start: int, most: int, reverse: bool) -> Way:
        """Masks on `start` and up to `most` frames after it (before it, when reversed)."""
        ...


def follow(
    mp4: Path,
    frames: int,
    prompts: Sequence[ObjectPrompt],
    ready: Callable[[np.ndarray], Any],
    begin: Callable[[Frames, int], Sequence[Session]],
) -> Segmented:
    """Follow prompted objects through a canonical clip.

    Args:
        frames: boxes in each track; a shorter video has None after its end, a longer one is cut.
        ready: what the network takes of a frame, from uint8 RGB `(height, width, 3)`.
        begin: opens sessions for so many objects, which share what they compute of a frame.
    """
    pictures = Frames(mp4, frames, ready)
    aims = [Aim.of(prompt, frames, len(pictures)) for prompt in prompts]
    shown = [aim for aim in aims if aim.anchors]
    if shown:
        _run(begin(pictures, len(shown)), shown)
    tracks = [aim.track() for aim in aims]
    masks = {aim.prompt.name: aim.masks for aim in aims if aim.masks}
    return Segmented(tracks, masks, pictures.height_px, pictures.width_px)


def _run(sessions: Sequence[Session], aims: Sequence[Aim]) -> None:
    for frame, numbers in prompted_frames(aims).items():
        for number in numbers:
            sessions[number].prompt(frame, aims[number].anchors[frame])
    pairs = list(zip(sessions, aims, strict=True))
    for reverse in (False, True):
        ways = {}
        for number, (session, aim) in enumerate(pairs):
            start, end = aim.first_anchor, aim.first if reverse else aim.last
            if reverse and start == end:
                continue
            way = session.propagate(start, abs(end - start), reverse)
            kept = range(0) if reverse else range(start, start + session.reach + 1)  # the way back begins with these
            ways[number] = (start, end, _forgetting(session, way, kept))
        for number, frame, mask in _together(ways, reverse):
            if frame < aims[number].first_anchor or not reverse:
                aims[number].note(frame, mask)


def _together(ways: Mapping[int, tuple[int, int, Way]], reverse: bool) -> Iterator[tuple[int, int, np.ndarray]]:
    """Step objects over the frames together: number, frame and mask; each from its start to its end, which is included."""
    step = -1 if reverse else 1
    frames = {frame for start, end, _ in ways.values() for frame in range(start, end + step, step)}
    for frame in sorted(frames, reverse=reverse):
        for number, (start, end, way) in ways.items():
            if min(start, end) <= frame <= max(start, end):
                told, mask = next(way)
                if told != frame:
                    raise RuntimeError(f"the segmenter went on to frame {told} where frame {frame} was due")
                yield number, frame, mask


def _forgetting(session: Session, way: Way, kept: range) -> Way:
    """Pass frames on, and drop what was found further away than the session's reach, all but `kept`."""
    for frame, mask in way:
        for memory in session.memory:
            outputs = memory["non_cond_frame_outputs"]
            for old in [old for old in outputs if abs(old - frame) > session.reach and old not in kept]:
                del outputs[old]
        yield frame, mask


class SharedFeatures:
    """The features of the last frame that any of several states has asked for.

    For libraries whose state is a dictionary with the features of one frame under `cached_features`.
    """

    def __init__(self) -> None:
        self._last: dict[int, Any] = {}

    @contextlib.contextmanager
    def lent(self, state: dict[str, Any]) -> Iterator[None]:
        state["cached_features"] = self._last
        yield
        self._last = state["cached_features"]

    def stepped(self, state: dict[str, Any], way: Iterator[T]) -> Iterator[T]:
        """A state's own way over the frames, with the features lent to it for each step."""
        ended = object()
        while True:
            with self.lent(state):
                told = next(way, ended)
            if told is ended:
                return
            yield told
