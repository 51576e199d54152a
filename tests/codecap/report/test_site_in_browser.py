"""The report's pages as a reader uses them together, opened from disk in a real browser: find, choose, compare, follow a number."""

from __future__ import annotations

import io
import re
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from codecap.report import links
from codecap.report.pages import told

CODE_BITS, CODE_PX, WIDTH_PX, HEIGHT_PX = 8, 20, 320, 180  # as the run's videos carry their frame number
DIM_TEXT = """() => {  // elements whose text has less contrast to the ground below it than 4.5 to 1 (WCAG 2.2, 1.4.3)
  const context = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const known = {};
  const read = (colour) => {  // whatever notation the browser gives a colour in
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data].map((part) => part / 255);
  };
  const parts = (colour) => (known[colour] ??= read(colour));
  const linear = (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  const luminance = ([red, green, blue]) => 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
  const found = [];
  for (const element of document.querySelectorAll("main *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || !element.checkVisibility() || element.closest("svg, option, .heat")) continue;
    let below = element;
    while (parts(getComputedStyle(below).backgroundColor)[3] < 1) below = below.parentElement;
    const [ink, ground] = [getComputedStyle(element).color, getComputedStyle(below).backgroundColor];
    const [light, dark] = [ink, ground].map((colour) => luminance(parts(colour))).sort((a, b) => b - a);
    if ((light + 0.05) / (dark + 0.05) < 4.5) found.push(element.outerHTML.slice(0, 120));
  }
  return found;
}"""

pytestmark = pytest.mark.slow


@pytest.fixture
def page(browser, report: Path) -> Iterator:
    """A page that fails its test for any console message, script error, failed request or request off the report's folder."""
    context = browser.new_context(viewport={"width": 1280, "height": 1500})  # the controls cover no video
    opened = context.new_page()
    complaints: list[str] = []
    opened.on("console", lambda message: complaints.append(f"console: {message.text}"))
    opened.on("pageerror", lambda error: complaints.append(f"script: {error}"))
    left = "net::ERR_ABORTED"  # pictures that still came when the reader went on to another page
    opened.on("requestfailed", lambda told: None if told.failure == left else complaints.append(f"{told.failure}: {told.url}"))
    ours = (report.as_uri(), "data:")
    opened.on("request", lambda request: None if request.url.startswith(ours) else complaints.append(f"request: {request.url}"))
    yield opened
    context.close()
    assert not complaints


def shown(page, selector: str) -> list[str]:
    return [" ".join(text.split()) for text in page.locator(selector).all_inner_texts()]


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
    deadline = time.monotonic() + 20  # a decoded frame takes a moment to reach the screen
    while (seen := codes(page)) != [frame] * count and time.monotonic() < deadline:
        page.wait_for_timeout(50)
    assert seen == [frame] * count


def test_systems_are_found_and_their_numbers_followed(run, page, report: Path) -> None:
    page.goto((report / "index.html").as_uri())
    lines = "table.board >> nth=0 >> tr[data-system]:visible"
    assert page.locator(lines).count() == 8
    page.locator("#find-system").fill("ATLAS")
    assert page.locator(lines).count() == 2
    assert shown(page, "table.board >> nth=0 >> tr.heading:visible") == ["Agentic systems", "Non-agentic systems"]
    assert page.inner_text("#system-count") == "2 of 8"
    page.locator("#group").select_option("non_agentic")
    assert page.locator(lines).get_attribute("data-system") == "atlas"
    address = links.column_rows("atlas", "object_iou")
    link = page.locator(f'table.board a[href="{address}"]')
    number = link.inner_text()
    link.click()
    page.wait_for_url(f"**/{address}")
    assert page.locator("tr:target td a.value").inner_text() == number
    row = next(row for row in run.comparison.main if row.system == "atlas")
    column = next(column for column in run.comparison.columns if column.name == "object_iou")
    assert number == told(row.cells["object_iou"].mean, column)


def test_best_and_worst_videos_and_all_of_them(run, page, report: Path) -> None:
    page.goto((report / links.system_page("vtrace")).as_uri())
    kss = {task.clip_id: task.values["kss"] for task in run.comparison.tasks if task.system == "vtrace"}
    ordered = sorted(kss, key=lambda clip_id: -kss[clip_id])
    page.locator("#extremes-column").select_option("kss")
    assert shown(page, "#best .title") == ordered[:3]
    assert shown(page, "#worst .title") == ordered[3:][::-1]
    size = {task.clip_id: task.values["code_size"] for task in run.comparison.tasks if task.system == "vtrace"}
    page.locator("#extremes-column").select_option("code_size")  # the smallest is the best
    assert shown(page, "#best .title")[0] == min(size, key=size.get)
    button = page.locator("#videos").get_by_role("button", name="KSS")
    button.focus()
    page.keyboard.press("Enter")
    assert shown(page, "#videos tbody th a") == ordered
    page.locator("#find").fill("b")
    assert shown(page, "#videos tbody tr:visible th a") == [name for name in ordered if name[0] == "B"]


def test_a_failed_videos_card_leaves_its_name_whole(page, report: Path) -> None:
    page.goto((report / links.system_page("hostile")).as_uri())
    assert any("Script error" in text for text in shown(page, "#worst .number"))
    heights = page.locator(".cards .title").evaluate_all("(titles) => titles.map((title) => title.offsetHeight)")
    assert len(set(heights)) == 1  # none is broken into lines


def test_two_systems_are_compared(run, page, report: Path) -> None:
    page.goto(f"{report.as_uri()}/{links.compare_page('vtrace', 'atlas_agent')}")
    values = {
        name: {task.clip_id: task.values["kss"] for task in run.comparison.tasks if task.system == name}
        for name in ("vtrace", "atlas_agent")
    }
    apart = {clip_id: values["vtrace"][clip_id] - values["atlas_agent"][clip_id] for clip_id in values["vtrace"]}
    page.get_by_role("button", name="KSS").click()
    assert page.locator("#column").input_value() == "kss"
    assert shown(page, "#clip-rows th a") == sorted(apart, key=lambda clip_id: -abs(apart[clip_id]))
    line = shown(page, "#column-rows tr:has(.pick[aria-pressed=true])")[0]
    mean = sum(apart.values()) / len(apart)
    pair = next(pair for pair in run.comparison.pairs if (pair.first, pair.second, pair.column) == ("atlas_agent", "vtrace", "kss"))
    assert mean == pytest.approx(-pair.mean)
    assert f"−{abs(mean):.3f} −{abs(pair.high):.3f} to −{abs(pair.low):.3f}" in line  # turned round, ends and all
    assert line.endswith(f"{pair.second_better} · {pair.n - pair.first_better - pair.second_better} · {pair.first_better}")
    assert page.locator("#waterfall rect").count() == 5
    page.locator("#winner").select_option("1")
    assert page.locator("#clip-rows tr").count() == pair.second_better
    page.locator("#winner").select_option("")
    page.locator("#swap").click()
    assert shown(page, "#column-rows tr:has(.pick[aria-pressed=true])")[0].startswith("KSS ↑ stand-in")
    assert f"+{abs(mean):.3f}" in shown(page, "#column-rows tr:has(.pick[aria-pressed=true])")[0]
    page.wait_for_url("**/compare.html#first=atlas_agent&second=vtrace&column=kss")
    page.reload()
    assert page.locator("#first").input_value() == "atlas_agent" and page.locator("#column").input_value() == "kss"


def test_differences_lead_into_the_clip_with_both_in_step(page, report: Path) -> None:
    page.goto(f"{report.as_uri()}/{links.compare_page('borea_agent', 'hostile')}")
    assert "generation timeout" in " ".join(shown(page, "#clip-rows .mark"))
    page.locator("#kind").select_option("dynamic")
    assert set(shown(page, "#item-rows .tag")) == {"dynamic"}
    apart = [abs(float(text.replace("−", "-"))) for text in shown(page, "#item-rows td:nth-child(5)")]
    assert apart == sorted(apart, reverse=True)
    address = "clips/E_003.html#show=borea_agent,hostile&point=f4"
    page.locator(f'#item-rows a[href="{address}"]').click()
    page.wait_for_url(f"**/{address}")
    wait_for_codes(page, 25, 3)  # the point starts at 60/24/2 - 0.2 s
    assert shown(page, ".screen:not([hidden]) .name") == ["Reference", "Borea", '<img src=x onerror="document.title=1">']
    assert "The message appears at once" in page.inner_text("tr.told")
    page.keyboard.press("ArrowRight")
    wait_for_codes(page, 26, 3)
    page.keyboard.press("b")
    assert page.locator(".screen:not([hidden]) .overlay g[visibility=visible]").count() == 0
    page.locator('.show[value="hostile"]').focus()
    page.keyboard.press("Space")  # switches the video, and does not play
    page.wait_for_url("**/E_003.html#show=borea_agent")
    assert page.locator("#play").inner_text() == "▶"
    wait_for_codes(page, 26, 2)
    assert shown(page, ".certificates article:not([hidden]) h3") == ["Borea"]


def test_a_system_without_a_video_is_shown_with_its_reason(page, report: Path) -> None:
    page.goto(f"{(report / 'clips' / 'A_000.html').as_uri()}#show=hostile,nobody")
    assert shown(page, ".screen:not([hidden]) .frame.empty strong") == ["Script error"]
    wait_for_codes(page, 0, 1)


def test_code_is_shown_as_text(run, page, report: Path) -> None:
    page.goto(f"{(report / 'clips' / 'B_001.html').as_uri()}#show=vtrace")
    assert page.locator("script[src$='.code.js']").count() == 0  # none is needed yet
    page.locator("#code").scroll_into_view_if_needed()
    page.wait_for_function("() => document.querySelector('#code-view code').textContent.length > 0")
    source = next(task.html for task in run.comparison.tasks if (task.system, task.clip_id) == ("vtrace", "B_001")).read_text(
        "utf-8"
    )
    assert page.evaluate("document.querySelector('#code-view code').textContent") == source
    assert "script" in shown(page, "#code-view .code-t") and "'vtrace'" in shown(page, "#code-view .code-s")
    assert page.inner_text("#code-view .numbers").split() == ["1", "2", "3"]
    page.locator("#code-system").select_option("hostile")
    page.wait_for_function("() => document.querySelector('#code-view code').textContent.includes('hostile')")
    assert page.locator("#code-page").get_attribute("href").endswith("system-hostile.html.txt")


def test_by_keyboard_alone(page, report: Path) -> None:
    page.goto((report / "index.html").as_uri())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    for _ in range(40):
        page.keyboard.press("Tab")
        style = page.evaluate("[getComputedStyle(document.activeElement).outlineStyle, document.activeElement.textContent.trim()]")
        assert style[0] != "none", style  # one sees where one is
        if page.evaluate("document.activeElement.className") == "name":
            break
    page.keyboard.press("Enter")
    page.wait_for_url("**/systems/*.html")
    page.get_by_role("link", name="Compare").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("compare.html#first="))
    page.locator("#second").focus()
    page.keyboard.type("Empty")
    page.wait_for_function("() => document.querySelector('#verdict').textContent.includes('Empty page')")
    page.locator("#more-items").focus()
    page.keyboard.press("Enter")
    assert page.locator("#item-rows tr").count() > 15


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width_px", [1280, 390])
def test_pages_fit_their_window_and_can_be_read(browser, report: Path, scheme: str, width_px: int) -> None:
    context = browser.new_context(viewport={"width": width_px, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    for address in (
        "index.html",
        links.system_page("hostile"),
        links.compare_page("hostile", "vtrace"),
        links.clip_page("B_001", "hostile"),
    ):
        page.goto(f"{report.as_uri()}/{address}")
        page.wait_for_timeout(100)
        assert page.evaluate("document.documentElement.scrollWidth") <= width_px, address
        assert page.evaluate(DIM_TEXT) == [], address
    context.close()
