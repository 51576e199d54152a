"""Journals that were cut short, and those that are whole."""

import pytest

from codecap.errors import UserError
from codecap.records import RecordError
from codecap.review import journal
from codecap.review.journal import Entry

WHEN = "2026-11-30T12:00:00Z"


def entry(revision: int, value: object = 1, path: str = "objects/ball") -> Entry:
    return Entry(who="ann", when=WHEN, revision=revision, path=path, value=value)


def test_what_is_added_is_read(tmp_path):
    path = tmp_path / "ann.jsonl"
    size = journal.append(path, [entry(1, {"keys": {"3": None}})], 0)
    size = journal.append(path, [entry(2, "a\u2028b\r"), entry(2, None)], size)
    found = journal.read(path)
    assert [(one.revision, one.value) for one in found.entries] == [(1, {"keys": {"3": None}}), (2, "a\u2028b\r"), (2, None)]
    assert found.size == size == path.stat().st_size


def test_no_file_is_an_empty_journal(tmp_path):
    assert journal.read(tmp_path / "ann.jsonl") == journal.Read((), 0)


@pytest.mark.parametrize("lost", [1, 10, 60])
def test_a_torn_last_line_does_not_count_and_is_cut_off(tmp_path, lost):
    path = tmp_path / "ann.jsonl"
    size = journal.append(path, [entry(1)], 0)
    journal.append(path, [entry(2)], size)
    path.write_bytes(path.read_bytes()[:-lost])
    found = journal.read(path)
    assert [one.revision for one in found.entries] == [1] and found.size == size
    journal.append(path, [entry(2, "again")], found.size)
    assert [one.value for one in journal.read(path).entries] == [1, "again"]


def test_edits_of_which_the_last_is_missing_do_not_count(tmp_path):
    path = tmp_path / "ann.jsonl"
    size = journal.append(path, [entry(1)], 0)
    journal.append(path, [entry(2), entry(2), entry(2)], size)
    whole = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(whole[:3]))
    assert journal.read(path) == journal.Read((entry(1),), size)


def test_a_damaged_line_is_told_with_its_place(tmp_path):
    path = tmp_path / "ann.jsonl"
    size = journal.append(path, [entry(1)], 0)
    journal.append(path, [entry(2)], size)
    path.write_bytes(b"{}\n" + path.read_bytes())
    with pytest.raises(RecordError, match=r"ann\.jsonl:1: not an edit: who"):
        journal.read(path)


@pytest.mark.parametrize("name", ["ann", "Ann Å. Lee", "ann@lab", "7"])
def test_names_that_can_be_files(name):
    assert journal.reviewer(f" {name} ") == name


@pytest.mark.parametrize("name", ["", "  ", ".hidden", "../ann", "a/b", "a\\b", "a\0b", "-rf", "x" * 81, "a\nb"])
def test_names_that_cannot(name):
    with pytest.raises(UserError, match="--who"):
        journal.reviewer(name)
