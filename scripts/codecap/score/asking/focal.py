"""The question about focal points: what of reference and render is shown, and what is said with it.

What all questions about a clip share comes first, so that a provider that keeps a prompt's beginning charges it once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from codecap.clock import FPS, frames_between, grid
from codecap.exchange import Endpoint, Question, Text, Video
from codecap.records import Clip, FocalPoint
from codecap.showing import prompts
from codecap.showing.sheets import Sheet, arrange
from codecap.showing.showing import Pictures, Showing, seconds, shown

PROMPT = "retention_judge.md"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "judgements": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "focal_id": {"type": "string"},
                    "evidence": {"type": "string"},
                    "score": {"type": "integer", "description": "0, 1, 2, 3, 4 or 5"},
                },
                "required": ["focal_id", "evidence", "score"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["judgements"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Layout:
    """What one question shows.

    Attributes:
        points: that it is about.
        spans: frames of each point's interval.
        render, reference: pictures of the whole render and of the points' intervals; none where videos are shown.
        render_ends, reference_ends: pictures of the frames at the intervals' ends that are not among those.
    """

    points: tuple[FocalPoint, ...]
    spans: tuple[range, ...]
    render: tuple[Sheet, ...] = ()
    reference: tuple[Sheet, ...] = ()
    render_ends: tuple[Sheet, ...] = ()
    reference_ends: tuple[Sheet, ...] = ()

    @property
    def of_reference(self) -> tuple[Sheet, ...]:
        return self.reference + self.reference_ends

    @property
    def of_render(self) -> tuple[Sheet, ...]:
        return self.render + self.render_ends


@dataclass(frozen=True)
class Material:
    """Where a question's pictures come from and, for an endpoint that takes videos, the segments of a reference and the render."""

    reference: Pictures
    render: Pictures
    reference_video: Callable[[range], Video] | None = None
    render_video: Video | None = None


def lay_out(points: Sequence[FocalPoint], clip: Clip, showing: Showing) -> Layout:
    """Frames of one global grid from time 0, and those at both ends of each interval.

    Raises:
        ValueError: the endpoint takes too few pictures.
    """
    spans = [frames_between(point.start_s, point.end_s, clip.frames) for point in points]
    whole = grid(showing.rate_hz, clip.frames)
    ends = sorted({frame for span in spans for frame in (span.start, span.stop - 1)})
    if showing.endpoint.video:
        groups = [[], [], ends, ends]
    else:
        segments = sorted({frame for frame in whole if any(frame in span for span in spans)}.union(ends))
        groups = [whole, segments, [frame for frame in ends if frame not in set(whole)], []]
    size_px = (clip.width_px, clip.height_px)
    render, reference, render_ends, reference_ends = (
        tuple(sheets) for sheets in arrange(groups, size_px, showing.endpoint.images, showing.limits)
    )
    return Layout(tuple(points), tuple(spans), render, reference, render_ends, reference_ends)


def question(layout: Layout, clip: Clip, showing: Showing, material: Material) -> Question:
    prompt = prompts.load(PROMPT)
    told = {"seconds": f"{clip.frames / FPS:.3f}", "rate": f"{showing.rate_hz:g}"}
    parts: list[Any] = []
    if showing.endpoint.video:
        parts += [Text(prompt.say("render_video", **told)), material.render_video]
        for span in dict.fromkeys(layout.spans):
            start, end = seconds(span.start), seconds(span.stop)
            parts += [Text(prompt.say("reference_video", start=start, end=end)), material.reference_video(span)]
    else:
        parts += [Text(prompt.say("render_frames", count=_frames(layout.render), **told))]
        parts += shown("Render", layout.render, material.render)
        spans = " and ".join(f"{seconds(span.start)} s to {seconds(span.stop)} s" for span in dict.fromkeys(layout.spans))
        parts += [Text(prompt.say("reference_frames", spans=spans, count=_frames(layout.reference)))]
        parts += shown("Reference", layout.reference, material.reference)
    if layout.reference_ends:
        parts += [Text(prompt.say("reference_ends")), *shown("Reference", layout.reference_ends, material.reference)]
    if layout.render_ends:
        parts += [Text(prompt.say("render_ends")), *shown("Render", layout.render_ends, material.render)]
    described = [
        point.model_dump(mode="json", include={"focal_id", "kind", "description", "start_s", "end_s"}) for point in layout.points
    ]
    parts += [
        Text(prompt.say("points", points=json.dumps(described, ensure_ascii=False, indent=1))),
        Text(prompt.say("task", count=len(described))),
    ]
    system = prompt.say("system", criteria=prompt.sections["criteria"])
    return Question(tuple(parts), system=system, schema=SCHEMA, most_output_tokens=showing.most_output_tokens)


def check_images(endpoint: Endpoint) -> None:
    """Raises ValueError when an endpoint takes fewer pictures than the groups that one question can have."""
    if endpoint.images < 3:
        raise ValueError(f"endpoint.images is {endpoint.images}; a question shows at least 3: of render, reference and the ends")


def _frames(sheets: Sequence[Sheet]) -> int:
    return sum(len(sheet.frames) for sheet in sheets)
