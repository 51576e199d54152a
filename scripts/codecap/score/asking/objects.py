"""The questions about a reference's objects: is it in the render, when, and where on which frames.

Two steps. The first shows the whole render and asks when; the second shows the frames that were named, each a picture of its own,
and asks where. Places are on a scale from 0 to 1000 over one picture, so that it does not matter how a provider scales pictures.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from pydantic import Field

from codecap.clock import FPS, grid, time_of
from codecap.exchange import Question, Reply, Text
from codecap.records import AnnotatedObject, Box, Clip, Interval, PromptFrame, Row
from codecap.score.asking.answers import Unreadable, read_answer
from codecap.showing import prompts
from codecap.showing.sheets import Sheet, arrange
from codecap.showing.showing import Pictures, Showing, seconds, shown

PROMPT = "object_prompter.md"
SCALE = 1000.0
NUMBER = {"type": "number"}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _list(of: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": of}


FIND_SCHEMA = _object(
    objects=_list(
        _object(
            name={"type": "string"},
            status={"type": "string", "enum": ["found", "absent", "ambiguous"]},
            visible=_list(_object(first_s=NUMBER, last_s=NUMBER)),
            frames_s=_list(NUMBER),
        )
    )
)
BOX_SCHEMA = _object(
    frames=_list(
        _object(
            time_s=NUMBER,
            shown={"type": "boolean"},
            box=_object(x0=NUMBER, y0=NUMBER, x1=NUMBER, y1=NUMBER),
            positive=_list(_object(x=NUMBER, y=NUMBER)),
            negative=_list(_object(x=NUMBER, y=NUMBER)),
        )
    )
)


class Span(Row):
    first_s: float
    last_s: float


class Finding(Row):
    name: str
    status: Literal["found", "absent", "ambiguous"]
    visible: list[Span]
    frames_s: list[float]


class Findings(Row):
    objects: list[Finding]


class Corners(Row):
    x0: float
    y0: float
    x1: float
    y1: float


class Spot(Row):
    x: float = Field(ge=0, lt=SCALE)
    y: float = Field(ge=0, lt=SCALE)


class Place(Row):
    time_s: float
    shown: bool
    box: Corners
    positive: list[Spot]
    negative: list[Spot]


class Places(Row):
    frames: list[Place]


class Found(Row):
    """A finding on the clip's clock.

    Attributes:
        visible_s: intervals that reach up to the sampled frames without the object, since it may come and go between two.
        frames: representative ones, of those that were shown.
    """

    status: Literal["found", "absent", "ambiguous"]
    visible_s: list[Interval] = []
    frames: list[int] = []


def reference_frames(objects: Sequence[AnnotatedObject], frames: int, most: int) -> list[int]:
    """Up to `most` frames of the reference for each object, in the middles of equal parts of those on which it is visible."""
    chosen: set[int] = set()
    for item in objects:
        visible = [frame for frame, box in enumerate(item.boxes_xyxy[:frames]) if box is not None]
        parts = np.array_split(np.array(visible), min(most, len(visible))) if visible else []
        chosen.update(int(part[len(part) // 2]) for part in parts)
    return sorted(chosen)


def single(frame: int, clip: Clip, showing: Showing) -> Sheet:
    """A frame as a picture of its own, as large as it may be."""
    return arrange([[frame]], (clip.width_px, clip.height_px), 1, showing.limits)[0][0]


def render_sheets(clip: Clip, showing: Showing, others: int) -> list[Sheet]:
    """The whole render in the pictures that `others` leave."""
    whole = grid(showing.rate_hz, clip.frames)
    return arrange([whole], (clip.width_px, clip.height_px), showing.endpoint.images - others, showing.limits)[0]


def find_question(
    objects: Sequence[AnnotatedObject],
    known: Sequence[int],
    clip: Clip,
    showing: Showing,
    most_frames: int,
    reference: Pictures,
    render: Pictures,
) -> Question:
    """Whether and when the render shows some objects. What all questions about a clip share comes first.

    Args:
        known: frames of the reference that are shown.
        most_frames: representative frames of each object that are asked for.
    """
    prompt = prompts.load(PROMPT)
    whole = render_sheets(clip, showing, len(known))
    told = {"seconds": seconds(clip.frames), "rate": f"{showing.rate_hz:g}", "count": sum(len(sheet.frames) for sheet in whole)}
    described = [item.model_dump(mode="json", include={"name", "description"}) for item in objects]
    parts = [
        Text(prompt.say("render_frames", **told)),
        *shown("Render", whole, render),
        Text(prompt.say("objects", objects=json.dumps(described, ensure_ascii=False, indent=1))),
        *_known(objects, known, clip, showing, reference),
        Text(prompt.say("find", count=len(objects), most=most_frames)),
    ]
    return Question(tuple(parts), prompt.sections["system"], FIND_SCHEMA, showing.most_output_tokens)


def box_question(
    item: AnnotatedObject,
    known: Sequence[int],
    frames: Sequence[int],
    clip: Clip,
    showing: Showing,
    reference: Pictures,
    render: Pictures,
) -> Question:
    """Where an object is on some frames of the render."""
    prompt = prompts.load(PROMPT)
    described = [item.model_dump(mode="json", include={"name", "description"})]
    parts = [
        Text(prompt.say("objects", objects=json.dumps(described, ensure_ascii=False, indent=1))),
        *_known([item], known, clip, showing, reference),
    ]
    for frame in frames:
        parts += [Text(prompt.say("render_frame", time=seconds(frame))), render[single(frame, clip, showing)]]
    parts += [Text(prompt.say("box", name=json.dumps(item.name, ensure_ascii=False), count=len(frames)))]
    return Question(tuple(parts), prompt.sections["system"], BOX_SCHEMA, showing.most_output_tokens)


def _known(
    objects: Sequence[AnnotatedObject], known: Sequence[int], clip: Clip, showing: Showing, reference: Pictures
) -> list[Any]:
    """Frames of the reference, and in words where the objects are on each."""
    prompt = prompts.load(PROMPT)
    grow = SCALE / np.array([clip.width_px, clip.height_px] * 2)
    parts: list[Any] = []
    for frame in known:
        boxes = [
            {"name": item.name, **dict(zip(("x0", "y0", "x1", "y1"), np.round(np.array(box) * grow, 1).tolist(), strict=True))}
            for item in objects
            if (box := item.boxes_xyxy[frame]) is not None
        ]
        told = json.dumps(boxes, ensure_ascii=False)
        parts += [Text(prompt.say("reference_frame", time=seconds(frame), boxes=told)), reference[single(frame, clip, showing)]]
    return parts


def read_findings(reply: Reply, names: Sequence[str], clip: Clip, showing: Showing, most_frames: int) -> dict[str, Found]:
    """The findings of exactly these objects.

    Raises:
        Unreadable: not as asked; others, twice or missing; times outside of the video; a found object without an interval or a
            representative frame, or with one outside of its intervals; one that is not found, with either.
    """
    findings = read_answer(reply, Findings).objects
    if sorted(finding.name for finding in findings) != sorted(names):
        raise Unreadable("does not speak of exactly the objects that it was asked about, each once")
    whole = grid(showing.rate_hz, clip.frames)
    return {finding.name: _found(finding, whole, clip, most_frames) for finding in findings}


def _found(finding: Finding, whole: Sequence[int], clip: Clip, most_frames: int) -> Found:
    if finding.status != "found":
        if finding.visible or finding.frames_s:
            raise Unreadable(f"{finding.name}: {finding.status}, and yet visible")
        return Found(status=finding.status)
    if not finding.visible or not finding.frames_s:
        raise Unreadable(f"{finding.name}: found, but in no interval or on no frame")
    if len(finding.frames_s) > most_frames:
        raise Unreadable(f"{finding.name}: {len(finding.frames_s)} representative frames, at most {most_frames} were asked for")
    intervals, seen = [], set()
    for span in sorted(finding.visible, key=lambda span: span.first_s):
        first, last = (_nearest(time_s, whole, clip) for time_s in (span.first_s, span.last_s))
        if span.last_s < span.first_s:
            raise Unreadable(f"{finding.name}: an interval ends before it begins")
        seen.update(frame for frame in whole if first <= frame <= last)
        intervals.append(_reaching(first, last, whole, clip))
    frames = sorted({_nearest(time_s, whole, clip) for time_s in finding.frames_s})
    if not seen.issuperset(frames):
        raise Unreadable(f"{finding.name}: a representative frame outside of its intervals")
    return Found(status="found", visible_s=_joined(intervals), frames=frames)


def _nearest(time_s: float, shown_frames: Sequence[int], clip: Clip) -> int:
    """The shown frame that is nearest to a time.

    Raises:
        Unreadable: the time is outside of the video.
    """
    if not 0 <= time_s <= (clip.frames + 0.5) / FPS:  # a model says the length as it was told it, in milliseconds
        raise Unreadable(f"{time_s:g} s is outside of the video")
    return min(shown_frames, key=lambda frame: abs(time_of(frame) - time_s))


def _reaching(first: int, last: int, whole: Sequence[int], clip: Clip) -> Interval:
    """From the frame after the last shown one without the object to the first shown one without it again."""
    before, after = bisect_left(whole, first) - 1, bisect_right(whole, last)
    start = whole[before] + 1 if before >= 0 else 0
    stop = whole[after] if after < len(whole) else clip.frames
    return time_of(start), time_of(stop)


def _joined(intervals: Sequence[Interval]) -> list[Interval]:
    """Intervals in order, those that overlap as one."""
    joined: list[Interval] = []
    for start_s, end_s in intervals:
        if joined and start_s <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end_s))
        else:
            joined.append((start_s, end_s))
    return joined


def read_places(reply: Reply, frames: Sequence[int], clip: Clip, showing: Showing, size_px: tuple[int, int]) -> list[PromptFrame]:
    """Boxes and points in pixels of a picture of `size_px`, on those of the frames on which the object is.

    Raises:
        Unreadable: not as asked; other frames (further off than half a step of the grid), twice or missing; an empty box or one
            that leaves the picture; a positive point outside of the box; the object is on none of the frames.
    """
    places = read_answer(reply, Places).frames
    by_frame = {_nearest(place.time_s, frames, clip): place for place in places}
    off_s = max((abs(time_of(frame) - place.time_s) for frame, place in by_frame.items()), default=0.0)
    if len(by_frame) != len(places) or set(by_frame) != set(frames) or off_s > 0.5 / showing.rate_hz:
        raise Unreadable("does not speak of exactly the frames that it was shown, each once")
    made = [_placed(frame, by_frame[frame], size_px) for frame in frames if by_frame[frame].shown]
    if not made:
        raise Unreadable("found in the first step, but on none of its frames in the second")
    return made


def _placed(frame: int, place: Place, size_px: tuple[int, int]) -> PromptFrame:
    box, when = place.box, f"{seconds(frame)} s"
    if not (0 <= box.x0 < box.x1 <= SCALE and 0 <= box.y0 < box.y1 <= SCALE):
        raise Unreadable(f"{when}: the box is empty, turned over or not on the scale from 0 to {SCALE:g}")
    if not place.positive:
        raise Unreadable(f"{when}: no positive point")
    if any(not (box.x0 <= spot.x < box.x1 and box.y0 <= spot.y < box.y1) for spot in place.positive):
        raise Unreadable(f"{when}: a positive point outside of the box")
    across, down = size_px[0] / SCALE, size_px[1] / SCALE
    box_xyxy: Box = (box.x0 * across, box.y0 * down, box.x1 * across, box.y1 * down)
    positive, negative = ([(spot.x * across, spot.y * down) for spot in spots] for spots in (place.positive, place.negative))
    return PromptFrame(frame=frame, box_xyxy=box_xyxy, positive_xy=positive, negative_xy=negative)
