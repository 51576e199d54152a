"""Packs: whole or not at all, many writers, found again by other processes."""

import hashlib
import os
import signal
import subprocess
import sys

import pytest

from codecap.exchange.packs import Packs
from codecap.store import StoreError


def named(payload: bytes) -> str:
    return hashlib.sha256(payload).hexdigest()


def filled(folder, *payloads: bytes) -> Packs:
    packs = Packs(folder)
    for payload in payloads:
        packs.append(named(payload), payload)
    return packs


def only_pack(folder):
    (pack,) = folder.glob("*.pack")
    return pack


def found(folder) -> set[bytes]:
    return {payload for _, payload in Packs(folder).every()}


PAYLOADS = [b"first", b"", b"a\nccx1 b\n\n", bytes(range(256)) * 40]


def test_what_is_appended_is_found_by_another_reader(tmp_path):
    packs = filled(tmp_path, *PAYLOADS)
    assert [list(packs.read(named(payload))) for payload in PAYLOADS] == [[payload] for payload in PAYLOADS]
    other = Packs(tmp_path)
    assert [list(other.read(named(payload))) for payload in PAYLOADS] == [[payload] for payload in PAYLOADS]
    assert list(other.read("0" * 64)) == []


def test_a_reader_sees_what_is_written_after_it_was_opened(tmp_path):
    reader = Packs(tmp_path)
    assert list(reader.read(named(b"first"))) == []
    writer = filled(tmp_path, b"first")
    assert list(reader.read(named(b"first"))) == [b"first"]
    writer.append(named(b"second"), b"second")
    assert list(reader.read(named(b"second"))) == [b"second"]


@pytest.mark.parametrize("index", ["kept", "lost"])
def test_a_pack_that_is_torn_anywhere_gives_all_that_was_whole(tmp_path, index, caplog):
    caplog.set_level("INFO")
    filled(tmp_path, *PAYLOADS)
    pack = only_pack(tmp_path)
    whole, last = pack.read_bytes(), len(PAYLOADS[-1])
    start = whole.rindex(b"\nccx1 ", 0, len(whole) - last) + 1  # of the last frame
    if index == "lost":
        pack.with_suffix(".index").unlink()
    for cut in (start, start + 1, start + 60, start + 120, len(whole) - 1):
        pack.write_bytes(whole[:cut])
        assert found(tmp_path) == set(PAYLOADS[:-1])
    assert "torn record" in caplog.text


def test_a_torn_record_is_made_whole_by_a_later_write_of_the_same_writer(tmp_path):
    filled(tmp_path, b"first", b"second")
    pack = only_pack(tmp_path)
    whole = pack.read_bytes()
    pack.write_bytes(whole[:-3])  # as a reader sees a writer at work
    reader = Packs(tmp_path)
    assert list(reader.read(named(b"second"))) == []
    assert reader.torn == [pack]
    pack.write_bytes(whole)
    assert list(reader.read(named(b"second"))) == [b"second"]
    assert reader.torn == []


@pytest.mark.parametrize("lost_index", [False, True])
def test_damage_in_the_middle_costs_one_record_and_is_told(tmp_path, caplog, lost_index):
    filled(tmp_path, b"first" * 20, b"second" * 20, b"third" * 20)
    pack = only_pack(tmp_path)
    pack.write_bytes(pack.read_bytes().replace(b"second", b"sEcond", 1))
    if lost_index:
        pack.with_suffix(".index").unlink()
    assert list(Packs(tmp_path).read(named(b"second" * 20))) == []
    assert "damaged" in caplog.text
    assert found(tmp_path) == {b"first" * 20, b"third" * 20}


@pytest.mark.parametrize("window", [1, 7, 1 << 20])
def test_a_damaged_head_is_passed_over(tmp_path, monkeypatch, window):
    monkeypatch.setattr("codecap.exchange.packs.WINDOW", window)
    filled(tmp_path, b"first", b"second", b"third")
    pack = only_pack(tmp_path)
    told = pack.read_bytes()
    at = told.index(named(b"second").encode()) - 5
    pack.write_bytes(told[:at] + b"XXXX" + told[at + 4 :])
    pack.with_suffix(".index").unlink()
    assert found(tmp_path) == {b"first", b"third"}


@pytest.mark.parametrize("told", [b"", b"nonsense\n", b"half a li", b"0 5 6\n", f"{named(b'other')} 0 9999999\n".encode()])
def test_an_index_that_is_wrong_costs_nothing(tmp_path, told):
    filled(tmp_path, b"first", b"second")
    only_pack(tmp_path).with_suffix(".index").write_bytes(told)
    assert found(tmp_path) == {b"first", b"second"}
    assert list(Packs(tmp_path).read(named(b"second"))) == [b"second"]


def test_an_index_that_names_the_wrong_record_is_not_believed(tmp_path):
    filled(tmp_path, b"first")
    index = only_pack(tmp_path).with_suffix(".index")
    index.write_text(index.read_text().replace(named(b"first"), named(b"other")))
    assert list(Packs(tmp_path).read(named(b"other"))) == []


WRITER = """
import hashlib, sys
from pathlib import Path
from codecap.exchange.packs import Packs
packs = Packs(Path(sys.argv[1]), synced=False)
for number in range(int(sys.argv[3])):
    payload = f"{sys.argv[2]} {number} ".encode() * 50
    packs.append(hashlib.sha256(payload).hexdigest(), payload)
    print(number, flush=True)
"""


def test_two_processes_append_at_once(tmp_path):
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, tmp_path, name, "200"], stdout=subprocess.PIPE) for name in "ab"]
    for writer in writers:
        assert writer.communicate(timeout=60)[0].split()[-1] == b"199"
    assert found(tmp_path) == {f"{name} {number} ".encode() * 50 for name in "ab" for number in range(200)}
    assert len(list(tmp_path.glob("*.pack"))) == 2


def test_what_a_killed_writer_said_was_written_is_there(tmp_path):
    writer = subprocess.Popen([sys.executable, "-c", WRITER, tmp_path, "a", "1000000"], stdout=subprocess.PIPE)
    told = [writer.stdout.readline() for _ in range(50)]
    writer.send_signal(signal.SIGKILL)
    told += writer.stdout.read().splitlines()
    writer.wait(10)
    last = max(int(line) for line in told if line.strip())
    assert {f"a {number} ".encode() * 50 for number in range(last + 1)} <= found(tmp_path)


def test_a_full_disk_leaves_the_pack_as_it_was(tmp_path, monkeypatch):
    packs = filled(tmp_path, b"first")
    size = only_pack(tmp_path).stat().st_size
    write = os.write

    def full(descriptor, told):
        if len(told) > 100:
            write(descriptor, bytes(told[:50]))
            raise OSError(28, "No space left on device")
        return write(descriptor, told)

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(StoreError, match="no space left"):
        packs.append(named(b"second" * 100), b"second" * 100)
    monkeypatch.undo()
    assert only_pack(tmp_path).stat().st_size == size
    packs.append(named(b"third"), b"third")
    assert found(tmp_path) == {b"first", b"third"}


def test_new_ones_only(tmp_path):
    filled(tmp_path, b"first")
    packs = Packs(tmp_path)
    packs.append_new({named(payload): payload for payload in (b"first", b"second")})
    packs.append_new({named(b"second"): b"second"})
    assert sorted(payload for _, payload in Packs(tmp_path).every()) == [b"first", b"second"]


def test_a_forked_process_writes_a_pack_of_its_own(tmp_path):
    packs = filled(tmp_path, b"first")
    child = os.fork()
    if child == 0:
        packs.append(named(b"second"), b"second")
        os._exit(0)
    os.waitpid(child, 0)
    packs.append(named(b"third"), b"third")
    assert found(tmp_path) == {b"first", b"second", b"third"}
    assert len(list(tmp_path.glob("*.pack"))) == 2


def test_with_a_whole_index_no_pack_is_read(tmp_path):
    filled(tmp_path, *PAYLOADS)
    pack = only_pack(tmp_path)
    pack.write_bytes(bytes(pack.stat().st_size))
    reader = Packs(tmp_path)
    reader.refresh()
    assert reader.places.keys() == {named(payload) for payload in PAYLOADS}
    assert list(reader.every()) == []  # and what is not there is not given
