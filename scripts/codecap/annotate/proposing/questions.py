"""The proposer's questions: what is in the clip and when, what is wrong with a proposal, and where the objects are."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from codecap.annotate.proposing.outlines import Bounds, Outline
from codecap.annotate.proposing.rounds import PROMPT
from codecap.clock import FPS, grid
from codecap.exchange import Picture, Question, Text, Video
from codecap.records import Clip
from codecap.showing import prompts
from codecap.showing.sheets import Sheet, arrange
from codecap.showing.showing import Pictures, Showing, seconds, shown

NUMBER, STRING = {"type": "number"}, {"type": "string"}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _list(of: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": of}


OBJECTS = _list(
    _object(name=STRING, description=STRING, visible=_list(_object(first_s=NUMBER, last_s=NUMBER)), frames_s=_list(NUMBER))
)
POINTS = _list(
    _object(
        kind={"type": "string", "enum": ["static", "dynamic"]},
        description=STRING,
        start_s=NUMBER,
        end_s=NUMBER,
        objects=_list(STRING),
    )
)
OUTLINE_SCHEMA = _object(objects=OBJECTS, focal_points=POINTS)
CRITICISM_SCHEMA = _object(criticism=_list(STRING), objects=OBJECTS, focal_points=POINTS)
MARKS_SCHEMA = _object(
    marks=_list(
        _object(
            name=STRING,
            time_s=NUMBER,
            shown={"type": "boolean"},
            box=_object(x0=NUMBER, y0=NUMBER, x1=NUMBER, y1=NUMBER),
            positive=_list(_object(x=NUMBER, y=NUMBER)),
            negative=_list(_object(x=NUMBER, y=NUMBER)),
        )
    )
)


@dataclass(frozen=True)
class Viewing:
    """A clip as a model sees it: pictures of frames on one global grid, or the whole video where its endpoint takes videos."""

    clip: Clip
    showing: Showing
    pictures: Pictures
    video: Video | None = None

    def parts(self) -> list[Text | Picture | Video]:
        prompt = prompts.load(PROMPT)
        told = {"seconds": f"{self.clip.frames / FPS:.3f}", "rate": f"{self.showing.rate_hz:g}"}
        if self.video is not None:
            return [Text(prompt.say("video", **told)), self.video]
        sheets = whole(self.clip, self.showing)
        told["count"] = str(sum(len(sheet.frames) for sheet in sheets))
        return [Text(prompt.say("frames", **told)), *shown("Video", sheets, self.pictures)]


def whole(clip: Clip, showing: Showing) -> list[Sheet]:
    """The pictures of the whole clip; none where the video itself is shown."""
    if showing.endpoint.video:
        return []
    frames = grid(showing.rate_hz, clip.frames)
    return arrange([frames], (clip.width_px, clip.height_px), showing.endpoint.images, showing.limits)[0]


def single(frame: int, clip: Clip, showing: Showing) -> Sheet:
    """A frame as a picture of its own, as large as it may be."""
    return arrange([[frame]], (clip.width_px, clip.height_px), 1, showing.limits)[0][0]


def propose_question(viewing: Viewing, bounds: Bounds) -> Question:
    """First pass: objects and focal points."""
    prompt = prompts.load(PROMPT)
    parts = [*viewing.parts(), Text(prompt.say("propose", **_limits(bounds))), Text(prompt.sections["form"])]
    return _question(parts, OUTLINE_SCHEMA, viewing.showing)


def criticise_question(viewing: Viewing, bounds: Bounds, proposal: Outline) -> Question:
    """Second pass: the same anew, after a look at what is wrong with it and what is missing.

    What both passes show comes first, so that a provider that keeps a prompt's beginning charges it once.
    """
    prompt = prompts.load(PROMPT)
    told = json.dumps(proposal.told(), ensure_ascii=False, indent=1)
    parts = [
        *viewing.parts(),
        Text(prompt.say("proposal", proposal=told)),
        Text(prompt.say("criticise", **_limits(bounds))),
        Text(prompt.sections["criticism_form"]),
    ]
    return _question(parts, CRITICISM_SCHEMA, viewing.showing)


def places_question(
    asked: Mapping[str, Sequence[int]], descriptions: Mapping[str, str], clip: Clip, showing: Showing, pictures: Pictures
) -> Question:
    """Where some objects are on frames of the clip.

    Args:
        asked: frames of each object.
        descriptions: of each object.
    """
    prompt = prompts.load(PROMPT)
    told = [{"name": name, "description": descriptions[name]} for name in asked]
    parts: list[Any] = [Text(prompt.say("objects", objects=json.dumps(told, ensure_ascii=False, indent=1)))]
    for frame in sorted({frame for frames in asked.values() for frame in frames}):
        names = ", ".join(name for name, frames in asked.items() if frame in frames)
        parts += [Text(prompt.say("frame", time=seconds(frame), names=names)), pictures[single(frame, clip, showing)]]
    parts.append(Text(prompt.say("places", count=sum(len(frames) for frames in asked.values()))))
    return _question(parts, MARKS_SCHEMA, showing)


def groups(asked: Mapping[str, Sequence[int]], objects: int, pictures: int) -> list[dict[str, Sequence[int]]]:
    """Objects that are asked about in one question: at most so many, which show at most so many frames together.

    They are dealt out evenly: of a single object, no scale can be told.

    >>> groups({"a": [0, 12], "b": [0], "c": [24]}, 8, 2)
    [{'a': [0, 12], 'b': [0]}, {'c': [24]}]
    """
    objects = math.ceil(len(asked) / math.ceil(len(asked) / objects)) if asked else objects
    made: list[dict[str, Sequence[int]]] = []
    shown_frames: set[int] = set()
    for name, frames in asked.items():
        if not made or len(made[-1]) == objects or len(shown_frames.union(frames)) > pictures:
            made.append({})
            shown_frames = set()
        made[-1][name] = frames
        shown_frames.update(frames)
    return made


def _limits(bounds: Bounds) -> dict[str, int]:
    return {"objects": bounds.objects, "points": bounds.points, "most": bounds.frames_each}


def _question(parts: Sequence[Text | Picture | Video], schema: dict[str, Any], showing: Showing) -> Question:
    return Question(tuple(parts), prompts.load(PROMPT).sections["system"], schema, showing.most_output_tokens)
