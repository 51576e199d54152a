"""Prompter `match`: finds the reference's objects in a candidate by how they look there, without a model. A stand-in for an MLLM.

On a grid of frames each object's look in the reference is searched in the candidate at the same time, near its place first,
then in the whole picture. Look-alikes are told apart by where they are, after the step by which the objects without look-alikes
have moved; where that does not tell, an object is `ambiguous`, never guessed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import cv2
import numpy as np

from codecap.boxes import clipped
from codecap.clock import FPS
from codecap.records import AnnotatedObject, Clip, Interval, ObjectPrompt, PromptFrame
from codecap.score.matching.candidate import Finding, Told, displacement, find, tell_apart
from codecap.score.matching.reference import KnownObject, centre, grid, study
from codecap.score.segmenting.pictures import Picture
from codecap.video import decode, to_rgb

MOST_PROMPTS = 10  # representative frames of an object
LATE_FRAMES = FPS  # an object is looked for this long before and after its time in the reference
LEAST_SHARE = 0.15  # of the frames where it was looked for; found on fewer, it is absent


def load(settings: Mapping[str, object]) -> MatchPrompter:
    """The prompter; it has no settings."""
    if settings:
        raise ValueError(f"prompter match has no setting {', '.join(sorted(settings))}")
    return MatchPrompter()


class MatchPrompter:
    protocol: str = "match 1: looks of the reference on a grid, look-alikes by place"
    proxy: bool = True

    def __init__(self) -> None:
        self._known: tuple[str, list[KnownObject]] | None = None

    def prompt(self, objects: Sequence[AnnotatedObject], clip: Clip, candidate_mp4: Path) -> list[ObjectPrompt]:
        """One prompt an object; see the protocol in `prompters`. Boxes and points are in the candidate's own pixels."""
        known = self._study(objects, clip)
        findings, size = search(known, clip, candidate_mp4)
        unique = [finding for item, found in zip(known, findings, strict=True) if not item.has_twins for finding in found]
        step = displacement(unique)
        moved = np.zeros(2) if step is None else step
        told = [[tell_apart(finding, moved) for finding in found] for found in findings]
        grow = np.array([size[0] / clip.width_px, size[1] / clip.height_px] * 2)
        return [_prompt(item, result, clip, grow) for item, result in zip(known, told, strict=True)]

    def _study(self, objects: Sequence[AnnotatedObject], clip: Clip) -> list[KnownObject]:
        """The reference is learned once for all candidates that follow one another."""
        what = "\n".join([clip.sha256, str(clip.mp4), *(item.model_dump_json() for item in objects)])
        if self._known is None or self._known[0] != what:
            self._known = (what, study(objects, clip))
        return self._known[1]


def search(known: Sequence[KnownObject], clip: Clip, mp4: Path) -> tuple[list[list[Finding]], tuple[int, int]]:
    """Look for all objects on the grid's frames of a candidate: findings of each object, and the candidate's width and height."""
    frames = set(grid(clip.frames)) | {sample.frame for item in known for sample in item.samples}
    findings: list[list[Finding]] = [[] for _ in known]
    size = (clip.width_px, clip.height_px)
    for frame, decoded in decode(mp4, 0, clip.frames):
        if frame not in frames:
            continue
        rgb = to_rgb(decoded)
        size = (rgb.shape[1], rgb.shape[0])
        if size != (clip.width_px, clip.height_px):
            rgb = cv2.resize(rgb, (clip.width_px, clip.height_px), interpolation=cv2.INTER_AREA)
        picture = Picture(rgb)
        for item, found in zip(known, findings, strict=True):
            if not item.samples:
                continue
            sample = item.at(frame)
            if abs(sample.frame - frame) <= LATE_FRAMES:
                found.append(find(frame, picture, sample, item.has_twins))
    return findings, size


def _prompt(item: KnownObject, told: Sequence[Told], clip: Clip, grow: np.ndarray) -> ObjectPrompt:
    hits = [one for one in told if one.match is not None]
    if not item.samples:
        return ObjectPrompt(name=item.name, status="absent", detail="visible on no frame of the reference")
    if len(hits) < max(LEAST_SHARE * len(item.samples), 1):
        if any(one.unsure for one in told):
            return ObjectPrompt(name=item.name, status="ambiguous", detail="only look-alikes, none of them near its place")
        return ObjectPrompt(name=item.name, status="absent", detail=f"found on {len(hits)} of {len(told)} frames")
    frames = [frame for one in _spread(hits) if (frame := _prompt_frame(item, one, clip, grow))]
    detail = "has look-alikes, told by its place" if item.has_twins else ""
    return ObjectPrompt(name=item.name, status="found", visible_s=_visible(hits, told, clip), frames=frames, detail=detail)


def _spread(hits: Sequence[Told]) -> list[Told]:
    """Representative frames: of each of up to `MOST_PROMPTS` equal parts of the hits, the best one."""
    parts = np.array_split(np.arange(len(hits)), min(MOST_PROMPTS, len(hits)))
    return [max((hits[index] for index in part), key=lambda one: one.match.likeness) for part in parts]


def _visible(hits: Sequence[Told], told: Sequence[Told], clip: Clip) -> list[Interval]:
    """Intervals from a frame after the last one without the object to the first one without it again."""
    seen = {one.frame for one in hits}
    looked = sorted(one.frame for one in told)
    step = grid(clip.frames).step
    intervals: list[Interval] = []
    for frame in looked:
        if frame not in seen:
            continue
        start_s, end_s = max(frame - step + 1, 0) / FPS, min(frame + step, clip.frames) / FPS
        if intervals and start_s <= intervals[-1][1] + step / FPS:
            intervals[-1] = (intervals[-1][0], end_s)
        else:
            intervals.append((start_s, end_s))
    return intervals


def _prompt_frame(item: KnownObject, one: Told, clip: Clip, grow: np.ndarray) -> PromptFrame | None:
    box = clipped(one.match.box_xyxy, clip.width_px, clip.height_px)
    if box is None:
        return None
    sample = item.at(one.frame)
    look = sample.look
    point = one.match.box_xyxy[:2] + _inner_point(look.fine.weight, look.fine.inset_xyxy) * (
        one.match.box_xyxy[2:] - one.match.box_xyxy[:2]
    )
    inside = box[0] <= point[0] < box[2] and box[1] <= point[1] < box[3]
    twins = sample.twins_xy + (centre(one.match.box_xyxy) - sample.centre_xy)
    negative = [
        tuple(float(v) for v in twin * grow[:2]) for twin in twins if 0 <= twin[0] < clip.width_px and 0 <= twin[1] < clip.height_px
    ]
    return PromptFrame(
        frame=one.frame,
        box_xyxy=tuple(float(v) for v in np.array(box) * grow),
        positive_xy=[tuple(float(v) for v in point * grow[:2])] if inside else [],
        negative_xy=negative,
    )


def _inner_point(weight: np.ndarray, inset_xyxy: np.ndarray) -> np.ndarray:
    """The object's pixel that is furthest from its outline, as a share `(x, y)` of the box."""
    depth = cv2.distanceTransform(np.pad(weight, 1).astype(np.uint8), cv2.DIST_L2, 3)[1:-1, 1:-1]
    y, x = np.unravel_index(int(depth.argmax()), depth.shape)
    return (np.array([x + 0.5, y + 0.5]) - inset_xyxy[:2]) / (inset_xyxy[2:] - inset_xyxy[:2])
