"""A shard of captions: rows in order whatever the number of browsers, nothing made twice, no false row after an end."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from codecap import stopping
from codecap.records import Caption, Clip, Outcome
from codecap.render import cage, renders
from codecap.render.renders import render_shard
from codecap.store import made
from codecap.video import CanonicalWriter, probe

SETTINGS = {"repeat_samples": 0, "seek_wait_s": 0, "seek_limit_s": 20}
FRAMES = 3
PAGES = {
    "A_001": "<body>one<script>window.seek = t => { document.body.style.background = t ? '#0f0' : '#f00' }</script>",
    "A_002": "<script>window.seek = t => { if (t > 0) throw Error('no') }</script>",
    "A_003": "<p>no seek",
    "A_004": "<body>four<script>window.seek = t => {}</script>",
    "A_005": None,
}


@pytest.fixture
def shard(browser, tmp_path):
    """Captions, and their clips."""
    captions, clips = [], {}
    for number, (clip_id, page) in enumerate(PAGES.items()):
        mp4 = tmp_path / f"{clip_id}.mp4"
        with CanonicalWriter(mp4, 64, 48) as writer:
            for _ in range(FRAMES):
                writer.add(np.full((48, 64, 3), 40 * number, np.uint8))
        clips[clip_id] = Clip(clip_id=clip_id, category="A", mp4=mp4, sha256=str(number), frames=FRAMES, width_px=64, height_px=48)
        html = None if page is None else tmp_path / f"{clip_id}.html"
        if html is not None:
            html.write_text(page)
        outcome = Outcome.OK if html else Outcome.REFUSED
        captions.append(Caption(system="s", clip_id=clip_id, key=f"k{number}", outcome=outcome, kind="code", html=html))
    return captions, clips


def test_rows_are_in_order_and_do_not_depend_on_the_number_of_browsers(shard, tmp_path):
    captions, clips = shard
    one, three = (
        list(render_shard(captions, clips, settings=SETTINGS, code="c", bulk=tmp_path / str(browsers), browsers=browsers))
        for browsers in (1, 3)
    )
    assert [row.clip_id for row in one] == list(PAGES)
    assert [row.outcome for row in one] == ["ok", "runtime_error", "missing_seek", "ok", "refused"]
    assert [row.outcome for row in three] == [row.outcome for row in one]
    assert [row.key for row in three] == [row.key for row in one]
    for row, other in zip(one, three, strict=True):
        assert row.certificate == other.certificate
        assert (row.mp4 is None) == (other.mp4 is None)
        if row.mp4 is not None:
            assert row.mp4.read_bytes() == other.mp4.read_bytes()
    assert probe(one[1].mp4).frames == 1  # what was made before the failure is kept


def test_a_second_run_renders_nothing_and_gives_the_same_rows(shard, tmp_path, monkeypatch):
    captions, clips = shard
    told = {"settings": SETTINGS, "code": "c", "bulk": tmp_path / "bulk", "browsers": 2}
    first = list(render_shard(captions, clips, **told))
    monkeypatch.setenv("CODECAP_BROWSER", str(tmp_path / "none"))  # there is no browser any more
    assert list(render_shard(captions, clips, **told)) == first


@pytest.mark.parametrize("page", [PAGES["A_002"], PAGES["A_003"]])
def test_no_failure_is_held_against_a_page_whose_browser_may_have_heard_the_signal(shard, tmp_path, monkeypatch, page):
    """A browser that is told to end may close its windows before it goes, which looks like a page that closed its own."""
    (_, caption, *_), clips = shard
    caption.html.write_text(page)
    draw = renders.render_caption

    def while_all_are_told_to_end(*page):
        stopping.ask("interrupted (Ctrl-C)", reached_others=True)
        return draw(*page)

    told = {"settings": SETTINGS, "code": "c", "bulk": tmp_path / "bulk"}
    with monkeypatch.context() as patch:
        patch.setattr(renders, "render_caption", while_all_are_told_to_end)
        with pytest.raises(stopping.Stopped):
            list(render_shard([caption], clips, **told))
    stopping.forget()
    assert not list(made(tmp_path / "bulk"))
    (row,) = render_shard([caption], clips, **told)
    assert row.outcome in ("runtime_error", "missing_seek")


def test_an_end_from_outside_stops_the_browsers_and_stores_nothing_false(shard, tmp_path):
    """As when the scheduler ends the job: pages that are just being rendered have failed by no fault of theirs."""
    captions, clips = shard
    for caption in captions[:2]:
        caption.html.write_text("<script>window.seek = t => { for (;;) ; }</script>")
    rows = render_shard(captions[:2], clips, settings=SETTINGS, code="c", bulk=tmp_path / "bulk", browsers=2)
    taken: list = []
    thread = threading.Thread(target=lambda: taken.extend(rows))
    thread.start()
    time.sleep(2.0)
    cage.end_all_cages()
    thread.join(15)
    assert not thread.is_alive()
    assert [row.outcome for row in taken] == [Outcome.INFRA_ERROR] * 2
    assert all("stopped" in row.detail for row in taken)
    assert not list(Path(tmp_path / "bulk").rglob("*.json"))
    assert not [child for child in psutil.Process().children(recursive=True) if child.status() != psutil.STATUS_ZOMBIE]


def test_an_end_while_frames_are_asked_for_again_leaves_no_video_in_the_store(shard, tmp_path):
    """All frames are recorded then."""
    captions, clips = shard
    captions[0].html.write_text("<script>let last = -1; window.seek = t => { if (t < last) for (;;) ; last = t }</script>")
    bulk = tmp_path / "bulk"
    rows = render_shard(captions[:1], clips, settings={**SETTINGS, "repeat_samples": 3}, code="c", bulk=bulk)
    taken: list = []
    thread = threading.Thread(target=lambda: taken.extend(rows))
    thread.start()
    ends_at = time.monotonic() + 20
    while not list(bulk.rglob(".A_001.*.partial.mp4")):
        assert time.monotonic() < ends_at
        time.sleep(0.05)
    cage.end_all_cages()
    thread.join(15)
    assert [row.outcome for row in taken] == [Outcome.INFRA_ERROR]
    assert not [path for path in bulk.rglob("*") if path.is_file()]


def test_without_a_browser_the_shard_stops_at_once(shard, tmp_path, monkeypatch):
    captions, clips = shard
    monkeypatch.setenv("CODECAP_BROWSER", str(tmp_path / "none"))
    with pytest.raises(Exception, match="CODECAP_BROWSER"):
        list(render_shard(captions, clips, settings=SETTINGS, code="c", bulk=tmp_path / "bulk", browsers=2))
