"""The prompter on drawn scenes: what is found, what is absent, and that look-alikes are told by place or not at all."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from codecap.records import AnnotatedObject
from codecap.score.prompters import match

scenes = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[1] / "scenes.py")))
FRAMES = 40

BALL = scenes.Thing("ball", "disc", (220, 60, 50), (30, 30), lambda f: (20 + 3 * f, 100))
CARD = scenes.Thing("card", "card", (60, 80, 200), (64, 44), lambda f: (200, 20 + f))
LEFT = scenes.Thing("left", "disc", (40, 160, 90), (26, 26), lambda f: (30, 20))
RIGHT = scenes.Thing("right", "disc", (40, 160, 90), (26, 26), lambda f: (110, 20))
ALL = [BALL, CARD, LEFT, RIGHT]


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    return scenes.film(tmp_path_factory.mktemp("reference") / "reference.mp4", ALL, FRAMES)


@pytest.fixture
def ask(reference, tmp_path):
    def run(things=ALL, **how):
        candidate = scenes.film(tmp_path / "candidate.mp4", things, FRAMES, **how)
        prompts = match.load({}).prompt([thing.annotated(FRAMES) for thing in ALL], reference, candidate.mp4)
        return {prompt.name: prompt for prompt in prompts}

    return run


def test_the_reference_itself(ask):
    prompts = ask()
    for thing in ALL:
        prompt = prompts[thing.name]
        assert prompt.status == "found" and prompt.frames
        assert prompt.visible_s == [(0.0, FRAMES / 24)]
        for shown in prompt.frames:
            assert np.allclose(shown.box_xyxy, thing.box(shown.frame), atol=1)
            (x, y), (x0, y0, x1, y1) = shown.positive_xy[0], thing.box(shown.frame)
            assert x0 < x < x1 and y0 < y < y1
    assert prompts["left"].frames[0].negative_xy == [pytest.approx((123.0, 33.0), abs=2)]


def test_a_black_video_has_nothing(ask):
    assert {prompt.status for prompt in ask(black=True).values()} == {"absent"}


def test_an_object_that_was_removed(ask):
    statuses = {name: prompt.status for name, prompt in ask([CARD, LEFT, RIGHT]).items()}
    assert statuses == {"ball": "absent", "card": "found", "left": "found", "right": "found"}


def test_one_of_two_look_alikes_removed(ask):
    prompts = ask([BALL, CARD, RIGHT])
    assert (prompts["left"].status, prompts["right"].status) == ("absent", "found")


def test_look_alikes_keep_their_identity_when_the_picture_is_shifted_onto_the_other_ones_place(ask):
    prompts = ask(step_px=(80, 0))
    assert np.allclose(prompts["left"].frames[0].box_xyxy[0], LEFT.box(0)[0] + 80, atol=2)
    assert np.allclose(prompts["right"].frames[0].box_xyxy[0], RIGHT.box(0)[0] + 80, atol=2)


def test_look_alikes_that_went_elsewhere_are_ambiguous(ask):
    moved = [
        scenes.Thing(name, "disc", (40, 160, 90), (26, 26), place)
        for name, place in (("left", lambda f: (60, 165)), ("right", lambda f: (140, 165)))
    ]
    prompts = ask([BALL, CARD, *moved])
    for name in ("left", "right"):
        assert prompts[name].status == "ambiguous" and not prompts[name].frames


def test_late_and_shorter_visible(ask):
    short = scenes.Thing("card", "card", (60, 80, 200), (64, 44), lambda f: (200, 20 + f) if f >= 18 else None)
    (start_s, end_s), *more = ask([BALL, short, LEFT, RIGHT])["card"].visible_s
    assert not more and end_s == FRAMES / 24 and 12 / 24 < start_s <= 18 / 24


def test_an_object_that_is_visible_between_the_frames_of_the_grid(reference):
    boxes = [BALL.box(frame) if frame in (8, 9) else None for frame in range(FRAMES)]
    blink = AnnotatedObject(name="blink", boxes_xyxy=boxes)
    prompt = match.load({}).prompt([blink], reference, reference.mp4)[0]
    assert prompt.status == "found"


def test_no_settings():
    with pytest.raises(ValueError, match="no setting"):
        match.load({"speed": 2})
