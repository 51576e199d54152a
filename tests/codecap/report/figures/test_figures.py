"""Figures on paper: what is drawn is what the tables say, and the files need nothing beside them."""

from __future__ import annotations

import importlib
import re
import xml.etree.ElementTree as xml
import zlib

import pytest
from matplotlib.patches import Rectangle

from codecap.publish.statistics import statistics_of
from codecap.report import figures
from codecap.report.figures import draw_all, drawn_in, effort, style, tool_calls

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def drawn(compared, counted):
    def draw(name: str, **changed):
        with style.paper():
            found = importlib.import_module(f"codecap.report.figures.{name}").draw(compared.model_copy(update=changed), counted)
        return found if found is None else (found[0].axes or [axes for part in found[0].subfigs for axes in part.axes], found[1])

    return draw


def bars(axes, horizontal: bool = False) -> list[float]:
    """Lengths of the bars of a panel, in the order of drawing."""
    return [bar.get_width() if horizontal else bar.get_height() for bar in axes.patches if isinstance(bar, Rectangle)]


def test_all_figures_are_there_as_svg_and_pdf_in_the_papers_order(folder):
    assert [figure.name for figure in drawn_in(folder)] == list(figures.FIGURES)
    assert {path.suffix for path in folder.iterdir()} == {".svg", ".pdf", ".txt"}
    assert len(list(folder.iterdir())) == 3 * len(figures.FIGURES)
    assert {figure.width_in for figure in drawn_in(folder)} == {style.COLUMN_IN, style.PAGE_IN}


def test_a_figure_needs_nothing_beside_it(folder):
    for path in folder.glob("*.svg"):
        root = xml.parse(path).getroot()
        assert root.tag == f"{SVG}svg"
        assert root.find(f".//{SVG}text") is None  # letters are outlines: they look the same everywhere
        links = [value for node in root.iter() for key, value in node.attrib.items() if key.endswith("href")]
        assert all(link.startswith("#") for link in links)


def test_fonts_are_embedded_and_no_file_tells_when_or_where_it_was_made(folder):
    for path in folder.glob("*.pdf"):
        content = path.read_bytes()
        inflated = b"".join(
            zlib.decompress(stream) for stream in re.findall(rb"/FlateDecode.*?stream\r?\n(.*?)endstream", content, re.DOTALL)
        )
        whole = content + inflated
        assert b"/FontFile2" in whole and b"/Subtype /Type3" not in whole
        assert b"CreationDate" not in whole and b"/root" not in whole
        width = float(re.search(rb"/MediaBox \[ ?0 0 ([0-9.]+)", whole)[1])
        assert width / 72 == pytest.approx(next(told.width_in for told in drawn_in(folder) if told.name == path.stem))


def test_the_same_numbers_give_the_same_bytes(compared, counted, folder, tmp_path):
    with style.paper():
        style.save(effort.draw(compared, counted)[0], tmp_path / "effort")
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (folder / path.name).read_bytes(), path.name


def test_the_data_set(drawn):
    panels, caption = drawn("dataset")
    assert bars(panels[0], horizontal=True) == [8] * 5
    assert sum(bars(panels[1])) == 40 and sorted(filter(None, bars(panels[1]))) == [5, 35]
    assert [text.get_text() for text in panels[1].get_legend().get_texts()] == ["mean 11.2", "median 10.0"]
    assert sum(bars(panels[2])) == 40 and sum(bars(panels[3])) == 80
    assert caption == "40 videos, 40 of them annotated. Focal points last 2.0 s in the mean, 2.0 s in the median."


def test_categories(drawn):
    panels, caption = drawn("categories")
    assert [axes.get_title(loc="left") for axes in panels] == ["Object IoU", "Retention, overall"]
    heights = bars(panels[0])
    assert heights[:5] == pytest.approx([80] * 5)  # the first system in the five categories
    assert heights[4 * 5 : 5 * 5] == pytest.approx([45, 45, 60, 60, 60])  # a04, fifth by overall retention, failed in A and B
    assert "first 8 of 13 systems" in caption


def test_effort(drawn):
    (scores, money), _ = drawn("effort")
    assert [line.get_ydata().tolist() for line in scores.get_lines() if line.get_marker() in "os"] == [[20, 30, 35], [30, 40, 44]]
    assert bars(money) == pytest.approx([0.1, 0.3, 1.4])
    assert [text.get_text() for text in scores.get_xticklabels()] == ["low", "medium", "xhigh"]
    assert drawn("effort", series=[]) is None


def test_spending(drawn):
    (dots, *panels), _ = drawn("spending")
    assert [axes.get_xlabel() for axes in panels] == ["US dollars", "tokens", "rounds", "minutes"]
    assert bars(panels[0], horizontal=True) == pytest.approx([1.4, 0.5, 0.5, 0.5, 0.5, 0.5, 0.3, 0.2, 0.2, 0.1])
    assert bars(panels[1], horizontal=True) == pytest.approx([1100] * 10)
    labels = dots.get_legend_handles_labels()[1]
    assert labels[0] == "Sol, xhigh" and "R&D_v2 50% {$x}" in labels and len(labels) == 10


def test_shares_of_tool_calls_and_of_failures(drawn):
    (calls,), _ = drawn("tool_calls")
    widths = bars(calls, horizontal=True)
    assert widths[:10] == pytest.approx([40] * 10) and sum(widths) == pytest.approx(1000)
    assert {text.get_text() for text in calls.texts if text.get_text().endswith("a caption")} == {"10.0 a caption"}
    (causes,), _ = drawn("failures")
    widths = bars(causes, horizontal=True)
    assert widths[:4] == pytest.approx([75, 0, 0, 100 * 3 / 14])  # generation timeouts of a04, n11, n12 and all
    assert [text.get_text() for text in causes.texts][-4:] == [
        "4 of 40 (10.0 %)",
        "8 of 40 (20.0 %)",
        "2 of 40 (5.0 %)",
        "14 of 518 (2.7 %)",
    ]


def test_agreement(drawn):
    (panel,), caption = drawn("agreement")
    dots = [line for line in panel.get_lines() if line.get_linestyle() == "None"]
    assert [(list(line.get_xdata()), list(line.get_ydata())) for line in dots] == [([80, 60], [90, 50]), ([70], [75]), ([0], [0])]
    assert [line.get_markerfacecolor() for line in dots][-1] == "none"  # a floor is hollow
    assert panel.get_title(loc="left") == "Pearson 0.942 (0.900 to 0.970), 3 videos"
    assert panel.get_xlabel() == "Judge $x$ retention" and "no correlation" in caption


def test_an_empty_run_has_no_figures(compared, tmp_path):
    empty = compared.model_copy(
        update={"by_category": [], "series": [], "spent": [], "causes": [], "agreement": None, "systems": [], "main": []}
    )
    assert draw_all(empty, statistics_of([], {}), tmp_path) == [] == drawn_in(tmp_path)


def test_names_of_any_kind_are_drawn_as_they_are(compared, counted, tmp_path, recwarn):
    """What other programs read as mathematics, and letters that need another font."""
    names = {"a08": "$\\frac{$", "a09": "视频 {", "a10": "\\$"}
    systems = [system.model_copy(update={"heading": names.get(system.name, system.heading)}) for system in compared.systems]
    with style.paper("".join(names.values())):
        style.save(tool_calls.draw(compared.model_copy(update={"systems": systems}), counted)[0], tmp_path / "tool_calls")
    assert [str(warning.message) for warning in recwarn if "missing from font" not in str(warning.message)] == []


def test_letters_can_be_read_on_their_colour():
    assert [style.letters_on(colour) for colour in ("#000000", "#0072b2", "#e69f00", "#ffffff")] == [
        "white",
        "white",
        style.INK,
        style.INK,
    ]
