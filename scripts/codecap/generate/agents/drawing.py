"""A page, or some of its frames, as the renderer draws them, and given up when nobody waits for them any more.

What an agent looks at while it works: there is no certificate of it, and nothing is kept.
"""

from __future__ import annotations

import base64
import contextlib
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from codecap import registry
from codecap.generate.gateway.routes import Abandoned, Gone
from codecap.records import Outcome
from codecap.render import PageFailure, RenderSettings, purity
from codecap.render.engines import Picture, Stage
from codecap.render.failures import FrameLost

TRIES = 3  # of a page whose browser loses a frame, as the renderer has it

T = TypeVar("T")


@dataclass(frozen=True)
class Drawing:
    """Some frames.

    Attributes:
        pictures: PNG files by frame number; those up to a failure.
    """

    outcome: Outcome
    detail: str
    pictures: dict[int, bytes]
    console_errors: list[str] = field(default_factory=list)
    requests_blocked: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Film:
    """All frames.

    Attributes:
        frames: how many were drawn, up to a failure.
        seek_repeatable, purity: as in a certificate.
    """

    outcome: Outcome
    detail: str
    frames: int
    seek_repeatable: bool | None
    purity: list[str]
    console_errors: list[str]
    requests_blocked: list[str]


def draw(page: str, frames: Sequence[int], width_px: int, height_px: int, settings: RenderSettings, gone: Gone) -> Drawing:
    """Draw frames of a page in a fresh browser, in the order given.

    Args:
        gone: whether nobody waits any more; asked before each frame.

    Raises:
        InfraError: no fault of the page: the browser does not start.
        Abandoned: nobody waits.
    """

    def attempt(place: Path) -> Drawing:
        pictures: dict[int, bytes] = {}
        outcome, detail = Outcome.OK, ""
        with _opened(place, (width_px, height_px), settings, gone) as stage:
            try:
                stage.load()
                for frame in frames:
                    pictures[frame] = base64.b64decode(stage.frame(frame).png_base64)
            except PageFailure as failure:
                outcome, detail = _told(failure)
        return Drawing(outcome, detail, pictures, stage.console_errors, stage.requests_blocked)

    return _tried(page, attempt)


def film(page: str, frames: int, width_px: int, height_px: int, mp4: Path, settings: RenderSettings, gone: Gone) -> Film:
    """Draw all frames of a page into a video, by the renderer's own steps; see `codecap.render.render_page`.

    Args:
        frames: how many.
        mp4: the video; of a page that fails, the frames until then.
        gone: whether nobody waits any more; asked before each frame.

    Raises:
        InfraError: no fault of the page.
        Abandoned: nobody waits.
    """
    from codecap.render import recording

    found = purity.findings(page)

    def attempt(place: Path) -> Film:
        tally = recording.FrameTally()
        repeatable: bool | None = None
        did: list[str] = []
        outcome, detail = Outcome.OK, ""
        with _opened(place, (width_px, height_px), settings, gone) as stage:
            try:
                stage.load()
                recording.record(stage, frames, mp4, (width_px, height_px), settings.codec, tally)
                repeatable, _ = recording.repeatable(stage, tally.digests, settings.repeat_samples)
                did = stage.observed()
            except PageFailure as failure:
                outcome, detail = _told(failure)
                with contextlib.suppress(PageFailure):
                    did = stage.observed()
        impure = [*found, *did]
        if impure and settings.purity == "fail" and (found or outcome is Outcome.OK):
            outcome, detail = Outcome.RUNTIME_ERROR, f"not only code: {impure[0]}"
        drawn = len(tally.digests)
        return Film(outcome, detail, drawn, repeatable, impure, stage.console_errors, stage.requests_blocked)

    return _tried(page, attempt)


class _Attended:
    """A stage whose frames somebody waits for."""

    def __init__(self, stage: Stage, gone: Gone) -> None:
        self._stage, self._gone = stage, gone
        self.console_errors, self.requests_blocked, self.flags = stage.console_errors, stage.requests_blocked, stage.flags

    def load(self) -> None:
        self._attend()
        self._stage.load()

    def frame(self, index: int) -> Picture:
        self._attend()
        return self._stage.frame(index)

    def observed(self) -> list[str]:
        return self._stage.observed()

    def close(self) -> None:
        self._stage.close()

    def _attend(self) -> None:
        if self._gone():
            raise Abandoned


@contextlib.contextmanager
def _opened(page: Path, size: tuple[int, int], settings: RenderSettings, gone: Gone) -> Iterator[_Attended]:
    with registry.load("render.engines", settings.engine).load(settings) as engine:
        stage = _Attended(engine.open(page, *size), gone)
        try:
            yield stage
        finally:
            stage.close()


def _tried(page: str, attempt: Callable[[Path], T]) -> T:
    with tempfile.TemporaryDirectory(prefix="codecap-page-") as folder:
        place = Path(folder) / "index.html"
        place.write_text(page, encoding="utf-8")
        for _ in range(TRIES - 1):
            with contextlib.suppress(FrameLost):
                return attempt(place)
        return attempt(place)


def _told(failure: PageFailure) -> tuple[Outcome, str]:
    return failure.outcome, failure.detail if failure.frame is None else f"frame {failure.frame}: {failure.detail}"
