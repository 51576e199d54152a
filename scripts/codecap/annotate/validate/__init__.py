"""What is wrong with an annotation, by named rules: each problem says which rule, how bad, where, and what to do.

An `error` makes scores wrong or impossible, and blocks an approval; a `warning` is worth a reviewer's look. The rules lie in
modules by what they look at: `shape` at places and times, `words` at names and descriptions, `motion` at what changes in the video.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Literal

from codecap.annotate.validate import motion, shape, words
from codecap.annotate.validate.finding import Finding
from codecap.records import Annotation, Clip, Row

if TYPE_CHECKING:
    from codecap.annotate.changes import Changes

Severity = Literal["error", "warning"]
Rule = Callable[[Annotation, Clip], Iterator[Finding]]

RULES: dict[str, tuple[Severity, Rule]] = {
    "other_clip": ("error", shape.other_clip),
    "box_count": ("error", shape.box_count),
    "empty_box": ("error", shape.empty_box),
    "box_outside_picture": ("error", shape.outside_picture),
    "box_outside_visible": ("error", shape.outside_visible),
    "never_visible": ("error", shape.never_visible),
    "bad_interval": ("error", shape.bad_interval),
    "same_track": ("error", shape.same_track),
    "object_not_there": ("warning", shape.object_not_there),
    "unknown_object": ("error", words.unknown_object),
    "blank_description": ("error", words.blank_description),
    "no_description": ("warning", words.no_description),
    "missing_kind": ("warning", words.missing_kind),
    "said_twice": ("warning", words.said_twice),
}
MOTION_RULES: dict[str, tuple[Severity, Callable[[Annotation, Clip, Changes], Iterator[Finding]]]] = {
    "static_over_change": ("warning", motion.static_over_change),
    "dynamic_without_change": ("warning", motion.dynamic_without_change),
}


class Problem(Row):
    """One thing wrong with one annotation.

    Attributes:
        place: the object, focal point or file that it is about, for people.
        message: what is wrong, and what to do.
        about: the same for programs: `objects/NAME`, `focal_points/ID`, or "" where it is about neither.
        frame: where to look, if anywhere.
    """

    clip_id: str
    rule: str
    severity: Severity
    place: str
    message: str
    about: str = ""
    frame: int | None = None

    def __str__(self) -> str:
        return f"{self.clip_id}: {self.severity}: {self.place}: {self.message} [{self.rule}]"


def problems(annotation: Annotation, clip: Clip, changes: Changes | None = None) -> list[Problem]:
    """All problems of a clip's annotation, rule by rule; empty when there are none.

    Args:
        changes: what was measured of the clip; without it the rules about motion are not asked.
    """
    found = [(name, severity, finding) for name, (severity, rule) in RULES.items() for finding in rule(annotation, clip)]
    if changes is not None:
        found += [
            (name, severity, finding)
            for name, (severity, rule) in MOTION_RULES.items()
            for finding in rule(annotation, clip, changes)
        ]
    return [
        Problem(
            clip_id=clip.clip_id,
            rule=name,
            severity=severity,
            place=finding.place,
            message=finding.message,
            about=finding.about,
            frame=finding.frame,
        )
        for name, severity, finding in found
    ]


def unknown_clips(clip_ids: Iterable[str], known: Iterable[str]) -> list[Problem]:
    """A problem for each annotation whose clip is not in the clips table."""
    table = set(known)
    message = "no such clip in the clips table; name the file after the clip's id, add the clip, or remove the file"
    return [
        Problem(clip_id=clip_id, rule="unknown_clip", severity="error", place="clip_id", message=message)
        for clip_id in sorted(set(clip_ids) - table)
    ]
