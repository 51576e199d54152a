"""The prompter against a server: what it is shown, what is read, and where that lies in the candidate's own pixels."""

import json
import re

import numpy as np
import pytest
from loopback import Loopback

from codecap import registry
from codecap.clock import FPS
from codecap.exchange import Endpoint, Picture, session
from codecap.records import AnnotatedObject, Annotation, Outcome, Render
from codecap.score import Unreached, Unscored
from codecap.score.asking.objects import reference_frames
from codecap.score.engine.choice import Choice
from codecap.score.engine.objects import prompt_shard
from codecap.score.engine.single import clip_of
from codecap.score.prompters import mllm
from codecap.video import CanonicalWriter

FRAMES, WIDTH_PX, HEIGHT_PX = 72, 120, 80
BALL = AnnotatedObject(name="ball", description="A red ball", boxes_xyxy=[(10 + k, 40, 26 + k, 56) for k in range(FRAMES)])
SIGN = AnnotatedObject(
    name="sign", description="A blue sign", boxes_xyxy=[(60, 4, 90, 20) if k < 36 else None for k in range(FRAMES)]
)


def film(mp4, width_px=WIDTH_PX, height_px=HEIGHT_PX):
    with CanonicalWriter(mp4, width_px, height_px) as writer:
        for k in range(FRAMES):
            rgb = np.full((height_px, width_px, 3), 230, np.uint8)
            rgb[height_px // 2 : height_px // 2 + 16, 10 + k : 26 + k] = (220, 40, 40)
            writer.add(rgb)
    return clip_of(mp4, "T_001")


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    return film(tmp_path_factory.mktemp("clips") / "T_001.mp4")


def seeing(**changes):
    """A model that finds the ball from 0.5 s to 1.5 s, and its box on two frames; the sign is absent. `changes` spoil it."""
    ball = {"name": "ball", "status": "found", "visible": [{"first_s": 0.5, "last_s": 1.5}], "frames_s": [0.5, 1.52]}
    sign = {"name": "sign", "status": "absent", "visible": [], "frames_s": []}
    place = {
        "shown": True,
        "box": {"x0": 100, "y0": 500, "x1": 250, "y1": 700},
        "positive": [{"x": 150.5, "y": 600}],
        "negative": [{"x": 50, "y": 600}],
    }

    def answer(asked: str) -> dict:
        names = re.findall(r'^  "name": "(\w+)"', asked, re.MULTILINE)
        if '{"objects": [' in asked:
            told = {"ball": ball | changes.get("find", {}), "sign": sign}
            return changes.get("whole") or {"objects": [told[name] for name in names]}
        times = [float(time) for time in re.findall(r"RENDER, frame at ([\d.]+) s", asked)]
        return {"frames": [{"time_s": time, **place, **changes.get("place", {})} for time in times]}

    return answer


def endpoint(server: Loopback, **told) -> dict:
    return {"api": "openai", "model": "prompter-1", "base_url": server.base_url(), **told}


def prompts(tmp_path, server, clip, candidate=None, objects=(BALL, SIGN), **settings):
    made = registry.make("score.prompters", "mllm", {"endpoint": endpoint(server), **settings})
    with session(tmp_path / "store", {"tries": 1}):
        return made.prompt(list(objects), clip, candidate or clip.mp4)


def test_a_found_and_an_absent_object(tmp_path, clip):
    with Loopback(seeing()) as server:
        ball, sign = prompts(tmp_path, server, clip)
        assert server.account.calls == 3  # two objects are looked for, one is marked
    assert (sign.name, sign.status, sign.frames, sign.visible_s) == ("sign", "absent", [], [])
    assert (ball.name, ball.status) == ("ball", "found")
    assert ball.visible_s == [(1 / FPS, 2.0)]  # seen from 0.5 s to 1.5 s; not seen at 0 s and at 2 s
    assert [frame.frame for frame in ball.frames] == [12, 36]  # 1.52 s is nearest to the frame shown at 1.5 s
    assert ball.frames[0].box_xyxy == pytest.approx((12, 40, 30, 56))  # thousandths of 120 x 80
    assert ball.frames[0].positive_xy == [pytest.approx((18.06, 48))]
    assert ball.frames[0].negative_xy == [pytest.approx((6, 48))]


def test_places_are_in_the_candidates_own_pixels(tmp_path, clip):
    larger = film(tmp_path / "larger.mp4", 240, 120)
    with Loopback(seeing()) as server:
        ball, _ = prompts(tmp_path, server, clip, candidate=larger.mp4)
    assert ball.frames[0].box_xyxy == pytest.approx((24, 60, 60, 84))


def test_what_is_shown(tmp_path, clip):
    with Loopback(seeing()) as server:
        prompts(tmp_path, server, clip, reference_frames=2)
        find = next(
            body for body in server.bodies if '"name": "ball"' in str(body).replace('\\"', '"') and "ambiguous" in str(body)
        )
        parts = find["messages"][-1]["content"]
        said = [part["text"] for part in parts if part["type"] == "text"]
        assert [text for text in said if text.startswith("Render, ")] == [f"Render, {k / 2:.3f} s" for k in range(6)]
        known = [text for text in said if text.startswith("REFERENCE")]
        assert [text.split(" s. ")[0] + " s" for text in known] == ["REFERENCE, frame at 0.750 s", "REFERENCE, frame at 2.250 s"]
        boxes = json.loads(known[0].split("Boxes: ")[1])
        assert boxes == [{"name": "ball", "x0": 233.3, "y0": 500.0, "x1": 366.7, "y1": 700.0}]
        assert sum(part["type"] == "image_url" for part in parts) == 8


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"find": {"visible": []}}, "ball: found, but in no interval or on no frame"),
        ({"find": {"frames_s": []}}, "ball: found, but in no interval or on no frame"),
        ({"find": {"status": "absent"}}, "ball: absent, and yet visible"),
        ({"find": {"status": "maybe"}}, "objects.0.status"),
        ({"find": {"frames_s": [2.5]}}, "a representative frame outside of its intervals"),
        ({"find": {"frames_s": [0.5] * 5}}, "5 representative frames, at most 4 were asked for"),
        ({"find": {"visible": [{"first_s": 1.5, "last_s": 0.5}]}}, "an interval ends before it begins"),
        ({"find": {"visible": [{"first_s": 0.5, "last_s": 9.0}]}}, "9 s is outside of the video"),
        ({"find": {"name": "cube"}}, "exactly the objects"),
        ({"whole": {"objects": []}}, "exactly the objects"),
        ({"place": {"box": {"x0": 500, "y0": 100, "x1": 500, "y1": 200}}}, "the box is empty"),
        ({"place": {"box": {"x0": 300, "y0": 500, "x1": 100, "y1": 700}}}, "turned over"),
        ({"place": {"box": {"x0": 100, "y0": 500, "x1": 1250, "y1": 700}}}, "not on the scale"),
        ({"place": {"positive": [{"x": 900, "y": 600}]}}, "a positive point outside of the box"),
        ({"place": {"positive": []}}, "no positive point"),
        ({"place": {"negative": [{"x": -3, "y": 600}]}}, "frames.0.negative.0.x"),
        ({"place": {"negative": [{"x": 1000, "y": 600}]}}, "frames.0.negative.0.x"),
        ({"place": {"time_s": 1.0}}, "exactly the frames"),
        ({"place": {"shown": False}}, "on none of its frames"),
    ],
)
def test_answers_that_contradict_themselves_are_asked_again_and_then_unscored(tmp_path, clip, changes, why):
    with Loopback(seeing(**changes)) as server, pytest.raises(Unscored, match="ball: no readable answer in 2 asks") as raised:
        prompts(tmp_path, server, clip, objects=[BALL], asks=2)
    assert why in str(raised.value)
    assert not isinstance(raised.value, Unreached)


@pytest.mark.parametrize("way", ["fenced JSON", "prose", "empty", "refusal", "thinking only", "length"])
def test_misbehaviour_that_passes_changes_no_prompt(tmp_path, clip, way):
    with Loopback(seeing()) as server:
        good = prompts(tmp_path / "good", server, clip)
    with Loopback(seeing()) as server:
        server.behave(way)
        assert prompts(tmp_path / "bad", server, clip) == good
        paid = server.account.calls
        assert prompts(tmp_path / "bad", server, clip) == good
        assert server.account.calls == paid


def test_two_objects_in_one_question(tmp_path, clip):
    with Loopback(seeing()) as server:
        found = prompts(tmp_path, server, clip, objects_per_request=2)
        assert [prompt.status for prompt in found] == ["found", "absent"]
        assert server.account.calls == 2


def test_a_service_that_is_down_is_no_answer(tmp_path, clip):
    render = Render(system="s", clip_id="T_001", key="k", outcome=Outcome.OK, mp4=clip.mp4)
    annotation = Annotation(clip_id="T_001", objects=[BALL, SIGN])

    def rows(server):
        choice = Choice("mllm", {"endpoint": endpoint(server)}, "c")
        with session(tmp_path / "store", {"tries": 1}):
            return list(prompt_shard([render], {"T_001": clip}, {"T_001": annotation}, choice, tmp_path / "store"))

    with Loopback(seeing()) as server:
        server.behave("well", "500")
        (row,) = rows(server)
        assert row.retry and not row.prompts and "500" in row.status
        (row,) = rows(server)
        assert row.status == "ok" and [prompt.status for prompt in row.prompts] == ["found", "absent"]
        assert "prompt" in row.protocol and not row.proxy
        assert server.account.calls == 3


@pytest.mark.parametrize(("way", "tries"), [("400 by a filter", 3), ("too long", 1)])
def test_an_object_that_the_provider_rejects_is_named_and_not_asked_for_ever(tmp_path, clip, way, tries):
    with Loopback(seeing()) as server:
        server.otherwise = way
        with pytest.raises(Unscored, match="ball: .*HTTP 400") as raised:
            prompts(tmp_path, server, clip, objects=[BALL])
        assert not isinstance(raised.value, Unreached)
        assert len(server.arrivals) == tries


def test_what_is_planned_has_the_pictures_of_what_is_asked(clip):
    made = mllm.load({"endpoint": {"api": "openai", "model": "m"}})
    planned = made.questions_expected(clip, Annotation(clip_id="T_001", objects=[BALL, SIGN]))
    assert [len([part for part in asked.parts if isinstance(part, Picture)]) for asked in planned] == [9, 9, 7, 7]


def test_frames_of_the_reference_are_spread_over_those_where_the_object_is():
    assert reference_frames([SIGN], FRAMES, 3) == [6, 18, 30]
    assert reference_frames([BALL, SIGN], FRAMES, 1) == [18, 36]
    assert reference_frames([SIGN.model_copy(update={"boxes_xyxy": [None] * FRAMES})], FRAMES, 3) == []


def test_settings_that_cannot_work_are_refused():
    for told, words in (
        ({"endpoint": Endpoint(api="openai", model="m", images=3)}, "show 7 pictures in one question"),
        ({"endpoint": Endpoint(api="google", model="m", video=True)}, "endpoint.video"),
        ({}, "endpoint"),
    ):
        with pytest.raises(registry.Unavailable, match=words):
            registry.make("score.prompters", "mllm", told)
