"""The first seconds of a clip, and what damage makes of them: videos that the store keeps."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path

from codecap import spoiled
from codecap.clips import check_file
from codecap.clock import FPS
from codecap.fingerprint import code_digest
from codecap.records import Annotation, Certificate, Clip, FocalPoint, Outcome, Render
from codecap.store import Draft, ItemStore, digest_of
from codecap.validity import wording
from codecap.validity.damages import DAMAGES, UNCHANGED, Damage, frames_of
from codecap.video import CanonicalWriter, file_sha256, read_frames

OPENING_S = 3.0  # of each clip: eight kinds of damage in grades, for every metric, in minutes
LEAST_POINT_S = 0.5  # of a focal point that the opening must show
STAGE = "damage"
OPENING = "opening"
MADE_BY = ("codecap.validity.candidates", "codecap.validity.damages", "codecap.validity.wording")


def items_of(bulk: Path) -> ItemStore:
    return ItemStore(bulk, stage=STAGE, salt=[code_digest(*MADE_BY), OPENING_S])


def opening(clip: Clip, annotation: Annotation, bulk: Path) -> tuple[Clip, Annotation]:
    """The first seconds of a clip as a clip of its own, and of its annotation what they show."""
    frames = min(round(OPENING_S * FPS), clip.frames)
    items = items_of(bulk)
    item = items.get_or_make(OPENING, clip.clip_id, items.key(clip.sha256), lambda draft: _cut(clip, frames, draft))
    cut = clip.model_copy(update={"mp4": item.files["mp4"], "sha256": item.value["sha256"], "frames": frames})
    return cut, opening_of(annotation, frames)


def opening_of(annotation: Annotation, frames: int) -> Annotation:
    """What the first frames of a clip show: objects that are seen there, and the points of which there is enough."""
    end_s = frames / FPS
    objects = [item.model_copy(update={"boxes_xyxy": item.boxes_xyxy[:frames]}) for item in annotation.objects]
    seen = [item for item in objects if any(box is not None for box in item.boxes_xyxy)]
    names = {item.name for item in seen}
    points = [_point(point, end_s, names) for point in annotation.focal_points]
    return Annotation(clip_id=annotation.clip_id, objects=seen, focal_points=[point for point in points if point is not None])


def damaged(clip: Clip, annotation: Annotation, bulk: Path) -> Iterator[Render]:
    """The opening of a clip as it is, then damaged in every kind and grade that it is fit for.

    Args:
        clip, annotation: of the opening.
    """
    yield _candidate(clip, annotation, None, 0.0, bulk)
    for damage in DAMAGES.values():
        if not why_unfit(clip, annotation, damage):
            for grade in damage.grades:
                yield _candidate(clip, annotation, damage, grade, bulk)


def count(clip: Clip, annotation: Annotation) -> int:
    """How many candidates `damaged` yields."""
    return 1 + sum(len(damage.grades) for damage in DAMAGES.values() if not why_unfit(clip, annotation, damage))


def why_unfit(clip: Clip, annotation: Annotation, damage: Damage) -> str:
    """Why a clip cannot show a damage; empty where it can."""
    if damage.make is None and not wording.shows_words(clip.clip_id):
        return "it shows no words"
    return "" if annotation.objects or damage.name != "removed" else "it has no objects"


def _candidate(clip: Clip, annotation: Annotation, damage: Damage | None, grade: float, bulk: Path) -> Render:
    system = UNCHANGED if damage is None else damage.system(grade)
    items = items_of(bulk)
    drawn_from = [wording.page_digest(clip.clip_id)] if damage is not None and damage.make is None else []
    key = items.key(clip.sha256, digest_of(annotation.model_dump(mode="json")), system, *drawn_from)
    make = functools.partial(_made, clip, annotation, damage, grade)
    item = items.get_or_make(system, clip.clip_id, key, make)
    return Render(
        system=system,
        clip_id=clip.clip_id,
        key=key,
        outcome=Outcome.OK,
        mp4=item.files["mp4"],
        certificate=Certificate.model_validate(item.value),
    )


def _made(clip: Clip, annotation: Annotation, damage: Damage | None, grade: float, draft: Draft) -> dict[str, object]:
    if damage is not None and damage.make is None:
        made = wording.draw(clip, grade, draft.file("mp4"))
    else:
        frames = frames_of(clip, annotation, damage, grade)
        made = spoiled.write(UNCHANGED, clip, frames, draft.file("mp4")).certificate
    return made.model_dump(mode="json")


def _cut(clip: Clip, frames: int, draft: Draft) -> dict[str, str]:
    check_file(clip)
    mp4 = draft.file("mp4")
    with CanonicalWriter(mp4, clip.width_px, clip.height_px) as writer:
        for _, rgb in read_frames(clip.mp4, 0, frames):
            writer.add(rgb)
    return {"sha256": file_sha256(mp4)}


def _point(point: FocalPoint, end_s: float, objects: set[str]) -> FocalPoint | None:
    shown_s = min(point.end_s, end_s) - point.start_s
    if shown_s < LEAST_POINT_S or not set(point.objects) <= objects:
        return None
    return point.model_copy(update={"end_s": min(point.end_s, end_s)})
