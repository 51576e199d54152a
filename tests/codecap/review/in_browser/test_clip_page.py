"""One person reviews clips on the real page over the real server."""

from __future__ import annotations

import re

import numpy as np
import pytest
from reviewing import FRAMES, Reviewer, box_of, choose, code, drafted, mouse, object_of, rests_on, saved, state

from codecap.records import Annotation, read_record
from codecap.review.shown import shown_boxes

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def project(make):
    return make(*(drafted(clip_id) for clip_id in ("A_steps", "A_boxes", "A_times", "A_words", "A_done")), odd())


def odd() -> Annotation:
    """Names that mean something to JavaScript or HTML."""
    draft = drafted("A_odd", points=0)
    names = ("constructor", "__proto__", "<b>a</b>/b 'c' \"d\"")
    objects = [one.model_copy(update={"name": name}) for one, name in zip(draft.objects, names, strict=True)]
    return draft.model_copy(update={"objects": objects})


@pytest.fixture(scope="module")
def ada(browser, project):
    reviewer = Reviewer(browser, project.open())
    yield reviewer
    reviewer.close()


def test_the_frame_shown_is_the_one_that_the_page_names(ada):
    page = ada.tab("A_steps")
    for keys, frame in (
        (["ArrowRight"] * 3, 3),
        (["Shift+ArrowRight"], 27),
        (["ArrowLeft"], 26),
        (["End"], 71),
        (["ArrowRight"], 71),
        (["Home"], 0),
    ):
        for key in keys:
            page.keyboard.press(key)
        rests_on(page, frame)
        assert code(page) == frame
    assert page.inner_text("#clock") == "frame 0 · 0.000 s"
    ruler = page.locator("#ruler").bounding_box()
    page.mouse.click(ruler["x"] + ruler["width"] * 40.5 / FRAMES, ruler["y"] + 20)
    rests_on(page, 40)
    assert code(page) == 40
    page.close()


def test_playing_ends_on_a_frame_that_the_page_names(ada):
    page = ada.tab("A_steps")
    page.keyboard.press("Space")
    page.locator("#clock", has_text=re.compile(r"^frame (9|[1-7]\d) ")).wait_for()
    page.keyboard.press("Space")
    page.locator("video:not(.shown)").wait_for()
    page.wait_for_timeout(200)
    assert page.inner_text("#clock").startswith(f"frame {code(page)} ·")
    choose(page, "focal_points", "p1")  # plays its interval, and rests on the last frame of it
    page.keyboard.press("p")
    rests_on(page, 29)
    page.locator("#play", has_text="▶").wait_for()
    page.close()


def test_a_box_is_drawn_dragged_nudged_and_interpolated(ada):
    page = ada.tab("A_boxes")
    page.keyboard.press("o")
    mouse(page, [(100, 100), (140, 130)])
    page.keyboard.press("Shift+ArrowRight")
    rests_on(page, 24)
    mouse(page, [(120, 115), (144, 127)])  # by its middle
    saved(page)
    made = object_of(page, "A_boxes", "object_4")
    assert np.allclose(made["keys"]["0"], [100, 100, 140, 130], atol=0.6)
    assert np.allclose(made["keys"]["24"], np.add(made["keys"]["0"], [24, 12, 24, 12]), atol=0.6)
    for _ in range(12):
        page.keyboard.press("ArrowLeft")
    rests_on(page, 12)
    shown = [float(page.get_attribute("#overlay .chosen .box", side)) for side in ("x", "y", "width", "height")]
    assert np.allclose(shown, [112, 106, 40, 30], atol=0.8)
    mouse(page, [(shown[0] + shown[2], shown[1] + shown[3]), (170, 150)])  # the lower right handle
    page.keyboard.press("b")
    for key in ("ArrowLeft", "Shift+ArrowUp", "Control+ArrowRight"):
        page.keyboard.press(key)
    saved(page)
    assert np.allclose(object_of(page, "A_boxes", "object_4")["keys"]["12"], [111, 96, 170, 140], atol=0.8)
    page.keyboard.press("Escape")
    for _ in range(3):  # the nudges, the handle, the drag
        page.keyboard.press("u")
    saved(page)
    assert list(object_of(page, "A_boxes", "object_4")["keys"]) == ["0"]
    page.keyboard.press("Control+y")
    saved(page)
    assert list(object_of(page, "A_boxes", "object_4")["keys"]) == ["0", "24"]
    page.close()


def test_a_machines_box_is_corrected_between_keys_and_an_object_is_segmented_anew(ada):
    page = ada.tab("A_boxes")
    choose(page, "objects", "slider")
    rests_on(page, 0)
    mouse(page, [(45, 45), (45, 55)])
    for _ in range(2):
        page.keyboard.press("Shift+ArrowRight")
    rests_on(page, 48)
    page.keyboard.press("k")  # as shown: ten down, as on the frame of the first key
    page.keyboard.press("h")
    page.keyboard.press("u")
    saved(page)
    slider = object_of(page, "A_boxes", "slider")
    boxes = shown_boxes(slider["base"], {int(frame): box for frame, box in slider["keys"].items()}, slider["visible_s"], FRAMES)
    assert np.allclose(boxes[30], np.add(box_of("slider", 30), [0, 10, 0, 10]), atol=0.6)
    page.keyboard.press("Delete")
    page.keyboard.press("Home")
    page.keyboard.press("Delete")
    saved(page)
    assert object_of(page, "A_boxes", "slider")["keys"] == {}
    page.keyboard.press("s")
    page.locator("#said", has_text="slider was segmented").wait_for()
    saved(page)
    found = object_of(page, "A_boxes", "slider")["base"]
    assert np.abs(np.array(found[40]) - box_of("slider", 40)).max() < 3
    page.close()


def test_intervals_are_dragged_typed_and_cut_at_the_frame(ada):
    page = ada.tab("A_times")
    choose(page, "focal_points", "p0")
    bar = page.locator('.row[data-key="p0"] .bar-of').bounding_box()
    lane = page.locator("#ruler").bounding_box()
    y = bar["y"] + bar["height"] / 2
    page.mouse.move(bar["x"] + bar["width"] - 2, y)
    page.mouse.down()
    page.mouse.move(bar["x"] + bar["width"] - 2 + lane["width"] * 12 / FRAMES, y, steps=4)
    rests_on(page, 35)  # the last frame of it, while it is dragged
    page.mouse.up()
    saved(page)
    assert point_of(page, "p0")[:2] == (0, 1.5)
    page.keyboard.press("Home")
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    rests_on(page, 6)
    page.keyboard.press("[")
    page.keyboard.press("Shift+ArrowRight")
    rests_on(page, 30)
    page.keyboard.press("]")
    saved(page)
    assert point_of(page, "p0")[:2] == (0.25, 31 / 24)
    page.fill('input[aria-label="End in seconds"]', "2")
    page.keyboard.press("Enter")
    saved(page)
    assert point_of(page, "p0")[:2] == (0.25, 2)
    page.keyboard.press("u")
    page.click("text=dynamic")
    page.click('.objects .chip:has-text("badge")')
    saved(page)
    assert point_of(page, "p0") == (0.25, 31 / 24, "dynamic", ["panel", "badge"])
    choose(page, "objects", "badge")
    page.keyboard.press("]")
    saved(page)
    assert object_of(page, "A_times", "badge")["visible_s"] == [[0, 31 / 24]]
    page.close()


def point_of(page, focal_id: str) -> tuple:
    points = state(page, "A_times")["annotation"]["focal_points"]
    return next((one["start_s"], one["end_s"], one["kind"], one["objects"]) for one in points if one["focal_id"] == focal_id)


def test_words_and_names_are_changed_by_the_keyboard(ada):
    page = ada.tab("A_words")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("e")
    page.keyboard.press("End")
    page.keyboard.type(", seen from the left")
    page.keyboard.press("Escape")
    page.keyboard.press("f")
    page.keyboard.type("A new point <b>of mine</b>")
    page.keyboard.press("Enter")
    page.wait_for_selector('.row[data-key="point_3"]')
    choose(page, "objects", "panel")
    page.keyboard.press("r")
    page.keyboard.type("board/1 ' \"")
    page.keyboard.press("Enter")
    saved(page)
    told = state(page, "A_words")
    points = {one["focal_id"]: one for one in told["annotation"]["focal_points"]}
    assert points["p0"]["description"].endswith("part 0, seen from the left")
    assert points["point_3"]["description"] == "A new point <b>of mine</b>"
    assert points["p0"]["objects"] == ["board/1 ' \""]
    assert told["annotation"]["decision"]["objects"] == {"board/1 ' \"": "edit"}
    assert page.locator("#overlay .chosen").get_attribute("data-name") == "board/1 ' \""
    page.keyboard.press("u")
    page.wait_for_selector('.row[data-key="panel"]')
    saved(page)
    page.click("#history summary")
    page.wait_for_selector("#history-list li")
    assert "Ada" in page.inner_text("#history-list")
    page.close()


def test_names_that_mean_something_to_a_program_are_names(ada, project):
    page = ada.tab("A_odd")
    assert page.inner_text("#progress-text") == "0 of 3 decided"
    for name in [one["name"] for one in state(page, "A_odd")["annotation"]["objects"]]:
        page.locator("#rows .called").get_by_text(name, exact=True).click()
        page.keyboard.press("a")
    assert page.inner_text("#progress-text") == "3 of 3 decided"
    page.keyboard.press("Control+Enter")
    page.click("#decide-approve")
    page.locator("#status", has_text="approved").wait_for()
    assert read_record(project.approved / "A_odd.json", Annotation).objects[1].name == "__proto__"
    page.close()


def test_keys_that_another_keyboard_writes_with_alt(ada):
    page = ada.tab("A_steps")
    choose(page, "objects", "badge")
    page.keyboard.press("Shift+ArrowRight")
    rests_on(page, 24)
    for told in ({"key": "]", "ctrlKey": True, "altKey": True}, {"key": "[", "altKey": True}, {"key": "x", "altKey": True}):
        page.evaluate("told => document.body.dispatchEvent(new KeyboardEvent('keydown', {bubbles: true, ...told}))", told)
    saved(page)
    badge = object_of(page, "A_steps", "badge")
    assert badge["visible_s"] == [[1, 25 / 24]] and page.inner_text(".said") == "Edited"
    page.keyboard.press("ArrowLeft")
    rests_on(page, 23)
    page.keyboard.press("h")  # it is not visible here, and stays so
    saved(page)
    assert object_of(page, "A_steps", "badge")["visible_s"] == [[1, 25 / 24]]
    page.close()


def test_all_is_kept_when_a_clip_is_approved_and_loaded_again(ada, project):
    page = ada.tab("A_done")
    for key in ("n", "a", "a", "a", "a", "x"):  # each leads on to the next
        page.keyboard.press(key)
    choose(page, "objects", "slider")
    page.keyboard.press("Home")
    mouse(page, [(45, 45), (45, 35)])
    page.keyboard.press("Control+Enter")
    page.fill("#decide-note", "fine")
    page.click("#decide-approve")
    page.locator("#status", has_text="approved").wait_for()
    kept = read_record(project.approved / "A_done.json", Annotation)
    assert [item.name for item in kept.objects] == ["slider", "panel"]
    assert np.allclose(kept.objects[0].boxes_xyxy[50], np.subtract(box_of("slider", 50), [0, 10, 0, 10]), atol=0.6)
    assert kept.reviews[-1].who == "Ada"
    page.reload()
    rests_on(page, 0)
    assert page.inner_text("#status") == "approved"
    assert page.inner_text("#progress-text") == "5 of 5 decided"
    choose(page, "objects", "slider")
    assert float(page.get_attribute("#overlay .chosen .box", "y")) == pytest.approx(20, abs=0.6)
    page.click("#decide-open-button")  # reopens it
    page.locator("#status", has_text="started").wait_for()
    page.keyboard.press("Control+Enter")
    assert page.input_value("#decide-note") == ""
    page.click("#decide-approve")
    page.locator("#status", has_text="approved").wait_for()
    assert [line["value"]["note"] for line in project.journal("A_done", "Ada") if line["path"] == "status"] == ["fine", "", ""]
    page.goto(f"{ada.base}/")
    assert page.inner_text('tr[data-clip="A_done"] .tag') == "approved"
    page.close()
