"""Packs: the same items in few files, at any time, whoever reads, writes, packs, unpacks or is killed meanwhile."""

import itertools
import json
import random
import signal
import subprocess
import time
import zipfile

import pytest

from codecap import store
from codecap.store import ItemStore, StoreError, items, layout, packing, packs, settings

from .conftest import bucket_of, files, video

CLIPS = [f"A_{number:03d}" for number in range(8)]
PACK = """
import sys
from codecap.store import packing
def bucket_of(clip_id):
    return f"{int(clip_id.rpartition('_')[2]) % 2:02d}"
todo, root, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
for _ in range(rounds):
    if "p" in todo:
        list(packing.pack(root, bucket_of))
    if "u" in todo:
        list(packing.unpack(root))
    print(todo, flush=True)
"""
READ = """
import sys
from pathlib import Path
from codecap.store import ItemStore, open_at, there
items, read = ItemStore(Path(sys.argv[1]), stage="render", salt="s"), 0
print("reads", flush=True)
while not Path(sys.argv[2]).exists():
    for number in range(8):
        item = items.get("a", f"A_{number:03d}", "k")
        assert item is not None and there(item.files["mp4"]), number
        assert open_at(item.files["mp4"], Path.read_bytes) == b"pictures of %d" % number
        read += 1
print(read)
"""


@pytest.fixture
def made(render) -> dict[str, items.Item]:
    """Eight items, each with a video."""
    return {
        clip: render.get_or_make("a", clip, "k", video(b"pictures of %d" % number), keep=bool) for number, clip in enumerate(CLIPS)
    }


def pack(root) -> packing.Done:
    return sum((done for _, done in packing.pack(root, bucket_of)), packing.Done())


def unpack(root) -> packing.Done:
    return sum((done for _, done in packing.unpack(root)), packing.Done())


def contents(made) -> list[bytes]:
    return [store.at(item.files["mp4"]).read_bytes() for item in made.values()]


def test_packed_items_are_the_same_and_few_files(root, render, made):
    before = contents(made)
    assert pack(root) == packing.Done(items=8, files=2 - 16)
    assert [name[:10] for name in files(root)] == ["render/a/0"] * 2 and not list(root.glob("render/a/_*"))
    assert {clip: render.get("a", clip, "k") for clip in CLIPS} == made
    assert contents(made) == before and all(store.there(item.files["mp4"]) for item in made.values())
    assert render.get_or_make("a", "A_001", "k", make=None) == made["A_001"]
    assert list(store.verify(root, contents=True)) == []
    assert pack(root) == packing.Done()
    assert unpack(root) == packing.Done(items=8, files=16 - 2)
    assert {clip: render.get("a", clip, "k") for clip in CLIPS} == made and contents(made) == before
    assert len(files(root)) == 16 and list(store.verify(root, contents=True)) == []


def test_a_pack_is_an_ordinary_zip_file_that_is_not_compressed(root, made):
    pack(root)
    with zipfile.ZipFile(next(root.rglob("00-*.items.zip"))) as opened:
        assert opened.testzip() is None and len(opened.namelist()) == 8
        assert {info.compress_type for info in opened.infolist()} == {zipfile.ZIP_STORED}


def test_what_comes_later_is_packed_with_what_was_there(root, render, made):
    pack(root)
    render.get_or_make("a", "A_008", "k", video(b"pictures of 8"))
    assert pack(root) == packing.Done(items=1, files=1 - 3)  # two loose files and the older pack
    assert len(files(root)) == 2 and render.get("a", "A_008", "k") and render.get("a", "A_000", "k") == made["A_000"]


def test_items_of_the_layout_of_earlier_versions_are_packed_under_their_own_names(root, render):
    folder = root / "render" / "a" / "A_001"
    folder.mkdir(parents=True)
    (folder / "k.mp4").write_bytes(b"12345")
    (folder / "k.json").write_text('{"value": 1, "files": {"mp4": 5}}')
    before = render.get("a", "A_001", "k")
    assert pack(root).items == 1 and not folder.exists()
    assert render.get("a", "A_001", "k") == before and store.at(folder / "k.mp4").read_bytes() == b"12345"
    assert unpack(root).items == 1 and render.get("a", "A_001", "k") == before


def test_an_item_whose_file_is_gone_is_not_packed(root, render, made):
    made["A_002"].files["mp4"].unlink()
    assert pack(root).items == 7
    assert render.get("a", "A_002", "k") is None and len(files(root)) == 3
    again = render.get_or_make("a", "A_002", "k", video(b"other pictures"))
    assert pack(root).items == 1 and render.get("a", "A_002", "k") == again and len(files(root)) == 2
    assert store.at(again.files["mp4"]).read_bytes() == b"other pictures"


def test_a_shard_packs_what_it_has_touched_and_no_other(root, render, made, monkeypatch):
    monkeypatch.setattr(items, "TOUCHED", {})
    render.get("a", "A_001", "k")
    packing.pack_touched(bucket_of)
    assert len([name for name in files(root) if name.endswith(".zip")]) == 1 and len(files(root)) == 1 + 8
    packing.pack_touched(bucket_of)
    assert len(files(root)) == 9


def test_a_pack_that_cannot_be_written_fails_no_job(root, made, monkeypatch, caplog):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(zipfile.ZipFile, "write", full)
        packing.pack_touched(bucket_of)
    assert "no space left" in caplog.text and "codecap store pack" in caplog.text
    assert len(files(root)) == 16 and list(store.verify(root)) == []


def test_what_another_has_made_and_packed_meanwhile_is_taken(root, render):
    """The slow one of two: the other's item is not loose any more when it comes to its end."""

    def make(draft):
        other = ItemStore(root, stage="render", salt="s").get_or_make("a", "A_001", "k", video(b"first"))
        assert pack(root).items == 1 and not other.files["mp4"].exists()
        draft.file("mp4").write_bytes(b"second")
        return {"frames": 4}

    item = render.get_or_make("a", "A_001", "k", make)
    assert item.value == {"frames": 3} and store.at(item.files["mp4"]).read_bytes() == b"first"
    assert len(files(root)) == 1 and render.get("a", "A_001", "k") == item


def test_of_an_item_that_is_packed_and_loose_the_packed_one_is_first(root, render, made, tmp_path):
    """As if a slow writer had just put its own, and was killed before it could take it back."""
    pack(root)
    (tmp_path / "other").mkdir()
    second = ItemStore(tmp_path / "other", stage="render", salt="s").get_or_make("a", "A_001", "k", video(b"of a slow writer"))
    for path in (second.files["mp4"], second.files["mp4"].with_name("A_001.k.json")):
        target = root / path.relative_to(tmp_path / "other")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    assert pack(root).items == 1
    assert render.get("a", "A_001", "k") == made["A_001"] and contents(made)[1] == b"pictures of 1"
    assert len(files(root)) == 2


def test_readers_and_writers_see_every_item_while_it_is_packed_and_unpacked(root, made, workers, tmp_path):
    done = tmp_path / "done"
    readers = [workers.start(READ, root, done) for _ in range(2)]
    for reader in readers:
        assert reader.stdout.readline() == "reads\n"
    both = workers.start(PACK, "pu", root, 5)
    writing = ItemStore(root, stage="render", salt="another")
    for number in range(40):
        writing.get_or_make("a", f"A_{number % 20:03d}", writing.key(str(number)), video(b"x"))
        time.sleep(0.02)
    assert both.wait(60) == 0
    done.touch()
    assert all(int(told.splitlines()[-1]) > 20 for told in workers.results()[:2])
    unpack(root)
    assert len(files(root)) == 16 + 80 and list(store.verify(root, contents=True)) == []


def test_two_packers_and_an_unpacker_at_once_lose_nothing(root, render, made, workers):
    for todo in ("p", "p", "pu", "u"):
        workers.start(PACK, todo, root, 6)
    workers.results()
    assert {clip: render.get("a", clip, "k") for clip in CLIPS} == made
    assert contents(made) == [b"pictures of %d" % number for number in range(8)]
    pack(root)
    assert len(files(root)) == 2 and list(store.verify(root, contents=True)) == []


@pytest.mark.parametrize("seed", range(2))
def test_a_packer_killed_at_any_time_loses_nothing(root, render, made, workers, seed):
    chance = random.Random(seed)
    for _ in range(5):
        process = workers.start(PACK, "pu", root, 1000)
        process.stdout.readline()
        time.sleep(chance.random() * 0.05)
        process.send_signal(signal.SIGKILL)
        process.wait(10)
        assert {clip: render.get("a", clip, "k") for clip in CLIPS} == made
        assert contents(made) == [b"pictures of %d" % number for number in range(8)]
    assert list(store.verify(root, contents=True)) == []
    pack(root)
    left = [name for name in files(root) if "/." not in name]
    assert len([name for name in left if name.endswith(".zip")]) == 2
    assert {clip: render.get("a", clip, "k") for clip in CLIPS} == made


@pytest.mark.parametrize("call", range(1, 40, 3))
def test_a_packer_that_stops_at_any_of_its_deletions_loses_nothing(root, render, made, monkeypatch, call):
    """As if killed between two system calls: the n-th unlink of a packer, and of the merge that follows."""
    unlink, count = type(root).unlink, itertools.count(1)

    def dying(path, missing_ok=False):
        if next(count) == call:
            raise KeyboardInterrupt
        unlink(path, missing_ok)

    with monkeypatch.context() as patched:
        patched.setattr(type(root), "unlink", dying)
        try:
            pack(root)
            unpack(root)
        except KeyboardInterrupt:
            pass
    assert {clip: render.get("a", clip, "k") for clip in CLIPS} == made
    assert contents(made) == [b"pictures of %d" % number for number in range(8)]
    for path in root.rglob("*.lease*"):  # of a process that lives on here
        path.unlink()
    pack(root)
    assert len([name for name in files(root) if name.endswith(".zip")]) == 2
    assert {clip: render.get("a", clip, "k") for clip in CLIPS} == made


def test_files_taken_out_stay_within_their_bound_the_longest_unused_go_first(root, render, tmp_path, monkeypatch):
    monkeypatch.setattr(settings, "_current", settings.StoreSettings(scratch=str(tmp_path / "node"), scratch_gb=1e-6))  # 1000 bytes
    monkeypatch.setattr("codecap.store.extracted.IN_USE_S", 0.0)
    made = {clip: render.get_or_make("a", clip, "k", video(b"%03d" % number * 100)) for number, clip in enumerate(CLIPS)}
    pack(root)
    for item in made.values():
        assert store.at(item.files["mp4"]).read_bytes() == store.at(item.files["mp4"]).read_bytes()
        time.sleep(0.01)
        assert sum(path.stat().st_size for path in (tmp_path / "node").rglob("*.mp4")) <= 1000
    left = sorted(path.name.partition("-")[2][:5] for path in (tmp_path / "node").rglob("*.mp4"))
    assert left == CLIPS[-len(left) :] and left
    assert list((tmp_path / "node").rglob(".*")) == []


def test_a_taken_out_file_that_was_cut_short_is_taken_out_again(root, made):
    pack(root)
    copy = store.at(made["A_003"].files["mp4"])
    assert copy != made["A_003"].files["mp4"] and store.at(made["A_003"].files["mp4"]) == copy
    copy.write_bytes(b"pict")
    assert store.at(made["A_003"].files["mp4"]).read_bytes() == b"pictures of 3"


def test_scratch_of_somebody_else_is_refused(root, made, tmp_path):
    pack(root)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "scratch" / f"codecap-store-{packing.os.geteuid()}").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match=r"store\.scratch"):
        store.at(made["A_003"].files["mp4"])


def test_a_damaged_pack_is_told_and_what_was_in_it_made_again(root, render, made, caplog):
    pack(root)
    torn, bent = sorted(root.rglob("*.items.zip"))
    torn.write_bytes(torn.read_bytes()[:-30])
    whole = bent.read_bytes()
    bent.write_bytes(whole.replace(b"pictures of 1", b"PICTURES of 1"))
    packs._KNOWN.clear()
    told = "\n".join(store.verify(root, contents=True))
    assert f"{torn}: not a whole pack" in told and f"{bent}: " in told and "is damaged there" in told
    assert "codecap store unpack" in told and "codecap store unpack" in caplog.text
    for _ in range(2):
        with pytest.raises(packs.Damaged, match="damaged.*codecap store unpack"):
            store.at(made["A_001"].files["mp4"])
    assert render.get("a", "A_000", "k") == made["A_000"]  # only the pack's directory is torn
    assert render.get("a", "A_001", "k") is None and not store.there(made["A_001"].files["mp4"])
    anew = render.get_or_make("a", "A_001", "k", video(b"pictures of 1"))
    assert anew == made["A_001"] and store.at(anew.files["mp4"]).read_bytes() == b"pictures of 1"


def damage(pack, old: bytes, new: bytes, count: int = -1):
    """Change bytes of a pack, for a process that knows nothing of it yet."""
    told = pack.read_bytes()
    assert old in told and len(old) == len(new)
    pack.write_bytes(told.replace(old, new, count))
    packs._KNOWN.clear()


def test_a_damaged_value_is_absent_with_one_warning_and_made_again(root, render, made, caplog):
    pack(root)
    name = f"{layout.shelf_of('A_001')}/A_001.k.json"
    one = next(root.rglob("01-*.items.zip"))
    with zipfile.ZipFile(one) as opened:
        told = opened.read(name)
    damage(one, told, told.replace(b'"frames": 3', b'"frames": 9'))
    for _ in range(3):
        assert render.get("a", "A_001", "k") is None
    assert caplog.text.count("is damaged") == 1 and name in caplog.text and one.name in caplog.text
    assert render.get_or_make("a", "A_001", "k", video(b"pictures of 1")) == made["A_001"]
    assert render.get("a", "A_003", "k") == made["A_003"]


def test_unpacking_goes_on_past_what_is_damaged_in_all_folders(root, render, made):
    for system in ("b", "c"):
        for clip in CLIPS:
            render.get_or_make(system, clip, "k", video(b"of %s" % system.encode()))
    pack(root)
    damage(next(root.glob("render/a/01-*.items.zip")), b"pictures of 1", b"pictures of 2")
    done = unpack(root)
    assert done.items == 23 and len(done.lost) == 2 and "A_001" in done.lost[0] and "set aside" in done.lost[1]
    found = {clip: render.get("a", clip, "k") for clip in CLIPS}
    assert found == made | {"A_001": None}
    assert all(render.get(system, clip, "k") for system in "bc" for clip in CLIPS)
    assert [name.rpartition(".")[2] for name in files(root) if ".zip" in name] == ["damaged"]
    assert "set aside" in "\n".join(store.verify(root))
    assert unpack(root) == packing.Done() and render.get_or_make("a", "A_001", "k", video(b"pictures of 1")) == made["A_001"]


def test_a_damaged_item_that_was_made_again_is_not_undone_by_unpacking(root, render, made):
    pack(root)
    damage(next(root.rglob("01-*.items.zip")), b"pictures of 1", b"pictures of 2")
    with pytest.raises(packs.Damaged):
        store.at(made["A_001"].files["mp4"])
    anew = render.get_or_make("a", "A_001", "k", video(b"other pictures"))
    packs._KNOWN.clear()
    unpack(root)
    assert render.get("a", "A_001", "k") == anew and store.at(anew.files["mp4"]).read_bytes() == b"other pictures"


def test_merging_a_damaged_pack_keeps_all_that_is_whole_and_sets_it_aside(root, render, made):
    pack(root)
    old = next(root.rglob("01-*.items.zip"))
    damage(old, b"pictures of 1", b"pictures of 2")
    render.get_or_make("a", "A_009", "k", video(b"pictures of 9"))
    done = pack(root)
    assert done.items == 1 and len(done.lost) == 2 and done.files == 1 - 2
    assert {clip: render.get("a", clip, "k") for clip in CLIPS} == made | {"A_001": None} and render.get("a", "A_009", "k")
    assert old.with_name(old.name + ".damaged").is_file() and not old.exists()
    packs._KNOWN.clear()
    assert not [told for told in store.verify(root, contents=True) if "set aside" not in told and "A_001" not in told]


def test_a_whole_loose_copy_of_what_is_damaged_in_a_pack_is_packed(root, render, made):
    """As if a packer was killed before it deleted them, and the pack damaged since."""
    loose = {path: path.read_bytes() for path in root.rglob("*A_00*") if path.is_file()}
    pack(root)
    for path, told in loose.items():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(told)
    damage(next(root.rglob("01-*.items.zip")), b"pictures of 1", b"pictures of 2")
    assert [told for told in pack(root).lost if "set aside" not in told] == []
    assert {clip: render.get("a", clip, "k") for clip in CLIPS} == made and contents(made)[1] == b"pictures of 1"


def test_any_one_damaged_byte_costs_at_most_one_item(root, render, made):
    pack(root)
    one, chance = next(root.rglob("01-*.items.zip")), random.Random(5)
    whole = one.read_bytes()
    for at in [*chance.sample(range(len(whole)), 16), *range(len(whole) - 22, len(whole), 5)]:
        one.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << chance.randrange(8)]) + whole[at + 1 :])
        packs._KNOWN.clear()
        done = unpack(root)
        assert not one.exists(), (at, done)
        packs._KNOWN.clear()
        found = {clip: render.get("a", clip, "k") for clip in CLIPS[1::2]}
        assert sum(found[clip] != made[clip] for clip in found) <= 1, at
        for clip, item in found.items():
            assert item is None or store.at(item.files["mp4"]).read_bytes() == b"pictures of %d" % CLIPS.index(clip)
        for path in root.rglob("*"):
            if path.is_file() and (path.suffix == ".damaged" or path.name.partition(".")[0] in CLIPS):
                path.unlink()


def test_a_pack_that_is_not_on_the_disk_as_it_was_written_deletes_nothing(root, render, made, monkeypatch):
    seal = packing.putting.seal

    def sealed_and_bent(draft):
        draft.write_bytes(draft.read_bytes().replace(b"pictures of 1", b"PICTURES of 1"))
        return seal(draft)

    with monkeypatch.context() as patched:
        patched.setattr(packing.putting, "seal", sealed_and_bent)
        with pytest.raises(StoreError, match="nothing lost"):
            list(packing.pack(root, lambda _: "00"))
    assert len(files(root)) == 16 and contents(made)[1] == b"pictures of 1"


def test_a_place_that_nothing_has_is_given_back_as_it_is(tmp_path):
    assert store.at(tmp_path / "no" / "such.mp4") == tmp_path / "no" / "such.mp4" and not store.there(tmp_path / "no" / "such.mp4")
    assert str(store.at("such.mp4")) == "such.mp4"


@pytest.mark.skipif(packing.os.geteuid() != 0, reason="needs root to mount a small filesystem")
def test_a_full_disk_stops_a_packer_and_loses_nothing(tmp_path):
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=240k", "tmpfs", tmp_path], capture_output=True, text=True)
    if mounted.returncode:
        pytest.skip(f"cannot mount a tmpfs here: {mounted.stderr.strip()}")
    try:
        render = ItemStore(tmp_path, stage="render", salt="s")
        made = {clip: render.get_or_make("a", clip, "k", video(b"%d" % number * 20_000)) for number, clip in enumerate(CLIPS)}
        with pytest.raises(StoreError, match="no space left"):
            pack(tmp_path)
        assert {clip: render.get("a", clip, "k") for clip in CLIPS} == made and len(files(tmp_path)) == 16
        subprocess.run(["mount", "-o", "remount,ro", tmp_path], check=True)
        with pytest.raises(StoreError, match="read-only"):
            pack(tmp_path)
        assert {clip: render.get("a", clip, "k") for clip in CLIPS} == made
        subprocess.run(["mount", "-o", "remount,rw,size=2m", tmp_path], check=True)
        assert pack(tmp_path).items == 8
    finally:
        subprocess.run(["umount", tmp_path], check=True)


def test_json_of_values_is_not_changed(root, render):
    value = {"text": "ü\n", "numbers": [1, 2.5, None], "nested": {"a": True}}
    made = render.get_or_make("a", "A_001", "k", lambda _: value)
    pack(root)
    assert render.get("a", "A_001", "k") == made and json.loads(json.dumps(made.value)) == value
