"""Drawn clips whose label is known by how they are made: what the filter's coefficients are found on.

No clip of anybody's is needed to train the filter again. The photographs are those that scikit-image and Matplotlib ship. Each
drawer takes a random generator and gives a `Scene`: the picture at any time. `drawers` are trained on, `unseen` only tested.
"""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from codecap import clock, video
from codecap.filtering.features import frames_looked_at

WIDTH_PX, HEIGHT_PX = 640, 360
FRAMES = 4 * clock.FPS

Scene = Callable[[float], np.ndarray]  # seconds -> uint8 RGB (HEIGHT_PX, WIDTH_PX, 3)
Drawer = Callable[[np.random.Generator], Scene]


def drawers() -> dict[str, dict[str, Drawer]]:
    """All drawers by name, under "keep" (what code can draw) and "drop" (what it cannot)."""
    from codecap.filtering.specimens import bodies, fine, interfaces, pixel_games, scenes, structured, unstructured

    return {
        "keep": structured.DRAWERS | fine.DRAWERS | interfaces.DRAWERS | pixel_games.DRAWERS,
        "drop": unstructured.DRAWERS | bodies.DRAWERS | scenes.DRAWERS,
    }


def unseen() -> dict[str, dict[str, Drawer]]:
    """As `drawers`, of the families on which the shipped scorecard was not trained."""
    from codecap.filtering.specimens import unseen_structured, unseen_unstructured

    return {"keep": unseen_structured.DRAWERS, "drop": unseen_unstructured.DRAWERS}


def seed_of(name: str, variant: int) -> int:
    """Seed of a drawer's variant: another one for each drawer, so that they do not share their chances."""
    return zlib.crc32(f"{name}_{variant}".encode())


def pictures(drawer: Drawer, seed: int) -> Iterator[tuple[int, np.ndarray]]:
    """The frames of a specimen that the filter looks at, number and uint8 RGB, as they come out of the canonical encoding.

    Only they are drawn and encoded: what an encoder does to sharp pictures counts in the features, what lies between does not.
    """
    scene = drawer(np.random.default_rng(seed))
    looked_at = sorted(frames_looked_at(FRAMES))
    with tempfile.TemporaryDirectory() as folder:
        mp4 = Path(folder) / "specimen.mp4"
        with video.CanonicalWriter(mp4, WIDTH_PX, HEIGHT_PX) as writer:
            for frame in looked_at:
                writer.add(scene(clock.time_of(frame)))
        for position, rgb in video.read_frames(mp4):
            yield looked_at[position], rgb
