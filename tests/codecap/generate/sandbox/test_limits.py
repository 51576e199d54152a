"""Limits hold for all processes of a box together, whether the kernel keeps them or the processes are watched."""

import json
import os
import time
from pathlib import Path

import psutil
import pytest

from codecap.generate.sandbox import contained, left_behind
from codecap.generate.sandbox.contained import NAME

ALLOCATE = "held = bytearray({mb} * 1_000_000); print('had it', flush=True); import time; time.sleep({s})"
FORK_BOMB = """
import os, time
while True:  # doubles twenty times a second: slow enough for the machine that the test runs on
    try:
        os.fork()
    except OSError:
        pass
    time.sleep(0.05)
"""
MANY_THREADS = """
import threading, time
try:
    for _ in range(200):
        threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
except RuntimeError:  # the kernel keeps the limit
    pass
time.sleep(30)
"""


@pytest.fixture(params=["kernel", "watched"])
def kept_by(request):
    """By what limits are kept here: by the kernel where it lets us, and by watching everywhere."""
    if request.param == "watched":
        request.getfixturevalue("without_groups")
    return request.param


def nothing_is_left():
    """Of this process; others may run some at the same time."""
    ours = f"{NAME}{os.getpid()}-"
    named = [process for process in psutil.process_iter(["environ", "cmdline"]) if ours in str(process.info)]
    groups = [folder for place in ("memory", "pids", "unified") for folder in Path(f"/sys/fs/cgroup/{place}").glob(f"**/{ours}*")]
    return not named and not groups


def test_an_allocation_that_is_far_too_large_ends_the_command(bwrap, box, run, python, kept_by):
    ran = run(bwrap, box(), *python(ALLOCATE.format(mb=20_000, s=60)))
    assert ran.status == 137
    assert ran.outgrown == "more than 300 MB of memory"
    assert ran.broken_off is None
    assert "had it" not in ran.said
    assert ran.wall_s < 10
    assert nothing_is_left()


def test_a_tool_that_takes_too_much_is_ended_alone(bwrap, box, run, python, kept_by):
    tool = " ".join(f"'{word}'" if " " in word else word for word in python(ALLOCATE.format(mb=900, s=60).replace("'", '"')))
    ran = run(bwrap, box(), "sh", "-c", f"{tool}; echo its status was $?; {tool}; echo and $?")
    assert (ran.status, ran.outgrown) == (0, None)
    assert "its status was 137\nand 137" in ran.said
    assert len(ran.curbed) == 2
    assert "300 MB" in ran.curbed[0]


def test_many_small_processes_count_together(bwrap, box, run, python, kept_by):
    program = "import os, time\nfor _ in range(12):\n if os.fork() == 0:\n  held = bytearray(40_000_000)\n  break\ntime.sleep(3)"
    ran = run(bwrap, box(), *python(program))
    if kept_by == "watched":
        assert ran.outgrown == "more than 300 MB of memory"
    assert ran.outgrown or len(ran.curbed) >= 5  # the kernel ends as many as it takes
    assert ran.peak_mb < 600
    assert nothing_is_left()


SHARED = """
import mmap, os, time
for _ in range({processes}):
    if os.fork() == 0:
        held = mmap.mmap(-1, 60_000_000)
        for place in range(0, 60_000_000, 4096):
            held[place] = 1
        time.sleep({s})
        os._exit(0)
time.sleep({s})
"""
SHARED_BY_ALL = """
import mmap, os, time
held = mmap.mmap(-1, 60_000_000)
held.write(bytes(60_000_000))
for _ in range(5):
    if os.fork() == 0:
        sum(held[place] for place in range(0, 60_000_000, 4096))
        break
time.sleep(1.5)
"""
TABLES = """
import ctypes, time
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
begin = libc.mmap(None, 90_000 << 21, 1, 0x4022, -1, 0)  # readable; private, anonymous, without a reserve
for number in range(90_000):  # a read maps the page of zeros: only the kernel's tables grow
    ctypes.c_char.from_address(begin + (number << 21)).value
time.sleep(20)
"""


def test_shared_memory_of_several_processes_counts_as_often_as_it_is_there(bwrap, box, run, python, without_groups):
    ran = run(bwrap, box(), *python(SHARED.format(processes=6, s=3)))
    assert ran.outgrown or ran.curbed
    assert nothing_is_left()


def test_shared_memory_that_several_have_counts_once(bwrap, box, run, python, without_groups):
    ran = run(bwrap, box(), *python(SHARED_BY_ALL))
    assert (ran.status, ran.outgrown, ran.curbed) == (0, None, ())
    assert 60 < ran.peak_mb < 300


def test_the_tables_of_pages_count_as_memory(bwrap, box, run, python, without_groups):
    ran = run(bwrap, box(), *python(TABLES))
    assert ran.outgrown == "more than 300 MB of memory"
    assert ran.wall_s < 15


def test_files_in_memory_count_as_memory(bwrap, box, run, python, kept_by):
    fill = "head -c 60M /dev/zero > /tmp/a; head -c 30M /dev/zero > /dev/shm/a; df --output=used /tmp | tail -1; "
    words = python(ALLOCATE.format(mb=230, s=2))
    ran = run(bwrap, box(disk_mb=100), "sh", "-c", fill + '"$@"', "sh", *words)
    assert ran.status == 137
    assert int(ran.said.split()[0]) * 1024 >= 60_000_000
    assert ran.outgrown or ran.curbed


def test_small_folders_in_memory_are_small(bwrap, box, run):
    ran = run(
        bwrap, box(disk_mb=400), "sh", "-c", "for at in /tmp /dev/shm $HOME; do head -c 100M /dev/zero > $at/a; done; rm -f /tmp/a"
    )
    assert ran.complained.count("No space left on device") == 3


@pytest.mark.parametrize("program", [FORK_BOMB, MANY_THREADS])
def test_a_fork_bomb_ends(bwrap, box, run, python, kept_by, program):
    ran = run(bwrap, box(), *python(program))
    assert ran.outgrown == "more than 60 processes and threads"
    assert ran.wall_s < 10
    assert nothing_is_left()


def test_a_crowd_that_is_ended_before_it_is_said_to_have_begun(bwrap, box, run, python, without_groups, monkeypatch):
    """On a busy machine the command may run for a while before it is heard of."""

    def unheard(ours, told):
        ours.sendall(json.dumps(told).encode() + b"\n")
        time.sleep(2)
        return ""

    monkeypatch.setattr(contained, "_tell", unheard)
    assert run(bwrap, box(), *python(MANY_THREADS)).outgrown == "more than 60 processes and threads"
    assert nothing_is_left()


def test_too_many_files_end_it(bwrap, box, run):
    ran = run(bwrap, box(), "sh", "-c", "for n in 1 2 3; do head -c 15M /dev/zero > $n; done; sleep 20")
    assert ran.outgrown == "more than 30 MB of files in the work folder"


NAMELESS = """
import os, time
held = []
for number in range(3):
    held.append(open("a", "wb"))
    held[-1].write(bytes({each}))
    held[-1].flush()
    os.unlink("a")
open("b", "wb").write(bytes({beside}))
time.sleep({s})
"""


@pytest.mark.parametrize(
    ("each", "beside", "words"),
    [
        (15_000_000, 0, "more than 30 MB of open files without a name"),
        (8_000_000, 9_000_000, " MB of open files without a name, and more than "),
    ],
)
def test_files_without_a_name_count_too(bwrap, box, run, python, each, beside, words):
    ran = run(bwrap, box(), *python(NAMELESS.format(each=each, beside=beside, s=20)))
    assert words in ran.outgrown
    assert nothing_is_left()


def test_files_without_a_name_may_be_as_large_as_others(bwrap, box, run, python):
    ran = run(bwrap, box(), *python(NAMELESS.format(each=5_000_000, beside=0, s=1.5)))
    assert (ran.status, ran.outgrown) == (0, None)


def test_empty_files_count_too(bwrap, box, run, python):
    ran = run(bwrap, box(), *python("for n in range(20000):\n open(str(n), 'w').close()\nimport time; time.sleep(20)"))
    assert ran.outgrown == "more than 30 MB of files in the work folder"


def test_folders_that_nobody_could_read_end_it(bwrap, box, run, python):
    deep = "import os\nfor n in range(3000):\n os.mkdir('d'); os.chdir('d')\nimport time; time.sleep(20)"
    made = box()
    ran = run(bwrap, made, *python(deep))
    assert "deep in the work folder" in ran.outgrown
    left_behind.remove(made.work)
    assert not made.work.exists()


def test_one_file_cannot_be_larger_than_the_disk_limit(bwrap, box, run):
    ran = run(bwrap, box(), "sh", "-c", "head -c 40M /dev/zero > a; echo $?; rm a")
    assert ran.said.split() == ["153"]  # SIGXFSZ


@pytest.mark.parametrize("to", ["1", "2"])
def test_too_much_output_ends_it_and_is_not_written(bwrap, box, run, tmp_path, to):
    ran = run(bwrap, box(), "sh", "-c", f"yes >&{to}; sleep 20")
    assert ran.outgrown.startswith("more than 5 MB written to the standard ")
    assert (tmp_path / ("stdout" if to == "1" else "stderr")).stat().st_size == 5_000_000


def test_what_keeps_to_its_limits_ends_as_it_wants(bwrap, box, run, python, kept_by):
    ran = run(bwrap, box(), *python(ALLOCATE.format(mb=100, s=0.4) + "; import sys; sys.exit(7)"))
    assert (ran.status, ran.outgrown, ran.curbed, ran.broken_off) == (7, None, (), None)
    assert 100 < ran.peak_mb < 200


def test_limits_hold_without_walls_too(trusted, box, run, python, kept_by):
    assert run(trusted, box(), *python(ALLOCATE.format(mb=2000, s=60))).outgrown == "more than 300 MB of memory"
    assert run(trusted, box(), *python(MANY_THREADS)).outgrown == "more than 60 processes and threads"
    assert nothing_is_left()


def test_nothing_runs_unwatched(bwrap, box, run, python, monkeypatch):
    made = box()

    def broken(*_):
        if (made.work / "up").exists():
            raise RuntimeError("made by the test")

    monkeypatch.setattr("codecap.generate.sandbox.watch.Watch.look", broken)
    monkeypatch.setattr("threading.excepthook", lambda told: None)
    began = time.monotonic()
    ran = run(bwrap, made, "sh", "-c", "echo > up; sleep 30")
    assert ran.broken_off == "the limits could not be watched"
    assert time.monotonic() - began < 10
