"""Some frames of a page, as the renderer draws them, and given up when nobody waits for them any more.

What an agent looks at while it works: there is no certificate of it, and nothing is kept. All frames: `codecap.render.render_page`.
"""

from __future__ import annotations

import base64
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from codecap import registry
from codecap.records import Outcome
from codecap.render import PageFailure, RenderSettings
from codecap.render.attended import Attend, Attended
from codecap.render.failures import FrameLost
from codecap.render.rendering import TRIES


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


def draw(page: Path, frames: Sequence[int], width_px: int, height_px: int, settings: RenderSettings, attend: Attend) -> Drawing:
    """Draw frames of a page in a fresh browser, in the order given.

    Args:
        attend: called before each frame; what it raises ends the work.

    Raises:
        InfraError: no fault of the page: the browser does not start.
    """
    for _ in range(TRIES - 1):
        with contextlib.suppress(FrameLost):
            return _drawn(page, frames, (width_px, height_px), settings, attend)
    return _drawn(page, frames, (width_px, height_px), settings, attend)


def _drawn(page: Path, frames: Sequence[int], size: tuple[int, int], settings: RenderSettings, attend: Attend) -> Drawing:
    pictures: dict[int, bytes] = {}
    outcome, detail = Outcome.OK, ""
    with registry.load("render.engines", settings.engine).load(settings) as engine:
        stage = Attended(engine.open(page, *size), attend)
        try:
            stage.load()
            for frame in frames:
                pictures[frame] = base64.b64decode(stage.frame(frame).png_base64)
        except PageFailure as failure:
            outcome, detail = failure.outcome, failure.told
        finally:
            stage.close()
    return Drawing(outcome, detail, pictures, stage.console_errors, stage.requests_blocked)
