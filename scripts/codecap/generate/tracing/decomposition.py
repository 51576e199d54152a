"""The first pass over a clip: scenes, what lies behind them, and what moves on that, as layers to be traced."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from codecap import video
from codecap.generate.tracing.differences import changed_blocks
from codecap.generate.tracing.following import Follower
from codecap.generate.tracing.layers import Layer, plate_layer, sprite_layers
from codecap.generate.tracing.plates import Backdrop, Plate, backdrop_of
from codecap.generate.tracing.scenes import Scene, reduced, scale_for, scenes

SAME_SHARE = 0.1  # of the blocks; if no more differ, a scene goes on before the same backdrop


def layers_of(mp4: Path, change_share: float, tolerance: float) -> list[Layer]:
    """Take a clip apart, streaming.

    Args:
        mp4: a canonical clip.
        change_share: share of changed blocks, 0-1, that makes a new key frame.
        tolerance: grey levels that count as a change.

    Returns:
        Layers without markup, the lowest first.
    """
    layers: list[Layer] = []
    follower = Follower(tolerance)
    backdrop: Backdrop | None = None
    first = stop = scale = 0

    def finish() -> None:
        if backdrop is None:
            return
        for plate in backdrop.plates:
            layers.append(plate_layer(plate, scale, first, stop))
        done = follower.close(stop)
        layers.extend(sprite_layers(done.sprites, done.above, scale))

    for scene in scenes(mp4, change_share, tolerance):
        own = backdrop_of(scene, tolerance)
        if backdrop is not None and not scene.starts_with_cut and _same(backdrop, own, tolerance):
            backdrop = _prolonged(backdrop, len(scene.pictures))
        else:
            finish()
            backdrop, first, scale = own, scene.first, scene.scale
        follower.follow(scene, backdrop)
        stop = scene.stop
    finish()
    return layers


def still_layers(mp4: Path, frames: int) -> list[Layer]:
    """The first frame of a clip as the one layer."""
    info = video.probe(mp4)
    scale = scale_for(info.width_px, info.height_px)
    _, rgb = next(video.read_frames(mp4, 0, 1))
    scene = Scene(0, True, [reduced(rgb, scale)], scale)
    plate = backdrop_of(scene, tolerance=1.0).plates[0]
    return [plate_layer(plate, scale, 0, frames)]


def _same(one: Backdrop, other: Backdrop, tolerance: float) -> bool:
    if any(len(side.plates) != 1 or side.plates[0].moves for side in (one, other)):
        return False
    return changed_blocks(one.plates[0].canvas, other.plates[0].canvas, tolerance).mean() <= SAME_SHARE


def _prolonged(backdrop: Backdrop, frames: int) -> Backdrop:
    """The same backdrop for the frames of the scene that goes on."""
    plate: Plate = backdrop.plates[0]
    return Backdrop([replace(plate, offsets=np.zeros((frames, 2)))], backdrop.shape)
