"""What the first page says of certainty and of the paper."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "compare"))  # the package `sixteen`

from sixteen import comparing

from codecap.report import paper_section, statistics_section
from codecap.report.figures import FIGURES
from codecap.report.site import build_report

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    return comparing.compare(tmp_path_factory.mktemp("compared"), resamples=200)


@pytest.fixture(scope="module")
def folder(compared, tmp_path_factory) -> Path:
    """The report of a run without clips, with one hostile name."""
    made = tmp_path_factory.mktemp("report")
    drawn = made / "figures"
    drawn.mkdir()
    for name in FIGURES[2:4]:
        (drawn / f"{name}.txt").write_text(f"{name.title()}\nA caption with {HOSTILE}.\n6.9 in wide\n")
        for ending in ("svg", "pdf"):
            (drawn / f"{name}.{ending}").write_text("")
    names = {"a02": HOSTILE}
    systems = [told.model_copy(update={"heading": names.get(told.name, told.heading)}) for told in compared.made.systems]
    bare = compared.made.model_copy(update={"systems": systems, "clips": [], "tasks": []})
    tables, out = compared.folder / "tables", made / "8_report"
    return build_report(bare, annotations=[], tracks=[], out_dir=out, tables=tables, figures=drawn).parent


@pytest.fixture(scope="module")
def html(folder) -> str:
    assert (folder / "figures" / "effort.pdf").is_file() and not (folder / "figures" / "effort.txt").exists()
    return (folder / "index.html").read_text(encoding="utf-8")


def section(html: str, name: str) -> str:
    return html[html.index(f'<section id="{name}">') :].partition("</section>")[0]


def test_ranks_and_comparisons(compared):
    told = statistics_section.context(compared.made)
    (agentic, lines), (non_agentic, others) = told["rank_groups"]
    assert (agentic, [system.name for system, _ in lines][:3]) == ("Agentic systems", ["a01", "a02", "a03"])
    assert (non_agentic, [system.name for system, _ in others]) == ("Non-agentic systems", ["n12", "n11", "n13"])
    assert [cell.text for cell in lines[1][1]][2] == "2"
    row = next(row for row in told["contests"] if (row.column.name, row.group) == ("object_iou", "Agentic systems"))
    assert (row.pairs, row.n) == (45, 40) and row.significant <= row.separated < 45  # the twins are not


def test_correlations_stand_below_the_diagonal(compared):
    told = statistics_section.context(compared.made)
    assert [len(cells) for _, cells in told["correlated"]] == list(range(1, 8))
    assert len(told["correlated_heads"]) == 7 and told["correlated_heads"][0] == "Visual similarity"


def test_films_of_the_same_model_stand_together(compared):
    films = statistics_section.context(compared.made)["films"]
    assert [(line["model"], line["system"].name) for line in films["lines"]] == [("gpt-5.6-sol", "n11"), ("gpt-5.6-sol", "n13")]
    assert [text for text, _ in films["lines"][0]["cells"]] == ["0.720", "0.440", "0.640"]


def test_the_papers_lines_have_a_verdict_each(compared):
    tables = paper_section.context(compared.made)["paper_tables"]
    assert [(table.name, table.beside) for table in tables] == [("table_1", 2), ("table_2", 0), ("table_3", 2)]
    lines = [line for _, lines in tables[0].groups for line in lines]
    assert (lines[0].verdict, lines[0].heading, lines[0].cells[-1][:2]) == (paper_section.OTHER, "Astra", ("73.24", "80.0"))
    assert (lines[1].verdict, lines[1].reasons, lines[1].cells[0]) == (paper_section.NOT_RUN, [], ("99.7", "", ""))
    assert lines[11].heads == ["GPT-6-astra", "–"]


def test_the_page_shows_them_all_and_escapes_names(html):
    assert HOSTILE not in html and "&lt;script&gt;alert(1)&lt;/script&gt;" in section(html, "certainty")
    assert "How stable the judge is" in section(html, "certainty")
    assert "Caption-to-video" in section(html, "reconstruction")
    assert "made with codex 1.0; the paper&#39;s with codex 0.155.1" in section(html, "paper")
    assert section(html, "cost").count("<img") == 2 and 'src="figures/effort.svg"' in section(html, "cost")
    files = section(html, "files")
    for name in ("tables/main.csv", "tables/main.tex", "tables/main.md", "tables/pairs.csv", "figures/spending.pdf"):
        assert f'href="{name}"' in files


def test_every_number_leads_to_its_rows(html, folder):
    """Links of these sections: a page that is there, and a place on it that is there."""
    told = "".join(section(html, name) for name in ("certainty", "reconstruction", "paper", "files"))
    places = set(re.findall(r'href="([^"#]*)(?:#([^"]*))?"', told))
    assert len(places) > 100
    for page, place in places:
        assert (folder / page).is_file(), page
        assert not place or f'id="{place}"' in (folder / page).read_text(encoding="utf-8"), (page, place)


def test_a_run_without_any_of_it_has_no_empty_sections(compared, tmp_path):
    nothing = {name: [] for name in ("ranks", "detectable", "correlations", "stability", "reconstruction", "pairs")}
    bare = compared.made.model_copy(update={"clips": [], "tasks": [], "published": None} | nothing)
    html = build_report(bare, annotations=[], tracks=[], out_dir=tmp_path / "8_report").read_text(encoding="utf-8")
    assert not any(f'<section id="{name}">' in html for name in ("reconstruction", "paper", "cost", "files"))
    assert "No group has two systems" in html
