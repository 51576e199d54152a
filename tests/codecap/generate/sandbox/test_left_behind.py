"""Reading, measuring and removing folders whose files may be of any kind."""

import os

import pytest

from codecap.generate.sandbox import left_behind
from codecap.generate.sandbox.left_behind import NotReadable, read, too_much


def test_an_ordinary_file_is_read(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "page.html").write_bytes(b"<html>\xff")
    assert read(tmp_path, "out/page.html", 7) == b"<html>\xff"


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("missing", "No such file"),
        ("large", "7 bytes; at most 6"),
        ("link", "Too many levels of symbolic links"),
        ("folder", "is no ordinary file"),
        ("linked/large", "Not a directory"),
        ("pipe", "is no ordinary file"),
        ("socket", "No such device"),
        ("../outside", "is not a place in the folder"),
        ("/etc/passwd", "is not a place in the folder"),
        ("", "is not a place in the folder"),
    ],
)
def test_anything_else_is_not(tmp_path, place, words, monkeypatch):
    import socket

    (tmp_path / "outside").write_text("secret")
    work = tmp_path / "work"
    (work / "folder").mkdir(parents=True)
    (work / "large").write_text("<html> ")
    (work / "link").symlink_to("large")
    (work / "linked").symlink_to(work)
    os.mkfifo(work / "pipe")
    monkeypatch.chdir(work)
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("socket")
        with pytest.raises(NotReadable, match=words):
            read(work, place, 6)


def test_holes_in_files_take_no_room(tmp_path):
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1_000_000_000)
    assert too_much(tmp_path, 1) is None


def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "work").mkdir()
    (tmp_path / "outside").write_bytes(b"0" * 2_000_000)
    (tmp_path / "work" / "link").symlink_to(tmp_path)
    assert too_much(tmp_path / "work", 1) is None
    assert too_much(tmp_path, 1) == "more than 1 MB of files"


def test_folders_closed_to_us_are_counted_and_removed(tmp_path):
    work = tmp_path / "work"
    (work / "closed").mkdir(parents=True)
    (work / "closed" / "file").write_bytes(b"0" * 2_000_000)
    (work / "closed").chmod(0)
    work.chmod(0o300)
    assert too_much(work, 1) == "more than 1 MB of files"
    (work / "closed").chmod(0)
    work.chmod(0)
    left_behind.remove(work)
    assert not work.exists()


def test_what_is_gone_takes_no_room_and_is_gone(tmp_path):
    assert too_much(tmp_path / "missing", 1) is None
    left_behind.remove(tmp_path / "missing")


def test_removing_follows_no_link(tmp_path):
    (tmp_path / "work").mkdir()
    (tmp_path / "outside").mkdir(mode=0o755)
    (tmp_path / "outside" / "kept").touch()
    (tmp_path / "work" / "link").symlink_to(tmp_path / "outside")
    left_behind.remove(tmp_path / "work")
    assert (tmp_path / "outside" / "kept").exists()
