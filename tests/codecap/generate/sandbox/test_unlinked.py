"""Open files without a name are found, each once, and nothing else is."""

import os

from codecap.generate.sandbox import unlinked


def test_what_this_process_holds(tmp_path):
    device = tmp_path.stat().st_dev
    before = unlinked.held_bytes([os.getpid()], device)
    with (tmp_path / "named").open("wb") as named, (tmp_path / "nameless").open("wb") as nameless:
        for file in (named, nameless):
            file.write(bytes(1 << 20))
            file.flush()
            os.fsync(file.fileno())
        twice = os.dup(nameless.fileno())
        (tmp_path / "nameless").unlink()
        grown = unlinked.held_bytes([os.getpid(), os.getpid()], device) - before
        os.close(twice)
    assert 1 << 20 <= grown < (1 << 20) + 65536
    assert unlinked.held_bytes([os.getpid()], device) == before


def test_files_in_memory_and_processes_that_are_gone_do_not_count(tmp_path):
    device = tmp_path.stat().st_dev
    before = unlinked.held_bytes([os.getpid()], device)
    memory = os.memfd_create("test")
    os.write(memory, bytes(1 << 20))
    assert unlinked.held_bytes([os.getpid(), 2**22 + 1], device) == before
    os.close(memory)
