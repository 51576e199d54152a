"""Objects of a drawn scene, followed by the embedded segmenter, and by one that finds masks."""

import runpy
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

from codecap import boxes
from codecap.annotate.tracking import ChosenSegmenter, TrackingError, chosen_segmenter, follow, prompt_of
from codecap.records import ObjectPrompt, ObjectTrack
from codecap.registry import Unavailable
from codecap.score.masks import rle
from codecap.score.segmenters import Segmented
from codecap.video import read_frames

scenes = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[1] / "score" / "scenes.py")))
FRAMES = 36
BALL = scenes.Thing("ball", "disc", (220, 60, 50), (30, 30), lambda f: (20 + 6 * f, 100))  # leaves the picture at no time
CARD = scenes.Thing("card", "card", (60, 80, 200), (64, 44), lambda f: (250 - 4 * f, 20))


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    return scenes.film(tmp_path_factory.mktemp("scene") / "F_1.mp4", [BALL, CARD], FRAMES)


@pytest.fixture(scope="module")
def segmenter():
    return ChosenSegmenter("color").load()


@dataclass(frozen=True)
class ByColour:
    """A segmenter whose mask is what is red, and which looks at no interval."""

    protocol: str = "red"
    proxy: bool = True

    def segment(self, mp4, frames, prompts) -> list[ObjectTrack]:
        return self.segment_masks(mp4, frames, prompts).tracks

    def segment_masks(self, mp4, frames, prompts) -> Segmented:
        masks = {frame: (rgb[..., 0] > 180) & (rgb[..., 1] < 100) for frame, rgb in read_frames(mp4)}
        track = ObjectTrack(name=prompts[0].name, status="found", boxes_xyxy=[rle.box_of(masks[k]) for k in range(frames)])
        told = {frame: rle.encode(mask) for frame, mask in masks.items()}
        return Segmented([track], {prompts[0].name: told}, scenes.HEIGHT_PX, scenes.WIDTH_PX)


def test_a_box_in_every_frame_both_ways(clip, segmenter):
    prompts = [prompt_of("ball", {12: BALL.box(12)}), prompt_of("card", {30: CARD.box(30)})]
    for thing, found in zip((BALL, CARD), follow(clip, prompts, segmenter), strict=True):
        true = [thing.box(frame) for frame in range(FRAMES)]
        assert found.track.status == "found" and boxes.object_iou(true, found.track.boxes_xyxy) > 0.93
        assert found.masks == {}


def test_nothing_outside_the_visible_intervals(clip, segmenter):
    visible_s = [(0.0, 0.25), (0.75, 1.0)]
    (found,) = follow(clip, [prompt_of("ball", {3: BALL.box(3), 30: BALL.box(30)}, visible_s)], segmenter)
    there = [frame for frame, box in enumerate(found.track.boxes_xyxy) if box is not None]
    assert there == [*range(6), *range(18, 24)]  # frame 30 is in no interval and shows nothing
    assert found.as_object("A red ball", visible_s).visible_s == visible_s


def test_it_hides_and_comes_back_elsewhere(tmp_path, segmenter):
    def place(frame):
        return (20, 60) if frame < 12 else (200 + frame, 90) if frame >= 24 else None

    hider = scenes.Thing("ball", "disc", (220, 60, 50), (30, 30), place)
    clip = scenes.film(tmp_path / "F_2.mp4", [hider], FRAMES)
    prompt = prompt_of("ball", {5: hider.box(5), 30: hider.box(30)}, [(0.0, 0.5), (1.0, 1.5)])
    (found,) = follow(clip, [prompt], segmenter)
    true = [hider.box(frame) for frame in range(FRAMES)]
    assert boxes.object_iou(true, found.track.boxes_xyxy) > 0.93


def test_shown_only_where_it_is_not_visible_it_is_absent(clip, segmenter):
    (found,) = follow(clip, [prompt_of("ball", {30: BALL.box(30)}, [(0.0, 0.5)])], segmenter)
    assert found.track.status == "absent" and set(found.track.boxes_xyxy) == {None}
    assert "visible intervals" in found.track.detail


def test_masks_go_with_the_boxes(clip):
    (found,) = follow(clip, [prompt_of("ball", {3: BALL.box(3)}, [(0.0, 0.5)])], ByColour())
    assert sorted(found.masks) == list(range(12)) and found.mask_size == (scenes.HEIGHT_PX, scenes.WIDTH_PX)
    assert rle.box_of(rle.decode(found.masks[5], *found.mask_size)) == found.track.boxes_xyxy[5]


def test_boxes_lie_in_the_picture_to_a_hundredth_of_a_pixel(clip, segmenter):
    x0, y0, x1, y1 = BALL.box(0)
    (found,) = follow(clip, [prompt_of("ball", {0: (x0 - 100, y0 + 1 / 3, x1, y1)})], segmenter)
    assert found.track.boxes_xyxy[0] == (0.0, round(y0 + 1 / 3, 2), x1, y1)


def test_points_are_told_apart_by_their_signs():
    prompt = prompt_of("ball", {4: (1, 2, 3, 4)}, points={4: [(1.5, 2.5, 1), (9, 9, -1)], 5: [(0, 0, 1)]})
    (shown,) = prompt.frames
    assert (shown.positive_xy, shown.negative_xy) == ([(1.5, 2.5)], [(9, 9)])


@pytest.mark.parametrize(
    "frame, box, told",
    [(FRAMES, (1, 1, 9, 9), "36 frames, from 0 on"), (0, (400, 1, 500, 9), "320x200"), (0, (9, 9, 1, 1), "empty")],
)
def test_prompts_that_cannot_be_meant(clip, segmenter, frame, box, told):
    with pytest.raises(TrackingError, match=told) as error:
        follow(clip, [prompt_of("ball", {frame: box})], segmenter)
    assert "F_1: object 'ball'" in str(error.value)


def test_an_absent_prompt_gives_an_absent_track(clip, segmenter):
    (found,) = follow(clip, [ObjectPrompt(name="ghost", status="absent")], segmenter)
    assert found.track.status == "absent" and found.track.boxes_xyxy == [None] * FRAMES


def test_the_segmenter_is_the_one_that_scores_use():
    entry = {"segmenter": "color", "segmenters": {"color": {}, "sam2": {"threads": 2}}}
    assert chosen_segmenter({"metrics": {"object_iou": entry}}) == ChosenSegmenter("color", {})
    assert chosen_segmenter({"metrics": {"object_iou": entry | {"segmenter": "sam2"}}}).settings == {"threads": 2}
    with pytest.raises(TrackingError, match="metrics.object_iou"):
        chosen_segmenter({"metrics": {}})
    with pytest.raises(Unavailable, match="no score.segmenters called 'sam9'"):
        ChosenSegmenter("sam9").load()
