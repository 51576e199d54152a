"""Counts of a data set, by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from codecap.publish.statistics import in_bins, spread, statistics_of
from codecap.records import AnnotatedObject, Annotation, Clip, FocalPoint


def clip(clip_id: str, frames: int) -> Clip:
    return Clip(clip_id=clip_id, category=clip_id[0], mp4=Path("x.mp4"), sha256="0", frames=frames, width_px=2, height_px=2)


def annotation(clip_id: str, objects: int, static: int, dynamic: int) -> Annotation:
    kinds = ["static"] * static + ["dynamic"] * dynamic
    return Annotation(
        clip_id=clip_id,
        objects=[AnnotatedObject(name=f"o{number}", boxes_xyxy=[]) for number in range(objects)],
        focal_points=[
            FocalPoint(
                focal_id=f"f{number}", kind=kind, description="x", start_s=number, end_s=number + (2 if kind == "static" else 0.5)
            )
            for number, kind in enumerate(kinds)
        ],
    )


def test_all_clips_count_for_durations_and_the_annotated_for_the_rest() -> None:
    told = {"A_1": annotation("A_1", 3, 1, 2), "B_1": annotation("B_1", 5, 0, 1), "Z_gone": annotation("Z_gone", 9, 9, 9)}
    found = statistics_of([clip("B_1", 24), clip("A_1", 60), clip("A_2", 96)], told)
    assert (found.clips, found.annotated, found.categories) == (3, 2, {"A": 2, "B": 1})
    assert found.durations_s == [2.5, 4.0, 1.0] and found.objects == [3, 5] and found.focal_points == [3, 1]
    assert sorted(found.intervals_s) == [0.5, 0.5, 0.5, 2.0]
    told = spread(found.durations_s)
    assert told is not None and (told.mean, told.median, told.least, told.most) == (2.5, 2.5, 1.0, 4.0)
    assert spread([]) is None


def test_bins() -> None:
    assert in_bins([0, 1.9, 2, 3.999, 10], width=2, bins=3) == [2, 2, 1]
    assert in_bins([0.3, 0.1 + 0.2], width=0.1, bins=5) == [0, 0, 0, 2, 0]


def test_nothing_at_all() -> None:
    found = statistics_of([], {})
    assert (found.clips, found.categories, found.focal_points) == (0, {}, [])
    with pytest.raises(ValueError, match="frozen"):
        found.clips = 1
