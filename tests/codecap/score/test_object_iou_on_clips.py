"""Prompter and segmenter on real clips with true boxes: found in a clip itself, lost where an object is removed or moved."""

from pathlib import Path

import numpy as np
import pytest
from truths import Truth, demo_clips, demo_truth, known_demo_clips

from codecap import boxes
from codecap.records import AnnotatedObject, Clip
from codecap.score.prompters import match
from codecap.score.segmenters import color
from codecap.video import CanonicalWriter, read_frames

pytestmark = pytest.mark.slow


def some_clip() -> tuple[Clip, list[AnnotatedObject], dict[str, Truth]]:
    """The demo clip with the most fit objects, and those objects."""
    known = [(clip, demo_truth(clip)) for clip in known_demo_clips()]
    clip, truth = max(known, key=lambda pair: sum(item.fit for item in pair[1].values()))
    objects = [AnnotatedObject(name=item.name, boxes_xyxy=item.visible) for item in truth.values() if item.fit]
    return clip, objects[:3], truth


def altered(clip: Clip, mp4: Path, change) -> Path:
    with CanonicalWriter(mp4, clip.width_px, clip.height_px) as writer:
        for frame, rgb in read_frames(clip.mp4):
            writer.add(change(frame, rgb))
    return mp4


def erase(box, rgb: np.ndarray) -> np.ndarray:
    """Fill a box and 3 px around it with what lies left and right of it."""
    if box is None:
        return rgb
    height, width = rgb.shape[:2]
    x0, y0 = max(int(box[0]) - 3, 0), max(int(box[1]) - 3, 0)
    x1, y1 = min(int(np.ceil(box[2])) + 3, width), min(int(np.ceil(box[3])) + 3, height)
    left, right = rgb[y0:y1, max(x0 - 1, 0)].astype(float), rgb[y0:y1, min(x1, width - 1)].astype(float)
    part = np.linspace(0, 1, x1 - x0)[None, :, None]
    rgb = rgb.copy()
    rgb[y0:y1, x0:x1] = left[:, None] * (1 - part) + right[:, None] * part
    return rgb


def test_found_in_itself_lost_when_removed_and_never_found_where_it_is_not(tmp_path):
    clip, objects, _ = some_clip()
    prompter, segmenter = match.load({}), color.load({})

    def scores(mp4: Path) -> np.ndarray:
        tracks = segmenter.segment(mp4, clip.frames, prompter.prompt(objects, clip, mp4))
        return np.array([100 * boxes.object_iou(o.boxes_xyxy, t.boxes_xyxy) for o, t in zip(objects, tracks, strict=True)])

    itself = scores(clip.mp4)
    assert itself.min() >= 75
    assert scores(altered(clip, tmp_path / "black.mp4", lambda _, rgb: np.zeros_like(rgb))).max() == 0
    other = next(one for one in demo_clips() if one.clip_id != clip.clip_id)
    assert scores(other.mp4).mean() <= 25
    gone = objects[0].boxes_xyxy
    without = scores(altered(clip, tmp_path / "without.mp4", lambda frame, rgb: erase(gone[frame], rgb)))
    assert without[0] <= 2 and abs(without[1:].mean() - itself[1:].mean()) <= 2
    means = [itself.mean()]
    for share in (0.02, 0.08):
        step = round(share * clip.width_px)
        means.append(scores(altered(clip, tmp_path / f"{step}.mp4", lambda _, rgb, step=step: shifted(rgb, step))).mean())
    assert means[0] > means[1] and (means[1] > means[2] or means[1] < 2)


def shifted(rgb: np.ndarray, step: int) -> np.ndarray:
    moved = np.zeros_like(rgb)
    moved[:, step:] = rgb[:, :-step]
    return moved
