"""The segmenter on drawn scenes whose boxes are known."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

from codecap import boxes
from codecap.records import ObjectPrompt, PromptFrame
from codecap.score.segmenters import color

scenes = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[1] / "scenes.py")))
FRAMES = 40
EVER = [(0.0, 10.0)]


def prompt(thing, *frames: int, visible_s=EVER) -> ObjectPrompt:
    shown = [PromptFrame(frame=frame, box_xyxy=thing.box(frame)) for frame in frames]
    return ObjectPrompt(name=thing.name, status="found", visible_s=list(visible_s), frames=shown)


def follow(tmp_path, things, prompts):
    clip = scenes.film(tmp_path / "scene.mp4", things, FRAMES)
    return color.load({}).segment(clip.mp4, FRAMES, prompts)


def overlap(thing, track) -> float:
    return boxes.object_iou([thing.box(frame) for frame in range(FRAMES)], track.boxes_xyxy)


def test_from_one_frame_both_ways_over_a_changing_ground(tmp_path):
    ball = scenes.Thing("ball", "disc", (220, 60, 50), (30, 30), lambda f: (20 + 5 * f, 100 + 2 * f))
    card = scenes.Thing("card", "card", (60, 80, 200), (64, 44), lambda f: (250 - 4 * f, 20))
    tracks = follow(tmp_path, [ball, card], [prompt(ball, 17), prompt(card, 30)])
    for thing, track in zip([ball, card], tracks, strict=True):
        assert track.status == "found" and overlap(thing, track) > 0.93


def test_leaves_and_comes_back(tmp_path):
    ball = scenes.Thing("ball", "disc", (220, 60, 50), (30, 30), lambda f: (280 + 4 * f if f < 20 else 436 - 4 * f, 60))
    track = follow(tmp_path, [ball], [prompt(ball, 2)])[0]
    absent = [frame for frame in range(FRAMES) if ball.box(frame) is None]
    assert absent and all(track.boxes_xyxy[frame] is None for frame in absent)
    assert overlap(ball, track) > 0.85


def test_appears_and_vanishes_in_the_middle(tmp_path):
    ball = scenes.Thing("ball", "disc", (220, 60, 50), (30, 30), lambda f: (140, 60) if 10 <= f < 28 else None)
    track = follow(tmp_path, [ball], [prompt(ball, 20)])[0]
    assert [box is not None for box in track.boxes_xyxy] == [10 <= frame < 28 for frame in range(FRAMES)]


def test_only_where_the_prompt_says_that_it_is_visible(tmp_path):
    ball = scenes.Thing("ball", "disc", (220, 60, 50), (30, 30), lambda f: (140, 60))
    track = follow(tmp_path, [ball], [prompt(ball, 15, visible_s=[(0.5, 1.0)])])[0]
    assert [frame for frame, box in enumerate(track.boxes_xyxy) if box] == list(range(12, 24))


def test_a_look_alike_makes_it_ambiguous_and_is_not_taken_for_it(tmp_path):
    first = scenes.Thing("first", "disc", (220, 60, 50), (30, 30), lambda f: (60, 40) if f < 25 else None)
    second = scenes.Thing("second", "disc", (220, 60, 50), (30, 30), lambda f: (200, 90))
    other = scenes.Thing("other", "disc", (40, 90, 220), (30, 30), lambda f: (120, 20))
    things = [first, second, other]
    tracks = follow(tmp_path, things, [prompt(first, 5), prompt(second, 5), prompt(other, 5)])
    assert [track.status for track in tracks] == ["ambiguous", "ambiguous", "found"]
    assert all(overlap(thing, track) > 0.9 for thing, track in zip(things, tracks, strict=True))


def test_absent_ambiguous_and_bad_prompts(tmp_path):
    ball = scenes.Thing("ball", "disc", (220, 60, 50), (30, 30), lambda f: (140, 60))
    absent = ObjectPrompt(name="a", status="absent")
    ambiguous = ObjectPrompt(name="b", status="ambiguous", detail="two alike")
    tracks = follow(tmp_path, [ball], [absent, ambiguous])
    assert [track.status for track in tracks] == ["absent", "ambiguous"]
    assert all(track.boxes_xyxy == [None] * FRAMES for track in tracks)
    with pytest.raises(ValueError, match="on no frame"):
        follow(tmp_path, [ball], [ObjectPrompt(name="c", status="found")])
    with pytest.raises(ValueError, match="frame 50 in a video of 40"):
        follow(tmp_path, [ball], [prompt(ball, 50)])
    with pytest.raises(ValueError, match="no setting"):
        color.load({"speed": 2})


def test_a_bar_that_grows_is_followed_by_its_colour(tmp_path):
    class Bar(scenes.Thing):
        def box(self, frame):
            return (100.0, 140.0 - 2.0 * frame, 130.0, 150.0)

        def draw(self, rgb, frame):
            rgb[140 - 2 * frame : 150, 100:130] = (230, 120, 30)

    bar = Bar("bar", "card", (0, 0, 0), (10, 10), lambda f: (0, 0))
    track = follow(tmp_path, [bar], [prompt(bar, 30)])[0]
    assert overlap(bar, track) > 0.8
