"""A browser that owes a frame and does nothing, as Chromium now and then does when a page has just been loaded."""

from __future__ import annotations

import signal

import pytest

from codecap.records import Outcome
from codecap.render.engines import beginframe
from codecap.render.failures import FrameLost

PAGE = "<body>text<script>window.seek = t => { document.body.textContent = t }</script>"


@pytest.fixture
def standing_still(monkeypatch):
    """Stop all processes of the next browsers when they are asked for their first frame; gives how many are still to be stopped."""
    left = {"browsers": 0}
    draw = beginframe.BeginFrameStage._draw
    monkeypatch.setattr(beginframe, "IDLE_S", 1.0)

    def stopped(stage, until):
        if left["browsers"]:
            left["browsers"] -= 1
            for process in stage._cage._tree.alive():
                process.send_signal(signal.SIGSTOP)
        return draw(stage, until)

    monkeypatch.setattr(beginframe.BeginFrameStage, "_draw", stopped)
    return left


@pytest.mark.slow
def test_the_page_is_drawn_by_another_browser(render, standing_still):
    expected = render(PAGE, engine="beginframe").certificate
    standing_still["browsers"] = 2
    certificate = render(PAGE, engine="beginframe").certificate
    assert certificate.outcome == Outcome.OK
    assert certificate.frames_sha256 == expected.frames_sha256
    assert standing_still["browsers"] == 0


@pytest.mark.slow
def test_it_is_no_fault_of_the_page(render, standing_still):
    standing_still["browsers"] = 3
    with pytest.raises(FrameLost, match="forgot a frame"):
        render(PAGE, engine="beginframe")


@pytest.mark.slow
def test_a_frame_that_takes_work_is_waited_for(render, monkeypatch):
    monkeypatch.setattr(beginframe, "IDLE_S", 0.5)
    work = "for (let i = 0; i < 3e9; i++) n += i"
    late = f"<body><script>let n = 0; window.seek = t => {{}}; requestAnimationFrame(() => {{ {work} }})</script>"
    certificate = render(late, engine="beginframe", load_limit_s=2).certificate
    assert certificate.outcome == Outcome.RENDER_TIMEOUT
    assert "loading the page took more than 2 s" in certificate.detail
