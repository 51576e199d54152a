"""The review sheet: what it shows, and that its keys do what they say, in a real browser opened from disk."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from codecap.errors import UserError
from codecap.filtering.decisions import Decision, cut_of, read_decisions, take_over
from codecap.filtering.review import TILES, Reviewable, draw_sheet, make_review, of_run
from codecap.records import Clip, Ingested, Verdict, write_rows
from codecap.render.browser import find_browser
from codecap.video import CanonicalWriter, file_sha256

CHANCES = {"A_one": 0.9, "B_two": 0.52, "constructor": 0.1, "E_four": 0.45}  # B and E are the doubtful ones, B first


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[Reviewable]:
    folder = tmp_path_factory.mktemp("clips")
    made = []
    for clip_id, chance in CHANCES.items():
        mp4 = folder / f"{clip_id}.mp4"
        with CanonicalWriter(mp4, 64, 36) as writer:
            for frame in range(48):
                writer.add(np.full((36, 64, 3), 20 + 4 * frame, np.uint8))
        clip = Clip(
            clip_id=clip_id, category=clip_id[0].upper(), mp4=mp4, sha256=file_sha256(mp4), frames=48, width_px=64, height_px=36
        )
        decision = "keep" if chance > 0.5 else "drop"
        reasons = [f"chance {chance}", "<script>document.title = 'broken'</script>"]
        made.append(
            Reviewable(clip, Verdict(clip_id=clip_id, decision=decision, features={"keep_chance": chance}, reasons=reasons), "x")
        )
    return made


@pytest.fixture(scope="module")
def sheet(found: list[Reviewable], tmp_path_factory: pytest.TempPathFactory) -> Path:
    clip = found[0].clip
    given = Decision(clip_id=clip.clip_id, cut=cut_of(clip), decision="drop", who="Eva", decided_at="2026-01-02T03:04:05+00:00")
    return make_review(found, {clip.clip_id: given}, tmp_path_factory.mktemp("review") / "sheet")


def write_run(folder: Path, found: list[Reviewable], judged: int) -> None:
    """One bucket a clip; the filter has judged the first of them."""
    for number, one in enumerate(found):
        name = f"{number:02d}.jsonl"
        write_rows(folder / "results/1_collect/clips" / name, Ingested, [Ingested(source="x", status="ok", clip=one.clip)])
        write_rows(folder / "results/2_filter" / name, Verdict, [one.verdict] if number < judged else [])


def test_no_clip_of_a_run_is_left_out_in_silence(
    found: list[Reviewable], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    write_run(tmp_path, found, judged=3)
    assert [one.clip.clip_id for one in of_run({"buckets": 4})] == list(CHANCES)[:3]
    assert "1 clips are left out: the filter has not judged them" in caplog.text
    with pytest.raises(UserError, match=r"02.jsonl: is of a run with more than 2 buckets; name its configuration"):
        of_run({"buckets": 2})


def shown(page: Path) -> list[dict]:
    html = page.read_text(encoding="utf-8")
    return json.loads(re.search(r'id="review-data">(.*?)</script>', html, flags=re.DOTALL)[1])["clips"]


def test_the_doubtful_come_first_and_decisions_stand(sheet: Path) -> None:
    clips = shown(sheet)
    assert [clip["id"] for clip in clips] == ["B_two", "E_four", "A_one", "constructor"]
    assert clips[2]["given"]["who"] == "Eva" and clips[0]["given"] is None
    for clip in clips:
        assert (sheet.parent / "media" / f"{clip['id']}.mp4").is_file()
        assert (sheet.parent / "sheets" / f"{clip['id']}.small.jpg").is_file()


def test_a_contact_sheet_shows_the_clip_in_order(found: list[Reviewable], tmp_path: Path) -> None:
    draw_sheet(found[0].clip, tmp_path / "s.jpg", tmp_path / "t.jpg")
    picture = np.asarray(Image.open(tmp_path / "s.jpg").convert("L")).astype(int)
    height, width = picture.shape
    middles = [picture[(2 * row + 1) * height // 6, (2 * column + 1) * width // 8] for row in range(3) for column in range(4)]
    wanted = [20 + 4 * (2 + 4 * number) for number in range(TILES)]  # frames 2, 6, 10, ... of 48
    assert np.abs(np.array(middles) - wanted).max() <= 3


@pytest.mark.parametrize(
    ("size_px", "sheet_px"),
    [((36, 64), (1280, 746)), ((4, 4000), (1280, 838)), ((640, 4), (1280, 18))],
    ids=["upright", "a thread", "a line"],
)
def test_a_sheet_of_any_shape_fits_a_screen(
    monkeypatch: pytest.MonkeyPatch, found: list[Reviewable], tmp_path: Path, size_px: tuple[int, int], sheet_px: tuple[int, int]
) -> None:
    monkeypatch.setattr("codecap.filtering.review._frame", lambda *_: Image.new("RGB", size_px, (0, 90, 0)))
    clip = found[0].clip.model_copy(update={"width_px": size_px[0], "height_px": size_px[1]})
    draw_sheet(clip, tmp_path / "s.jpg", tmp_path / "t.jpg")
    assert Image.open(tmp_path / "s.jpg").size == sheet_px
    small = Image.open(tmp_path / "t.jpg").size
    assert small[0] <= 160 and small[1] <= 320


def test_a_clip_that_cannot_be_read_has_its_reason_for_pictures(found: list[Reviewable], tmp_path: Path) -> None:
    gone = Reviewable(found[0].clip.model_copy(update={"mp4": tmp_path / "gone.mp4"}), found[0].verdict, "x")
    page = make_review([gone], {}, tmp_path / "sheet")
    assert "gone.mp4" in shown(page)[0]["fault"]


def test_a_sheet_that_somebody_works_on_is_not_written_over(found: list[Reviewable], sheet: Path) -> None:
    with pytest.raises(UserError, match="is there already"):
        make_review(found, {}, sheet.parent)


@pytest.fixture(scope="module")
def browser() -> Iterator:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=str(find_browser()))
        yield launched
        launched.close()


@pytest.fixture
def page(browser, sheet: Path) -> Iterator:
    """The open sheet; its test fails for any message of the console, script error, or request off the disk."""
    complaints: list[str] = []
    with browser.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True) as context:
        opened = context.new_page()
        opened.on("console", lambda message: complaints.append(f"console: {message.text}"))
        opened.on("pageerror", lambda error: complaints.append(f"script: {error}"))
        opened.on(
            "request", lambda asked: None if asked.url.startswith(("file:", "data:", "blob:")) else complaints.append(asked.url)
        )
        opened.goto(sheet.as_uri())
        yield opened
    assert not complaints


@pytest.mark.slow
def test_keys_decide_undo_and_export(page, found: list[Reviewable], tmp_path: Path) -> None:
    assert page.inner_text("#name") == "B_two" and page.title() == "Clips to keep or drop"
    page.keyboard.press("k")
    assert page.is_visible("#no-name") and page.inner_text("#progress-text") == "1 of 4 decided, 0 kept"
    page.keyboard.type("  Ada   L. ")
    page.keyboard.press("Enter")
    page.keyboard.press("k")
    assert page.inner_text("#name") == "E_four"  # on to the next open one
    page.keyboard.press("m")
    page.keyboard.type("k d\tu")  # keys of a note are no commands
    page.keyboard.press("Enter")
    page.keyboard.press("a")  # as the filter: drop
    assert page.inner_text("#name") == "constructor"  # A_one was decided before
    page.keyboard.press("d")
    page.keyboard.press("u")
    assert page.inner_text("#name") == "constructor" and page.inner_text("#standing") == "Open"
    page.fill("#note", "not yet")
    page.keyboard.press("Enter")
    page.keyboard.press("b")
    page.keyboard.press("n")
    assert page.input_value("#note") == "not yet"  # it waits for the decision
    page.keyboard.press("k")
    page.keyboard.press("Space")
    page.wait_for_function("() => !document.getElementById('video').hidden && document.getElementById('video').readyState >= 2")
    page.keyboard.press("Space")
    assert page.is_hidden("#video") and page.is_visible("#sheet")
    page.reload()  # all of it is still there
    assert page.inner_text("#progress-text") == "4 of 4 decided, 2 kept" and page.input_value("#who") == "Ada L."
    with page.expect_download() as download:
        page.keyboard.press("e")
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    table = tmp_path / "decisions.tsv"
    assert take_over([file], table, {one.clip.clip_id: one.clip for one in found}) == (3, [])
    told = read_decisions(table)
    assert {clip_id: row.decision for clip_id, row in told.items()} == {"B_two": "keep", "constructor": "keep", "E_four": "drop"}
    assert told["E_four"].note == "k d u" and told["B_two"].who == "Ada L." and told["constructor"].note == "not yet"


@pytest.mark.slow
def test_a_note_never_stands_under_the_name_of_another_person(page) -> None:
    page.keyboard.press("n")
    page.keyboard.press("n")
    assert page.inner_text("#name") == "A_one" and "by Eva" in page.inner_text("#standing")
    page.fill("#note", "no, a page")
    page.keyboard.press("Enter")
    assert page.is_visible("#no-name") and "by Eva" in page.inner_text("#standing")
    page.fill("#who", "Ada")
    page.keyboard.press("Enter")
    assert "by Ada" in page.inner_text("#standing") and page.input_value("#note") == "no, a page"
