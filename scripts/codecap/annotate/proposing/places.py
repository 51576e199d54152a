"""Where a model says that objects are on single frames, read mark by mark. Places are on a scale from 0 to 1000 over one picture.

A model that thinks in percent or in shares of the picture is found out where the marks of several objects all lie in the corner
that the scale's first tenth is, as those of a single one may; boxes that are turned over, empty, or off the scale are faults like
any other. None is ever mended.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from codecap.annotate.proposing.outlines import Said, Wrong, checked, nearest_shown, slug
from codecap.annotate.proposing.rounds import Reading
from codecap.clock import time_of
from codecap.exchange import Reply
from codecap.records import Clip, PromptFrame, Words
from codecap.score.asking.answers import Unreadable, read_answer

SCALE = 1000.0
PERCENT = 100.0  # marks of two objects and more that reach no further are taken for percent
LEAST_PX = 2.0  # sides of a box
MOST_POINTS = 3  # of each sign


class SaidMarks(Said):
    marks: list[Any]


class SaidBox(Said):
    x0: float
    y0: float
    x1: float
    y1: float


class SaidSpot(Said):
    x: float
    y: float


class SaidMark(Said):
    name: Words
    time_s: float
    shown: bool
    box: SaidBox
    positive: list[SaidSpot]
    negative: list[SaidSpot]


Places = dict[str, list[PromptFrame]]  # by object; in order of the frames


def read_places(reply: Reply, asked: Mapping[str, Sequence[int]], clip: Clip, apart_s: float) -> Reading[Places]:
    """Boxes and points in pixels of the clip; an object that is on none of its frames is in the places, without any.

    Args:
        asked: frames of each object, in order.
        apart_s: how far from its frame's time a mark may be told.

    Raises:
        Unreadable: it is no such answer, or all of it is on another scale.
    """
    told = read_answer(reply, SaidMarks).marks
    most = sum(len(frames) for frames in asked.values())
    faults = [f"{len(told)} marks, {most} were asked for"] if len(told) > most else []
    found: dict[tuple[str, int], SaidMark] = {}
    for number, part in enumerate(told[:most], start=1):
        try:
            mark = checked(SaidMark, part, f"mark {number}")
            where = (slug(mark.name), _frame_of(mark, asked, clip, apart_s))
            if where in found:
                raise Wrong(f"mark {number}: {where[0]} at {time_of(where[1]):.3f} s is marked twice")
            found[where] = mark
        except Wrong as why:
            faults.append(str(why))
    _must_be_on_the_scale([mark for mark in found.values() if mark.shown])
    places: Places = {}
    for name, frames in asked.items():
        for frame in frames:
            try:
                if (name, frame) not in found:
                    raise Wrong("is not marked")
                placed = _placed(frame, found[name, frame], clip)
            except Wrong as why:
                faults.append(f"{name} at {time_of(frame):.3f} s: {why}")
            else:
                places.setdefault(name, []).extend([placed] if placed else [])
    return Reading(places, tuple(faults))


def _frame_of(mark: SaidMark, asked: Mapping[str, Sequence[int]], clip: Clip, apart_s: float) -> int:
    frames = asked.get(slug(mark.name))
    if frames is None:
        raise Wrong(f"marks {mark.name[:40]!r}, which nobody asked for")
    frame = nearest_shown(mark.time_s, frames, clip)
    if abs(time_of(frame) - mark.time_s) > apart_s:
        raise Wrong(f"marks {slug(mark.name)} at {mark.time_s:g} s, where nobody asked for it")
    return frame


def _must_be_on_the_scale(marks: Sequence[SaidMark]) -> None:
    if len({slug(mark.name) for mark in marks}) < 2:
        return
    furthest = max(abs(side) for mark in marks for side in (mark.box.x0, mark.box.y0, mark.box.x1, mark.box.y1))
    if furthest <= PERCENT:
        raise Unreadable(
            f"no mark reaches further than {furthest:g}: places are on a scale from 0 to {SCALE:g}, neither percent nor shares"
        )


def _placed(frame: int, mark: SaidMark, clip: Clip) -> PromptFrame | None:
    """A mark in pixels; None where the object is not on the frame."""
    if not mark.shown:
        return None
    box, across, down = mark.box, clip.width_px / SCALE, clip.height_px / SCALE
    if not (0 <= box.x0 < box.x1 <= SCALE and 0 <= box.y0 < box.y1 <= SCALE):
        raise Wrong(f"the box is empty, turned over or not on the scale from 0 to {SCALE:g}")
    if (box.x1 - box.x0) * across < LEAST_PX or (box.y1 - box.y0) * down < LEAST_PX:
        raise Wrong(f"the box is less than {LEAST_PX:g} pixels wide or high; the scale is from 0 to {SCALE:g}")
    if not mark.positive or len(mark.positive) > MOST_POINTS or len(mark.negative) > MOST_POINTS:
        raise Wrong(f"one to {MOST_POINTS} positive points and at most {MOST_POINTS} negative ones were asked for")
    if any(not (box.x0 <= spot.x < box.x1 and box.y0 <= spot.y < box.y1) for spot in mark.positive):
        raise Wrong("a positive point lies outside of the box")
    if any(not (0 <= spot.x < SCALE and 0 <= spot.y < SCALE) for spot in mark.negative):
        raise Wrong(f"a negative point is not on the scale from 0 to {SCALE:g}")
    positive, negative = ([(spot.x * across, spot.y * down) for spot in spots] for spots in (mark.positive, mark.negative))
    return PromptFrame(
        frame=frame,
        box_xyxy=(box.x0 * across, box.y0 * down, box.x1 * across, box.y1 * down),
        positive_xy=positive,
        negative_xy=negative,
    )
