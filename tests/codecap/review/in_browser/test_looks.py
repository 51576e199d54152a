"""The page as it looks with many objects and focal points: in both themes, on a small and a large screen."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from reviewing import Reviewer, choose, drafted, rests_on

from codecap.records import Annotation

pytestmark = pytest.mark.slow
SHOTS = "CODECAP_TEST_SHOTS"  # names a folder that keeps the pictures
ROWS = "header, .transport, .tools, .decide, .inspector > .name, .span-row, .gutter, .chips, .queue-head"
FAULTS = """(rows) => {
  const faults = [];
  const shown = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const told = (element) => `${element.tagName} ${element.id || element.className}: ${element.textContent.slice(0, 40)}`;
  const check = (wrong, what, element) => { if (wrong) faults.push(`${what}: ${told(element)}`); };
  for (const element of document.querySelectorAll('header *, main *, dialog[open] *')) {
    if (!shown(element) || element.closest('svg')) continue;
    const { textOverflow, overflowX } = getComputedStyle(element);
    const words = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    const meant = textOverflow === 'ellipsis' && element.closest('[title]'); // all of it is told when it is pointed at
    check(words && overflowX !== 'visible' && !meant && element.scrollWidth > element.clientWidth + 1, 'cut', element);
    if (!element.matches('button, .tag, strong, #progress-text, #saving') || element.closest('.timeline')) continue;
    const { left, right } = element.getBoundingClientRect();
    check(right > innerWidth + 1 || left < -1, 'outside', element);
  }
  for (const row of document.querySelectorAll(rows)) {
    const end = row.getBoundingClientRect().right;
    const parts = [...row.children].filter(shown).map((element) => [element, element.getBoundingClientRect()]);
    for (const [at, [one, a]] of parts.entries()) {
      check(a.right > end + 1, 'beyond its row', one);
      for (const [, b] of parts.slice(at + 1)) {
        check(Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
          && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1, 'overlapped', one);
      }
    }
  }
  if (document.documentElement.scrollWidth > innerWidth) faults.push('the page scrolls to the side');
  return faults;
}"""


LONG = 'a panel whose name goes on and on / with <b>signs</b> & "quotes" until it is far longer than any place that there is for it'


@pytest.fixture(scope="module")
def ada(browser, make):
    many = drafted("A_many", objects=17, points=9)
    many.objects[6] = many.objects[6].model_copy(update={"name": LONG})
    many.focal_points[1] = many.focal_points[1].model_copy(update={"description": f"{LONG}, {LONG}", "objects": [LONG]})
    reviewer = Reviewer(browser, make(many, Annotation(clip_id="A_none")).open())
    yield reviewer
    reviewer.close()


@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080)], ids=str)
def test_nothing_overlaps_or_is_cut(ada, size):
    page = ada.tab("A_many")
    page.set_viewport_size({"width": size[0], "height": size[1]})
    views = {
        "nothing": lambda: None,
        "point": lambda: choose(page, "focal_points", "p1"),
        "object": lambda: page.locator("#rows .called").get_by_text(LONG, exact=True).click(),
        "keys": lambda: page.keyboard.press("?"),
        "decide": lambda: (page.keyboard.press("Escape"), page.keyboard.press("Control+Enter")),
        "queue": lambda: (page.goto(f"{ada.base}/"), page.wait_for_selector("#queue-rows tr")),
    }
    for name, lead in views.items():
        lead()
        if name in ("point", "object"):
            name_px, picture_px = (page.locator(part).bounding_box() for part in ("#overlay text", "#picture"))
            assert name_px["x"] + name_px["width"] <= picture_px["x"] + picture_px["width"] + 1
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            keep(page, f"{name}_{size[0]}_{theme}")
            assert page.evaluate(FAULTS, ROWS) == [], (name, theme)
    page.close()


def test_a_clip_for_which_nothing_was_drafted_says_what_to_do(ada):
    page = ada.tab("A_none")
    assert page.inner_text(".nothing").startswith("Nothing was drafted here") and page.evaluate(FAULTS, ROWS) == []
    page.close()


def keep(page, name: str) -> None:
    if folder := os.environ.get(SHOTS):
        page.screenshot(path=Path(folder) / f"{name}.png")


def test_many_rows_are_reached_by_the_keyboard_and_stay_in_view(ada):
    page = ada.tab("A_many")
    for _ in range(26):
        page.keyboard.press("ArrowDown")
    row = page.locator('.row[aria-selected="true"]')
    assert row.get_attribute("data-key") == "part_of_the_panel_13"
    around, box = page.locator("#timeline").bounding_box(), row.bounding_box()
    assert around["y"] <= box["y"] and box["y"] + box["height"] <= around["y"] + around["height"] + 1
    page.keyboard.press("End")
    rests_on(page, 71)
    page.close()
