"""A drawn clip with a cut: what changes, what is wrong and what is doubtful, by one decoding."""

import numpy as np
import pytest

from codecap.annotate.examining import cuts_of, examine
from codecap.records import AnnotatedObject, Annotation, Clip, FocalPoint
from codecap.video import CanonicalWriter, VideoError, file_sha256

FRAMES, CUT = 48, 30
RED, BLUE = (200, 30, 30), (30, 60, 200)


def place(name, frame):
    """Red goes right above, blue stands below; after the cut both are elsewhere."""
    x, y = (10 + 2 * frame, 10) if name == "red" else (40, 60)
    return (x, y, x + 24, y + 16) if frame < CUT else (x + 40, y + 10, x + 64, y + 26)


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    mp4 = tmp_path_factory.mktemp("clip") / "A_1.mp4"
    with CanonicalWriter(mp4, 192, 108) as writer:
        for frame in range(FRAMES):
            rgb = np.full((108, 192, 3), 235 if frame < CUT else 20, np.uint8)
            for name, colour in (("red", RED), ("blue", BLUE)):
                x0, y0, x1, y1 = place(name, frame)
                rgb[y0:y1, x0:x1] = colour
            writer.add(rgb)
    size = {"frames": FRAMES, "width_px": 192, "height_px": 108}
    return Clip(clip_id="A_1", category="A", mp4=mp4, sha256=file_sha256(mp4), **size)


def tracked(name, like=None, first=FRAMES):
    """An object with its true boxes, from `first` on with those of another one."""
    return [tuple(map(float, place(name if frame < first else like, frame))) for frame in range(FRAMES)]


def annotation(red):
    tracks = {"red": red, "blue": tracked("blue")}
    objects = [AnnotatedObject(name=name, description=name, boxes_xyxy=boxes) for name, boxes in tracks.items()]
    points = [
        FocalPoint(focal_id="goes", kind="dynamic", description="Red goes right", start_s=0.2, end_s=1.0, objects=["red"]),
        FocalPoint(focal_id="moves", kind="dynamic", description="Blue moves", start_s=0.2, end_s=1.0, objects=["blue"]),
        FocalPoint(focal_id="blue", kind="static", description="Blue is at the left", start_s=0.0, end_s=1.0, objects=["blue"]),
    ]
    return Annotation(clip_id="A_1", objects=objects, focal_points=points)


def test_right_tracks_are_not_doubted_and_a_point_without_change_is_told(clip):
    found = examine(annotation(tracked("red")), clip)
    assert cuts_of(found.changes) == [CUT] and found.signals == {}
    assert [(problem.rule, problem.about) for problem in found.problems] == [("dynamic_without_change", "focal_points/moves")]
    assert found.looks.typical("red").round(-1).max(axis=(0, 1)).tolist() == pytest.approx(RED, abs=10)


def test_a_track_that_goes_over_to_another_object_is_seen_by_what_it_shows(clip):
    found = examine(annotation(tracked("red", "blue", 12)), clip)
    swap = next(signal for signal in found.signals["red"] if signal.signal == "identity_swap")
    assert swap.frames[0] == 12 and {signal.signal for signal in found.signals["red"]} >= {"jump", "identity_swap"}


def test_a_clip_that_cannot_be_read(clip, tmp_path):
    with pytest.raises(VideoError, match="none.mp4"):
        examine(annotation(tracked("red")), clip.model_copy(update={"mp4": tmp_path / "none.mp4"}))
