"""Which clips can show what: measured, never told."""

import numpy as np
import pytest

from codecap.records import AnnotatedObject, Annotation, FocalPoint, ObjectTrack
from codecap.selftest import fitness


def test_a_clip_with_a_direction_is_fit(clip_of, tile_clip):
    clip = clip_of("T_run", tile_clip())
    assert fitness.unfit_for_reversal(clip) == ""
    assert fitness.unfit_for_delay(clip) == ""


def test_there_and_back_has_no_direction(clip_of, tile_clip):
    there = tile_clip(30)
    clip = clip_of("T_back", there + there[::-1])
    assert "looks the same backwards" in fitness.unfit_for_reversal(clip)


def test_a_still_clip_is_fit_for_nothing(clip_of, tile_clip):
    clip = clip_of("T_still", tile_clip()[:1] * 48)
    assert fitness.unfit_for_reversal(clip) == "it hardly moves"
    assert "does not move" in fitness.unfit_for_delay(clip)


def test_a_loop_is_not_fit_for_delays(clip_of, tile_clip):
    clip = clip_of("T_loop", tile_clip(14) * 6)
    assert "later" in fitness.unfit_for_delay(clip) or "repeats itself" in fitness.unfit_for_delay(clip)


def thing(name: str, *boxes) -> AnnotatedObject:
    return AnnotatedObject(name=name, boxes_xyxy=list(boxes))


def test_covered_share_by_hand():
    first = thing("a", (0, 0, 10, 10), (0, 0, 10, 10), None)
    assert fitness.covered_share(first, [first, thing("b", (5, 0, 15, 10), None, (0, 0, 9, 9))]) == pytest.approx(0.25)
    assert fitness.covered_share(first, [first]) == 0.0


def test_size_is_the_shorter_side_in_the_median():
    assert fitness.is_large_enough(thing("a", (0, 0, 24, 90), (0, 0, 30, 90), None, (0, 0, 5, 90)))
    assert not fitness.is_large_enough(thing("a", (0, 0, 23, 90)))
    assert not fitness.is_large_enough(thing("a", None))


def test_the_object_with_colours_of_its_own_is_chosen(clip_of, tile_clip, tile_annotation):
    clip = clip_of("T_run", tile_clip())
    annotation = tile_annotation("T_run")
    tracks = [ObjectTrack(name=item.name, status="found", boxes_xyxy=item.boxes_xyxy) for item in annotation.objects]
    found, evidence = fitness.most_unique_object(clip, annotation, tracks)
    assert found.name == "tile"
    assert "of its box in colours of its own" in evidence


def test_a_look_alike_cannot_be_missed(clip_of, tile_clip, tile_annotation):
    clip = clip_of("T_run", tile_clip())
    annotation = tile_annotation("T_run")
    tracks = [ObjectTrack(name=item.name, status="ambiguous", boxes_xyxy=item.boxes_xyxy) for item in annotation.objects]
    assert fitness.most_unique_object(clip, annotation, tracks)[0] is None


def test_an_object_with_a_twin_has_no_colours_of_its_own(clip_of, tile_clip):
    video = tile_clip()
    for rgb in video:
        rgb[4:40, 120:156] = rgb[112:118, 20:56].mean(axis=(0, 1)).astype(np.uint8)
    clip = clip_of("T_two", video)
    bar = thing("bar", *[(20, 112, 140, 118)] * 60)
    assert fitness.unique_share(bar, clip) < 0.1


def test_a_first_frame_shows_static_content_that_starts_there_or_stands_there(clip_of, tile_clip):
    clip = clip_of("T_run", tile_clip())
    stays, leaves = [(20, 112, 140, 118)] * 60, [None] * 30 + [(0, 0, 40, 40)] * 30

    def unfit(start_s: float, boxes) -> str:
        point = FocalPoint(focal_id="p", kind="static", description="d", start_s=start_s, end_s=2.5, objects=["a"])
        annotation = Annotation(clip_id="T_run", objects=[thing("a", *boxes)], focal_points=[point])
        return fitness.unfit_for_freezing(clip, annotation)

    assert unfit(0.0, leaves) == ""
    assert unfit(1.5, stays) == ""
    assert "shows none" in unfit(1.5, leaves)
