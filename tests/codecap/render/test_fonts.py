"""Fonts: what is drawn with what, as the browser itself says, and text of other scripts in real pictures."""

from __future__ import annotations

from html import escape
from pathlib import Path

import numpy as np
import pytest

from codecap import doctor
from codecap.render import fonts, render_page
from codecap.video import read_frames

UNASSIGNED = "\u0378"
LINE_PX = 60
WIDTH_PX = 320


@pytest.fixture
def unasked():
    """fontconfig is asked anew before and after a test that takes it away."""
    fonts._matches.cache_clear()
    yield
    fonts._matches.cache_clear()


def wanted(script: str) -> None:
    try:
        if fonts.drawn_with()[script] == "none" or (script == "emoji" and fonts.drawn_with()[script] != "Noto Color Emoji"):
            pytest.skip(f"no font for {script} is installed: {fonts.install_command()}")
    except fonts.FontconfigMissing as missing:
        pytest.skip(str(missing))


def drawn(tmp_path: Path, lines: list[str], direction: str = "ltr") -> list[np.ndarray]:
    """Each text in a line of its own: uint8 RGB `(LINE_PX, WIDTH_PX, 3)`."""
    page = tmp_path / "page.html"
    boxes = "".join(f"<div dir={direction}>{escape(line)}</div>" for line in lines)
    page.write_text(
        f"<!doctype html><meta charset=utf-8><style>body{{margin:0;background:#fff}}"
        f"div{{height:{LINE_PX}px;overflow:hidden;white-space:pre;font:36px/60px sans-serif}}</style>{boxes}"
        "<script>window.seek = () => {}</script>",
        encoding="utf-8",
    )
    mp4 = tmp_path / "page.mp4"
    certificate = render_page(page, 1, WIDTH_PX, LINE_PX * len(lines), mp4, {"codec": "lossless", "repeat_samples": 0})
    assert certificate.outcome == "ok", certificate.detail
    _, rgb = next(read_frames(mp4))
    return list(rgb.reshape(len(lines), LINE_PX, WIDTH_PX, 3))


def profile(picture: np.ndarray) -> np.ndarray:
    """How bright the columns of what is drawn are, in 50 steps from left to right."""
    columns = ink(picture).mean(axis=(0, 2))
    return np.interp(np.linspace(0, len(columns) - 1, 50), np.arange(len(columns)), columns)


def ink(picture: np.ndarray) -> np.ndarray:
    """What is drawn of a line, cut to its box."""
    dark = picture.min(axis=2) < 200
    rows, columns = np.flatnonzero(dark.any(axis=1)), np.flatnonzero(dark.any(axis=0))
    return picture[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]


@pytest.mark.usefixtures("browser")
@pytest.mark.parametrize(
    ("script", "text"),
    [
        ("Chinese", "中文测试"),
        ("Japanese", "あいうえ"),
        ("Korean", "한국어말"),
        ("Arabic", "عمسك"),
        ("Hebrew", "אבגד"),
        ("emoji", "😀🎉🚀🐢"),
    ],
)
def test_characters_of_a_script_are_drawn_and_no_boxes(tmp_path, script, text):
    wanted(script)
    *glyphs, box = [ink(picture) for picture in drawn(tmp_path, [*text, UNASSIGNED])]
    shapes = {(glyph.shape, glyph.tobytes()) for glyph in glyphs}
    assert len(shapes) == len(text)
    assert (box.shape, box.tobytes()) not in shapes


@pytest.mark.usefixtures("browser")
def test_emoji_are_in_colour(tmp_path):
    wanted("emoji")
    (picture,) = drawn(tmp_path, ["🚀"])
    assert np.ptp(picture.astype(int), axis=2).max() > 100


@pytest.mark.usefixtures("browser")
@pytest.mark.parametrize(("script", "first", "last"), [("Hebrew", "אאא", "ל"), ("Arabic", "ببب", "ا")])
def test_a_mixed_line_runs_from_right_to_left(tmp_path, script, first, last):
    """In `FIRST 178 LAST` the first word stands on the right, the last on the left, and the number keeps its own order."""
    wanted(script)
    whole, without_last, without_first, number = drawn(
        tmp_path, [f"{first} 178 {last}", f"{first} 178", f"178 {last}", "178"], "rtl"
    )
    columns = [np.flatnonzero((picture.min(axis=2) < 200).any(axis=0)) for picture in (whole, without_last, without_first, number)]
    left, right = [column[0] for column in columns], [column[-1] for column in columns]
    assert max(right) - min(right) <= 12 and min(right) > WIDTH_PX - 15  # all begin at the right edge
    assert left[0] < left[1]  # the last word stands left of the number
    assert left[0] < left[2]  # and the first word has pushed all of it to the left
    (forwards,) = drawn(tmp_path, ["178"])
    same, mirrored = profile(forwards), profile(forwards[:, ::-1])
    assert np.abs(profile(number) - same).mean() < 0.5 * np.abs(profile(number) - mirrored).mean()


def test_the_browser_draws_with_the_families_that_are_told(browser):
    playwright = pytest.importorskip("playwright.sync_api")
    try:
        told = fonts.drawn_with()
    except fonts.FontconfigMissing as missing:
        pytest.skip(str(missing))
    asked = {name: (name, "x") for name in fonts.GENERIC} | {name: (f"'{name}'", "x") for name in fonts.NAMED}
    asked |= {script: ("sans-serif", character) for script, (character, _) in fonts.SCRIPTS.items() if told[script] != "none"}
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=browser, args=["--no-sandbox", "--lang=en-US"])
        page = chromium.new_page()
        page.set_content("".join(f'<p style="font-family:{family}">{text}</p>' for family, text in asked.values()))
        devtools = page.context.new_cdp_session(page)
        devtools.send("DOM.enable")
        devtools.send("CSS.enable")
        root = devtools.send("DOM.getDocument")["root"]["nodeId"]
        nodes = devtools.send("DOM.querySelectorAll", {"nodeId": root, "selector": "p"})["nodeIds"]
        used = [devtools.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"][0]["familyName"] for node in nodes]
        chromium.close()
    assert dict(zip(asked, used, strict=True)) == {name: told[name] for name in asked}


def test_protocol_tells_another_font_file(monkeypatch):
    before = {"sans-serif": ("A", __file__, "0")}
    every = dict.fromkeys((*fonts.GENERIC, *fonts.NAMED, *fonts.SCRIPTS), ("A", __file__, "0"))
    monkeypatch.setattr(fonts, "_matches", lambda: every | before)
    first = fonts.protocol()
    assert first.startswith("fonts A ")
    monkeypatch.setattr(fonts, "_matches", lambda: every | {"Hebrew": ("A", str(Path(__file__).parent / "conftest.py"), "0")})
    assert fonts.protocol() != first


def test_without_fontconfig_it_says_so(monkeypatch, unasked):
    monkeypatch.setenv("PATH", "/nowhere")
    assert fonts.protocol() == "fonts unknown"
    with pytest.raises(fonts.FontconfigMissing, match="apt-get install fontconfig"):
        fonts.missing()
    assert [(found.there, found.needed) for found in doctor._fonts()] == [(False, False)]


def test_doctor_tells_missing_fonts_with_the_command(monkeypatch):
    installed = "DejaVu Sans,DejaVu Sans Light\nDejaVu Sans Mono\nLiberation Sans\nLiberation Serif\n"
    monkeypatch.setattr(fonts, "_ask", lambda *_: installed)
    assert [family.name for family in fonts.missing()] == ["Liberation Mono", "Noto Sans CJK JP", "Noto Color Emoji"]
    told = list(doctor._fonts())
    assert [found.what for found in told] == ["font Liberation Mono", "font Noto Sans CJK JP", "font Noto Color Emoji"]
    assert all("sudo apt-get install fonts-liberation fonts-noto-cjk fonts-noto-color-emoji" in found.told for found in told)
