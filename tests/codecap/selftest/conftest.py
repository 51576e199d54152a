"""Small clips of our own that move, stand still, or turn back."""

from collections.abc import Callable, Sequence
from pathlib import Path

import cv2
import numpy as np
import pytest

from codecap.records import AnnotatedObject, Annotation, Clip, FocalPoint
from codecap.video import CanonicalWriter, file_sha256

HEIGHT_PX, WIDTH_PX = 120, 160


@pytest.fixture
def clip_of(tmp_path) -> Callable[[str, Sequence[np.ndarray]], Clip]:
    def make(clip_id: str, frames: Sequence[np.ndarray]) -> Clip:
        mp4 = Path(tmp_path) / f"{clip_id}.mp4"
        height_px, width_px = frames[0].shape[:2]
        with CanonicalWriter(mp4, width_px, height_px) as writer:
            for rgb in frames:
                writer.add(rgb)
        return Clip(
            clip_id=clip_id,
            category="F",
            mp4=mp4,
            sha256=file_sha256(mp4),
            frames=len(frames),
            width_px=width_px,
            height_px=height_px,
        )

    return make


def tile(colour: tuple[int, int, int], seed: int) -> np.ndarray:
    """A square of one colour with marks that can be followed."""
    marks = np.random.default_rng(seed).integers(0, 2, (6, 6), np.uint8) * 90
    marks = cv2.resize(marks, (36, 36), interpolation=cv2.INTER_NEAREST)
    return np.clip(np.array(colour, np.int32) + marks[..., None], 0, 255).astype(np.uint8)


def path(frames: int) -> list[tuple[int, int]]:
    """Corners of a tile that runs to the right, faster and faster, while it rises."""
    return [(8 + round(100 * (k / frames) ** 1.2), 76 - round(60 * k / frames)) for k in range(frames)]


def _tile_clip(frames: int = 60, colour: tuple[int, int, int] = (150, 40, 30), seed: int = 0) -> list[np.ndarray]:
    """A tile that moves over a light ground, and a bar at the lower edge that stands still."""
    video = []
    for x, y in path(frames):
        rgb = np.full((HEIGHT_PX, WIDTH_PX, 3), 225, np.uint8)
        rgb[112:118, 20:140] = (30, 90, 60)
        rgb[y : y + 36, x : x + 36] = tile(colour, seed)
        video.append(rgb)
    return video


def _tile_annotation(clip_id: str, frames: int = 60) -> Annotation:
    boxes = [(x, y, x + 36, y + 36) for x, y in path(frames)]
    duration_s = frames / 24
    return Annotation(
        clip_id=clip_id,
        objects=[
            AnnotatedObject(name="tile", boxes_xyxy=boxes),
            AnnotatedObject(name="bar", boxes_xyxy=[(20, 112, 140, 118)] * frames),
        ],
        focal_points=[
            FocalPoint(focal_id="bar", kind="static", description="bar", start_s=0, end_s=duration_s, objects=["bar"]),
            FocalPoint(focal_id="run", kind="dynamic", description="runs", start_s=0, end_s=duration_s, objects=["tile"]),
        ],
    )


@pytest.fixture
def tile_clip() -> Callable[..., list[np.ndarray]]:
    return _tile_clip


@pytest.fixture
def tile_annotation() -> Callable[..., Annotation]:
    return _tile_annotation
