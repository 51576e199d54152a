"""The metric's rows: what counts, what is an error of the annotation, what cannot be scored."""

from pathlib import Path

import numpy as np
import pytest

from codecap.records import AnnotatedObject, Annotation, Clip, ObjectTrack, ObjectTracks, Outcome, Render
from codecap.score import Task, Unreached, Unscored, object_iou
from codecap.video import CanonicalWriter

WHOLE, HALF = (0.0, 0.0, 20.0, 20.0), (0.0, 0.0, 10.0, 20.0)


def task(objects, tracks, mp4=None) -> Task:
    clip = Clip(clip_id="T_001", category="F", mp4=Path("none.mp4"), sha256="0" * 64, frames=3, width_px=64, height_px=48)
    render = Render(system="s", clip_id="T_001", key="k", outcome=Outcome.OK, mp4=mp4)
    annotation = None if objects is None else Annotation(clip_id="T_001", objects=objects)
    if isinstance(tracks, list):
        tracks = ObjectTracks(system="s", clip_id="T_001", key="k", status="ok", tracks=tracks)
    return Task(clip, render, [(0, 3)], annotation=annotation, tracks=tracks)


def compare(*args, **kwargs):
    return object_iou.load({}).compare({}, {}, task(*args, **kwargs))


def test_one_row_an_object_with_its_status():
    objects = [
        AnnotatedObject(name="ball", boxes_xyxy=[WHOLE, WHOLE, None]),
        AnnotatedObject(name="cup", boxes_xyxy=[WHOLE, None, None]),
        AnnotatedObject(name="ghost", boxes_xyxy=[None, None, None]),
        AnnotatedObject(name="lost", boxes_xyxy=[WHOLE, None, None]),
    ]
    tracks = [
        ObjectTrack(name="cup", status="absent", boxes_xyxy=[None] * 3),
        ObjectTrack(name="ball", status="ambiguous", boxes_xyxy=[WHOLE, HALF, None]),
    ]
    ball, cup, ghost, lost = compare(objects, tracks)
    assert (ball.item, ball.kind, ball.value) == ("ball", "ambiguous", pytest.approx(75.0))
    assert (cup.kind, cup.value) == ("absent", 0.0)
    assert ghost.value is None and "visible in no frame" in ghost.detail
    assert lost.value is None and "no track" in lost.detail


@pytest.mark.parametrize(
    ("objects", "tracks", "why"),
    [
        (None, [], "no annotated object"),
        ([AnnotatedObject(name="ghost", boxes_xyxy=[None] * 3)], [], "no annotated object"),
        ([AnnotatedObject(name="ball", boxes_xyxy=[WHOLE] * 3)], None, "none were made"),
        (
            [AnnotatedObject(name="ball", boxes_xyxy=[WHOLE] * 3)],
            ObjectTracks(system="s", clip_id="T_001", key="none", status="quota used up"),
            "quota used up",
        ),
    ],
)
def test_unscored(objects, tracks, why):
    with pytest.raises(Unscored, match=why):
        compare(objects, tracks)


def test_tracks_that_could_not_be_had_this_time_are_asked_for_again():
    tracks = ObjectTracks(system="s", clip_id="T_001", key="none", status="cannot be read", retry=True)
    with pytest.raises(Unreached, match="cannot be read"):
        compare([AnnotatedObject(name="ball", boxes_xyxy=[WHOLE] * 3)], tracks)


def test_a_candidate_of_another_size_is_compared_in_the_references_pixels(tmp_path):
    with CanonicalWriter(tmp_path / "double.mp4", 128, 96) as writer:
        for _ in range(3):
            writer.add(np.zeros((96, 128, 3), np.uint8))
    objects = [AnnotatedObject(name="ball", boxes_xyxy=[WHOLE] * 3)]
    tracks = [ObjectTrack(name="ball", status="found", boxes_xyxy=[(0.0, 0.0, 40.0, 40.0)] * 3)]
    assert compare(objects, tracks, mp4=tmp_path / "double.mp4")[0].value == pytest.approx(100.0)


@pytest.mark.parametrize(
    ("reference", "found", "by_hand"),
    [
        ([WHOLE] * 3, [None] * 3, 0.0),  # absent from the candidate
        ([WHOLE, None, None], [None, WHOLE, WHOLE], 0.0),  # never at the same time
        ([WHOLE, WHOLE, None], [None, WHOLE, WHOLE], 100 / 3),  # one frame of three is right
        ([WHOLE] * 3, [WHOLE], 100 / 3),  # a video that ends early
        ([WHOLE] * 3, [], 0.0),  # a track without any frame
        ([WHOLE, None, None], [WHOLE, None, None, WHOLE], 100.0),  # what lies after the clip's end does not count
        ([None, WHOLE, None], [None, HALF, None], 50.0),  # one frame, half of it
    ],
)
def test_an_object_by_hand(reference, found, by_hand):
    objects = [AnnotatedObject(name="ball", visible_s=[], boxes_xyxy=reference)]  # boxes count, not the intervals
    (row,) = compare(objects, [ObjectTrack(name="ball", status="found", boxes_xyxy=found)])
    assert row.value == pytest.approx(by_hand)


def test_an_object_of_the_candidate_alone_has_no_row():
    objects = [AnnotatedObject(name="ball", boxes_xyxy=[WHOLE] * 3)]
    tracks = [ObjectTrack(name=name, status="found", boxes_xyxy=[WHOLE] * 3) for name in ("ghost", "ball")]
    assert [(row.item, row.value) for row in compare(objects, tracks)] == [("ball", pytest.approx(100.0))]
