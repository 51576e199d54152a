"""What the host does for an agent: real pages, drawn by the real engine."""

import base64
import json
import threading
from concurrent.futures import ThreadPoolExecutor

import cv2
import numpy as np
import pytest

from codecap.generate.agents import drawing, reviewing
from codecap.generate.agents.drawing import Drawing
from codecap.generate.agents.reviewing import COMPARE, RENDER, TIME_LEFT, Reviewer
from codecap.generate.gateway import Deadline
from codecap.generate.gateway.routes import Abandoned
from codecap.records import Outcome
from codecap.render import BrowserMissing, RenderSettings

SETTINGS = RenderSettings(seek_limit_s=2, load_limit_s=10, seek_wait_s=0.5)
BROKEN = "<!doctype html><html><body><script>nothing.at.all()</script></body></html>"


@pytest.fixture
def reviewer(clip) -> Reviewer:
    return Reviewer(clip, SETTINGS, Deadline(300))


def waits() -> bool:
    return False


def ask(reviewer: Reviewer, route: str, **told) -> tuple[int, dict]:
    answer = reviewer.routes[route](json.dumps(told).encode(), waits)
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
        (b"[" * 9_000, "no JSON"),
        (b"{}", "no page"),
        (b'{"page": 3}', "no page"),
        (b'{"page": "x", "at_s": "1"}', "numbers"),
        (b'{"page": "x", "at_s": []}', "numbers"),
        (b'{"page": "x", "at_s": [NaN]}', "numbers"),
        (b'{"page": "x", "at_s": [true, null]}', "numbers"),
        (b'{"page": "x", "at_s": [1e308]}', "numbers"),
        (b'{"page": "x", "at_s": [-1e7]}', "numbers"),
        (b'{"page": "x", "at_s": [1' + b"0" * 400 + b"]}", "numbers"),
        (b'{"page": "x", "at_s": [1' + b"0" * 5000 + b"]}", "no JSON"),
        (b'{"page": "x", "at_s": [' + b"[]," * 20_000 + b"1]}", "too many values"),
        (b'{"page": "x", "at_s": "' + b"," * 20_000 + b'"}', "numbers"),
        (b'{"page": "<p>\\ud800</p>"}', "half of a character"),
        (json.dumps({"page": "x", "at_s": [k / 24 for k in range(61)]}).encode(), None),
    ],
)
def test_what_cannot_be_done_is_told_in_words(reviewer, body, words, monkeypatch):
    monkeypatch.setattr(reviewing, "MOST_INSTANTS", 40)
    answer = reviewer.routes[RENDER](body, waits)
    assert answer.status == 400 and (words or "too many") in json.loads(answer.body)["error"]


def test_the_time_that_is_left(clip):
    status, told = ask(Reviewer(clip, SETTINGS, Deadline(100)), TIME_LEFT)
    assert status == 200 and 99 < told["seconds"] <= 100
    late = Reviewer(clip, SETTINGS, Deadline(-5))
    assert ask(late, TIME_LEFT)[1]["seconds"] == 0
    assert ask(late, RENDER, page="<html></html>", at_s=[0]) == (400, {"error": "there is no time left"})


@pytest.mark.parametrize(
    "error", [BrowserMissing("no browser"), *(kind("a fault of ours") for kind in (ValueError, RecursionError, KeyError))]
)
def test_what_fails_by_our_fault_is_no_fault_of_the_page(clip, page, monkeypatch, error):
    def fails(*_):
        raise error

    monkeypatch.setattr(drawing, "draw", fails)
    reviewer = Reviewer(clip, SETTINGS, Deadline(100))
    status, told = ask(reviewer, RENDER, page=page, at_s=[0])
    assert status == 503 and "no fault" in told["error"]
    assert (reviewer.failed, reviewer.renders) == (str(error), 0)


SLOW = "<!doctype html><html><body><script>window.seek = t => new Promise(r => setTimeout(r, 400))</script></body></html>"


@pytest.mark.parametrize("at_s", [None, [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5]])
def test_what_nobody_waits_for_is_given_up(reviewer, browser, at_s):
    asked = []

    def gone() -> bool:
        asked.append(None)
        return len(asked) > 3

    with pytest.raises(Abandoned):
        reviewer.routes[RENDER](json.dumps({"page": SLOW, "at_s": at_s}).encode(), gone)
    assert len(asked) == 4 and reviewer.renders == 0


def test_a_run_has_one_browser_at_a_time_and_leaves_the_queue_when_nobody_waits(reviewer, clip, page, monkeypatch):
    drawn = Drawing(Outcome.OK, "", {})
    begun, go_on = threading.Semaphore(0), threading.Event()

    def draw(*_) -> Drawing:
        begun.release()
        go_on.wait(20)
        return drawn

    monkeypatch.setattr(drawing, "draw", draw)
    monkeypatch.setattr(reviewing, "_BROWSERS", threading.BoundedSemaphore(3))
    other = Reviewer(clip, SETTINGS, Deadline(300))
    with ThreadPoolExecutor(4) as pool:
        try:
            first = [pool.submit(ask, each, RENDER, page=page, at_s=[0]) for each in (reviewer, other)]
            assert begun.acquire(timeout=10) and begun.acquire(timeout=10)
            with pytest.raises(Abandoned):
                reviewer.routes[RENDER](json.dumps({"page": page, "at_s": [0]}).encode(), lambda: True)
            again = pool.submit(ask, reviewer, RENDER, page=page, at_s=[0])
            assert not begun.acquire(timeout=0.5)
        finally:
            go_on.set()
        assert [each.result()[0] for each in (*first, again)] == [200, 200, 200]
