"""For which rows a clip is fit: measured on the clip, and said with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from codecap.boxes import iou_series
from codecap.clock import FPS, frames_between
from codecap.records import AnnotatedObject, Annotation, Clip, ObjectTrack
from codecap.score import Unscored, lag
from codecap.video import read_frames

STANDS = 0.5  # IoU with its box of the first frame, from which on an object stands where it stood
PALINDROME = 0.9  # cosine with itself backwards, from which on a clip has no direction
RETURN = 0.1  # rise of the cosine with itself later, from which on a clip repeats itself
LARGEST_DELAY_S = 1.0  # of the rows
LEAST_SIDE_PX = 24
LEAST_UNIQUE = 0.2  # share of a box that has colours of its own
MOST_SHARED = 0.05  # share of a box that other objects may cover
LOOKS = 6  # frames on which an object's colours are counted
SCARCE = 0.1  # a colour is an object's own when this part of its pixels, or less, is elsewhere


@lru_cache(maxsize=4)
def pictures_of(clip: Clip) -> np.ndarray:
    """The clip as the lag metric sees it: float64 `(frames, pixels)`."""
    watcher = lag.load({}).watch_reference(clip, [])
    for index, rgb in read_frames(clip.mp4):
        watcher.see(index, rgb)
    return watcher.result()["pictures"].astype(np.float64)


def unfit_for_reversal(clip: Clip) -> str:
    """Why time has no direction in a clip; empty when it has one."""
    pictures = pictures_of(clip)
    if lag.motion(pictures) < lag.Settings().least_motion:
        return "it hardly moves"
    offsets, cosine = lag.cosine_profile(pictures, pictures[::-1], len(pictures))
    best = int(np.argmax(cosine))
    if cosine[best] < PALINDROME:
        return ""
    return f"it looks the same backwards: cosine {cosine[best]:.3f} at an offset of {offsets[best] / FPS:.2f} s"


def unfit_for_delay(clip: Clip) -> str:
    """Why a delay of up to a second cannot be told from a longer one; empty when it can."""
    pictures = pictures_of(clip)
    try:
        lag.load({}).check_reference(pictures)
    except Unscored as why:
        return str(why)
    offsets, cosine = lag.cosine_profile(pictures, pictures, round(LARGEST_DELAY_S * FPS))
    later = cosine[offsets >= 0][np.argsort(offsets[offsets >= 0])]
    if len(later) <= round(LARGEST_DELAY_S * FPS) or later.min() == -1.0:
        return f"a delay of {LARGEST_DELAY_S:g} s leaves too little of its motion"
    rise = later - np.minimum.accumulate(later)
    worst = int(np.argmax(rise))
    if rise[worst] <= RETURN:
        return ""
    return f"it repeats itself: after {worst / FPS:.2f} s it is more like itself again, by a cosine of {rise[worst]:.2f}"


def unfit_for_freezing(clip: Clip, annotation: Annotation) -> str:
    """Why a frozen first frame can keep no static content; empty when it can.

    A static point must start with it, or speak of an object that stands later where it stood then.
    """
    for point in annotation.focal_points:
        if point.kind != "static":
            continue
        if point.start_s == 0:
            return ""
        boxes = [item.boxes_xyxy for item in annotation.objects if item.name in point.objects]
        span = frames_between(point.start_s, point.end_s, clip.frames)
        series = [iou_series([track[0]] * len(span), [track[frame] for frame in span]) for track in boxes]
        if any(np.nanmean(found) >= STANDS for found in series if not np.isnan(found).all()):
            return ""
    return "its first frame shows none of its static focal points"


def is_large_enough(item: AnnotatedObject) -> bool:
    """The shorter side of its box is 24 px or more, in the median over the frames where it is visible."""
    sides = [min(box[2] - box[0], box[3] - box[1]) for box in item.boxes_xyxy if box is not None]
    return bool(sides) and float(np.median(sides)) >= LEAST_SIDE_PX


def share_of_picture(item: AnnotatedObject, clip: Clip) -> float:
    """Largest share of the picture that an object's box covers, in [0, 1]."""
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in item.boxes_xyxy if box is not None]
    return max(areas, default=0.0) / (clip.width_px * clip.height_px)


def most_unique_object(clip: Clip, annotation: Annotation, tracks: Sequence[ObjectTrack]) -> tuple[AnnotatedObject | None, str]:
    """The object that can be removed without touching others, and missed: its colours occur nowhere else.

    Args:
        tracks: the objects as found in the clip itself; one that was not found, or has look-alikes, cannot be missed.

    Returns:
        The object, or None; and the evidence, or the reason why there is none.
    """
    found = {track.name for track in tracks if track.status == "found"}
    fit = [
        item
        for item in annotation.objects
        if item.name in found and is_large_enough(item) and covered_share(item, annotation.objects) <= MOST_SHARED
    ]
    if not fit:
        return None, f"no object of {LEAST_SIDE_PX} px and more that others leave uncovered and that has no look-alike"
    unique = {item.name: unique_share(item, clip) for item in fit}
    best = max(fit, key=lambda item: unique[item.name])
    if unique[best.name] < LEAST_UNIQUE:
        return None, f"no object has colours of its own: {best.name} comes nearest with {unique[best.name]:.0%} of its box"
    return best, f"{best.name}: {unique[best.name]:.0%} of its box in colours of its own"


def covered_share(item: AnnotatedObject, objects: Sequence[AnnotatedObject]) -> float:
    """Share of an object's boxes, over all its frames, that the boxes of one other object cover: the largest such, in [0, 1]."""
    worst = 0.0
    for other in objects:
        if other.name == item.name:
            continue
        shared = total = 0.0
        for box, beside in zip(item.boxes_xyxy, other.boxes_xyxy, strict=False):
            if box is None:
                continue
            total += (box[2] - box[0]) * (box[3] - box[1])
            if beside is not None:
                width_px = min(box[2], beside[2]) - max(box[0], beside[0])
                height_px = min(box[3], beside[3]) - max(box[1], beside[1])
                shared += max(width_px, 0.0) * max(height_px, 0.0)
        worst = max(worst, shared / total if total else 1.0)
    return worst


def unique_share(item: AnnotatedObject, clip: Clip) -> float:
    """Share of an object's box that has colours which hardly occur outside of it, in [0, 1]; the mean over some frames."""
    visible = [frame for frame, box in enumerate(item.boxes_xyxy) if box is not None]
    chosen = {visible[k] for k in np.linspace(0, len(visible) - 1, LOOKS).round().astype(int)}
    shares = []
    for frame in sorted(chosen):
        _, rgb = next(iter(read_frames(clip.mp4, frame, frame + 1)))
        cells = (rgb >> 4).astype(np.int32) @ np.array([256, 16, 1])
        x0, y0, x1, y1 = (round(edge) for edge in item.boxes_xyxy[frame])
        inside = np.bincount(cells[y0:y1, x0:x1].ravel(), minlength=4096)
        outside = np.bincount(cells.ravel(), minlength=4096) - inside
        shares.append(inside[outside <= SCARCE * inside].sum() / max(inside.sum(), 1))
    return float(np.mean(shares))
