"""Another system's natural-language captions, turned into videos by a text-to-video model. What is scored is the video.

Settings (of a system's entry in `config/models.yaml`):
    captions_of: the system whose captions they are; it makes texts (harness `describe`).
    video: who makes the videos, a module of codecap/generate/videos: `http_jobs` (a hosted service), `diffusers` (here, on a GPU).
    videos: settings of each, by name.
    prompt: what the maker is told; `{caption}` stands for the caption.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, field_validator

from codecap import registry, store
from codecap.clock import FPS
from codecap.collect.ingest import ingest_file
from codecap.generate.harnesses import InfraError, Made
from codecap.generate.videos import Maker, Order, Refused
from codecap.records import Caption, Clip, Outcome, Row, Usage, in_words
from codecap.store import Draft, Item
from codecap.video import VideoError

PAID = True
VIDEO = True
OTHER_LENGTHS = True
FROM = "captions_of"

FAMILY = "generate.videos"
PLACE = "{caption}"


class Settings(Row):
    captions_of: str
    video: str
    videos: dict[str, dict[str, Any]] = Field(default_factory=dict)
    prompt: str = PLACE

    @field_validator("prompt")
    @classmethod
    def _has_its_place(cls, told: str) -> str:
        if told.count(PLACE) != 1:
            raise ValueError(f"prompt must say {PLACE} once")
        return told


def load(settings: Mapping[str, Any]) -> CaptionToVideo:
    """Raises ValueError, naming each setting that is wrong; registry.Unavailable: no such maker, or it cannot run here."""
    try:
        told = Settings.model_validate(dict(settings))
    except ValidationError as error:
        raise ValueError(f"harness caption_to_video: {in_words(error)}") from error
    return CaptionToVideo(told.prompt, registry.make(FAMILY, told.video, told.videos.get(told.video) or {}))


@dataclass(frozen=True)
class CaptionToVideo:
    prompt: str
    maker: Maker
    kind: str = "video"

    @property
    def identity(self) -> dict[str, Any]:
        return {"harness": "caption_to_video", "prompt": self.prompt, "maker": self.maker.identity}

    @property
    def protocol(self) -> str:
        return f"caption_to_video: {self.maker.protocol}"

    @property
    def at_once(self) -> int:
        return self.maker.at_once

    def version(self) -> str:
        return f"caption_to_video 1, {self.maker.version()}"

    def run(self, clip: Clip, draft: Draft) -> dict[str, Any]:  # noqa: ARG002 (it has no use without a caption)
        raise TypeError("it starts from captions: see run_from")

    def run_from(self, clip: Clip, draft: Draft, source: Caption) -> dict[str, Any]:
        """The video as it came is kept beside the clip that is made of it."""
        if source.text is None:
            raise InfraError(f"{source.system} has made no text of {clip.clip_id}; captions_of must name a system of texts")
        caption = store.open_at(source.text, lambda place: place.read_text(encoding="utf-8"))
        order = Order(self.prompt.replace(PLACE, caption), clip.frames / FPS, clip.width_px, clip.height_px)
        came, began = draft.file("original.mp4"), time.monotonic()
        try:
            made = self.maker.make(order, came)
        except Refused as why:
            return {"refused": str(why), "wall_s": round(time.monotonic() - began, 3)}
        try:
            facts = ingest_file(came, draft.file("mp4"))
        except VideoError as error:
            words = str(error).replace(str(came), "the video that came")
            raise InfraError(f"{words}; {self.maker.spoilt(order)}") from error
        return {"made": made, "frames": facts.frames, "width_px": facts.width_px, "height_px": facts.height_px}

    def read(self, item: Item) -> Made:
        told = item.value
        if "refused" in told:
            return Made(Outcome.REFUSED, told["refused"], kind="video", cost_usd=0.0, wall_s=told["wall_s"])
        made = told["made"]
        return Made(
            Outcome.OK,
            kind="video",
            usage=Usage.model_validate(made.get("usage") or {}),
            cost_usd=made["cost_usd"],
            wall_s=made["wall_s"],
            content=Path(item.files["mp4"]),
        )

    def end(self) -> None:
        """An order under way is not broken off: it is paid for, and the next run goes on with it."""
