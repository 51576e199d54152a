"""Keeps a page within its size: coarser tracing, then fewer cut-outs, the least seen for their bytes first."""

from __future__ import annotations

import heapq
from dataclasses import replace
from pathlib import Path

import numpy as np

from codecap.generate.tracing.cutouts import trace_layers
from codecap.generate.tracing.layers import Layer
from codecap.generate.tracing.page import markup_of, page_of
from codecap.generate.tracing.plates import Plate
from codecap.generate.tracing.vectors import Detail

PLATES_SHARE = 0.6  # of the budget: where plates take more, all is traced coarser
THINNED_SHARE = 0.5  # of what was cut out: where thinning would leave less, all is traced coarser
SUCCESSOR_SHARE = 0.3  # what is lost where the cut-out before can stay on instead, against showing nothing
HOPELESS = 4  # times the budget: past it a trace is given up at once


def coarser(detail: Detail) -> list[Detail]:
    """A detail and coarser ones, each about half the size of the one before."""
    steps = [(1, 1.0, 0, detail.fine_scale), (2, 1.5, 0, detail.fine_scale), (2, 2.0, 1, 1), (4, 4.0, 2, 1)]
    return [
        replace(
            detail,
            speckle_px=max(detail.speckle_px, 1) * speckle if speckle > 1 else detail.speckle_px,
            layer_step=min(round(detail.layer_step * step), 128),
            colour_bits=max(detail.colour_bits - bits, 3),
            fine_scale=fine,
        )
        for speckle, step, bits, fine in steps
    ]


def traced_within(
    mp4: Path, layers: list[Layer], detail: Detail, budget_bytes: int, width_px: int, height_px: int, frames: int
) -> str:
    """Trace layers and write the page, in at most `budget_bytes`.

    Args:
        layers: the lowest first; their markup is filled in, and layers that do not fit are taken out of the list.
    """
    levels = coarser(detail)
    for level in levels:
        last = level is levels[-1]
        made = trace_layers(mp4, layers, level, None if last else HOPELESS * budget_bytes)
        page = page_of(layers, width_px, height_px, frames)
        over = len(page) - budget_bytes
        if over <= 0:
            return page
        plates = sum(len(layer.markup) for layer in layers if isinstance(layer.content, Plate))
        import sys; print('LEVEL',level,made,plates,len(layers),file=sys.stderr)
        if last or (plates <= PLATES_SHARE * budget_bytes and made - over >= THINNED_SHARE * made):
            break
    thin(layers, over)
    page = page_of(layers, width_px, height_px, frames)
    for layer in sorted(layers, key=lambda layer: layer.area_px * (layer.stop - layer.start)):
        if len(page) <= budget_bytes:
            break
        layer.markup = flat(layer)
        page = page_of(layers, width_px, height_px, frames)
    return page


def thin(layers: list[Layer], over_bytes: int) -> None:
    """Take the sprites out that are seen least for their bytes, until `over_bytes` are saved; the ones before stay on instead."""
    alive = {id(layer): layer for layer in layers}
    heirs: dict[int, list[Layer]] = {}
    for layer in layers:
        if layer.follows is not None:
            heirs.setdefault(id(layer.follows), []).append(layer)
    queue = [(_worth(layer), number, layer) for number, layer in enumerate(layers) if not isinstance(layer.content, Plate)]
    heapq.heapify(queue)
    while queue and over_bytes > 0:
        worth, number, layer = heapq.heappop(queue)
        if worth < _worth(layer):  # it stayed on for another meanwhile
            heapq.heappush(queue, (_worth(layer), number, layer))
            continue
        over_bytes -= len(markup_of(layer)) + 1
        del alive[id(layer)]
        before = layer.follows
        if before is not None and before.stop == layer.start:
            _stay_on(before, layer)
        for heir in heirs.get(id(layer), []):
            heir.follows = before
            if before is not None:
                heirs[id(before)].append(heir)
    layers[:] = [layer for layer in layers if id(layer) in alive]


def flat(layer: Layer) -> str:
    """A plate as one rectangle of its mean colour: what is left where no budget is."""
    if not isinstance(layer.content, Plate):
        return ""
    height, width = (side * layer.scale for side in layer.content.source.shape)
    colour = "".join(f"{round(float(channel)):02x}" for channel in layer.content.canvas.reshape(-1, 3).mean(axis=0))
    return f'<path fill="#{colour}" d="M0 0h{width}v{height}h-{width}z"/>'


def _worth(layer: Layer) -> float:
    share = SUCCESSOR_SHARE if layer.follows is not None and layer.follows.stop == layer.start else 1.0
    return share * layer.area_px * (layer.stop - layer.start) / (len(layer.markup) + 40)


def _stay_on(before: Layer, after: Layer) -> None:
    """Let a sprite stay in place of the one after it, and move as that one did."""
    last = before.track[-1]
    turn = _centre(after) - _centre(before) - last
    if np.abs(turn).max() > max(before.content.mask.shape) * before.scale:
        turn = np.zeros(2)
    before.track = np.concatenate([before.track, last + turn + after.track])
    before.stop = after.stop


def _centre(layer: Layer) -> np.ndarray:
    height, width = layer.content.mask.shape
    return np.array([layer.content.x + width / 2, layer.content.y + height / 2]) * layer.scale
