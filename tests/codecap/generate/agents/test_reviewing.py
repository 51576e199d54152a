"""What the host does for an agent: real pages, drawn by the real engine."""

import base64
import json
import time

import cv2
import numpy as np
import pytest

from codecap.generate.agents import reviewing
from codecap.generate.agents.reviewing import COMPARE, RENDER, TIME_LEFT, Reviewer
from codecap.render import RenderSettings

SETTINGS = RenderSettings(seek_limit_s=2, load_limit_s=10, seek_wait_s=0.5)
BROKEN = "<!doctype html><html><body><script>nothing.at.all()</script></body></html>"


@pytest.fixture
def reviewer(clip) -> Reviewer:
    return Reviewer(clip, SETTINGS, time.monotonic() + 300)


def ask(reviewer: Reviewer, route: str, **told) -> tuple[int, dict]:
    answer = reviewer.routes[route](json.dumps(told).encode())
    return answer.status, json.loads(answer.body)


def pixels(encoded: str) -> np.ndarray:
    return cv2.imdecode(np.frombuffer(base64.b64decode(encoded), np.uint8), cv2.IMREAD_COLOR)


def test_instants_are_drawn_as_the_page_is_then(reviewer, browser, page):
    status, told = ask(reviewer, RENDER, page=page, at_s=[1.0, 0, 99])
    assert (status, told["outcome"]) == (200, "ok")
    assert list(told["pictures"]) == ["0.000", "1.000", "1.958"]
    lefts = [int(np.argmax((pixels(png)[40] == (40, 40, 200)).all(axis=1))) for png in told["pictures"].values()]
    assert lefts == [0, 48, 94]
    assert (reviewer.rendered, reviewer.renders) == (page, 1)


def test_all_of_a_page_is_drawn_as_the_benchmark_does(reviewer, browser, page):
    _, told = ask(reviewer, RENDER, page=page)
    assert (told["outcome"], told["frames"], told["seek_repeatable"]) == ("ok", 48, True)
    assert base64.b64decode(told["video"])[4:8] == b"ftyp"


def test_a_page_is_compared_with_the_reference_at_each_second(reviewer, browser, page):
    _, told = ask(reviewer, COMPARE, page=page)
    assert [row["time_s"] for row in told["ssim"]] == [0, 1, 1.958]
    assert all(row["ssim"] > 0.97 for row in told["ssim"])
    _, still = ask(reviewer, COMPARE, page=page.replace("t * 48", "0"), at_s=[1])
    assert still["ssim"][0]["ssim"] < 0.95
    assert pixels(told["sheet"]).shape[2] == 3


def test_a_page_that_fails_says_how_and_is_not_remembered(reviewer, browser, page):
    ask(reviewer, RENDER, page=page, at_s=[0])
    for route in (RENDER, COMPARE):
        status, told = ask(reviewer, route, page=BROKEN)
        assert (status, told["outcome"]) == (200, "runtime_error") and "nothing" in told["detail"]
    assert reviewer.rendered == page and reviewer.renders == 3


def test_what_is_drawn_but_not_complete_is_not_remembered(reviewer, browser, page):
    _, told = ask(reviewer, RENDER, page=page.replace("</html>", ""), at_s=[0])
    assert told["outcome"] == "ok" and reviewer.rendered is None


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"{", "no JSON"),
        (b"[]", "no JSON object"),
        (b"[" * 100_000, "no JSON"),
        (b"{}", "no page"),
        (b'{"page": 3}', "no page"),
        (b'{"page": "x", "at_s": "1"}', "numbers"),
        (b'{"page": "x", "at_s": []}', "numbers"),
        (b'{"page": "x", "at_s": [NaN]}', "numbers"),
        (b'{"page": "x", "at_s": [true, null]}', "numbers"),
        (json.dumps({"page": "x", "at_s": [k / 24 for k in range(61)]}).encode(), None),
    ],
)
def test_what_cannot_be_done_is_told_in_words(reviewer, body, words, monkeypatch):
    monkeypatch.setattr(reviewing, "MOST_INSTANTS", 40)
    answer = reviewer.routes[RENDER](body)
    assert answer.status == 400 and (words or "too many") in json.loads(answer.body)["error"]


def test_the_time_that_is_left(clip):
    status, told = ask(Reviewer(clip, SETTINGS, time.monotonic() + 100), TIME_LEFT)
    assert status == 200 and 99 < told["seconds"] <= 100
    late = Reviewer(clip, SETTINGS, time.monotonic() - 5)
    assert ask(late, TIME_LEFT)[1]["seconds"] == 0
    assert ask(late, RENDER, page="<html></html>", at_s=[0]) == (400, {"error": "there is no time left"})


def test_a_browser_that_is_not_there_is_no_fault_of_the_page(clip, page, monkeypatch, tmp_path):
    from codecap.render import BrowserMissing

    def missing(*_):
        raise BrowserMissing("no browser")

    monkeypatch.setattr("codecap.generate.agents.drawing.draw", missing)
    reviewer = Reviewer(clip, SETTINGS, time.monotonic() + 100)
    status, told = ask(reviewer, RENDER, page=page, at_s=[0])
    assert status == 503 and "no fault" in told["error"]
    assert (reviewer.failed, reviewer.renders) == ("no browser", 0)
