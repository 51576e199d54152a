"""The item store: whole or absent, found again only by all that made it, never twice."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from codecap import store
from codecap.store import ItemStore, StoreError, digest_of


def counted(root: Path, salt="s") -> tuple[ItemStore, list[str]]:
    return ItemStore(root, stage="stage", salt=salt), []


def make_video(calls):
    def make(draft):
        calls.append(draft.key)
        draft.file("mp4").write_bytes(b"pictures")
        return {"frames": 3}

    return make


def test_made_once_then_found_with_its_files(tmp_path):
    items, calls = counted(tmp_path)
    key = items.key("clip", "upstream")
    first = items.get_or_make("a", "A_001", key, make_video(calls))
    second = items.get_or_make("a", "A_001", key, make_video(calls))
    assert len(calls) == 1
    assert first == second
    assert second.files["mp4"].read_bytes() == b"pictures"
    assert second.files["mp4"].parent == tmp_path / "stage" / "a" / "A_001"


@pytest.mark.parametrize("change", [lambda file: file.unlink(), lambda file: file.write_bytes(b"half")])
def test_an_item_whose_file_is_gone_or_of_another_size_is_made_again(tmp_path, change):
    items, calls = counted(tmp_path)
    made = items.get_or_make("a", "A_001", "k", make_video(calls))
    change(made.files["mp4"])
    assert items.get("a", "A_001", "k") is None
    items.get_or_make("a", "A_001", "k", make_video(calls))
    assert len(calls) == 2


def test_a_value_that_must_not_be_kept_leaves_nothing(tmp_path):
    items, calls = counted(tmp_path)
    item = items.get_or_make("a", "A_001", "k", make_video(calls), keep=lambda value: value["frames"] > 3)
    assert item.value == {"frames": 3}
    assert list((tmp_path / "stage" / "a" / "A_001").iterdir()) == []
    assert list(store.made(tmp_path)) == []


def test_a_maker_that_fails_leaves_nothing(tmp_path):
    items, _ = counted(tmp_path)

    def make(draft):
        draft.file("mp4").write_bytes(b"half")
        raise RuntimeError("broke")

    with pytest.raises(RuntimeError, match="broke"):
        items.get_or_make("a", "A_001", "k", make)
    assert list((tmp_path / "stage" / "a" / "A_001").iterdir()) == []


def test_the_key_changes_with_each_thing_that_determines_the_item(tmp_path):
    def key(stage="s", salt=("x",), upstream=("clip", "up")):
        return ItemStore(tmp_path, stage=stage, salt=list(salt)).key(*upstream)

    keys = {key(), key(stage="t"), key(salt=("y",)), key(upstream=("clip2", "up")), key(upstream=("clip", "up2"))}
    assert len(keys) == 5
    assert key() == key()
    assert digest_of({"a": 1, "b": [2]}) == digest_of({"b": [2], "a": 1}) != digest_of({"a": 1, "b": [3]})


def test_the_log_counts_what_was_made_not_what_was_found(tmp_path):
    items, calls = counted(tmp_path)
    for clip in ("A_001", "A_002", "A_001"):
        items.get_or_make("a", clip, "k", make_video(calls))
    assert [(entry["stage"], entry["clip_id"]) for entry in store.made(tmp_path)] == [("stage", "A_001"), ("stage", "A_002")]


def test_verify_finds_what_a_purge_or_an_edit_did(tmp_path):
    items, calls = counted(tmp_path)
    for clip in ("A_001", "A_002", "A_003"):
        items.get_or_make("a", clip, "k", make_video(calls))
    folder = tmp_path / "stage" / "a"
    assert list(store.verify(tmp_path)) == []
    (folder / "A_001" / "k.mp4").unlink()
    (folder / "A_002" / "k.mp4").write_bytes(b"x")
    (folder / "A_003" / "k.json").write_text("{")
    problems = "\n".join(store.verify(tmp_path))
    assert len(problems.splitlines()) == 3
    assert "A_001/k.mp4: missing" in problems and "A_002/k.mp4: 1 bytes instead of 8" in problems and "A_003/k.json" in problems


def test_a_file_linked_into_an_item_keeps_its_own_mode(tmp_path):
    original = tmp_path / "clip.mp4"
    original.write_bytes(b"pictures")
    original.chmod(0o444)
    items, _ = counted(tmp_path / "store")

    def make(draft):
        path = draft.file("mp4")
        path.unlink()
        os.link(original, path)
        return {}

    items.get_or_make("a", "A_001", "k", make)
    assert original.stat().st_mode & 0o777 == 0o444


def test_killed_while_it_writes_leaves_no_item_but_those_finished(tmp_path):
    """SIGKILL in the middle of the fifth item; what was finished is found, what was not is absent."""
    script = f"""
import time
from codecap.store import ItemStore
items = ItemStore({str(tmp_path)!r}, stage="s", salt=0)
for number in range(100):
    def make(draft):
        with draft.file("mp4").open("wb") as file:
            for _ in range(10):
                file.write(b"x" * 1000)
                if number == 4:
                    print("writing", flush=True)
                    time.sleep(60)
        return number
    items.get_or_make("a", str(number), "k", make)
"""
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "writing\n"
    os.kill(process.pid, signal.SIGKILL)
    process.wait(10)
    items = ItemStore(tmp_path, stage="s", salt=0)
    assert [items.get("a", str(number), "k") is not None for number in range(6)] == [True] * 4 + [False] * 2
    assert items.get("a", "2", "k").files["mp4"].stat().st_size == 10_000


def test_two_writers_of_one_item_leave_one_whole_item(tmp_path):
    script = f"""
from codecap.store import ItemStore
items = ItemStore({str(tmp_path)!r}, stage="s", salt=0)
for number in range(50):
    items.get_or_make("a", str(number), "k", lambda draft: [draft.file("txt").write_text("same" * 100), number])
"""
    both = [subprocess.Popen([sys.executable, "-c", script]) for _ in range(2)]
    assert [process.wait(60) for process in both] == [0, 0]
    items = ItemStore(tmp_path, stage="s", salt=0)
    assert all(items.get("a", str(number), "k").value[1] == number for number in range(50))
    assert list(store.verify(tmp_path)) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount a small filesystem")
@pytest.mark.parametrize(("options", "words"), [("size=64k", "no space left"), ("size=1m,ro", "read-only")])
def test_full_and_read_only_filesystems_are_told_in_words(tmp_path, options, words):
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", tmp_path], capture_output=True, text=True)
    if mounted.returncode:
        pytest.skip(f"cannot mount a tmpfs here: {mounted.stderr.strip()}")
    try:
        items, _ = counted(tmp_path)

        def make(draft):
            draft.file("mp4").write_bytes(b"x" * 1_000_000)
            return {}

        with pytest.raises(StoreError, match=words) as told:
            items.get_or_make("a", "A_001", "k", make)
        assert "store.bulk" in str(told.value) and str(tmp_path) in str(told.value)
        assert items.get("a", "A_001", "k") is None
    finally:
        subprocess.run(["umount", tmp_path], check=True)


def test_a_half_written_log_line_is_passed_over(tmp_path):
    items, calls = counted(tmp_path)
    items.get_or_make("a", "A_001", "k", make_video(calls))
    (tmp_path / "log" / "killed.jsonl").write_text(json.dumps({"stage": "x"})[:5])
    assert len(list(store.made(tmp_path))) == 1


def test_old_drafts_are_reported_young_ones_may_be_in_use(tmp_path):
    folder = tmp_path / "s" / "a" / "A_001"
    folder.mkdir(parents=True)
    draft = folder / ".k.abc.draft.mp4"
    draft.write_bytes(b"x")
    assert list(store.verify(tmp_path)) == []
    old = time.time() - 100_000
    os.utime(draft, (old, old))
    assert "never finished" in next(store.verify(tmp_path))
