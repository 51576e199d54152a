"""In the place of `codecap.render.rendering`, which is `browser_rendering` then: a render is its reference's file, with a label."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from codecap.bench.stand_ins.labels import labelled
from codecap.bench.stand_ins.requests import Unreachable, item
from codecap.records import Caption, Certificate, Clip, Outcome
from codecap.render.browser_rendering import PASSED_THROUGH, partial_path, render_page, render_protocol
from codecap.render.failures import InfraError
from codecap.render.settings import RenderSettings

__all__ = ["PASSED_THROUGH", "partial_path", "render_caption", "render_page", "render_protocol"]


def render_caption(
    caption: Caption,
    clip: Clip,
    out_mp4: Path,
    settings: Mapping[str, Any] | RenderSettings = RenderSettings(),  # noqa: ARG001, B008
) -> Certificate:
    try:
        with item("render", caption.system, clip.clip_id):
            made = labelled(clip.mp4.read_bytes(), f"{caption.system} {clip.clip_id}")
            out_mp4.write_bytes(made)
    except Unreachable as why:
        raise InfraError(str(why)) from why
    return Certificate(
        outcome=Outcome.OK,
        frames=clip.frames,
        width_px=clip.width_px,
        height_px=clip.height_px,
        frames_sha256=clip.sha256,
        mp4_sha256=hashlib.sha256(made).hexdigest(),
        seek_repeatable=True,
        unique_frame_ratio=1.0,
        engine="stand-in",
    )
