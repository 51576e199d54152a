"""Some frames of a page, as the renderer would draw them, without the whole video: what an agent looks at while it works."""

from __future__ import annotations

import base64
import contextlib
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from codecap import registry
from codecap.records import Outcome
from codecap.render import PageFailure, RenderSettings
from codecap.render.failures import FrameLost

TRIES = 3  # of a page whose browser loses a frame, as the renderer has it


@dataclass(frozen=True)
class Drawing:
    """Attributes:
    pictures: PNG files by frame number; those up to a failure.
    """

    outcome: Outcome
    detail: str
    pictures: dict[int, bytes]
    console_errors: list[str] = field(default_factory=list)
    requests_blocked: list[str] = field(default_factory=list)


def draw(page: str, frames: Sequence[int], width_px: int, height_px: int, settings: RenderSettings) -> Drawing:
    """Draw frames of a page in a fresh browser, in the order given.

    Raises:
        InfraError: no fault of the page: the browser does not start.
    """
    with tempfile.TemporaryDirectory(prefix="codecap-page-") as folder:
        place = Path(folder) / "index.html"
        place.write_text(page, encoding="utf-8")
        for _ in range(TRIES - 1):
            with contextlib.suppress(FrameLost):
                return _drawn(place, frames, width_px, height_px, settings)
        return _drawn(place, frames, width_px, height_px, settings)


def _drawn(page: Path, frames: Sequence[int], width_px: int, height_px: int, settings: RenderSettings) -> Drawing:
    pictures: dict[int, bytes] = {}
    outcome, detail = Outcome.OK, ""
    with registry.load("render.engines", settings.engine).load(settings) as engine:
        stage = engine.open(page, width_px, height_px)
        try:
            stage.load()
            for frame in frames:
                pictures[frame] = base64.b64decode(stage.frame(frame).png_base64)
        except PageFailure as failure:
            outcome = failure.outcome
            detail = failure.detail if failure.frame is None else f"frame {failure.frame}: {failure.detail}"
        finally:
            stage.close()
        return Drawing(outcome, detail, pictures, stage.console_errors, stage.requests_blocked)
