"""Fonts: what is drawn with what, as the browser and fontconfig's own programs say, and text of other scripts in real pictures."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from html import escape
from pathlib import Path

import numpy as np
import pytest

from codecap import doctor
from codecap.render import fontconfig, fonts, render_page
from codecap.video import read_frames

UNASSIGNED = "\u0378"
LINE_PX = 60
WIDTH_PX = 320


@pytest.fixture
def unasked():
    """fontconfig is asked anew before and after a test that takes it away."""
    fonts._faces.cache_clear()
    yield
    fonts._faces.cache_clear()


@pytest.fixture
def faces() -> dict[str, fontconfig.Face | None]:
    """Faces by what is asked for, on a machine that has fonts."""
    try:
        return fonts._faces()
    except fonts.FontconfigMissing as missing:
        pytest.skip(str(missing))


@pytest.fixture
def program() -> Callable[..., str]:
    """What a program of fontconfig's answers in the browser's language."""

    def answer(name: str, *arguments: str) -> str:
        executable = shutil.which(name)
        if executable is None:
            pytest.skip(f"{name} is not installed: {fonts.INSTALL} fontconfig")
        environment = os.environ | {"LC_ALL": "C.UTF-8"}
        return subprocess.run(
            [executable, *arguments], capture_output=True, text=True, timeout=60, check=True, env=environment
        ).stdout

    return answer


def only(folder: Path, files: list[str]) -> str:
    """A configuration of fontconfig's that knows no fonts but those."""
    installed = folder / "fonts"
    installed.mkdir()
    for file in files:
        shutil.copy(file, installed)
    configuration = folder / "fonts.conf"
    configuration.write_text(f"<fontconfig><dir>{installed}</dir><cachedir>{folder / 'cache'}</cachedir></fontconfig>")
    return str(configuration)


def told_elsewhere(**environment: str) -> list[str]:
    """In another process: the protocol, then what is drawn with what, one a line."""
    program = (
        "from codecap.render import fonts; print(fonts.protocol()); print(*map('='.join, fonts.drawn_with().items()), sep=chr(10))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True, env=os.environ | environment
    )
    return done.stdout.splitlines()


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


NAMES = [*fonts.GENERIC.values(), *fonts.NAMED, "No Such Family"]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_matched_as_fc_match_does(program, name):
    family, file, index, version = program("fc-match", "-f", "%{family[0]}\t%{file}\t%{index}\t%{fontversion}", name).split("\t")
    with fontconfig.Fontconfig() as asked:
        assert asked.match(name) == fontconfig.Face(family, file, int(index), int(version))


@pytest.mark.parametrize("script", fonts.SCRIPTS)
def test_a_script_is_drawn_with_the_first_face_that_has_it(program, script):
    character, preferred = fonts.SCRIPTS[script]
    having = set(program("fc-list", "-f", "%{file}\t%{index}\n", f":charset={ord(character):x}").splitlines())
    ranked = program("fc-match", "-a", "-f", "%{file}\t%{index}\n", f"{preferred}:charset={ord(character):x}").splitlines()
    with fontconfig.Fontconfig() as asked:
        face = asked.having(character, preferred)
    assert (face and f"{face.file}\t{face.index}") == next((told for told in ranked if told in having), None)


@pytest.mark.usefixtures("faces")
def test_a_character_that_no_font_has():
    with fontconfig.Fontconfig() as asked:
        assert asked.having(UNASSIGNED) is None


def test_families_are_those_of_fc_list(program):
    listed = {name for line in program("fc-list", "-f", "%{family}\n").splitlines() for name in line.split(",")}
    with fontconfig.Fontconfig() as asked:
        assert asked.families() == listed


@pytest.mark.usefixtures("faces")
def test_threads_may_ask_at_once():
    def ask(_: int) -> list[fontconfig.Face | None]:
        with fontconfig.Fontconfig() as asked:
            return [asked.match(name) for name in NAMES] + [asked.having(*script) for script in fonts.SCRIPTS.values()]

    with ThreadPoolExecutor(8) as threads:
        first, *others = threads.map(ask, range(24))
    assert all(other == first for other in others)


@pytest.mark.usefixtures("faces")
def test_the_language_of_this_process_does_not_matter():
    """A Chinese or Japanese locale makes fontconfig prefer other families; the browser is always started in English."""
    told = told_elsewhere(LC_ALL="C.UTF-8")
    assert told == [fonts.protocol(), *map("=".join, fonts.drawn_with().items())]
    assert told_elsewhere(LC_ALL="ja_JP.UTF-8", FC_LANG="ja") == told


def test_protocol_tells_a_configuration_with_fewer_fonts(tmp_path, faces):
    monospace = faces["monospace"]
    protocol, *drawn_with = told_elsewhere(FONTCONFIG_FILE=only(tmp_path, [monospace.file]))
    assert protocol.startswith("fonts ") and protocol != fonts.protocol()
    families = dict(line.split("=") for line in drawn_with)
    assert {families[asked] for asked in (*fonts.GENERIC, *fonts.NAMED)} == {monospace.family}
    assert set(families.values()) <= {monospace.family, "none"}


@pytest.mark.parametrize("change", ["head", "size", "nothing"])
def test_protocol_tells_another_font_file(tmp_path, monkeypatch, faces, change):
    face = faces["sans-serif"]
    copied = tmp_path / "font"
    content = bytearray(Path(face.file).read_bytes())
    if change == "head":  # the checksum of the first table, as the directory at the beginning has it
        content[16] ^= 1
    elif change == "size":
        content += b"\0"
    copied.write_bytes(content)
    before = fonts.protocol()
    monkeypatch.setattr(fonts, "_faces", lambda: faces | {"sans-serif": replace(face, file=str(copied))})
    assert (fonts.protocol() != before) == (change != "nothing")


def test_without_fontconfig_it_says_so(monkeypatch, unasked):
    monkeypatch.setattr(fontconfig, "LIBRARY", "libfontconfig.so.nowhere")
    assert fonts.protocol() == "fonts unknown"
    with pytest.raises(fonts.FontconfigMissing, match="apt-get install libfontconfig1"):
        fonts.missing()
    assert [(found.there, found.needed) for found in doctor._fonts()] == [(False, False)]


def test_a_configuration_that_is_not_there_is_named(monkeypatch, tmp_path, unasked):
    monkeypatch.setenv("FONTCONFIG_FILE", str(tmp_path / "none.conf"))
    assert fonts.protocol() == "fonts unknown"
    with pytest.raises(fonts.FontconfigMissing, match="none.conf"):
        fonts.drawn_with()


def test_without_any_font_it_says_so(monkeypatch, tmp_path, unasked):
    monkeypatch.setenv("FONTCONFIG_FILE", only(tmp_path, []))
    assert fonts.protocol() == "fonts unknown"
    assert fonts.missing() == list(fonts.WANTED)
    with pytest.raises(fonts.FontconfigMissing, match="apt-get install fonts-liberation"):
        fonts.drawn_with()


def test_doctor_tells_missing_fonts_with_the_command(monkeypatch, tmp_path, faces):
    some = [faces[asked] for asked in ("sans-serif", "serif", "monospace", "system-ui")]
    if [face.family for face in some] != ["Liberation Sans", "Liberation Serif", "DejaVu Sans Mono", "DejaVu Sans"]:
        pytest.skip(f"fonts are missing: {fonts.install_command()}")
    monkeypatch.setenv("FONTCONFIG_FILE", only(tmp_path, [face.file for face in some]))
    assert [family.name for family in fonts.missing()] == ["Liberation Mono", "Noto Sans CJK JP", "Noto Color Emoji"]
    told = list(doctor._fonts())
    assert [found.what for found in told] == ["font Liberation Mono", "font Noto Sans CJK JP", "font Noto Color Emoji"]
    assert all("sudo apt-get install fonts-liberation fonts-noto-cjk fonts-noto-color-emoji" in found.told for found in told)


@pytest.mark.parametrize("engine", ["beginframe", "playwright"])
def test_what_is_told_is_what_pages_are_really_drawn_with(render, faces, engine):
    """By the widths of text, in the caged browser of a render; the generic names that a page uses most."""
    measure = "const pen = document.createElement('canvas').getContext('2d');"
    measure += "const width = family => { pen.font = '100px ' + family; return pen.measureText('Mil1 quick fjord').width };"
    checks = "".join(
        f"if (width('{asked}') !== width('\"{faces[asked].family}\"')) throw Error('{asked} is not {faces[asked].family}');"
        for asked in fonts.GENERIC
    )
    done = render(f"<body><script>{measure} window.seek = t => {{ {checks} }}</script>", frames=1, engine=engine)
    assert done.certificate.outcome == "ok", done.certificate.detail
