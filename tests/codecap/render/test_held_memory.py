"""Memory of processes, by what the kernel says of it."""

import contextlib
import mmap
import os
import time

import pytest

from codecap.render import held_memory
from codecap.render.held_memory import Memory, status_of, together_mb

SIZE = 20_000_000
STATUS = {"RssAnon": "1000 kB", "RssFile": "9000 kB", "RssShmem": "500 kB", "VmPTE": "100 kB", "VmSwap": "20 kB"}


def test_own_memory_is_private_swapped_out_and_tables_and_no_files():
    told = Memory.told(7, STATUS)
    assert (told.own_mb, told.shared_mb) == (pytest.approx(1120 * 1.024e-3), pytest.approx(0.512))


def test_a_process_that_is_gone_holds_nothing():
    assert Memory.told(2**30, status_of(2**30)) == Memory(2**30, 0.0, 0.0)


def test_what_keeps_to_the_limit_in_any_case_is_not_looked_at_closer():
    assert together_mb([Memory(2**30, 1.0, 5.0), Memory(2**30, 2.0, 4.0)], limit_mb=12.0) == 8.0


def test_what_an_old_kernel_does_not_tell_counts_whole_and_what_has_ended_since_not_at_all(monkeypatch):
    assert together_mb([Memory(2**30, 1.0, 5.0), Memory(2**30, 2.0, 4.0)], limit_mb=11.0) == 3.0
    monkeypatch.setattr(held_memory, "_lines", lambda _: {"Rss": "9000 kB"})
    assert together_mb([Memory(2**30, 1.0, 5.0), Memory(2**30, 2.0, 4.0)], limit_mb=11.0) == 12.0


@contextlib.contextmanager
def forked(own: bool):
    """Ids of three processes that fill shared memory: each its own, or all the same."""
    common, children = mmap.mmap(-1, SIZE), []
    up, told = os.pipe()
    try:
        for _ in range(3):
            child = os.fork()
            if child == 0:
                held = mmap.mmap(-1, SIZE) if own else common
                for place in range(0, SIZE, 4096):
                    held[place] = 1
                os.write(told, b".")
                time.sleep(30)
                os._exit(0)
            children.append(child)
        for _ in children:
            os.read(up, 1)
        yield children
    finally:
        for child in children:
            os.kill(child, 9)
            os.waitpid(child, 0)
        common.close()
        os.close(up)
        os.close(told)


@pytest.mark.parametrize(("own", "times"), [(True, 3), (False, 1)])
def test_shared_memory_counts_as_often_as_it_is_there(own, times):
    with forked(own) as processes:
        held = [Memory.told(pid, status_of(pid)) for pid in processes]
        shared_mb = together_mb([Memory(process.pid, 0.0, process.shared_mb) for process in held], limit_mb=30.0)
    assert all(process.shared_mb >= SIZE / 1e6 for process in held)
    assert shared_mb == pytest.approx(times * SIZE / 1e6, abs=2)
