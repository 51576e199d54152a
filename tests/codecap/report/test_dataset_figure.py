"""The figure of a data set: where its bars are, by hand, and that it stands in the report and in a file of its own."""

from __future__ import annotations

import xml.etree.ElementTree as xml
from pathlib import Path

import pytest

from codecap.publish.statistics import Statistics
from codecap.report.dataset_figure import PLOT_HEIGHT, WIDTH, bin_width, nice_top, panels, write_figure
from codecap.report.site import build_report

COUNTED = Statistics(
    clips=5, annotated=4, categories={"A": 3, "F": 2}, durations_s=[5.0, 9.9, 10.0, 31.0, 60.0],
    objects=[2, 2, 3, 11], static_points=[1, 1, 2, 0], dynamic_points=[3, 3, 3, 0], intervals_s=[1.0, 2.0],
)  # fmt: skip


def test_bars_are_as_high_as_their_counts() -> None:
    categories, durations, objects, points = panels(COUNTED)
    assert [(bar.value, bar.width / categories.bars[0].width) for bar in categories.bars] == [
        ("3 (60.0%)", 1), ("2 (40.0%)", pytest.approx(2 / 3, abs=0.01)),
    ]  # fmt: skip
    high = [round(2 * bar.height / PLOT_HEIGHT, 2) for bar in durations.bars]
    assert high == [0, 2, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1]  # of five seconds each; the axis ends at 2
    assert [line.title for line in durations.lines] == ["mean: 23.2 s", "median: 10.0 s"]
    assert [text for _, text in objects.across] == [str(number) for number in range(12)]
    assert [bar.title for bar in points.bars if bar.height][:3] == [
        "0 focal points, static: 1 video", "1 focal points, static: 2 videos", "2 focal points, static: 1 video",
    ]  # fmt: skip
    assert points.told == "static: mean 1.0, median 1.0; dynamic: mean 2.2, median 3.0"


def test_words_end_within_the_picture_in_a_wide_font() -> None:
    """In DejaVu Sans, in which browsers draw a report where no other font is asked for, a digit is 0.64 of the font's size wide."""
    wide = 11.5 * 0.64
    many = COUNTED.model_copy(update={"clips": 999, "categories": {"A": 999}, "durations_s": [555.5] * 5})
    categories, durations, _, points = panels(many)
    assert [bar.value for bar in categories.bars] == ["999 (100.0%)"]
    for bar in categories.bars:
        assert bar.x + bar.width + 6 + wide * len(bar.value) <= WIDTH
    for panel in (durations, points):
        assert panel.keys
        for _, text in panel.keys:
            assert panel.keys_x + 13 + wide * len(text) <= WIDTH
            assert not any(panel.keys_x <= line.x <= panel.keys_x + 13 + wide * len(text) for line in panel.lines)


def test_axes() -> None:
    assert [bin_width(largest, whole=True) for largest in (0, 13, 14, 69, 70)] == [1, 1, 2, 5, 10]
    assert [nice_top(most) for most in (1, 2, 3, 9, 10, 101)] == [2, 2, 4, 10, 10, 120]


def test_what_nobody_annotated_has_no_panel() -> None:
    bare = COUNTED.model_copy(update={"annotated": 0, "objects": [], "static_points": [], "dynamic_points": [], "intervals_s": []})
    assert [panel.name for panel in panels(bare)] == ["a", "b"]


def test_a_file_of_its_own(tmp_path: Path) -> None:
    write_figure(COUNTED, tmp_path / "f.svg")
    root = xml.parse(tmp_path / "f.svg").getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    text = " ".join(root.itertext())
    for title in ("Videos by category", "Duration", "Objects in a video", "Focal points in a video"):
        assert title in text
    assert "http" not in (tmp_path / "f.svg").read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")


def test_it_stands_in_the_report(run, tmp_path: Path) -> None:
    index = build_report(run.comparison, annotations=run.annotations, tracks=[], out_dir=tmp_path / "8_report")
    html = index.read_text(encoding="utf-8")
    section = html[html.index('<section id="dataset">') : html.index('<section id="failures">')]
    assert section.count("<svg") == 4 and "5 videos of 5 categories, 5 of them annotated" in section
