import numpy as np
import pytest
from pydantic import ValidationError

from codecap.annotate.proposers.embedded import load
from codecap.annotate.validate import problems
from codecap.boxes import object_iou
from codecap.records import Clip
from codecap.video import CanonicalWriter

WIDTH_PX, HEIGHT_PX = 320, 180


def made(path, pictures):
    with CanonicalWriter(path, WIDTH_PX, HEIGHT_PX) as writer:
        for picture in pictures:
            writer.add(picture)
    return Clip(clip_id="X_1", category="F", mp4=path, sha256="0", frames=writer.frames, width_px=WIDTH_PX, height_px=HEIGHT_PX)


def scene(*squares):
    picture = np.full((HEIGHT_PX, WIDTH_PX, 3), (20, 30, 60), np.uint8)
    for (x0, y0, x1, y1), colour in squares:
        picture[y0:y1, x0:x1] = colour
    return picture


RED, YELLOW = (220, 40, 40), (240, 210, 60)


@pytest.fixture(scope="module")
def moving(tmp_path_factory):
    """A red square that rests, moves right by 120 px in frames 24-48 and rests; a yellow one that is there from frame 36 on."""
    truth, pictures = {"red": [], "yellow": []}, []
    for frame in range(72):
        left = 40 + 5 * min(max(frame - 24, 0), 24)
        truth["red"].append((left, 40, left + 40, 80))
        truth["yellow"].append((60, 120, 90, 150) if frame >= 36 else None)
        shown = [(truth["red"][-1], RED)] + ([(truth["yellow"][-1], YELLOW)] if frame >= 36 else [])
        pictures.append(scene(*shown))
    clip = made(tmp_path_factory.mktemp("proposer") / "moving.mp4", pictures)
    return clip, truth, load({}).propose(clip)


def test_it_finds_the_objects_where_they_are(moving):
    _, truth, drafted = moving
    for boxes in truth.values():
        assert max(object_iou(boxes, item.boxes_xyxy) for item in drafted.objects) >= 0.9


def test_it_finds_what_happens_and_when(moving):
    _, _, drafted = moving
    dynamic = [point for point in drafted.focal_points if point.kind == "dynamic"]
    (move,) = [point for point in dynamic if "moves right by 120 px" in point.description]
    assert "red" in move.description
    assert move.start_s == pytest.approx(1.0, abs=0.1) and move.end_s == pytest.approx(2.0, abs=0.1)
    (coming,) = [point for point in dynamic if "appears" in point.description]
    assert "yellow" in coming.description
    assert coming.start_s < 1.5 < coming.end_s


def test_its_draft_is_valid_and_the_same_every_time(moving):
    clip, _, drafted = moving
    assert [problem for problem in problems(drafted, clip) if problem.severity == "error"] == []
    assert load({}).propose(clip) == drafted
    assert {point.kind for point in drafted.focal_points} == {"static", "dynamic"}


@pytest.mark.parametrize(
    "pictures", [[scene()], [scene()] * 30, [scene(((40, 40, 80, 80), RED))]], ids=["one empty", "empty", "one"]
)
def test_there_is_always_an_object_and_a_static_point(tmp_path, pictures):
    clip = made(tmp_path / "still.mp4", pictures)
    drafted = load({}).propose(clip)
    assert drafted.objects and any(point.kind == "static" for point in drafted.focal_points)
    assert [problem for problem in problems(drafted, clip) if problem.severity == "error"] == []


def test_a_strip_that_is_made_small_still_has_neighbours_above_and_below(tmp_path):
    mp4 = tmp_path / "strip.mp4"
    with CanonicalWriter(mp4, 1600, 4) as writer:
        for _ in range(3):
            writer.add(np.full((4, 1600, 3), 60, np.uint8))
    clip = Clip(clip_id="X_1", category="F", mp4=mp4, sha256="0", frames=3, width_px=1600, height_px=4)
    assert load({}).propose(clip).objects


def test_an_unknown_setting_is_refused():
    with pytest.raises(ValidationError, match="colour"):
        load({"colour": 3})
