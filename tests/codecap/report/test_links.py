"""Every address in the report leads to something: a file, a place on its page, or a choice that the page knows."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from codecap.compare.comparison import Column
from codecap.report import links
from codecap.report.pages import told
from codecap.report.site import build_report


class Page(HTMLParser):
    """Ids, addresses, and the values of chips and options of a page; text of the cells of its rows, by id."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.addresses: list[str] = []
        self.stems: set[str] = set()
        self.points: set[str] = set()
        self.options: set[str] = set()
        self.numbers: dict[str, str] = {}
        self._row, self._takes = "", False
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list) -> None:
        found = dict(attrs)
        if "id" in found:
            self.ids.add(found["id"])
        if tag == "a":
            self.addresses.append(found["href"])
        if tag == "input" and "data-stem" in found:
            self.stems.add(found["data-stem"])
        if "data-point" in found:
            self.points.add(found["data-point"])
        if tag == "option":
            self.options.add(found.get("value", ""))
        if tag == "tr":
            self._row = found.get("id", "")
        self._takes = tag == "a" and found.get("class") == "value" and self._row not in self.numbers

    def handle_data(self, data: str) -> None:
        if self._takes and self._row:
            self.numbers[self._row] = data
        self._takes = False


@pytest.fixture(scope="module")
def report(run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("links") / "8_report"
    build_report(run.comparison, annotations=run.annotations, tracks=run.tracks, out_dir=folder, tables=run.tables)
    return folder


@pytest.fixture(scope="module")
def pages(report: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in sorted(report.rglob("*.html"))}


def test_every_address_leads_somewhere(report: Path, pages: dict[Path, Page]) -> None:
    followed = 0
    for path, page in pages.items():
        for address in page.addresses:
            file, _, place = address.partition("#")
            target = (path.parent / file).resolve() if file else path
            assert target.is_file(), (path, address)
            if not place:
                continue
            there = pages[target]
            if "=" not in place:
                assert place in there.ids, (path, address)
            chosen = {name: values[0] for name, values in parse_qs(place).items()}
            assert set(chosen.get("show", "").split(",")) - {""} <= there.stems, (path, address)
            assert chosen.get("point", "") in there.points | {""}, (path, address)
            assert {chosen.get("first", ""), chosen.get("second", "")} <= there.options | {""}, (path, address)
            followed += 1
    assert followed > 200


def test_a_number_of_the_leaderboard_leads_to_itself(run, report: Path, pages: dict[Path, Page]) -> None:
    first = pages[report / "index.html"]
    for row in run.comparison.main:
        for column in run.comparison.columns:
            address = links.column_rows(row.system, column.name)
            assert address in first.addresses
            path, _, place = address.partition("#")
            assert pages[report / path].numbers[place] == told(row.cells[column.name].mean, column)


def test_a_video_of_a_system_leads_to_its_clip(run, report: Path, pages: dict[Path, Page]) -> None:
    for task in run.comparison.tasks:
        page = pages[report / links.system_page(task.system)]
        assert f"../{links.clip_page(task.clip_id, task.system)}" in page.addresses


def test_names_that_no_address_can_hold() -> None:
    odd = "a b/c&d=<e>"
    for address in (links.system_page(odd), links.column_rows(odd, odd), links.clip_page("A_1", odd, focal_id=odd)):
        assert not set(address) & set(" <>\"'") and address.count("#") <= 1
    assert links.compare_page(odd, odd).count("=") == 2
    assert links.column_id(Column(name="kss", metric="kss", label="KSS").name) == "column-kss"
