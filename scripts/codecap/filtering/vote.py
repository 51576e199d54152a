"""A multimodal model's vote: a fourth axis, for the clips that the other three leave in doubt. Off by default; votes are paid for.

The model is shown frames of the clip on one global grid, or the video itself where its endpoint takes videos, and is asked for each
of the three axes and for the whole. It adds to the log-odds or takes from them; it never decides alone.
"""

from __future__ import annotations

import functools
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from codecap.clips import check_file
from codecap.clock import FPS, grid
from codecap.exchange import Question, Text, Video
from codecap.records import Clip, Row
from codecap.score.asking.answers import plain, read_answer
from codecap.score.asking.rounds import Asking, ask_until_read
from codecap.showing import prompts
from codecap.showing.album import Album
from codecap.showing.sheets import arrange
from codecap.showing.showing import shown
from codecap.video import read_frames

PROMPT = "content_vote.md"
LONGEST_EVIDENCE = 300  # characters that a reason keeps
CHOICES: dict[str, tuple[str, ...]] = {
    "scene_geometry": ("planar", "spatial", "unsure"),
    "appearance": ("simple", "detailed", "unsure"),
    "motion": ("few_objects", "dense", "unsure"),
    "structured": ("yes", "no", "unsure"),
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {name: {"type": "string", "enum": list(choices)} for name, choices in CHOICES.items()}
    | {"evidence": {"type": "string"}},
    "required": [*CHOICES, "evidence"],
    "additionalProperties": False,
}


class VoteSettings(Asking):
    """Keys of `filter.vote`, beside those of `Showing` and `Asking`.

    Attributes:
        rate_hz: frames shown a second.
        weight: log-odds that a vote adds (structured), takes (not), or leaves as they are (unsure).
        above, below: only clips whose chance lies between these are asked about.
    """

    rate_hz: float = Field(default=1, gt=0, le=24)
    most_output_tokens: int = Field(default=2048, ge=256)
    weight: float = Field(default=2.0, gt=0, le=20)
    above: float = Field(default=0.02, ge=0, le=1)
    below: float = Field(default=0.98, ge=0, le=1)

    @model_validator(mode="after")
    def _in_order(self) -> VoteSettings:
        if self.above >= self.below:
            raise ValueError(f"above is {self.above:g}, which is not under below, {self.below:g}: no clip would be asked about")
        return self

    @property
    def protocol(self) -> str:
        where = f"where the chance is in ({self.above:g}, {self.below:g})"
        return f"vote of {self.told}, prompt {prompts.load(PROMPT).digest}, +-{self.weight:g} {where}"


class Vote(Row):
    """A model's answer, as it was asked for."""

    scene_geometry: Literal["planar", "spatial", "unsure"]
    appearance: Literal["simple", "detailed", "unsure"]
    motion: Literal["few_objects", "dense", "unsure"]
    structured: Literal["yes", "no", "unsure"]
    evidence: Annotated[str, Field(min_length=1)]

    @property
    def side(self) -> int:
        return {"yes": 1, "no": -1, "unsure": 0}[self.structured]

    @property
    def in_words(self) -> str:
        about = f"{self.scene_geometry} geometry, {self.appearance} appearance, {self.motion.replace('_', ' ')} motion"
        return f"{about}; {plain(' '.join(self.evidence.split()), LONGEST_EVIDENCE)}"


def vote_on(clip: Clip, settings: VoteSettings) -> Vote:
    """Ask about a clip within the open session of the exchange.

    Raises:
        codecap.score.Unscored: no readable answer came; the message says why.
        codecap.score.Unreached: no answer could be had this time.
        codecap.video.VideoError: the clip cannot be read.
    """
    check_file(clip)
    read = functools.partial(read_answer, kind=Vote)
    return ask_until_read(settings.endpoint, question(clip, settings), read, settings.asks)


def question(clip: Clip, settings: VoteSettings) -> Question:
    prompt = prompts.load(PROMPT)
    seconds = f"{clip.frames / FPS:.3f}"
    if settings.endpoint.video:
        video = Video.of(clip.mp4, rate_hz=settings.rate_hz, seconds=clip.frames / FPS)
        parts: list[Any] = [Text(prompt.say("video", seconds=seconds)), video]
    else:
        frames = grid(settings.rate_hz, clip.frames)
        sheets = arrange([frames], (clip.width_px, clip.height_px), settings.endpoint.images, settings.limits)[0]
        album = Album(sheets, settings.picture)
        for frame, rgb in read_frames(clip.mp4, stop=frames[-1] + 1):
            if frame in album.wanted:
                album.see(frame, rgb)
        told = {"seconds": seconds, "rate": f"{settings.rate_hz:g}", "count": len(frames)}
        parts = [Text(prompt.say("frames", **told)), *shown("Clip", sheets, album)]
    parts.append(Text(prompt.say("task")))
    return Question(tuple(parts), prompt.sections["system"], SCHEMA, settings.most_output_tokens)
