"""Discovery from the configuration to candidates, and their fetch."""

from __future__ import annotations

from pathlib import Path

import pytest

from codecap.collect import CandidateError, collect_candidates, fetch_shard
from codecap.records import Candidate
from codecap.registry import Unavailable
from codecap.video import file_sha256


def local(*paths: Path, **settings: str) -> dict:
    return {"plugin": "local", "paths": [str(path) for path in paths], **settings}


@pytest.fixture
def folder(film, tmp_path: Path) -> Path:
    (tmp_path / "clips").mkdir()
    for name in ("clips/B_one.mp4", "clips/A_two.mp4"):
        film(name, range(3))
    (tmp_path / "clips" / "notes.txt").touch()
    return tmp_path / "clips"


def test_files_folders_and_patterns_give_the_same(folder):
    by_folder = collect_candidates({"mine": local(folder, licence="CC0-1.0")}).candidates
    assert [(one.candidate_id, one.category, one.source, one.licence) for one in by_folder] == [
        ("A_two", "A", "mine", "CC0-1.0"),
        ("B_one", "B", "mine", "CC0-1.0"),
    ]
    for paths in ([folder / "*.mp4"], [folder / "A_two.mp4", folder / "B_one.mp4"], [folder, folder / "*_one.mp4"]):
        assert collect_candidates({"mine": local(*paths, licence="CC0-1.0")}).candidates == by_folder


def test_category_of_the_entry_wins(folder):
    assert {one.category for one in collect_candidates({"mine": local(folder, category="C")}).candidates} == {"C"}


def test_one_id_for_two_files_names_both(folder, film):
    film("A_two.webm", range(3), codec="libvpx-vp9")
    other = folder.parent / "A_two.webm"
    with pytest.raises(CandidateError) as caught:
        collect_candidates({"mine": local(folder), "more": local(other)})
    assert str(folder / "A_two.mp4") in str(caught.value) and str(other) in str(caught.value)


@pytest.mark.parametrize(
    ("entry", "error", "says"),
    [
        ({"plugin": "local", "paths": ["no/such/*.mp4"]}, FileNotFoundError, "no/such"),
        ({"plugin": "local", "paths": []}, ValueError, "at least one"),
        ({"plugin": "local", "paths": "clips"}, ValueError, "is a list"),
        ({"plugin": "local", "paths": ["."], "folder": "x"}, ValueError, "unknown key folder"),
        ({"plugin": "local", "paths": ["."], "category": "D"}, ValueError, "unknown category 'D'"),
        ({"plugin": "nowhere", "paths": ["."]}, Unavailable, "nowhere"),
        ({"paths": ["."]}, CandidateError, "names no `plugin`"),
    ],
)
def test_a_wrong_entry_says_what_is_wrong(entry, error, says):
    with pytest.raises(error, match=says):
        collect_candidates({"mine": entry})


def test_fetch_names_the_file_where_it_lies_or_says_why_not(folder, tmp_path):
    sources = {"mine": local(folder)}
    (folder / "A_two.mp4").write_bytes(b"")
    bad, good = fetch_shard(collect_candidates(sources).candidates, sources, tmp_path / "bulk", tmp_path / "durable")
    assert (bad.status, bad.path) == ("failed", None) and "is empty" in bad.reason
    assert (good.status, good.path, good.sha256) == ("ok", folder / "B_one.mp4", file_sha256(folder / "B_one.mp4"))


def test_a_source_that_left_the_config(tmp_path):
    stray = Candidate(candidate_id="x", source="gone", locator="x.mp4")
    with pytest.raises(CandidateError, match="'gone' is not in the config"):
        list(fetch_shard([stray], {}, tmp_path, tmp_path))


def test_an_entry_that_is_not_enabled_is_not_asked(folder):
    found = collect_candidates({"mine": {**local(folder), "enabled": False}, "site": {"plugin": "nowhere", "enabled": False}})
    assert (found.candidates, found.asked) == ([], [])


def test_what_was_asked_and_offered(folder):
    (asked,) = collect_candidates({"mine": local(folder, whole=False)}).asked
    assert (asked.source, asked.query, asked.quota, asked.offered, asked.cause) == ("mine", "", None, 2, None)


def test_one_file_of_two_entries_belongs_to_the_first(folder):
    found = collect_candidates({"mine": local(folder), "again": local(folder / "A_two.mp4")})
    assert [one.source for one in found.candidates] == ["mine", "mine"]
    assert [row.offered for row in found.asked] == [2, 0]
