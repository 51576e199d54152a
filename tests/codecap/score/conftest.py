"""Feeds frames to watchers as the engine does, and makes records for videos that exist only as arrays."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from codecap.records import Annotation, Certificate, Clip, Outcome, Render
from codecap.score import Description, Measurement, Metric, Task


def clip_of(frames: int, width_px: int, height_px: int) -> Clip:
    return Clip(
        clip_id="T_001",
        category="F",
        mp4=Path("none.mp4"),
        sha256="0" * 64,
        frames=frames,
        width_px=width_px,
        height_px=height_px,
    )


def feed(watcher, frames: Sequence[np.ndarray]) -> Description:
    """Show frames to a watcher, those that it wants, read-only as the engine's are valid only during the call."""
    if watcher is None:
        return {}
    for index, rgb in enumerate(frames):
        if watcher.wanted is None or index in watcher.wanted:
            shown = rgb.copy()
            watcher.see(index, shown)
            shown[:] = 77  # what a watcher keeps must be a copy
    return watcher.result()


@pytest.fixture
def measure() -> Callable[..., list[Measurement]]:
    """Compare two videos, given as lists of frames, by a metric."""

    def run(
        metric: Metric,
        reference: Sequence[np.ndarray],
        candidate: Sequence[np.ndarray],
        shots: list[tuple[int, int]] | None = None,
        annotation: Annotation | None = None,
        certificate: Certificate | None = None,
        page: Path | None = None,
        segments: list[tuple[int, int]] | None = None,
    ) -> list[Measurement]:
        """`segments`: of a candidate of another length, whose own frames are seen then."""
        height_px, width_px = reference[0].shape[:2]
        clip = clip_of(len(reference), width_px, height_px)
        shots = shots or [(0, len(reference))]
        kept = feed(metric.watch_reference(clip, shots), reference)
        own = clip.model_copy(update={"frames": len(candidate)})
        found = feed(metric.watch_candidate(own, segments or shots, kept), candidate)
        render = Render(system="s", clip_id=clip.clip_id, key="k", outcome=Outcome.OK, certificate=certificate)
        return metric.compare(kept, found, Task(clip, render, shots, annotation=annotation, page=page, segments=segments))

    return run


def texture(height_px: int, width_px: int, seed: int = 0) -> np.ndarray:
    """A smooth random picture with plenty of corners, uint8 RGB."""
    import cv2

    noise = np.random.default_rng(seed).integers(0, 256, (height_px // 4, width_px // 4, 3), np.uint8)
    return cv2.resize(noise, (width_px, height_px), interpolation=cv2.INTER_CUBIC)


@pytest.fixture
def textured() -> Callable[..., np.ndarray]:
    return texture


@pytest.fixture
def panned(textured) -> Callable[..., list[np.ndarray]]:
    """A window that travels over a large picture: what is in it moves by `(-dx, -dy)` pixels a frame."""

    def run(frames: int, dx: int, dy: int = 0, size: tuple[int, int] = (120, 160), start: tuple[int, int] = (200, 200)):
        picture = textured(520, 560)
        corners = [(start[0] + k * dy, start[1] + k * dx) for k in range(frames)]
        return [picture[y : y + size[0], x : x + size[1]].copy() for y, x in corners]

    return run
