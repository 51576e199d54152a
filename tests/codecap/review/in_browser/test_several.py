"""Several tabs and people on one clip, and a server that is killed."""

from __future__ import annotations

import signal

import numpy as np
import pytest
from reviewing import Reviewer, choose, drafted, mouse, object_of, rests_on, saved, state

from codecap.records import Annotation, read_record

pytestmark = pytest.mark.slow
EXPECTED = (
    "409|403|507|ERR_FAILED|ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET"  # what the browser logs of a refusal
)


@pytest.fixture(scope="module")
def project(make):
    return make(*(drafted(clip_id) for clip_id in ("A_tabs", "A_people", "A_killed", "A_closed", "A_full")))


@pytest.fixture(scope="module")
def ada(browser, project):
    reviewer = Reviewer(browser, project.open())
    yield reviewer
    reviewer.close(EXPECTED)


def test_a_second_tab_is_told_looks_on_and_may_take_over(ada, project):
    first, second = ada.tab("A_tabs"), ada.tab("A_tabs")
    assert second.inner_text("#notice-words").startswith("You have this clip open in another tab.")
    choose(second, "objects", "slider")
    second.keyboard.press("a")  # nothing can be changed
    mouse(second, [(45, 45), (45, 75)])
    assert second.locator("#overlay .handle").count() == 0 and second.is_disabled("#decide-open-button")
    choose(first, "objects", "slider")
    first.keyboard.press("a")
    saved(first)
    second.click("#notice-act")
    second.locator("#notice").wait_for(state="hidden")
    assert second.inner_text("#progress-text") == "1 of 5 decided"  # what the first one did is there
    second.keyboard.press("x")
    saved(second)
    choose(first, "objects", "panel")
    first.keyboard.press("a")  # it has not heard yet that it does not hold the clip any more
    first.locator("#notice-words", has_text="Nothing was overwritten").wait_for()
    first.click("#notice-act")
    first.locator("#notice-words", has_text="open in another tab").wait_for()
    assert first.inner_text("#progress-text") == "1 of 5 decided"
    assert state(first, "A_tabs")["annotation"]["decision"]["objects"] == {"slider": "reject"}
    assert [line["value"] for line in project.journal("A_tabs", "Ada")] == ["accept", "reject"]


def test_a_second_person_is_told_and_gets_the_clip_when_it_is_free(browser, ada, project):
    bea = Reviewer(browser, project.open("Bea"))
    first = ada.tab("A_people")
    choose(first, "objects", "panel")
    mouse(first, [(250, 70), (240, 75)])
    saved(first)
    second = bea.tab("A_people")
    assert second.inner_text("#notice-words").startswith("Ada works on this clip.")
    first.goto(f"{ada.base}/")  # lets go of it
    first.wait_for_selector("#queue-rows tr")
    second.locator("#notice").wait_for(state="hidden")  # at the next renewal
    choose(second, "objects", "panel")
    second.keyboard.press("a")  # stays edited, and so no edit
    choose(second, "objects", "badge")
    second.keyboard.press("a")
    saved(second)
    assert np.allclose(object_of(second, "A_people", "panel")["keys"]["0"], [190, 25, 290, 85], atol=0.6)
    second.click("#history summary")
    second.locator("#history-list li", has_text="Bea").wait_for()
    assert second.locator("#history-list li", has_text="Ada").count() == 2
    bea.close(EXPECTED)


def test_a_killed_server_loses_nothing_that_was_done_before_or_meanwhile(browser, project):
    process, address = project.serve("Cleo")
    cleo = Reviewer(browser, address)
    page, other = cleo.tab("A_killed"), cleo.tab("A_closed")
    for tab in (page, other):
        choose(tab, "objects", "slider")
        mouse(tab, [(45, 45), (45, 55)])
        saved(tab)
    page.keyboard.press("e")
    page.keyboard.type("Before. ")
    saved(page)
    page.keyboard.type("Last. ")
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = [line for line in project.journal("A_killed", "Cleo") if line["path"] == "objects/slider"]
    assert "keys" in kept[0]["value"] and "Before. " in kept[-1]["value"]["description"]
    page.keyboard.type("Meanwhile. ")
    page.keyboard.press("Escape")
    page.locator("#saving[data-state=offline]").wait_for()
    for name, key in (("panel", "a"), ("badge", "x")):
        choose(other, "objects", name)
        other.keyboard.press(key)
    other.locator("#saving[data-state=offline]").wait_for()
    other.close(run_before_unload=False)
    process, address = project.serve("Cleo", port=int(cleo.base.rpartition(":")[2]))
    page.locator("#notice-words", has_text="Open the address that it prints").wait_for()
    cleo.enter(address)
    saved(page)  # the tab was open all the time, and goes on
    words = object_of(page, "A_killed", "slider")["description"]
    assert "Before. Last. Meanwhile. " in words
    page.reload()
    rests_on(page, 0)
    choose(page, "objects", "slider")
    assert page.input_value("#description") == words
    assert float(page.get_attribute("#overlay .chosen .box", "y")) == pytest.approx(40, abs=0.6)
    what_the_closed_tab_left_is_made(cleo)
    cleo.close(EXPECTED)
    process.send_signal(signal.SIGINT)
    assert process.stdout.read().endswith("ended; everything is saved\n") and process.wait() == 0
    assert not project.approved.exists()


def what_the_closed_tab_left_is_made(cleo) -> None:
    """By the next tab, once it holds the clip; and once."""
    page = cleo.tab("A_closed")
    if page.is_visible("#notice"):  # the closed tab's hold lasts for some seconds
        assert "another tab" in page.inner_text("#notice-words")
        page.click("#notice-act")
    page.locator("#said", has_text="2 edits of your last visit").wait_for()
    saved(page)
    told = state(page, "A_closed")
    assert told["annotation"]["decision"]["objects"] == {"slider": "edit", "panel": "accept", "badge": "reject"}
    page.reload()
    rests_on(page, 0)
    page.wait_for_timeout(300)
    assert page.is_hidden("#said") and state(page, "A_closed")["revision"] == told["revision"]


def test_an_answer_that_was_lost_is_no_conflict_and_a_full_disk_is_told(ada):
    page = ada.tab("A_full")
    lost = []

    def lose(route):
        if lost:
            route.continue_()
        else:
            lost.append(route.fetch().status)
            route.abort()

    page.route("**/edits", lose)
    choose(page, "objects", "panel")
    page.keyboard.press("a")
    page.locator("#saving[data-state=offline]").wait_for()
    saved(page)
    assert lost == [200] and page.is_hidden("#notice") and state(page, "A_full")["revision"] == 1
    page.unroute("**/edits")
    full = {"status": 507, "json": {"why": "not saved: reviews/A_full/Ada.jsonl: No space left on device"}}
    page.route("**/edits", lambda route: route.fulfill(**full))
    page.keyboard.press("x")
    page.locator("#notice-words", has_text="No space left on device").wait_for()
    page.unroute("**/edits")
    saved(page)
    assert page.is_hidden("#notice") and state(page, "A_full")["revision"] == 2


def test_two_review_blindly_and_a_third_step_settles_whose_version_holds(browser, make):
    project = make(drafted("A_twice"), twice=1)
    ada, bea = (Reviewer(browser, project.open(who)) for who in ("Ada", "Bea"))
    first, second = ada.tab("A_twice"), bea.tab("A_twice")  # both at once: each has a version
    choose(first, "objects", "panel")
    mouse(first, [(250, 70), (240, 70)])
    for page in (first, second):
        page.keyboard.press("Control+Enter")
        page.click("#accept-rest")
        page.click("#decide-approve")
        page.locator("#status", has_text="approved").wait_for()
    assert first.is_hidden("#versions") and not (project.approved / "A_twice.json").exists()
    second.locator(".version", has_text="Ada").get_by_text("Show").click()
    second.locator("#notice-words", has_text="This is the version of Ada.").wait_for()
    choose(second, "objects", "panel")
    assert float(second.get_attribute("#overlay .chosen .box", "x")) == pytest.approx(190, abs=0.6)
    second.locator(".version", has_text="Ada").get_by_text("Approve", exact=True).click()
    second.locator("#notice-words", has_text="A_twice is approved").wait_for()
    kept = read_record(project.approved / "A_twice.json", Annotation)
    assert np.allclose(kept.objects[1].boxes_xyxy[9], [190, 20, 290, 80], atol=0.6)
    ada.close(EXPECTED)
    bea.close(EXPECTED)
