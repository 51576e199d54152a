"""Videos that are wrong in a known way: a clip, spoiled on purpose and encoded as a render is.

Each maker is a generator over the frames of a canonical clip, uint8 RGB `(height, width, 3)`, as many as the clip has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from codecap.clock import FPS
from codecap.records import Box, Certificate, Clip, Outcome, Render
from codecap.render.settings import RenderSettings
from codecap.render.tally import FrameTally
from codecap.video import KEYFRAME_INTERVAL, CanonicalWriter, file_sha256, read_frames

Frames = Iterator[np.ndarray]

FILL_MARGIN_PX = 2  # around a removed object's box, for its smoothed edge


def write(name: str, clip: Clip, frames: Iterable[np.ndarray], mp4: Path) -> Render:
    """Encode a candidate as the renderer encodes its own, with a certificate of what was counted before."""
    tally = FrameTally()
    with CanonicalWriter(mp4, clip.width_px, clip.height_px, codec=RenderSettings().codec) as writer:
        for rgb in frames:
            tally.add(rgb)
            writer.add(rgb)
    certificate = Certificate(
        outcome=Outcome.OK,
        frames=writer.frames,
        width_px=clip.width_px,
        height_px=clip.height_px,
        frames_sha256=tally.sha256,
        unique_frame_ratio=tally.unique_ratio,
        blank_frames=tally.blank_frames,
    )
    return as_render(name, clip, mp4, certificate)


def as_render(name: str, clip: Clip, mp4: Path, certificate: Certificate | None = None) -> Render:
    """Take a video that is there for a candidate."""
    return Render(system=name, clip_id=clip.clip_id, key=file_sha256(mp4), outcome=Outcome.OK, mp4=mp4, certificate=certificate)


def unchanged(clip: Clip) -> Frames:
    for _, rgb in read_frames(clip.mp4, 0, clip.frames):
        yield rgb


def black(clip: Clip) -> Frames:
    rgb = np.zeros((clip.height_px, clip.width_px, 3), np.uint8)
    for _ in range(clip.frames):
        yield rgb


def frozen(clip: Clip) -> Frames:
    _, first = next(iter(read_frames(clip.mp4, 0, 1)))
    for _ in range(clip.frames):
        yield first


def backwards(clip: Clip) -> Frames:
    """The last frame first; as many frames as lie between two key frames are held at a time."""
    for start in reversed(range(0, clip.frames, KEYFRAME_INTERVAL)):
        held = [rgb for _, rgb in read_frames(clip.mp4, start, min(start + KEYFRAME_INTERVAL, clip.frames))]
        yield from reversed(held)


def shifted(clip: Clip, share: float) -> Frames:
    """Everything moved to the right by a share of the width; the left edge is repeated."""
    move_px = round(share * clip.width_px)
    for _, rgb in read_frames(clip.mp4, 0, clip.frames):
        yield np.concatenate([np.repeat(rgb[:, :1], move_px, axis=1), rgb[:, : clip.width_px - move_px]], axis=1)


def late(clip: Clip, delay_s: float) -> Frames:
    """Everything later; the first frame stands until then."""
    frames = round(delay_s * FPS)
    for index, rgb in read_frames(clip.mp4, 0, max(clip.frames - frames, 1)):
        for _ in range(frames + 1 if index == 0 else 1):
            yield rgb


def without(clip: Clip, boxes_xyxy: Sequence[Box | None]) -> Frames:
    """One object painted over with what is around its box, frame by frame."""
    for index, rgb in read_frames(clip.mp4, 0, clip.frames):
        box = boxes_xyxy[index]
        yield rgb if box is None else painted_over(rgb, box)


def painted_over(rgb: np.ndarray, box_xyxy: Box) -> np.ndarray:
    """A copy of a frame in which a box is filled from its four edges.

    Between its left and right, and its upper and lower neighbours, colours run evenly; the mean of the two runs is taken, so
    that no edge is left where the surroundings have none. A side that lies on the picture's edge has no neighbour.
    """
    height_px, width_px = rgb.shape[:2]
    x0, y0 = (max(int(edge) - FILL_MARGIN_PX, 0) for edge in box_xyxy[:2])
    x1 = min(int(np.ceil(box_xyxy[2])) + FILL_MARGIN_PX, width_px)
    y1 = min(int(np.ceil(box_xyxy[3])) + FILL_MARGIN_PX, height_px)
    across = _run(rgb[y0:y1, x0 - 1] if x0 > 0 else None, rgb[y0:y1, x1] if x1 < width_px else None, x1 - x0)
    down = _run(rgb[y0 - 1, x0:x1] if y0 > 0 else None, rgb[y1, x0:x1] if y1 < height_px else None, y1 - y0)
    runs = [run for run in (None if across is None else across.swapaxes(0, 1), down) if run is not None]
    filled = rgb.copy()
    if runs:
        filled[y0:y1, x0:x1] = np.rint(np.mean(runs, axis=0)).astype(np.uint8)
    return filled


def _run(first: np.ndarray | None, last: np.ndarray | None, steps: int) -> np.ndarray | None:
    """Even run from one line of pixels `(n, 3)` to another: float `(steps, n, 3)`; None when neither is there."""
    if first is None and last is None:
        return None
    first = last if first is None else first
    last = first if last is None else last
    part = (np.arange(1, steps + 1) / (steps + 1))[:, None, None]
    return first[None] * (1 - part) + last[None] * part
