"""Logs as they are kept."""

import os
import tracemalloc

from codecap.generate.agents import logs


def test_pictures_are_left_out_and_the_words_around_them_kept():
    line = b'{"text":"seen","data":"' + b"iVBORw0KGgo" * 1000 + b'=="}\n'
    assert logs.kept([line], ()) == '{"text":"seen","data":"<11002 characters>"}\n'


def test_noise_is_left_out():
    assert logs.kept([b'{"type":"a"}\n', b'{"type":"b"}\n'], (b'{"type":"b"',)) == '{"type":"a"}\n'


def test_of_a_long_log_the_beginning_and_the_end_are_kept(monkeypatch):
    monkeypatch.setattr(logs, "MOST_KEPT", 1000)
    told = logs.kept((b"line %d of many\n" % number for number in range(10_000)), ())
    assert told.startswith("line 0 of many\n") and told.endswith("line 9999 of many\n")
    assert len(told.splitlines()) < 300


def test_short_lines_take_little_more_memory_than_their_text():
    tracemalloc.start()
    try:
        told = logs.kept((b"ab\n" for _ in range(200_000)), ())
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(told) == 600_000 and most < 3_000_000


def test_of_very_many_lines_the_first_and_the_last_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(logs, "MOST_LINES", 100)
    monkeypatch.setattr(logs, "LAST_BYTES", 50)
    (tmp_path / "log").write_bytes(b"".join(b"line %04d\n" % number for number in range(1000)))
    for lines in (list(logs.lines_of(tmp_path / "log")), list(logs.lines_left(tmp_path, "log"))):
        assert lines[99:] == [b"line 0099\n", *(b"line %04d\n" % number for number in range(996, 1000))]
    (tmp_path / "log").write_bytes(b"".join(b"line %04d\n" % number for number in range(103)))
    assert len(list(logs.lines_of(tmp_path / "log"))) == 103


def test_written_logs_are_read_again_and_the_same_logs_are_the_same_bytes(tmp_path):
    told = {"stdout": "é\ud800\n", "stderr": ""}
    logs.write(tmp_path / "a", told)
    logs.write(tmp_path / "b", told)
    assert logs.read(tmp_path / "a") == told
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_files_are_found_by_a_pattern_of_each_part_and_no_link_is_followed(tmp_path):
    for place in ("sessions/2026/01/rollout-1.jsonl", "sessions/2026/01/other.txt", "elsewhere/2026/01/rollout-2.jsonl"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text("{}\n")
    (tmp_path / "sessions" / "2027").symlink_to(tmp_path / "elsewhere" / "2026")
    (tmp_path / "sessions" / "2026" / "01" / "rollout-3.jsonl").symlink_to("/etc/passwd")
    assert logs.matching(tmp_path, "sessions/*/*/rollout-*.jsonl") == ["sessions/2026/01/rollout-1.jsonl"]
    assert list(logs.lines_left(tmp_path, "sessions/2026/01/rollout-3.jsonl")) == []
    assert list(logs.lines_left(tmp_path, "sessions/2026/01/rollout-1.jsonl")) == [b"{}\n"]


def test_what_is_not_there_has_no_lines(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert logs.matching(tmp_path / "nowhere", "*") == []
    assert list(logs.lines_of(tmp_path / "nothing")) == []
    assert list(logs.lines_left(tmp_path, "pipe")) == []


def test_a_home_folder_changed_for_a_link_shows_nothing(tmp_path):
    work, other = tmp_path / "work", tmp_path / "other"
    for home in (work / ".agent", other):
        (home / "sessions").mkdir(parents=True)
        (home / "sessions" / "rollout-1.jsonl").write_text("{}\n")
    patterns = ("sessions/rollout-*.jsonl",)
    assert logs.left_at_home(work, ".agent", patterns, ()) == {"sessions/rollout-1.jsonl": "{}\n"}
    (work / ".agent").rename(work / "old")
    (work / ".agent").symlink_to(other)
    assert logs.left_at_home(work, ".agent", patterns, ()) == {}


def test_a_line_without_an_end_comes_in_parts_and_all_logs_together_have_a_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(logs, "LONGEST_LINE", 1000)
    monkeypatch.setattr(logs, "MOST_KEPT", 4000)
    (tmp_path / "home").mkdir()
    for name in ("a", "b", "c", "d"):
        (tmp_path / "home" / name).write_bytes(b"-" * 2500)
    assert [len(line) for line in logs.lines_left(tmp_path, "home/a")] == [1000, 1000, 500]
    told = logs.left_at_home(tmp_path, "home", ["*"], ())
    assert list(told) == ["a", "b"] and len(told["a"]) == 2500
    monkeypatch.setattr(logs, "LARGEST_LOG", 2000)
    assert list(logs.lines_left(tmp_path, "home/a")) == []
