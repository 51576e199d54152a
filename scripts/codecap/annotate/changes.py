"""What changes when, measured: one decoding gives, for each frame, how much of each cell of a grid over the picture has changed.

A pixel of the small copy has changed where one of its channels differs by more than `LEVELS`. Each frame is compared with the one
before it, and with the one `LAG` before it: what moves or fades slowly differs too little from one frame to the next. From the
second comparison come the *stretches* during which something changes; their ends, and the *jumps* of the first one, are the clip's
change points. All is asked for the whole picture or for some cells of it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from codecap import video
from codecap.annotate.runs import runs
from codecap.clips import check_file
from codecap.fingerprint import code_digest
from codecap.records import Box, Clip
from codecap.score.engine import descriptions
from codecap.store import Draft, Item, ItemStore

LONG_SIDE_PX = 320  # of the small copy
CELL_PX = 8  # side of a cell, in pixels of the small copy
LEVELS = 6  # of 255; coding noise on flat ground stays below
LAG = 4  # frames
BRIDGED = 2  # frames: a pause that short does not end a stretch
LEAST_PX, LEAST_SHARE = 3, 0.0005  # pixels of the small copy, and share of those looked at, that are a change
JUMP_SHARE, JUMP_RATIO, JUMP_AROUND = 0.02, 3.0, 5  # a jump changes that much, and so many times what the frames around it do

Cells = np.ndarray  # bool (rows, columns)


@dataclass(frozen=True)
class Changes:
    """How much of each cell changes, and when. A cell's count is of its `CELL_PX` x `CELL_PX` pixels.

    Attributes:
        stepwise: uint8 `(frames, rows, columns)`, pixels that differ from the frame before; frame 0 has none.
        lagged: the same against the frame `LAG` before (frame 0 where there is none so early).
        width_px, height_px: of the picture.
    """

    stepwise: np.ndarray
    lagged: np.ndarray
    width_px: int
    height_px: int

    @property
    def frames(self) -> int:
        return len(self.stepwise)

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.stepwise.shape[1], self.stepwise.shape[2]

    def cells(self, boxes_xyxy: Iterable[Box], around: int = 1) -> Cells:
        """The cells that any of these boxes touches, and those up to `around` cells beside them."""
        rows, columns = self.grid
        chosen = np.zeros(self.grid, bool)
        for x0, y0, x1, y1 in boxes_xyxy:
            left, right = (int(np.clip(x / self.width_px * columns, 0, columns)) for x in (x0, x1))
            top, bottom = (int(np.clip(y / self.height_px * rows, 0, rows)) for y in (y0, y1))
            chosen[max(top - around, 0) : bottom + 1 + around, max(left - around, 0) : right + 1 + around] = True
        return chosen

    def curve(self, cells: Cells | None = None) -> np.ndarray:
        """Share `(frames,)` in [0, 1] of the picture, or of some cells, that differs from the frame before; float64."""
        return _counts(self.stepwise, cells) / self._pixels(cells)

    def stretches(self, cells: Cells | None = None) -> list[tuple[int, int]]:
        """When something changes, as (first frame that differs from the one before, frame after the last that does), in order."""
        least = max(LEAST_PX, LEAST_SHARE * self._pixels(cells))
        joined: list[tuple[int, int]] = []
        for start, stop in runs(_counts(self.lagged, cells) >= least):
            if joined and start - joined[-1][1] <= BRIDGED:
                joined[-1] = (joined[-1][0], stop)
            else:
                joined.append((start, stop))
        # a change is still seen against a frame before it for LAG - 1 frames more
        return [(start, max(stop - (LAG - 1), start + 1) if stop < self.frames else stop) for start, stop in joined]

    def jumps(self, cells: Cells | None = None) -> list[int]:
        """Frames that differ from the one before far more than those around them do: a cut, or a state that is suddenly another."""
        curve = self.curve(cells)
        found = []
        for frame in np.flatnonzero(curve >= JUMP_SHARE).tolist():
            near = np.r_[curve[max(frame - JUMP_AROUND, 1) : frame], curve[frame + 1 : frame + 1 + JUMP_AROUND]]
            if curve[frame] >= JUMP_RATIO * near.mean() if len(near) else True:
                found.append(frame)
        return found

    def changing_share(self, start: int, stop: int, cells: Cells | None = None) -> float:
        """Share in [0, 1] of the frames from `start` to before `stop` that lie in a stretch of change; 0 for no frames."""
        changing = sum(max(min(last, stop) - max(first, start), 0) for first, last in self.stretches(cells))
        return changing / (stop - start) if stop > start else 0.0

    def _pixels(self, cells: Cells | None) -> int:
        count = self.stepwise[0].size if cells is None else int(cells.sum())
        return max(count, 1) * CELL_PX**2


class ChangeWatcher:
    """Measures the changes of a video whose frames it is shown, all of them and in order; made for one decoding with others."""

    wanted = None

    def __init__(self, width_px: int, height_px: int) -> None:
        self._size_px = (width_px, height_px)
        scale = LONG_SIDE_PX / CELL_PX / max(width_px, height_px)
        self._columns, self._rows = max(round(width_px * scale), 1), max(round(height_px * scale), 1)
        self._before: deque[np.ndarray] = deque(maxlen=LAG)
        self._stepwise: list[np.ndarray] = []
        self._lagged: list[np.ndarray] = []

    def see(self, _frame: int, rgb: np.ndarray) -> None:
        """The next frame, uint8 RGB `(height, width, 3)`."""
        small = cv2.resize(rgb, (self._columns * CELL_PX, self._rows * CELL_PX), interpolation=cv2.INTER_AREA)
        before, earlier = (self._before[-1], self._before[0]) if self._before else (small, small)
        self._stepwise.append(self._changed(small, before))
        self._lagged.append(self._changed(small, earlier))
        self._before.append(small)

    def result(self) -> dict[str, np.ndarray]:
        return {"stepwise": np.array(self._stepwise), "lagged": np.array(self._lagged)}

    def changes(self) -> Changes:
        return Changes(**self.result(), width_px=self._size_px[0], height_px=self._size_px[1])

    def _changed(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """uint8 `(rows, columns)`: pixels of each cell that have changed."""
        channels = cv2.split(cv2.absdiff(one, other))
        most = cv2.max(cv2.max(channels[0], channels[1]), channels[2])
        _, differs = cv2.threshold(most, LEVELS, CELL_PX**2, cv2.THRESH_BINARY)
        return cv2.resize(differs, (self._columns, self._rows), interpolation=cv2.INTER_AREA)  # the mean of 0 or 64 each: a count


def measure(mp4: Path) -> Changes:
    """Decode a canonical clip once and measure it.

    Raises:
        VideoError: it cannot be read.
    """
    return measured(mp4).changes()


def measured(mp4: Path) -> ChangeWatcher:
    """A watcher that has seen all of a canonical clip. Raises as `measure`."""
    watcher = None
    for frame, rgb in video.read_frames(mp4):
        if watcher is None:
            watcher = ChangeWatcher(rgb.shape[1], rgb.shape[0])
        watcher.see(frame, rgb)
    if watcher is None:
        raise video.VideoError(f"{mp4}: holds no frame")
    return watcher


def kept(clip: Clip, bulk: Path) -> Changes:
    """The changes of a clip, measured once and kept in the store.

    Args:
        bulk: the config's `store.bulk`.

    Raises:
        VideoError: the clip cannot be read.
    """
    items = _items(bulk)

    def make(draft: Draft) -> dict[str, Any]:
        check_file(clip)
        return descriptions.save(draft.file("npz"), measured(clip.mp4))

    return _of(items.get_or_make(descriptions.REFERENCE, clip.clip_id, items.key(clip.sha256), make), clip)


def kept_already(clip: Clip, bulk: Path) -> Changes | None:
    """The same where they are in the store; nothing is measured."""
    items = _items(bulk)
    item = items.get(descriptions.REFERENCE, clip.clip_id, items.key(clip.sha256))
    return None if item is None else _of(item, clip)


def _items(bulk: Path) -> ItemStore:
    return ItemStore(bulk, stage="measure_changes", salt=[code_digest("codecap.annotate.changes")])


def _of(item: Item, clip: Clip) -> Changes:
    return Changes(**descriptions.load(item), width_px=clip.width_px, height_px=clip.height_px)


def _counts(counts: np.ndarray, cells: Cells | None) -> np.ndarray:
    """Pixels `(frames,)` that have changed."""
    within = counts.reshape(len(counts), -1) if cells is None else counts[:, cells]
    return within.sum(axis=1, dtype=np.float64)
