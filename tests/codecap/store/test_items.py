"""Items: whole or absent, found again only by all that made them, never twice."""

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

from .conftest import files


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
    assert second.files["mp4"].parent == tmp_path / "stage" / "a" / "_1"


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
    assert files(tmp_path / "stage") == []
    assert list(store.made(tmp_path)) == []


def test_a_maker_that_fails_leaves_nothing(tmp_path):
    items, _ = counted(tmp_path)

    def make(draft):
        draft.file("mp4").write_bytes(b"half")
        raise RuntimeError("broke")

    with pytest.raises(RuntimeError, match="broke"):
        items.get_or_make("a", "A_001", "k", make)
    assert files(tmp_path / "stage") == []


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
    for clip in ("A_001", "A_002", "A_003", "A_004"):
        items.get_or_make("a", clip, "k", make_video(calls))
    assert list(store.verify(tmp_path, contents=True)) == []
    places = {clip: items.get("a", clip, "k").files["mp4"] for clip in ("A_001", "A_002", "A_003", "A_004")}
    places["A_001"].unlink()
    places["A_002"].write_bytes(b"x")
    places["A_003"].with_name("A_003.k.json").write_text("{")
    places["A_004"].write_bytes(b"PICTURES")
    problems = "\n".join(store.verify(tmp_path))
    assert len(problems.splitlines()) == 3
    assert f"{places['A_001']}: missing" in problems and f"{places['A_002']}: 1 bytes instead of 8" in problems
    assert "A_003.k.json: not an item" in problems
    assert f"{places['A_004']}: not what was written" in "\n".join(store.verify(tmp_path, contents=True))


def test_an_item_of_the_layout_of_earlier_versions_is_found_and_made_again_in_the_new_one(tmp_path):
    """As version 0.1 has written it: a folder a clip, sizes without digests."""
    folder = tmp_path / "stage" / "a" / "A_001"
    folder.mkdir(parents=True)
    (folder / "k.masks.json.gz").write_bytes(b"12345")
    (folder / "k.json").write_text('{"value": {"n": 1}, "files": {"masks.json.gz": 5}}')
    items, calls = counted(tmp_path)
    found = items.get_or_make("a", "A_001", "k", make_video(calls))
    assert not calls and found.value == {"n": 1} and found.files == {"masks.json.gz": folder / "k.masks.json.gz"}
    (folder / "k.masks.json.gz").unlink()
    again = items.get_or_make("a", "A_001", "k", make_video(calls))
    assert calls == ["k"] and again.files["mp4"].parent.name == "_1" and not (folder / "k.json").exists()
    assert list(store.verify(tmp_path)) == []


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


def test_old_drafts_are_told_and_removed_young_ones_may_be_in_use(tmp_path, monkeypatch):
    items, calls = counted(tmp_path)
    items.get_or_make("a", "A_001", "k", make_video(calls))
    shelf = tmp_path / "stage" / "a" / "_1"
    left = [shelf / ".A_001.k.abc.draft.mp4", shelf / "..A_001.k.abc.draft.mp4.x.draft", shelf / ".A_001.k.json.lease.00ff"]
    for path in left:
        path.write_bytes(b"x")
    assert list(store.verify(tmp_path)) == [] and list(store.clean(tmp_path)) == []
    tomorrow = time.time() + 100_000
    monkeypatch.setattr(time, "time", lambda: tomorrow)
    assert [told.partition(":")[0] for told in store.verify(tmp_path)] == sorted(map(str, left))
    another = store.items.ItemStore(tmp_path, stage="stage", salt="another")
    monkeypatch.setattr(store.items, "_SWEPT", set())
    another.get_or_make("a", "A_001", another.key(), make_video(calls))
    assert not any(path.exists() for path in left) and list(store.verify(tmp_path)) == []


def test_files_that_no_item_names_are_removed_after_a_day(tmp_path, monkeypatch):
    items, calls = counted(tmp_path)
    made = items.get_or_make("a", "A_001", "k", make_video(calls))
    orphan = made.files["mp4"].with_name("A_001.k.0123456789ab.mp4")
    orphan.write_bytes(b"of a writer that was killed")
    assert list(store.clean(tmp_path)) == []
    tomorrow = time.time() + 100_000
    monkeypatch.setattr(time, "time", lambda: tomorrow)
    assert list(store.clean(tmp_path)) == [orphan]
    assert items.get("a", "A_001", "k") == made


def test_a_folder_that_cannot_be_linked_in_is_renamed_into_and_the_first_still_wins(tmp_path, monkeypatch):
    """As on exFAT, or over some FUSE filesystems."""
    monkeypatch.setattr(os, "link", lambda *_: raised(PermissionError(1, "Operation not permitted")))
    items, calls = counted(tmp_path)

    def make(draft):
        other = ItemStore(tmp_path, stage="stage", salt="s").get_or_make("a", "A_001", "k", make_video(calls))
        assert other.value == {"frames": 3}
        draft.file("mp4").write_bytes(b"other pictures")
        return {"frames": 4}

    item = items.get_or_make("a", "A_001", "k", make)
    assert item.value == {"frames": 3} and item.files["mp4"].read_bytes() == b"pictures"
    assert len(files(tmp_path / "stage")) == 2


def test_over_nfs_a_link_or_rename_whose_answer_was_lost_was_made(tmp_path, monkeypatch):
    """The server has done it; the client asks again, and hears that the name is taken, or the draft gone."""
    link, replace = os.link, os.replace

    def link_and_fail(source, target):
        link(source, target)
        raise FileExistsError(17, "File exists", str(target))

    def replace_and_fail(source, target):
        replace(source, target)
        raise FileNotFoundError(2, "No such file or directory", str(source))

    monkeypatch.setattr(os, "link", link_and_fail)
    monkeypatch.setattr(os, "replace", replace_and_fail)
    items, calls = counted(tmp_path)
    made = items.get_or_make("a", "A_001", "k", make_video(calls))
    assert items.get("a", "A_001", "k") == made and len(list(store.made(tmp_path))) == 1
    made.files["mp4"].unlink()
    assert items.get_or_make("a", "A_001", "k", make_video(calls)) == made and len(calls) == 2
    made.files["mp4"].write_bytes(b"cut")
    assert items.get_or_make("a", "A_001", "k", make_video(calls)) == made and len(calls) == 3
    assert list(store.verify(tmp_path, contents=True)) == [] and len(files(tmp_path / "stage")) == 2


@pytest.mark.parametrize("call", ["fsync", "link", "write"])
def test_a_quota_is_told_wherever_the_filesystem_says_so(tmp_path, monkeypatch, call):
    """Over NFS it may be told as late as when a file is flushed, or a name made."""
    items, calls = counted(tmp_path)
    with monkeypatch.context() as patched:
        if call == "write":
            patched.setattr("pathlib.Path.write_text", lambda *_, **__: raised(OSError(122, "Disk quota exceeded")))
        else:
            patched.setattr(os, call, lambda *_: raised(OSError(122, "Disk quota exceeded")))
        with pytest.raises(StoreError, match="quota is used up"):
            items.get_or_make("a", "A_001", "k", make_video(calls))
    assert items.get("a", "A_001", "k") is None and [name for name in files(tmp_path / "stage") if name.endswith("json")] == []
    assert items.get_or_make("a", "A_001", "k", make_video(calls)).files["mp4"].read_bytes() == b"pictures"


def test_a_store_of_the_group_can_be_written_by_it_whatever_the_umask(tmp_path):
    script = f"""
import os
os.umask(0o077)
from pathlib import Path
from codecap import store
from codecap.exchange.locking import locked
root = Path({str(tmp_path / "shared" / "store")!r})
store.use({{"group_writable": True}})
items = store.ItemStore(root, stage="score/kss", salt=0)
items.get_or_make("a", "A_001", "k", lambda draft: [draft.file("npz").write_bytes(b"x")])
with locked(root / "exchange" / "turns"):
    pass
from codecap.store import packing
packing.pack_folder(root / "score" / "kss" / "a", lambda _: "00", only=())
items.get_or_make("b", "A_001", "k", lambda draft: [draft.file("npz").write_bytes(b"x")])
packing.pack_folder(root / "score" / "kss" / "b", lambda _: "00")
"""
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0
    made = [path for path in (tmp_path / "shared").rglob("*") if "lock" not in path.name]
    assert {path.stat().st_mode & 0o7777 for path in made if path.is_dir()} == {0o2775}
    assert {path.stat().st_mode & 0o7777 for path in made if path.is_file()} == {0o664}
    assert len([path for path in made if path.is_file()]) == 5  # an item of two files, a pack, a log, a file of turns


def raised(error):
    raise error
