"""Where an object under review is: a machine's boxes, corrected by the boxes that a person set on key frames.

The page computes the same (`shownBoxes` in resources/review/boxes.js).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from codecap.clock import frames_between
from codecap.records import Box, Interval

NOWHERE: Box = (0.0, 0.0, 0.0, 0.0)
Keys = Sequence[tuple[int, Box | None]]  # in order of their frames


def shown_boxes(
    base: Sequence[Box | None] | None,
    keys: Mapping[int, Box | None],
    visible_s: Sequence[Interval],
    frames: int,
    size_px: tuple[float, float] = (math.inf, math.inf),
) -> list[Box | None]:
    """One box a frame; None where the object is not visible.

    Frames in a visible interval (all, if there is none) form runs, in which either every frame has a box of the base, or none has.
    A key counts in its own run: between two keys their corrections (key - base) are interpolated linearly, before the first and
    after the last one they stay. Without a base the boxes of the keys themselves are, and where a run has no key there is no box. A
    key that is None hides the object until the run's next key; where it is the run's first one, nothing before it is corrected.
    What a correction moves out of the picture is cut off.

    Args:
        base: one box or None a frame; None where no machine gave any.
        keys: by frame.
        size_px: of the picture: width, height.

    >>> shown_boxes([(0, 0, 2, 2)] * 3, {0: (1, 0, 3, 2), 2: (3, 0, 5, 2)}, [], 3)
    [(1.0, 0.0, 3.0, 2.0), (2.0, 0.0, 4.0, 2.0), (3.0, 0.0, 5.0, 2.0)]
    """
    under = base or [None] * frames
    ordered = sorted(keys.items())
    shown: list[Box | None] = [None] * frames
    for run in _runs(under, visible_frames(visible_s, frames)):
        within = [(frame, box) for frame, box in ordered if frame in run]
        if within:
            _correct(shown, under, within, run, size_px)
        else:
            shown[run.start : run.stop] = under[run.start : run.stop]
    return shown


def visible_frames(visible_s: Sequence[Interval], frames: int) -> list[bool]:
    """Whether each frame lies in a visible interval; no interval at all says: always visible."""
    visible = [not visible_s] * frames
    for start_s, end_s in visible_s:
        for frame in frames_between(start_s, end_s, frames):
            visible[frame] = True
    return visible


def _runs(base: Sequence[Box | None], visible: Sequence[bool]) -> Iterator[range]:
    """Longest stretches of visible frames that all have a box of the base, or all have none."""
    kinds = groupby(range(len(visible)), key=lambda frame: (visible[frame], base[frame] is not None))
    for (is_visible, _), group in kinds:
        if is_visible:
            stretch = list(group)
            yield range(stretch[0], stretch[-1] + 1)


def _correct(shown: list[Box | None], base: Sequence[Box | None], keys: Keys, run: range, size_px: tuple[float, float]) -> None:
    corrections = [(frame, None if box is None else _minus(box, base[frame] or NOWHERE)) for frame, box in keys]
    following = 0
    for frame in run:
        while following < len(corrections) and corrections[following][0] <= frame:
            following += 1
        before = corrections[following - 1] if following else None
        if before is not None and before[1] is None:
            continue
        after = corrections[following] if following < len(corrections) and corrections[following][1] is not None else None
        correction = _between(before, after, frame)
        under = base[frame]
        if correction is not None:
            shown[frame] = _within(_plus(under or NOWHERE, correction), size_px)
        else:
            shown[frame] = under


def _between(before: tuple[int, Box] | None, after: tuple[int, Box] | None, frame: int) -> Box | None:
    if before is None or after is None:
        nearest = before or after
        return None if nearest is None else nearest[1]
    share = (frame - before[0]) / (after[0] - before[0])
    x0, y0, x1, y1 = (start + share * (end - start) for start, end in zip(before[1], after[1], strict=True))
    return (x0, y0, x1, y1)


def _within(box: Box, size_px: tuple[float, float]) -> Box:
    x0, y0, x1, y1 = (min(max(side, 0.0), limit) for side, limit in zip(box, size_px * 2, strict=True))
    return (x0, y0, x1, y1)


def _plus(one: Box, other: Box) -> Box:
    return (one[0] + other[0], one[1] + other[1], one[2] + other[2], one[3] + other[3])


def _minus(one: Box, other: Box) -> Box:
    return (one[0] - other[0], one[1] - other[1], one[2] - other[2], one[3] - other[3])
