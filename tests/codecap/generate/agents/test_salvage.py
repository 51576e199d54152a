"""The page that a run has left, in a folder that nobody vouches for."""

import os

import pytest

from codecap.generate.agents import salvage
from codecap.generate.agents.salvage import left_in

PAGE = b"<!doctype html><html><body>1</body></html>"
OTHER = b"<!doctype html><html><body>2</body></html>"


def test_the_page_that_was_asked_for(tmp_path):
    (tmp_path / "index.html").write_bytes(PAGE)
    (tmp_path / "other.html").write_bytes(OTHER)
    left = left_in(tmp_path, rendered=OTHER.decode())
    assert (left.page, left.other, left.why_not) == (PAGE, None, "")


def test_a_page_cut_off_is_kept_beside_the_one_rendered_last(tmp_path):
    (tmp_path / "index.html").write_bytes(PAGE[:30])
    (tmp_path / "other.html").write_bytes(OTHER)
    left = left_in(tmp_path, rendered=PAGE.decode())
    assert (left.page, left.other, left.whence) == (PAGE[:30], PAGE, "rendered")


def test_without_a_rendered_one_it_is_the_last_complete_file(tmp_path):
    for age, (name, page) in enumerate([("c.html", PAGE[:20]), ("b.html", OTHER), ("a.html", PAGE)]):
        (tmp_path / name).write_bytes(page)
        os.utime(tmp_path / name, (1000 - age, 1000 - age))
    left = left_in(tmp_path, rendered=None)
    assert (left.page, left.other, left.whence) == (None, OTHER, "b.html")
    assert "No such file" in left.why_not


def test_other_pages_are_read_to_so_many_bytes_together(tmp_path, monkeypatch):
    for age, name in enumerate(["c.html", "b.html", "a.html"]):
        (tmp_path / name).write_bytes(PAGE if name == "a.html" else PAGE[:20])
        os.utime(tmp_path / name, (1000 - age, 1000 - age))
    assert left_in(tmp_path, rendered=None).whence == "a.html"
    monkeypatch.setattr(salvage, "MOST_BYTES", 40 + len(PAGE) - 1)
    assert left_in(tmp_path, rendered=None).whence == ""


@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "large"])
def test_what_is_no_ordinary_file_is_not_opened(tmp_path, kind):
    secret = tmp_path / "secret.html"
    secret.write_bytes(PAGE)
    work = tmp_path / "work"
    work.mkdir()
    for name in ("index.html", "other.html"):
        if kind == "link":
            (work / name).symlink_to(secret)
        elif kind == "pipe":
            os.mkfifo(work / name)
        elif kind == "folder":
            (work / name).mkdir()
        else:
            with (work / name).open("wb") as file:
                file.truncate(1 << 40)
    left = left_in(work, rendered=None)
    assert left.page is None and left.other is None and left.why_not


def test_a_page_in_utf_16_is_a_page(tmp_path):
    (tmp_path / "index.html").write_bytes(PAGE.decode().encode("utf-16"))
    assert left_in(tmp_path, rendered=OTHER.decode()).other is None


def test_a_name_that_is_no_text_is_told_as_one(tmp_path):
    (tmp_path / os.fsdecode(b"a\xff.html")).write_bytes(PAGE)
    assert left_in(tmp_path, rendered=None).whence == "a\ufffd.html"
