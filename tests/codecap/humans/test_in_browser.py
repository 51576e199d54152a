"""The sheet as a person has it: opened from disk in a real browser."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from codecap.humans.importing import import_sheets
from codecap.humans.sheet import SheetKey, make_sheet
from codecap.records import HumanScore, read_record, read_rows
from codecap.render.browser import find_browser

pytestmark = pytest.mark.slow
FPS = 24


@pytest.fixture(scope="module")
def sheet(material, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("browser") / "sheet"
    make_sheet(material, ["zebrafinch", "nightjar"], folder, folder.with_name("key.json"), seed=11)
    return folder


@pytest.fixture(scope="module")
def items(sheet: Path) -> list[dict]:
    html = (sheet / "index.html").read_text(encoding="utf-8")
    return json.loads(re.search(r'id="sheet-data">(.*?)</script>', html, flags=re.DOTALL)[1])["items"]


@pytest.fixture(scope="module")
def browser() -> Iterator:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=str(find_browser()))
        yield found
        found.close()


@pytest.fixture
def page(browser) -> Iterator:
    """A page that fails its test for any console message, script error, failed request or request off the disk."""
    context = browser.new_context(viewport={"width": 1280, "height": 720}, accept_downloads=True)
    opened = context.new_page()
    complaints: list[str] = []
    opened.on("console", lambda message: complaints.append(f"console: {message.text}"))
    opened.on("pageerror", lambda error: complaints.append(f"script: {error}"))
    opened.on(
        "request",
        lambda asked: (
            None if asked.url.startswith(("file:", "data:", "blob:file:")) else complaints.append(f"request: {asked.url}")
        ),
    )
    yield opened
    context.close()
    assert not complaints


def begin(page, sheet: Path, rater: str = "Ada") -> None:
    page.goto((sheet / "index.html").as_uri())
    page.fill("#rater", rater)
    page.keyboard.press("Enter")
    page.wait_for_selector("#work:not([hidden])")


def chosen(page) -> str | None:
    found = page.locator("#scores input:checked")
    return found.input_value() if found.count() else None


def test_keys_score_and_lead_on_and_back(page, sheet, items):
    begin(page, sheet)
    assert page.inner_text("#description") == items[0]["description"]
    assert chosen(page) is None and page.is_disabled("#back")
    for number, key in enumerate("0123"):
        page.keyboard.press(key)
        assert chosen(page) == key
        assert page.inner_text("#progress-text") == f"{number + 1} of {len(items)} scored"
        page.keyboard.press(("Enter", "n")[number % 2])
        assert page.inner_text("#position") == f"Item {number + 2} of {len(items)}"
        assert page.inner_text("#description") == items[number + 1]["description"]
    page.keyboard.press("b")
    assert chosen(page) == "3"
    page.keyboard.press("5")  # changed, not counted twice
    assert chosen(page) == "5" and page.inner_text("#progress-text").startswith("4 of")
    page.keyboard.press("6")
    page.keyboard.press("Control+1")
    assert chosen(page) == "5"
    page.keyboard.press("u")
    assert page.inner_text("#position").startswith("Item 5 of") and chosen(page) is None
    page.click("label.score:nth-of-type(3)")
    assert chosen(page) == "2"
    page.check("#advance")
    page.keyboard.press("4")
    assert page.inner_text("#position").startswith("Item 6 of")


def test_a_reload_keeps_scores_and_place_and_another_person_begins_anew(page, sheet, items):
    begin(page, sheet)
    for key in ("1", "Enter", "4", "Enter"):
        page.keyboard.press(key)
    page.reload()
    assert page.input_value("#rater") == "Ada"
    assert page.inner_text("#resume") == f"You have scored 2 of {len(items)} here; you go on where you were."
    page.click("text=Begin")
    assert page.inner_text("#position").startswith("Item 3 of")
    page.keyboard.press("b")
    assert chosen(page) == "4"
    page.reload()
    page.fill("#rater", "  Bea ")
    assert page.inner_text("#resume") == ""
    page.keyboard.press("Enter")
    assert page.inner_text("#position").startswith("Item 1 of") and chosen(page) is None


def test_what_is_exported_is_imported_under_its_system_and_point(page, sheet, items, tmp_path):
    begin(page, sheet, 'Ada "A", Ö')
    scores = [number % 6 for number in range(len(items))]
    for score in scores:
        page.keyboard.press(str(score))
        page.keyboard.press("Enter")
    assert page.inner_text("#done-title").startswith("All items are scored")
    with page.expect_download() as download:
        page.click("#done-export")
    exported = tmp_path / download.value.suggested_filename
    assert re.fullmatch(r"scores-[0-9a-f]{12}-Ada_A_Ö\.csv", exported.name)
    download.value.save_as(exported)
    with exported.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert [line["item"] for line in lines] == [item["id"] for item in items]
    assert {line["rater"] for line in lines} == {'Ada "A", Ö'}
    import_sheets([exported], sheet.with_name("key.json"), tmp_path / "humans")
    (file,) = (tmp_path / "humans").iterdir()
    given = {(row.system, row.clip_id, row.focal_id): row.score for row in read_rows(file, HumanScore)}
    key = read_record(sheet.with_name("key.json"), SheetKey)
    expected = {(item.system, item.clip_id, item.focal_id): score for item, score in zip(key.items, scores, strict=True)}
    assert given == expected


def test_an_unfinished_sheet_says_how_much_is_left(page, sheet, items):
    begin(page, sheet)
    page.keyboard.press("2")
    for _ in items:
        page.keyboard.press("Enter")
    assert page.inner_text("#done-text").startswith(f"{len(items) - 1} of {len(items)} items have no score yet")
    page.click("#done-back")
    assert page.inner_text("#position").startswith("Item 2 of")


def times(page, seconds: float) -> dict[str, list[float]]:
    """Times at which the two videos were while they played."""
    return page.evaluate(
        """async (ms) => {
        const seen = { reference: [], render: [] }, until = performance.now() + ms;
        while (performance.now() < until) {
          for (const name of Object.keys(seen)) seen[name].push(document.getElementById(name).currentTime);
          await new Promise(requestAnimationFrame);
        }
        return seen; }""",
        1000 * seconds,
    )


def to_item(page, items: list[dict], kind: str) -> dict:
    for item in items:
        if item["kind"] == kind:
            return item
        page.keyboard.press("Enter")
    raise AssertionError(kind)


def test_the_reference_repeats_its_segment_beside_the_whole_render(page, sheet, items):
    begin(page, sheet)
    item = to_item(page, items, "dynamic")
    page.wait_for_function(
        "() => document.getElementById('reference').currentTime >= 0.5 && document.getElementById('render').currentTime > 0.1"
    )
    seen = times(page, 3.5)
    inside = [item["from"] / FPS - 0.001 <= time <= item["to"] / FPS + 0.06 for time in seen["reference"]]
    assert sum(inside) == len(inside)  # a frame may pass before the page sees it
    assert max(seen["reference"]) > item["to"] / FPS - 0.1  # to its end
    assert sum(b < a for a, b in zip(seen["reference"], seen["reference"][1:], strict=False)) >= 1  # and again
    assert max(seen["render"]) > 1.8 and min(seen["render"]) < 0.5  # of two seconds


def test_both_at_the_same_time_of_the_segment(page, sheet, items):
    begin(page, sheet)
    item = to_item(page, items, "dynamic")
    page.keyboard.press("s")
    assert page.get_attribute("#together", "aria-pressed") == "true"
    page.wait_for_function(
        "() => Math.abs(document.getElementById('render').currentTime - document.getElementById('reference').currentTime) < 0.1"
    )
    seen = times(page, 2.5)
    apart = sorted(abs(a - b) for a, b in zip(seen["reference"], seen["render"], strict=True))
    assert apart[int(0.9 * len(apart))] < 3 / FPS
    page.keyboard.press("Space")
    assert page.evaluate("document.getElementById('render').paused && document.getElementById('reference').paused")
    for _ in range(30):  # one frame back each, no further than the segment's first
        page.keyboard.press(",")
    page.wait_for_function(
        "(at) => ['reference', 'render'].every((name) => Math.abs(document.getElementById(name).currentTime - at) < 0.001)",
        arg=(item["from"] + 0.5) / FPS,
    )


@pytest.mark.parametrize("size", [(1280, 720), (1366, 768), (1536, 864), (1920, 1080)])
def test_an_item_fits_a_laptop_without_scrolling(page, sheet, size):
    page.set_viewport_size({"width": size[0], "height": size[1]})
    begin(page, sheet)
    page.evaluate("document.getElementById('description').textContent = 'A long description of what is to be seen. '.repeat(12)")
    assert page.evaluate("[document.documentElement.scrollHeight, document.documentElement.scrollWidth]") == [size[1], size[0]]
    boxes = [page.locator(name).bounding_box() for name in ("#reference", "#render", "#next", "label.score:nth-of-type(6)")]
    assert all(box["height"] > 0 and box["y"] + box["height"] <= size[1] and box["x"] + box["width"] <= size[0] for box in boxes)
    assert boxes[0]["height"] > 0.25 * size[1]


def test_every_control_has_a_name_and_the_dialog_takes_the_keys(page, sheet):
    begin(page, sheet)
    nameless = page.evaluate(
        """() => [...document.querySelectorAll('button, input, select')].filter((control) => !(
        control.textContent.trim() || control.getAttribute('aria-label') || control.labels?.length
        )).map((control) => control.outerHTML)"""
    )
    assert nameless == []
    page.keyboard.press("?")
    assert page.evaluate("document.getElementById('criteria').open")
    page.keyboard.press("4")
    page.keyboard.press("Escape")
    assert chosen(page) is None and not page.evaluate("document.getElementById('criteria').open")


def test_dark_and_light_are_the_readers_choice(page, sheet):
    begin(page, sheet)
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.click("#theme")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_a_browser_that_keeps_nothing_is_told_of_and_still_exports(page, sheet):
    page.add_init_script("Object.defineProperty(window, 'localStorage', { get() { throw new Error('forbidden'); } });")
    begin(page, sheet)
    assert page.is_visible("#not-kept")
    page.keyboard.press("3")
    with page.expect_download() as download:
        page.click("#export")
    assert len(Path(download.value.path()).read_text(encoding="utf-8").splitlines()) == 2
