"""What happens to an object, and when: it appears, moves, grows, changes colour, stays, disappears."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from codecap.annotate.things import Thing
from codecap.annotate.wording import colour_name, direction_name
from codecap.clock import FPS

HALF_SPAN = 2  # frames before and after an instant between which a change is measured
BRIDGED = 5  # a pause of that many frames does not end a change
MOVING_SHARE = 0.003  # of the picture's diagonal, within the span: it moves
MOVED_SHARE = 0.02  # of the diagonal: a movement worth telling
GROWING = 0.04  # change of the logarithm of the size within the span
GROWN = 1.3  # ratio of sizes worth telling
RECOLOURED_LEVELS = 60.0  # sum over the channels
AROUND_S = 0.25  # shown before and after something appears or disappears
STAY_S = 0.5  # shortest rest worth telling


@dataclass(frozen=True)
class Event:
    """A change of one thing.

    Attributes:
        what: its predicate, to be put after the thing's description: "moves right by 120 px".
        start, stop: frame in which it begins, and the frame after its end.
        weight: how much of a change it is, about 0-1.
    """

    what: str
    start: int
    stop: int
    weight: float


def changes(thing: Thing, width_px: int, height_px: int, shot: tuple[int, int]) -> list[Event]:
    """All changes of a thing within its shot (first frame, frame after the last), in order."""
    diagonal = float(np.hypot(width_px, height_px))
    found = [*_moves(thing, diagonal), *_growth(thing), *_recolouring(thing), *_comings(thing, shot, width_px, height_px)]
    return sorted(found, key=lambda event: (event.start, event.stop, event.what))


def longest_rest(thing: Thing, width_px: int, height_px: int) -> tuple[int, int] | None:
    """The longest time for which it stands still, as frames (first, after the last); None when under `STAY_S`."""
    moving = _runs(_within_span(thing.centres) > _moving_px(np.hypot(width_px, height_px)))
    edges = [0, *(edge for run in moving for edge in run), len(thing.boxes_xyxy)]
    rests = [(edges[k], edges[k + 1]) for k in range(0, len(edges), 2)]
    start, stop = max(rests, key=lambda rest: rest[1] - rest[0])
    return (thing.first + start, thing.first + stop) if stop - start >= STAY_S * FPS else None


def _moving_px(diagonal: float) -> float:
    return max(1.5, MOVING_SHARE * diagonal)


def _moves(thing: Thing, diagonal: float) -> Iterator[Event]:
    centres = thing.centres
    for start, stop in _runs(_within_span(centres) > _moving_px(diagonal)):
        steps = np.diff(centres[start:stop], axis=0)
        path, (dx, dy) = float(np.linalg.norm(steps, axis=1).sum()), centres[stop - 1] - centres[start]
        if path < MOVED_SHARE * diagonal:
            continue
        far = float(np.hypot(dx, dy))
        if far < 0.4 * path:
            what = f"moves about along a path of {path:.0f} px and ends {far:.0f} px from where it began"
        else:
            what = f"moves {direction_name(dx, dy)} by {far:.0f} px"
        yield Event(what, thing.first + start, thing.first + stop, min(1.0, 0.3 + 2 * path / diagonal))


def _growth(thing: Thing) -> Iterator[Event]:
    sides = np.maximum(thing.boxes_xyxy[:, 2:] - thing.boxes_xyxy[:, :2], 1.0)
    size = np.log(sides).sum(axis=1)
    for start, stop in _runs(_within_span(size[:, None]) > GROWING):
        ratio = float(np.exp(size[stop - 1] - size[start]))
        if max(ratio, 1 / ratio) >= GROWN:
            (w0, h0), (w1, h1) = sides[start], sides[stop - 1]
            what = f"{'grows' if ratio > 1 else 'shrinks'} from {w0:.0f}x{h0:.0f} px to {w1:.0f}x{h1:.0f} px"
            yield Event(what, thing.first + start, thing.first + stop, min(1.0, 0.3 + 0.3 * abs(np.log(ratio))))


def _recolouring(thing: Thing) -> Iterator[Event]:
    for start, stop in _runs(np.abs(_span_difference(thing.rgb)).sum(axis=1) > RECOLOURED_LEVELS / 3):
        before, after = thing.rgb[start], thing.rgb[stop - 1]
        names = colour_name(before), colour_name(after)
        if names[0] != names[1] and np.abs(after - before).sum() > RECOLOURED_LEVELS:
            yield Event(f"turns from {names[0]} to {names[1]}", thing.first + start, thing.first + stop, 0.6)


def _comings(thing: Thing, shot: tuple[int, int], width_px: int, height_px: int) -> Iterator[Event]:
    around = round(AROUND_S * FPS)
    if thing.first > shot[0]:
        side = _side(thing.boxes_xyxy[0], width_px, height_px)
        what = f"comes in from the {side}" if side else "appears"
        yield Event(what, max(thing.first - around, shot[0]), min(thing.first + around, shot[1]), 0.5)
    if thing.stop < shot[1]:
        side = _side(thing.boxes_xyxy[-1], width_px, height_px)
        what = f"leaves the picture at the {side}" if side else "disappears"
        yield Event(what, max(thing.stop - around, shot[0]), min(thing.stop + around, shot[1]), 0.4)


def _side(box_xyxy: np.ndarray, width_px: int, height_px: int) -> str | None:
    """The side of the picture that a box touches (within 1 % of the picture's size)."""
    gaps = {"left": box_xyxy[0], "top": box_xyxy[1], "right": width_px - box_xyxy[2], "bottom": height_px - box_xyxy[3]}
    side = min(gaps, key=lambda name: gaps[name])
    return side if gaps[side] <= 0.01 * max(width_px, height_px) else None


def _span_difference(series: np.ndarray) -> np.ndarray:
    """Difference `(n, d)` between the values `HALF_SPAN` after and before each instant (at the ends, what there is)."""
    here = np.arange(len(series))
    return series[np.minimum(here + HALF_SPAN, len(series) - 1)] - series[np.maximum(here - HALF_SPAN, 0)]


def _within_span(series: np.ndarray) -> np.ndarray:
    """Length `(n,)` of that difference."""
    return np.linalg.norm(_span_difference(series), axis=1)


def _runs(flags: np.ndarray) -> list[tuple[int, int]]:
    """Stretches where a flag holds, as (first, after the last), pauses of up to `BRIDGED` frames bridged.

    The span makes every change seem longer by itself at both ends; that is taken off again.
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(int), [0]])))
    runs: list[tuple[int, int]] = []
    for start, stop in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        if runs and start - runs[-1][1] <= BRIDGED:
            runs[-1] = (runs[-1][0], stop)
        else:
            runs.append((start, stop))
    last = len(flags)
    shortened = [(start + HALF_SPAN - 1 if start else 0, stop - HALF_SPAN + 1 if stop < last else last) for start, stop in runs]
    return [(start, stop) for start, stop in shortened if stop - start >= 2]
