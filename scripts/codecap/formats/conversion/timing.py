"""From the frames that a file counts to the clip's own, 24 a second."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from codecap.clock import FPS
from codecap.formats import FormatError, Told
from codecap.records import Clip

SAME_RATE = 1e-6
HOW_TO_SAY = "say how many frames a second its video has: --fps"


@dataclass(frozen=True)
class Footage:
    """What a file says of the video that it is about; None where it does not.

    Attributes:
        frames: how many there are, counted at `fps`.
    """

    frames: int | None = None
    width_px: int | None = None
    height_px: int | None = None
    fps: float | None = None


def frames_shown(path: Path, footage: Footage, clip: Clip, told: Told) -> list[int]:
    """For each frame of the clip, the file's frame (from 0) that is on screen at its time; never one between two.

    A file that says no rate, but has as many frames as the clip, counts the clip's own.

    Raises:
        FormatError: the file is about another video, or its rate is not known.
    """
    _check_size(path, footage, clip)
    fps = told.fps if told.fps is not None else footage.fps
    if fps is None:
        if footage.frames == clip.frames:
            return list(range(clip.frames))
        told_frames = "does not say how many frames there are" if footage.frames is None else f"is about {footage.frames} frames"
        raise FormatError(
            f"{path}: {told_frames}; clip {clip.clip_id} has {clip.frames} at {FPS} a second; "
            f"if it is about a part of the clip, export the whole; if its rate is another, {HOW_TO_SAY}"
        )
    if not 0.1 <= fps <= 1000:
        raise FormatError(f"{path}: {fps:g} frames a second cannot be; {HOW_TO_SAY}")
    same_rate = abs(fps - FPS) < SAME_RATE
    if footage.frames is not None:
        apart_s = abs(footage.frames / fps - clip.frames / FPS)
        if (same_rate and footage.frames != clip.frames) or apart_s > 1 / fps + 1 / FPS:
            raise FormatError(
                f"{path}: is about {footage.frames} frames at {fps:g} a second, {footage.frames / fps:.2f} s; clip {clip.clip_id} "
                f"has {clip.frames} at {FPS}, {clip.frames / FPS:.2f} s; it is about another video, or its rate is another: --fps"
            )
    if same_rate:
        return list(range(clip.frames))
    last = math.inf if footage.frames is None else footage.frames - 1
    return [int(min(math.floor(frame * fps / FPS + 1e-6), last)) for frame in range(clip.frames)]


def check_frame(frame: int, frames: int | None, where: str) -> int:
    """A frame's number from 0.

    Raises:
        FormatError: there is no such frame.
    """
    if frame < 0 or (frames is not None and frame >= frames):
        there_are = "" if frames is None else f"; the video has {frames} frames"
        raise FormatError(f"{where}: {'before the first frame' if frame < 0 else 'behind the last frame'}{there_are}")
    return frame


def check_end(last: int, frames: Sequence[int], path: Path) -> None:
    """Called for a file that does not say how many frames there are.

    Args:
        last: the last frame with a box, from 0.
        frames: as `frames_shown` gives them; between the last of them and the end there may be some that are never shown.

    Raises:
        FormatError: there are boxes behind the clip's end.
    """
    end = frames[-1] + math.ceil((frames[-1] + 1) / len(frames)) - 1
    if last > end:
        raise FormatError(
            f"{path}: has a box on frame {last} (counted from 0); the clip ends with frame {end}; it is about another video, or "
            "its rate is another: --fps"
        )


def _check_size(path: Path, footage: Footage, clip: Clip) -> None:
    """An odd size is the original's, of which the clip repeats the last column or row."""
    for side, told, ours in (("wide", footage.width_px, clip.width_px), ("high", footage.height_px, clip.height_px)):
        if told is not None and told + told % 2 != ours:
            raise FormatError(
                f"{path}: is about pictures {told} px {side}, clip {clip.clip_id} is {ours} px {side}; annotate the clip's own file"
            )
