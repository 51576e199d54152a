"""Baseline without a model: a clip traced into a page of SVG paths. What code captioning gives without understanding.

Settings (of a system's entry in `config/models.yaml`; all but `mode` have defaults):
    mode: `vtrace` for the whole clip; `still` for its first frame, shown throughout; `blank` for an empty white page.
    budget_kb: largest size of the page, in thousands of bytes.
    change_share: share of the picture's 8x8 blocks, 0-1, that must change at once to make a new key frame.
    tolerance: grey levels, 0-255, by which a pixel may differ before it counts as changed.
    colour_bits: significant bits of a colour channel in tracing, 1-8.
    layer_step: colour difference between stacked shapes, 1-128; larger is coarser.
    speckle_px: shapes up to this side, in pixels, are left out.
    fine_scale: letters and thin lines are traced enlarged by this whole number; 1 for never.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from codecap.generate.harnesses import Made
from codecap.generate.tracing.budget import traced_within
from codecap.generate.tracing.decomposition import layers_of, still_layers
from codecap.generate.tracing.page import page_of
from codecap.generate.tracing.vectors import Detail
from codecap.records import Clip, Outcome, in_words, write_whole

NETWORK = False


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    mode: Literal["vtrace", "still", "blank"]
    budget_kb: float = Field(default=400, ge=4)
    change_share: float = Field(default=0.5, gt=0, le=1)
    tolerance: float = Field(default=7, ge=2, le=64)
    colour_bits: int = Field(default=6, ge=1, le=8)
    layer_step: int = Field(default=16, ge=1, le=128)
    speckle_px: int = Field(default=4, ge=0, le=64)
    fine_scale: int = Field(default=2, ge=1, le=4)

    @property
    def detail(self) -> Detail:
        return Detail(self.colour_bits, self.layer_step, self.speckle_px, self.fine_scale)


def load(settings: Mapping[str, Any]) -> Vtrace:
    """Raises ValueError, naming each setting that is wrong."""
    try:
        return Vtrace(Settings.model_validate(dict(settings)))
    except ValidationError as error:
        raise ValueError(f"harness vtrace: {in_words(error)}") from error


@dataclass(frozen=True)
class Vtrace:
    settings: Settings
    kind: Literal["code", "text", "video"] = "code"

    @property
    def protocol(self) -> str:
        return "vtrace: " + ", ".join(f"{name} {value}" for name, value in self.settings.model_dump().items())

    def version(self) -> str:
        return f"vtracer {version('vtracer')}"

    def caption(self, clip: Clip, out: Path) -> Made:
        """Trace a clip; its frames are read twice, and held a scene at a time, scaled down."""
        settings, size = self.settings, (clip.width_px, clip.height_px, clip.frames)
        if settings.mode == "blank":
            page = page_of([], *size)
        else:
            if settings.mode == "still":
                layers = still_layers(clip.mp4, clip.frames)
            else:
                layers = layers_of(clip.mp4, settings.change_share, settings.tolerance)
            page = traced_within(clip.mp4, layers, settings.detail, int(settings.budget_kb * 1000), *size)
        write_whole(out, [page])
        return Made(outcome=Outcome.OK)
