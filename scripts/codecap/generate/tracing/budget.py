"""Keeps a page within its size: coarser tracing, then fewer cut-outs, the least seen for their bytes first."""

from __future__ import annotations

import heapq
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np

from codecap.generate.tracing.cutouts import cut
from codecap.generate.tracing.layers import Layer
from codecap.generate.tracing.page import page_of
from codecap.generate.tracing.plates import Plate
from codecap.generate.tracing.vectors import Detail, traced

PLATES_SHARE = 0.7  # of the budget: where plates would take more, they are traced coarser; all of it if nothing lies on them
THINNED_TO = 0.4  # of the cut-outs' bytes: rather than thin them to less, they are traced coarser
TRIED = 24  # cut-outs traced to learn how many bytes they take
SLACK = 1.05  # times what is left of the budget: traced, then thinned exactly
SUCCESSOR_SHARE = 0.5  # of a cut-out is lost if the one before can stay on in its place
ALIKE_SHARE = 0.6  # of the boxes of two cut-outs together must be common to both for that
LONGEST_STAY = 24  # frames past its own end
EDGE_LEVELS = 24  # grey levels between neighbours that make an outline to be drawn


def coarser(detail: Detail) -> list[Detail]:
    """A detail and coarser ones, each about two thirds the size of the one before."""
    steps = [(1, 1.0, detail.fine_scale), (2, 1.0, detail.fine_scale), (2, 1.5, 1), (4, 2.0, 1)]
    return [
        replace(
            detail,
            speckle_px=max(detail.speckle_px, 1) * speckle if speckle > 1 else detail.speckle_px,
            layer_step=min(round(detail.layer_step * step), 128),
            fine_scale=fine,
        )
        for speckle, step, fine in steps
    ]


def traced_within(
    mp4: Path, layers: list[Layer], detail: Detail, budget_bytes: int, width_px: int, height_px: int, frames: int
) -> str:
    """Trace layers and write the page, in at most `budget_bytes`.

    Args:
        layers: the lowest first; their markup is filled in, and layers that do not fit are taken out of the list.
    """
    plates = [layer for layer in layers if isinstance(layer.content, Plate)]
    sprites = [layer for layer in layers if not isinstance(layer.content, Plate)]
    frame = len(page_of([], width_px, height_px, frames))
    levels = coarser(detail)
    room = (budget_bytes - frame) * (PLATES_SHARE if sprites else 1.0)
    for level in levels:
        for layer, picture, x, y in cut(mp4, plates):
            layer.markup = traced(picture, level, x, y)
        if sum(layer.bytes for layer in plates) <= room:
            break
    left = budget_bytes - frame - sum(layer.bytes for layer in plates)
    if sprites:
        chosen = _fit(layers, _bytes_per_px(mp4, sprites, levels), left)
        kept = [layer for layer in layers if id(layer) in chosen]
        for layer, picture, x, y in cut(mp4, kept):
            layer.markup = traced(picture, levels[chosen[id(layer)]], x, y)
    page = page_of(layers, width_px, height_px, frames)
    while len(page) > budget_bytes and any(not isinstance(layer.content, Plate) for layer in layers):
        thin(layers, len(page) - budget_bytes)
        page = page_of(layers, width_px, height_px, frames)
    for layer in sorted(plates, key=lambda layer: layer.area_px * (layer.stop - layer.start)):
        if len(page) > budget_bytes:
            layer.markup = flat(layer)
            page = page_of(layers, width_px, height_px, frames)
    return page


def _bytes_per_px(mp4: Path, sprites: list[Layer], levels: list[Detail]) -> list[float]:
    """Bytes that cut-outs take for each pixel of their outlines, at each level, from tracing some."""
    tried = sprites[:: max(1, len(sprites) // TRIED)][:TRIED]
    sizes = np.zeros(len(levels))
    for _, picture, x, y in cut(mp4, tried):
        sizes += [len(traced(picture, level, x, y)) for level in levels]
    return (sizes / sum(_outline_px(layer) for layer in tried)).tolist()


def _fit(layers: list[Layer], per_px: list[float], room: float) -> dict[int, int]:
    """Thin layers to about what there is room for, and give what is seen most for its bytes the finer levels.

    Returns:
        Number of the level for each cut-out, by the layer's id.
    """
    sprites = [layer for layer in layers if not isinstance(layer.content, Plate)]
    outlines = {id(layer): _outline_px(layer) for layer in sprites}

    def expect(number: int) -> float:
        for layer in sprites:
            layer.expected_bytes = per_px[number] * outlines[id(layer)]
        return sum(layer.bytes for layer in sprites)

    base = next((number for number in range(len(per_px)) if THINNED_TO * expect(number) <= room), len(per_px) - 1)
    thin(layers, expect(base) - SLACK * room)
    sprites = [layer for layer in layers if not isinstance(layer.content, Plate)]
    chosen = dict.fromkeys((id(layer) for layer in sprites), base)
    spare = room - sum(layer.bytes for layer in sprites)
    for layer in sorted(sprites, key=_worth, reverse=True):
        for number in range(base):
            more = (per_px[number] - per_px[base]) * outlines[id(layer)]
            if more <= spare:
                chosen[id(layer)], spare = number, spare - max(more, 0.0)
                break
    return chosen


def _outline_px(layer: Layer) -> int:
    """Pixels of a cut-out's picture that lie on outlines, which is what its markup grows with."""
    grey = cv2.cvtColor(layer.content.texture, cv2.COLOR_RGB2GRAY)
    steep = cv2.morphologyEx(grey, cv2.MORPH_GRADIENT, np.ones((3, 3), np.uint8)) > EDGE_LEVELS
    return int(np.count_nonzero(steep & layer.content.mask)) + 4


def thin(layers: list[Layer], over_bytes: float) -> None:
    """Take the sprites out that are seen least for their bytes, until `over_bytes` are saved; the ones before stay on instead."""
    alive = {id(layer) for layer in layers}
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
        over_bytes -= layer.bytes
        alive.discard(id(layer))
        before = layer.follows
        if before is not None and _can_stay(layer):
            _stay_on(before, layer)
        for heir in heirs.get(id(layer), []):
            heir.follows = before
            if before is not None:
                heirs[id(before)].append(heir)
    layers[:] = [layer for layer in layers if id(layer) in alive]


def flat(layer: Layer) -> str:
    """A plate as one rectangle of its mean colour: what is left where no budget is."""
    height, width = (side * layer.scale for side in layer.content.source.shape)
    colour = "".join(f"{round(float(channel)):02x}" for channel in layer.content.canvas.reshape(-1, 3).mean(axis=0))
    return f'<path fill="#{colour}" d="M0 0h{width}v{height}h-{width}z"/>'


def _worth(layer: Layer) -> float:
    """What a cut-out changes on the screen (grey levels x pixels x frames) for its bytes."""
    share = SUCCESSOR_SHARE if _can_stay(layer) else 1.0
    return share * layer.content.contrast * (layer.stop - layer.start) / layer.bytes


def _can_stay(after: Layer) -> bool:
    """Whether the cut-out before is so like this one that it may stay on in its place."""
    before = after.follows
    if before is None or before.stop != after.start or after.stop - before.start - len(before.content.track) > LONGEST_STAY:
        return False
    shift = (before.track[-1] / before.scale).tolist()
    one, other = before.content, after.content
    across = min(one.x + shift[0] + one.mask.shape[1], other.x + other.mask.shape[1]) - max(one.x + shift[0], other.x)
    down = min(one.y + shift[1] + one.mask.shape[0], other.y + other.mask.shape[0]) - max(one.y + shift[1], other.y)
    both = max(across, 0.0) * max(down, 0.0)
    return both >= ALIKE_SHARE * (one.mask.size + other.mask.size - both)


def _stay_on(before: Layer, after: Layer) -> None:
    """Let a sprite stay in place of the one after it, and move as that one did."""
    last = before.track[-1]
    turn = _centre(after) - _centre(before) - last
    before.track = np.concatenate([before.track, last + turn + after.track])
    before.stop = after.stop


def _centre(layer: Layer) -> np.ndarray:
    height, width = layer.content.mask.shape
    return np.array([layer.content.x + width / 2, layer.content.y + height / 2]) * layer.scale
