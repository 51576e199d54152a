"""Revision with a scripted model that mends a fault a round, in a real browser."""

import base64
import io
import itertools
import re

import numpy as np
import pytest
from loopback import Loopback
from PIL import Image

from codecap import registry
from codecap.generate.captions import caption_shard
from codecap.generate.cues import Cues, measured
from codecap.generate.side_by_side import CRITERIA
from codecap.records import Clip, Outcome
from codecap.showing.sheets import GAP_PX
from codecap.video import CanonicalWriter, file_sha256

WIDTH_PX, HEIGHT_PX, FRAMES = 160, 96, 36
COLOURS = [(220, 40, 40), (30, 160, 60), (40, 80, 220)]


def place(number, frame):
    """Left and top of a square at a frame."""
    return 10 + 45 * number + frame // 2, 10 + 22 * number


def page(squares, extra=""):
    """A page that draws so many of the clip's three squares."""
    return f"""<!doctype html>
<html><body style="margin:0;background:#f0f0f0"><!--squares {squares}--><svg width="{WIDTH_PX}" height="{HEIGHT_PX}"></svg><script>
const colours = {[list(colour) for colour in COLOURS[:squares]]};
window.seek = seconds => {{ {extra}
  const frame = Math.round(seconds * 24);
  document.querySelector("svg").innerHTML = colours.map((rgb, n) =>
    `<rect x="${{10 + 45 * n + Math.floor(frame / 2)}}" y="${{10 + 22 * n}}" width="30" height="30"
      fill="rgb(${{rgb}})"/>`).join("");
}};
</script></body></html>"""


@pytest.fixture
def clip(tmp_path):
    mp4 = tmp_path / "A_001.mp4"
    writer = CanonicalWriter(mp4, WIDTH_PX, HEIGHT_PX)
    for frame in range(FRAMES):
        rgb = np.full((HEIGHT_PX, WIDTH_PX, 3), 0xF0, np.uint8)
        for number, colour in enumerate(COLOURS):
            x, y = place(number, frame)
            rgb[y : y + 30, x : x + 30] = colour
        writer.add(rgb)
    writer.close()
    size = {"width_px": WIDTH_PX, "height_px": HEIGHT_PX, "frames": FRAMES}
    return Clip(clip_id="A_001", category="A", mp4=mp4, sha256=file_sha256(mp4), **size)


class Model:
    """Answers by a script: the pages in order; a comment wherever one is asked for."""

    def __init__(self, *pages):
        self.pages, self.asked = list(pages), []

    def __call__(self, text):
        self.asked.append(text)
        if "Name the differences" in text:
            return f"1. A square is missing (comment {len(self.asked)})."
        return f"```html\n{self.pages.pop(0)}\n```"


def revised(clip, model, opened, durable, bodies=None, **settings):
    with Loopback(answer=model) as server, opened():
        endpoint = {"api": "openai", "model": "m-1", "base_url": server.base_url(), "key_env": None, "timeout_s": 20}
        settings = {"endpoint": endpoint, "render": {"repeat_samples": 0}, **settings}
        (row,) = caption_shard([clip], "mine", "revise", settings, "code", durable)
        if bodies is not None:
            bodies += server.bodies
        return row, server.account


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["ssim", "frame_similarity"])
def test_a_fault_is_mended_each_round_and_a_worse_revision_is_not_kept(clip, opened, durable, criterion):
    broken = page(3, extra="if (seconds > 1) throw new Error('late');")
    model = Model(page(1), page(2), page(0), page(3), broken)
    bodies = []
    row, account = revised(clip, model, opened, durable, bodies, rounds=4, criterion=criterion)
    assert row.outcome is Outcome.OK and row.html.read_text() == page(3) + "\n"
    assert row.detail.startswith("the page of round 3 of 4")
    assert row.rounds == account.calls == 9 and row.usage.output == account.output
    after_the_worse = [text for text in model.asked if "comment 6" in text]
    assert len(after_the_worse) == 1 and "squares 2" in after_the_worse[0]  # the best page again, not the one that was worse
    again, none = revised(clip, Model(), opened, durable, rounds=4, criterion=criterion)
    assert again == row and none.calls == 0
    _is_side_by_side(bodies[1], squares=1)
    _is_side_by_side(bodies[3], squares=2)


def _is_side_by_side(body, squares):
    """The video on the left with all squares, the page on the right with those it draws, each pair at the time that is named."""
    parts = body["messages"][-1]["content"]
    times = []
    for said, part in itertools.pairwise(parts):
        if part["type"] != "image_url":
            continue
        (told,) = re.findall(r"Video and page, ([\d.]+) s", said["text"])
        times.append(float(told))
        data = base64.b64decode(part["image_url"]["url"].partition(",")[2])
        rgb = np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)
        assert rgb.shape == (HEIGHT_PX, 2 * WIDTH_PX + GAP_PX, 3)
        for number, colour in enumerate(COLOURS):
            x, y = place(number, round(times[-1] * 24))
            assert np.abs(rgb[y + 15, x + 15] - colour).max() < 30
            right = rgb[y + 15, WIDTH_PX + GAP_PX + x + 15]
            assert bool(np.abs(right - colour).max() < 30) is (number < squares)
    assert times == [0.0, 0.5, 1.0]


@pytest.mark.slow
def test_a_page_that_gives_no_video_is_shown_with_the_reason_and_mended(clip, opened, durable):
    model, bodies = Model(page(3, extra="paint();"), page(3)), []
    row, _ = revised(clip, model, opened, durable, bodies, rounds=1)
    assert (row.outcome, row.rounds) == (Outcome.OK, 2) and row.html.read_text() == page(3) + "\n"
    assert "runtime_error" in model.asked[1] and "paint is not defined" in model.asked[1] and "paint();" in model.asked[1]
    first, mending = (str(body["messages"]).count("image_url': {'url'") for body in bodies)
    assert first == mending > 0  # what it is to redraw


def test_without_a_page_the_next_round_asks_anew_and_a_refusal_ends_it(clip, opened, durable):
    model = Model("<!doctype html><html>", "<!doctype html><html>", "<!doctype html><html>")
    row, account = revised(clip, model, opened, durable, rounds=2)
    assert (row.outcome, row.detail) == (Outcome.NO_COMPLETE_HTML, "the page is not closed by </html>")
    assert (row.rounds, account.calls) == (3, 3)
    with Loopback(answer=lambda _: "no") as server, opened():
        server.behave("refusal")
        settings = {"endpoint": {"api": "openai", "model": "m-2", "base_url": server.base_url(), "key_env": None}, "rounds": 2}
        (row,) = caption_shard([clip], "other", "revise", settings, "code", durable)
    assert (row.outcome, row.rounds) == (Outcome.REFUSED, 1)


@pytest.mark.slow
def test_the_first_call_is_shared_with_a_single_call(clip, opened, durable):
    with Loopback(answer=Model(page(3), page(3))) as server, opened():
        endpoint = {"api": "openai", "model": "m-1", "base_url": server.base_url(), "key_env": None}
        (direct,) = caption_shard([clip], "direct", "direct", {"endpoint": endpoint}, "code", durable)
        assert server.account.calls == 1
        (row,) = caption_shard([clip], "revise", "revise", {"endpoint": endpoint, "rounds": 1}, "code", durable)
        assert server.account.calls == 3  # a comment and a revision
    assert row.cost_usd > direct.cost_usd


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_criterion_is_1_for_equal_frames_and_falls_with_what_is_missing(criterion):
    rgb = np.full((96, 160, 3), 0xF0, np.uint8)
    rgb[20:60, 20:60] = (200, 0, 0)
    values = []
    for left in (0, 10, 40):
        seen = rgb.copy()
        seen[20:60, 20 : 20 + left] = 0xF0
        likeness = CRITERIA[criterion]()
        likeness.see(rgb, seen)
        likeness.see(rgb, rgb)
        values.append(likeness.value())
    assert values[0] == pytest.approx(1, abs=1e-6) and values[0] > values[1] > values[2]


def test_cues_say_where_things_are_and_in_which_colour(clip):
    told = measured(clip, Cues(objects=True, frames=1))
    assert told.startswith("At 0.750 s:")
    boxes = [tuple(map(int, found)) for found in re.findall(r"x y x y (\d+) (\d+) (\d+) (\d+)", told)]
    for number in range(3):
        x, y = place(number, 18)
        assert any(np.abs(np.array(box) - (x, y, x + 30, y + 30)).max() <= 3 for box in boxes), (number, told)


def test_cues_are_in_the_first_question_and_another_run(clip, opened, durable):
    model = Model("<!doctype html><html>", "<!doctype html><html>")
    revised(clip, model, opened, durable, rounds=1, cues={"objects": True})
    assert "simple detectors" in model.asked[0] and "mean colour" in model.asked[0]


def test_text_cues_without_their_package_say_how_to_get_it(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "rapidocr_onnxruntime", None)
    with pytest.raises(registry.Unavailable, match="pip install .*rapidocr-onnxruntime"):
        registry.make("generate.harnesses", "revise", {"endpoint": {"api": "openai", "model": "m"}, "cues": {"text": True}})
