"""The report as a reader has it: opened from disk in a real browser."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from codecap.report.site import build_report

CODE_BITS, CODE_PX, WIDTH_PX, HEIGHT_PX = 8, 20, 320, 180  # as the run's videos carry their frame number

SMALL_TEXT = ".ends, .mark, .tag, .unit, .sub, .none, .letter, .keys, .clock, thead th"
COLOURS = """element => {  // its own, and that of the nearest ground below it
  let below = element;
  while (getComputedStyle(below).backgroundColor === 'rgba(0, 0, 0, 0)') below = below.parentElement;
  return [getComputedStyle(element).color, getComputedStyle(below).backgroundColor];
}"""

pytestmark = pytest.mark.slow


@pytest.fixture
def page(browser) -> Iterator:
    """A page that fails its test for any console message, script error, failed request or request off the disk."""
    context = browser.new_context(viewport={"width": 1280, "height": 1500})  # the controls cover no video
    opened = context.new_page()
    complaints: list[str] = []
    opened.on("console", lambda message: complaints.append(f"console: {message.text}"))
    opened.on("pageerror", lambda error: complaints.append(f"script: {error}"))
    opened.on("requestfailed", lambda request: complaints.append(f"failed: {request.url}"))
    opened.on(
        "request",
        lambda request: None if request.url.startswith(("file:", "data:")) else complaints.append(f"request: {request.url}"),
    )
    yield opened
    context.close()
    assert not complaints


def open_clip(page, report: Path, clip_id: str) -> None:
    page.goto((report / "clips" / f"{clip_id}.html").as_uri())
    settle(page, 0)


def settle(page, frame: int) -> None:
    """Wait until every video that is shown rests in the middle of a frame."""
    page.wait_for_function(
        """(seconds) => [...document.querySelectorAll('.screen:not([hidden]) video')].every((video) =>
        !video.seeking && video.readyState >= 2 && Math.abs(video.currentTime - seconds) < 0.001)""",
        arg=(frame + 0.5) / 24,
        timeout=20_000,
    )


def codes(page) -> list[int]:
    """The frame numbers to be seen in the videos shown."""
    numbers = []
    for screen in page.locator(".screen:not([hidden]) .frame:has(video)").all():
        picture = np.asarray(Image.open(io.BytesIO(screen.screenshot())).convert("L"))
        y = int(picture.shape[0] * (1 - CODE_PX / 2 / HEIGHT_PX))
        bits = [picture[y, int(picture.shape[1] * (bit + 0.5) * CODE_PX / WIDTH_PX)] > 127 for bit in range(CODE_BITS)]
        numbers.append(sum(bool(value) << bit for bit, value in enumerate(bits)))
    return numbers


def wait_for_codes(page, frame: int, count: int) -> None:
    deadline = time.monotonic() + 10  # a decoded frame takes a moment to reach the screen
    while (seen := codes(page)) != [frame] * count and time.monotonic() < deadline:
        page.wait_for_timeout(50)
    assert seen == [frame] * count


def test_stepping_shows_the_same_frame_everywhere(page, report: Path) -> None:
    open_clip(page, report, "A_000")
    wait_for_codes(page, 0, 4)
    for keys, frame in ((["ArrowRight"] * 3, 3), (["Shift+ArrowRight"], 27), (["ArrowLeft"], 26), (["End"], 59), (["Home"], 0)):
        for key in keys:
            page.keyboard.press(key)
        settle(page, frame)
        wait_for_codes(page, frame, 4)
        assert page.inner_text("#clock") == f"frame {frame} · {frame / 24:.3f} s"
    page.locator("#scrubber").fill("41")
    settle(page, 41)
    wait_for_codes(page, 41, 4)


def test_playing_keeps_all_videos_within_a_frame(page, report: Path) -> None:
    open_clip(page, report, "A_000")
    page.evaluate(
        """() => {
        window.apart = [];
        const videos = [...document.querySelectorAll('.screen:not([hidden]) video')];
        const look = () => {
          const times = videos.map((video) => video.currentTime);
          const playing = videos.every((video) => !video.paused && !video.seeking);
          if (playing) window.apart.push(24 * (Math.max(...times) - Math.min(...times)));
          requestAnimationFrame(look);
        };
        requestAnimationFrame(look);
        }"""
    )
    page.keyboard.press("Space")
    page.wait_for_timeout(1800)
    page.keyboard.press("Space")
    apart = page.evaluate("window.apart")
    assert len(apart) > 10
    assert np.median(apart) <= 0.5
    assert np.quantile(apart, 0.9) <= 1.0  # a machine with more to do than it can stumbles now and then, and is back in step soon
    frame = int(page.locator("#scrubber").input_value())
    assert frame > 5
    settle(page, frame)
    wait_for_codes(page, frame, 4)


def test_a_video_shown_later_joins_in_step(page, report: Path) -> None:
    open_clip(page, report, "A_000")
    assert page.locator("video[src]").count() == 4  # the others are not loaded before somebody wants them
    for _ in range(12):
        page.keyboard.press("ArrowRight")
    page.locator('.show[value="reference"]').check()
    settle(page, 12)
    wait_for_codes(page, 12, 5)


def test_overlap_on_the_page_is_the_score(run, page, report: Path) -> None:
    """The lane's area is the mean overlap over frames where either video shows the object, as the metric defines it."""
    open_clip(page, report, "B_001")
    page.locator("#iou-system").select_option("vtrace")
    task = next(task for task in run.comparison.tasks if (task.system, task.clip_id) == ("vtrace", "B_001"))
    told = {item.item: item.value for item in task.items if item.metric == "object_iou"}
    for place, name in enumerate(("slider", "panel", "toast")):
        lane = page.locator(f'.lane svg[data-object="{place}"]')
        ground, area = (path_area(lane.locator(f"path.{name}").get_attribute("d")) for name in ("ground", "area"))
        assert 100 * area / ground == pytest.approx(told[name], abs=0.5)  # boxes are told to a tenth of a pixel


def path_area(d: str) -> float:
    """Area of the rectangles `M x y H x2 V y2 Z` or `M x 1 V y H x2 V 1 Z` of a lane's path."""
    total = 0.0
    for part in d.split("Z")[:-1]:
        start, rest = part[1:].split(" ", 1)
        if "V" in rest and rest.startswith("1V"):
            top, end = rest[2:].split("V")[0].split("H")
            total += (float(end) - float(start)) * (1 - float(top))
        else:
            total += float(rest.split("H")[1].split("V")[0]) - float(start)
    return total


def test_boxes_are_drawn_where_objects_are(page, report: Path) -> None:
    open_clip(page, report, "A_000")
    visible = "document.querySelectorAll('.screen.reference .overlay g[visibility=visible]').length"
    assert page.evaluate(visible) == 2  # the third comes later
    page.keyboard.press("End")
    settle(page, 59)
    page.wait_for_function(f"{visible} === 3")
    box = page.locator(".screen.reference .overlay rect").nth(1)
    assert [float(box.get_attribute(name)) for name in ("x", "y", "width", "height")] == [230, 20, 70, 40]
    page.locator(".object-on").nth(1).uncheck()
    assert page.evaluate(visible) == 2
    page.keyboard.press("b")
    assert page.evaluate(visible) == 0


def test_keys_that_scroll_a_table_step_no_frame(page, report: Path) -> None:
    open_clip(page, report, "A_000")
    for selector in ("#scores .scroll", "#code-view"):
        page.locator(selector).focus()
        for key in ("ArrowRight", "End", "Space"):
            page.keyboard.press(key)
        assert page.inner_text("#clock").startswith("frame 0 ") and page.inner_text("#play") == "▶"
    page.locator("#scrubber").focus()
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#clock").startswith("frame 1 ")


def test_renders_play_to_their_end_without_the_reference(run, page, tmp_path: Path) -> None:
    clip = run.comparison.clips[0].model_copy(update={"mp4": tmp_path / "gone.mp4"})
    tasks = [task for task in run.comparison.tasks if task.clip_id == clip.clip_id]
    alone = run.comparison.model_copy(update={"clips": [clip], "tasks": tasks})
    build_report(alone, annotations=run.annotations[:1], tracks=[], out_dir=tmp_path / "report")
    open_clip(page, tmp_path / "report", "A_000")
    page.locator("#loop").uncheck()
    page.locator("#scrubber").fill("50")
    settle(page, 50)
    page.locator("#play").click()
    page.wait_for_function("() => document.querySelector('#clock').textContent.startsWith('frame 59 ')")
    page.wait_for_function("() => document.querySelector('#play').textContent === '▶'")
    settle(page, 59)
    wait_for_codes(page, 59, 3)


def test_a_focal_point_jumps_to_its_start(page, report: Path) -> None:
    open_clip(page, report, "A_000")
    page.locator("button.jump.link").nth(3).click()
    settle(page, 25)  # waits for that frame: the last point starts at 60/24/2 - 0.2 = 1.05 s
    assert page.locator("button.jump.link").nth(3).is_visible()


def test_hostile_text_does_nothing(page, report: Path) -> None:
    for path in (report / "index.html", report / "clips" / "A_000.html", report / "clips" / "B_001.html"):
        page.goto(path.as_uri())
        page.wait_for_timeout(200)
        assert page.title() not in ("1", "taken")
    assert page.locator("img[src=x]").count() == 0


def test_leaderboard_sorts_within_groups_by_keyboard(page, report: Path) -> None:
    page.goto((report / "index.html").as_uri())
    button = page.get_by_role("button", name="KSS")
    button.focus()
    page.keyboard.press("Enter")
    head = page.locator("th[aria-sort=descending]")
    assert head.count() == 1 and "KSS" in head.inner_text()
    for body in head.locator("xpath=ancestor::table").locator("tbody").all():
        column = head.evaluate("cell => cell.cellIndex")
        values = [
            float(text)
            for text in body.locator("tr:not(.heading)").evaluate_all(f"rows => rows.map(row => row.cells[{column}].dataset.sort)")
        ]
        assert values == sorted(values, reverse=True)


def test_gallery_filters(page, report: Path) -> None:
    page.goto((report / "index.html").as_uri())
    shown = page.locator(".card:visible")
    assert shown.count() == 5
    page.locator("#category").select_option("B")
    assert shown.count() == 1
    page.locator("#category").select_option("")
    page.locator("#failed").check()
    assert sorted(shown.evaluate_all("cards => cards.map(card => card.dataset.clip)")) == ["A_000", "B_001", "C_002", "E_003"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width_px", [1280, 390])
def test_no_page_is_wider_than_its_window(browser, report: Path, scheme: str, width_px: int) -> None:
    context = browser.new_context(viewport={"width": width_px, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    for name in ("index.html", "clips/A_000.html"):
        page.goto((report / name).as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width_px
        ink, ground = page.evaluate("[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]")
        assert contrast(ink, ground) >= 7
        for text in page.locator(SMALL_TEXT).all()[:40]:
            assert contrast(*text.evaluate(COLOURS)) >= 4.5, text.evaluate("element => element.outerHTML")
    label = page.locator(".object").first  # names that differ at their end are told apart
    label.evaluate("label => label.append('_of_the_second_guest_at_the_table')")
    assert label.evaluate("label => label.scrollWidth <= label.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth") <= width_px
    context.close()


def contrast(first: str, second: str) -> float:
    """WCAG contrast ratio of two colours given as `rgb(r, g, b)`."""

    def luminance(colour: str) -> float:
        parts = [int(part) / 255 for part in colour[4:-1].split(",")]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)
