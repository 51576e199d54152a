"""Leases: one holder at a time, also after kills, breakers side by side, and lost answers."""

import errno
import json
import os
import signal
import threading
import time

import pytest

from codecap.store import leases
from codecap.store.holders import machine, this_process
from codecap.store.leases import lease

COUNT = """
import sys
from pathlib import Path
from codecap.store.leases import lease
counter = Path(sys.argv[1])
for _ in range(int(sys.argv[2])):
    with lease(counter):
        counter.write_text(str(int(counter.read_text()) + 1))
"""
HOLD = """
import sys, time
from pathlib import Path
from codecap.store.leases import lease
with lease(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def left_of(path):
    return [found.name for found in path.parent.iterdir() if found != path]


def test_processes_take_turns_and_leave_nothing(tmp_path, workers):
    counter = tmp_path / "counter"
    counter.write_text("0")
    for _ in range(4):
        workers.start(COUNT, counter, 100)
    workers.results()
    assert counter.read_text() == "400" and left_of(counter) == ["scratch"]


def taken_in_turns(path, threads: int) -> None:
    """Have threads hold a lease at the same time, which only one can."""
    holding, most = [], []

    def hold():
        for _ in range(15):
            with lease(path):
                holding.append(1)
                most.append(len(holding))
                holding.pop()

    started = [threading.Thread(target=hold) for _ in range(threads)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join(30)
    assert most == [1] * 15 * threads


def test_threads_take_turns(tmp_path):
    taken_in_turns(tmp_path / "counter", threads=4)


def test_a_killed_holder_is_found_out_at_once_by_all_who_wait(tmp_path, workers):
    path = tmp_path / "ledger"
    for _ in range(5):
        holder = workers.start(HOLD, path)
        assert holder.stdout.readline() == "held\n"
        path.write_text("0")
        waiting = [workers.start(COUNT, path, 5) for _ in range(4)]
        time.sleep(0.1)
        holder.send_signal(signal.SIGKILL)
        started = time.monotonic()
        assert [process.wait(30) for process in waiting] == [0] * 4
        assert time.monotonic() - started < 10  # of processes that start, not of a lease's age
        assert path.read_text() == "20" and left_of(path) == ["scratch"]


def put_lock_of_another_machine(path, age_s):
    token = "00ff00ff00ff"
    told = {"token": token, **vars(this_process()), "machine": "elsewhere", "host": "elsewhere"}
    lock = path.with_name(f".{path.name}.lease")
    lock.write_text(json.dumps(told))
    os.utime(lock, (time.time() - age_s,) * 2)
    return lock


def test_a_lease_of_another_machine_is_freed_when_it_is_old(tmp_path):
    path = tmp_path / "ledger"
    put_lock_of_another_machine(path, leases.LEASE_S + 5)
    started = time.monotonic()
    with lease(path) as held:
        assert held.is_ours()
    assert time.monotonic() - started < 5 and left_of(path) == ["scratch"]


def test_a_lease_from_the_future_is_freed_when_it_was_seen_unchanged_for_long(tmp_path, monkeypatch):
    """Its holder's clock is an hour ahead."""
    monkeypatch.setattr(leases, "LEASE_S", 0.6)
    monkeypatch.setattr(leases, "LOOK_S", 0.05)
    path = tmp_path / "ledger"
    lock = put_lock_of_another_machine(path, -3600)
    taken = threading.Event()

    def take():
        with lease(path):
            taken.set()

    waiting = threading.Thread(target=take, daemon=True)
    waiting.start()
    for second in range(20):  # it lives
        time.sleep(0.1)
        os.utime(lock, (time.time() + 3600 + second,) * 2)
    assert not taken.is_set()
    assert taken.wait(10)
    waiting.join(10)


def test_a_lease_of_another_machine_holds_while_it_is_renewed(tmp_path, monkeypatch):
    monkeypatch.setattr(leases, "LEASE_S", 0.5)
    monkeypatch.setattr(leases, "LOOK_S", 0.05)
    path = tmp_path / "ledger"
    lock = put_lock_of_another_machine(path, 0)
    taken = threading.Event()

    def take():
        with lease(path):
            taken.set()

    waiting = threading.Thread(target=take, daemon=True)
    waiting.start()
    for _ in range(20):
        time.sleep(0.1)
        os.utime(lock)
    assert not taken.is_set()
    assert taken.wait(10)  # not renewed any more
    waiting.join(10)


def test_a_holder_renews_its_lease(tmp_path, monkeypatch):
    monkeypatch.setattr(leases, "RENEW_S", 0.05)
    monkeypatch.setattr(leases, "_RENEWER", leases._Renewer())
    path = tmp_path / "ledger"
    with lease(path):
        lock = path.with_name(".ledger.lease")
        os.utime(lock, (0, 0))
        time.sleep(0.3)
        assert time.time() - lock.stat().st_mtime < 5


def test_two_breakers_of_one_dead_lease_never_hold_it_together(tmp_path, workers):
    """A dead holder's lease again and again, with eight who find it at the same time."""
    path = tmp_path / "counter"
    path.write_text("0")
    script = COUNT.replace("for _ in range", "import os, json\nfor _ in range").replace(
        "        counter.write_text(str(int(counter.read_text()) + 1))",
        "        value = int(counter.read_text())\n"
        "        counter.write_text(str(value + 1))\n"
        "        if value % 3 == 0:\n"
        "            os.kill(os.getpid(), 9)",
    )
    for _ in range(30):
        workers.start(script, path, 1)
    codes = [process.wait(120) for process in workers.started]
    assert path.read_text() == "30"  # each came in once, alone
    assert codes.count(-9) == 10 and set(codes) == {0, -9}
    with lease(path):  # frees what the last one has left
        pass
    assert left_of(path) == ["scratch"]


def test_a_link_that_was_made_though_it_is_said_to_have_failed_counts(tmp_path, monkeypatch):
    """NFS: the server has done it, its answer is lost, the client asks again and hears that the name is taken."""
    link = os.link

    def link_and_fail(source, target):
        link(source, target)
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))

    monkeypatch.setattr(os, "link", link_and_fail)
    path = tmp_path / "ledger"
    for _ in range(3):
        with lease(path) as held:
            assert held.is_ours()
    assert left_of(path) == ["scratch"]


@pytest.mark.parametrize("code", leases.NO_LINKS)
def test_without_hard_links_exclusive_creation_does(tmp_path, monkeypatch, code):
    monkeypatch.setattr(os, "link", lambda *_: raised(OSError(code, os.strerror(code))))
    path = tmp_path / "ledger"
    taken_in_turns(path, threads=3)
    assert left_of(path) == ["scratch"]


def test_a_folder_that_cannot_be_written_is_an_error_not_a_wait(tmp_path):
    with pytest.raises(FileNotFoundError), lease(tmp_path / "nowhere" / "ledger"):
        pass


def raised(error):
    raise error


def test_a_process_number_that_another_process_has_now_is_a_dead_holder(tmp_path):
    path = tmp_path / "ledger"
    told = {"token": "00ff00ff00ff", "machine": machine(), "host": "here", "pid": os.getpid(), "started": "1"}
    path.with_name(".ledger.lease").write_text(json.dumps(told))
    with lease(path) as held:
        assert held.is_ours()
