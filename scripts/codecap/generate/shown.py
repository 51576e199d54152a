"""What a captioning model is shown of a clip, and how: settings, questions and identity that single calls and revision share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import Field, model_validator

from codecap import video
from codecap.clock import FPS, grid
from codecap.exchange import Endpoint, Question, Text, Video
from codecap.exchange.question import Part
from codecap.records import Clip
from codecap.showing.album import Album, BlankAlbum
from codecap.showing.prompts import Prompt
from codecap.showing.sheets import Sheet, arrange
from codecap.showing.showing import Pictures, Showing, shown

PATIENCE_S = 1800.0  # for one answer, where the entry says nothing: a page and the thinking before it take minutes
NOT_ASKED = {"base_url", "key_env", "timeout_s", "structured"}  # of an endpoint: they change no request of these


class Settings(Showing):
    """Keys of an entry in `models`, beside those of `Showing`.

    Attributes:
        endpoint: as everywhere; its `timeout_s` is 1800 where the entry says nothing.
        most_output_tokens: limit of an answer, thinking included. Above what the model can give, its API refuses the request.
    """

    most_output_tokens: int = Field(default=65_536, ge=256)

    @model_validator(mode="before")
    @classmethod
    def _patient(cls, told: Any) -> Any:
        if isinstance(told, dict) and isinstance(told.get("endpoint"), dict):
            return told | {"endpoint": {"timeout_s": PATIENCE_S} | told["endpoint"]}
        return told

    @property
    def identity(self) -> dict[str, Any]:
        """What of this is part of a request, as JSON values."""
        told = self.model_dump(mode="json")
        return told | {"endpoint": self.endpoint.model_dump(mode="json", exclude=NOT_ASKED)}


def frames_of(clip: Clip, settings: Showing) -> list[int]:
    """The frames that are shown: those of one grid from time 0 on."""
    return grid(settings.rate_hz, clip.frames)


def sheets_of(clip: Clip, settings: Showing, most: int | None = None) -> list[Sheet]:
    """Their pictures: single, or above the endpoint's limit grids that hold every frame.

    Args:
        most: pictures, where the endpoint's limit is not all theirs.
    """
    most = settings.endpoint.images if most is None else most
    return arrange([frames_of(clip, settings)], (clip.width_px, clip.height_px), most, settings.limits)[0]


def pictures_of(clip: Clip, sheets: Sequence[Sheet], settings: Showing) -> Album:
    """Draw sheets of a clip while it is decoded.

    Raises:
        video.VideoError: the clip cannot be decoded.
    """
    album = Album(sheets, settings.picture)
    last = max(album.wanted) + 1 if album.wanted else 0
    for index, frame in video.decode(clip.mp4, stop=last):
        if index in album.wanted:
            album.see(index, video.to_rgb(frame))
    return album


def whole_video(clip: Clip, settings: Showing) -> Video:
    return Video.of(clip.mp4, rate_hz=settings.rate_hz, seconds=clip.frames / FPS)


def facts_of(clip: Clip, settings: Showing) -> dict[str, str]:
    """What prompts say of a clip, by the names that stand for it there."""
    return {
        "seconds": f"{clip.frames / FPS:.3f}",
        "width": str(clip.width_px),
        "height": str(clip.height_px),
        "rate": f"{settings.rate_hz:g}",
        "count": str(len(frames_of(clip, settings))),
    }


def reference_parts(clip: Clip, settings: Showing, prompt: Prompt, sheets: Sequence[Sheet], pictures: Pictures) -> list[Part]:
    """The clip as its frames, or as the video that it is where the endpoint takes videos."""
    facts = facts_of(clip, settings)
    if settings.endpoint.video:
        return [Text(prompt.say("video", **facts)), whole_video(clip, settings)]
    return [Text(prompt.say("frames", **facts)), *shown("Video", sheets, pictures)]


def single_question(clip: Clip, settings: Settings, prompt: Prompt, blank: bool = False) -> Question:
    """The question of a single call: the clip, then the task.

    Args:
        blank: show blank pictures of the right sizes instead, to tell what it costs.
    """
    sheets = [] if settings.endpoint.video else sheets_of(clip, settings)
    pictures: Pictures = BlankAlbum() if blank else pictures_of(clip, sheets, settings)
    task = Text(prompt.say("task", **facts_of(clip, settings)))
    parts = (*reference_parts(clip, settings, prompt, sheets, pictures), task)
    return Question(parts, system=prompt.say("system"), most_output_tokens=settings.most_output_tokens)


def as_shown(endpoint: Endpoint) -> str:
    return "native video" if endpoint.video else "frames"
