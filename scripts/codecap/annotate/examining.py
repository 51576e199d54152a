"""Everything that is measured of an annotation, in one decoding of its clip: what changes, what is wrong, what is doubtful."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from codecap import video
from codecap.annotate.changes import Changes, ChangeWatcher
from codecap.annotate.looks import Looks, LooksWatcher
from codecap.annotate.quality import Signal, signals
from codecap.annotate.validate import Problem, problems
from codecap.records import Annotation, Clip

CUT_SHARE = 0.3  # of the picture that is suddenly another: a new shot


@dataclass(frozen=True)
class Examined:
    """What was found.

    Attributes:
        signals: by object, of those that have any.
    """

    changes: Changes
    looks: Looks
    problems: list[Problem]
    signals: Mapping[str, Sequence[Signal]]


def examine(annotation: Annotation, clip: Clip) -> Examined:
    """Decode a clip once and look at its annotation.

    Raises:
        VideoError: the clip cannot be read.
    """
    changing = ChangeWatcher(clip.width_px, clip.height_px)
    looking = LooksWatcher(annotation.objects, clip.frames)
    for frame, rgb in video.read_frames(clip.mp4):
        changing.see(frame, rgb)
        looking.see(frame, rgb)
    changes, looks = changing.changes(), looking.looks()
    found = signals(annotation.objects, clip, looks=looks, cuts=cuts_of(changes))
    return Examined(changes, looks, problems(annotation, clip, changes), found)


def cuts_of(changes: Changes) -> list[int]:
    """First frames of shots: those at which much of the picture is suddenly another."""
    curve = changes.curve()
    return [frame for frame in changes.jumps() if curve[frame] >= CUT_SHARE]
