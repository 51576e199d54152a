"""A small clip that moves, and values that curves are made of."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codecap.records import AnnotatedObject, Annotation, Clip, FocalPoint
from codecap.video import CanonicalWriter, file_sha256

WIDTH_PX, HEIGHT_PX, FRAMES = 96, 64, 48


def numbered(frame: int) -> np.ndarray:
    """A picture whose left half carries its number as a grey level, 4 levels apart, beside two squares of plain colour."""
    rgb = np.full((HEIGHT_PX, WIDTH_PX, 3), 240, np.uint8)
    rgb[:, :32] = 4 * frame
    rgb[8:24, 40:56] = (200, 40, 40)
    rgb[36:52, 64:80] = (40, 80, 200)
    return rgb


def number_of(rgb: np.ndarray) -> int:
    return round(float(rgb[:, 4:28].mean()) / 4)


@pytest.fixture(scope="session")
def clip(tmp_path_factory) -> Clip:
    mp4 = Path(tmp_path_factory.mktemp("clip")) / "T_001.mp4"
    with CanonicalWriter(mp4, WIDTH_PX, HEIGHT_PX) as writer:
        for frame in range(FRAMES):
            writer.add(numbered(frame))
    told = {"frames": FRAMES, "width_px": WIDTH_PX, "height_px": HEIGHT_PX}
    return Clip(clip_id="T_001", category="F", mp4=mp4, sha256=file_sha256(mp4), **told)


@pytest.fixture(scope="session")
def annotation() -> Annotation:
    red, blue = (40.0, 8.0, 56.0, 24.0), (64.0, 36.0, 80.0, 52.0)
    return Annotation(
        clip_id="T_001",
        objects=[
            AnnotatedObject(name="red", boxes_xyxy=[red] * FRAMES),
            AnnotatedObject(name="blue", boxes_xyxy=[None] * 40 + [blue] * 8),
        ],
        focal_points=[
            FocalPoint(focal_id="early", kind="static", description="red", start_s=0, end_s=2, objects=["red"]),
            FocalPoint(focal_id="short", kind="static", description="red", start_s=0.8, end_s=2, objects=["red"]),
            FocalPoint(focal_id="blue", kind="static", description="blue", start_s=0, end_s=2, objects=["blue"]),
        ],
    )
