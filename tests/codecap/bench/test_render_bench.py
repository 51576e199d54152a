"""One page, few frames, every part of the bench for real. Times are not judged here: they are what the bench is for."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from codecap.bench import rivals
from codecap.bench.commands import LOOP, OURS
from codecap.bench.ffmpeg import find_ffmpeg
from codecap.bench.fidelity import exact_frames, exact_screenshots, reference_frames
from codecap.bench.playwright_loop import screenshots
from codecap.bench.render import PAGES, PAGES_FOLDER, Row, as_table, measure
from codecap.cli import app
from codecap.errors import UserError
from codecap.render import BrowserMissing, find_browser

FRAMES, WIDTH_PX, HEIGHT_PX = 6, 320, 180


@pytest.fixture(scope="module")
def browser() -> Path:
    try:
        return find_browser()
    except BrowserMissing as error:
        pytest.skip(str(error))


@pytest.fixture
def ffmpeg() -> Path:
    try:
        return find_ffmpeg()
    except UserError as error:
        pytest.skip(str(error))


@pytest.mark.slow
def test_the_command_measures_ours_and_the_loop(browser, ffmpeg):
    size = f"{WIDTH_PX}x{HEIGHT_PX}"
    told = ["bench", "render", "--page", "static_ui", "--frames", str(FRAMES), "--size", size, "--repeats", "1", "--json"]
    done = CliRunner().invoke(app, told, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    rows = {row["command"]: row for row in json.loads(done.stdout)}
    assert list(rows) == [OURS, LOOP]
    for row in rows.values():
        assert row["page"] == "static_ui" and row["reason"] == ""
        assert row["frames_per_s"] > 0 and row["cpu_s_per_frame"] > 0
        assert 20 < row["beside_browser_mb"] < row["peak_mb"]
        assert 0.9 < row["ssim"] <= 1
        assert len(row["runs"]) == 1
    assert rows[OURS]["exact"] == f"{FRAMES}/{FRAMES}"
    assert rows[LOOP]["speed_ratio"] == rows[LOOP]["cpu_ratio"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_captured_exactly_and_moves(browser, name):
    page = PAGES_FOLDER / f"{name}.html"
    taken = reference_frames(page, FRAMES, WIDTH_PX, HEIGHT_PX, browser)
    assert exact_frames(page, taken, {"engine": "beginframe"}) == FRAMES
    assert len(set(taken)) == (1 if name == "static_ui" else FRAMES)  # its caret blinks every half second
    assert taken == reference_frames(page, FRAMES, WIDTH_PX, HEIGHT_PX, browser)


def test_frames_that_differ_are_not_counted_as_exact(browser):
    page = PAGES_FOLDER / "sparse_svg.html"
    first, second = screenshots(page, 2, WIDTH_PX, HEIGHT_PX, browser)
    assert exact_frames(page, [second, second], {"engine": "beginframe"}) == 1
    assert exact_screenshots(page, [second, second], browser) == 1
    assert first != second


def test_what_fades_over_text_is_captured_exactly(browser, tmp_path):
    """Half-transparent text with a shadow: it comes out differently when text is drawn in another way than by default."""
    page = tmp_path / "fading.html"
    style = "position: absolute; left: 40px; top: 60px; padding: 14px 20px; color: #fff; background: #111827"
    page.write_text(
        f"""<body style="background: #eef1f6"><p>Some text below</p>
        <div id="note" style="{style}; border-radius: 10px; box-shadow: 0 6px 18px rgba(0, 0, 0, .3)">Order 10427 was packed</div>
        <script>window.seek = seconds => {{
          const note = document.getElementById("note"), shown = Math.min(1, seconds * 8);
          note.style.opacity = shown;
          note.style.transform = `translateY(${{(24 * (1 - shown)).toFixed(2)}}px)`;
        }}</script></body>""",
        encoding="utf-8",
    )
    taken = reference_frames(page, FRAMES, WIDTH_PX, HEIGHT_PX, browser)
    assert len(set(taken)) >= 4
    assert exact_frames(page, taken, {"engine": "beginframe"}) == FRAMES


def test_a_page_that_is_none_of_the_bench_is_told(browser):
    with pytest.raises(UserError, match="films: no page of this bench; there are sparse_svg, dense_canvas, static_ui"):
        measure(["films"])


def test_an_odd_size_is_told():
    with pytest.raises(UserError, match="321x180: the sizes must be even"):
        measure(["static_ui"], width_px=321, height_px=180)


def test_a_rival_that_cannot_be_run_has_its_reason_in_the_table():
    table = as_table([Row("static_ui", "timecut", reason="npm install timecut@0.3.3 failed: no network")])
    assert table.splitlines()[1].split("  ")[0] == "static_ui"
    assert table.endswith("not measured: npm install timecut@0.3.3 failed: no network")


def test_a_rivals_page_is_the_same_page_with_a_few_lines_more(tmp_path):
    page = PAGES_FOLDER / "sparse_svg.html"
    adapted = rivals.adapted(page, "<main>", "<!-- more --></main>")
    assert "<body>\n<main>" in adapted and "<!-- more --></main>\n</body>" in adapted
    assert adapted.replace("\n<main>", "").replace("<!-- more --></main>\n", "") == page.read_text(encoding="utf-8")
    bare = tmp_path / "bare.html"
    bare.write_text("<p>no body tag", encoding="utf-8")
    with pytest.raises(ValueError, match="no <body>"):
        rivals.adapted(bare, "", "")


def test_without_npm_the_way_out_is_told(monkeypatch, tmp_path):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(UserError, match="npm is not on PATH"):
        rivals.install(tmp_path / "browser", tmp_path / "ffmpeg")
