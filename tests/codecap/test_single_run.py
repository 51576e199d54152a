"""One run at a time in a folder, and what is said of a run on another machine."""

import json
import os
import subprocess
import sys

import pytest

from codecap.single_run import AlreadyRunning, hold
from codecap.store.holders import this_process

RUN = """
import sys, time
from pathlib import Path
from codecap.single_run import hold
print(hold(Path(sys.argv[1])), flush=True)
time.sleep(float(sys.argv[2]))
"""


def run(lock, seconds) -> subprocess.Popen:
    process = subprocess.Popen([sys.executable, "-c", RUN, lock, str(seconds)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "None\n"
    return process


def test_a_second_run_is_refused_and_told_where_the_first_one_works(tmp_path):
    lock = tmp_path / "results" / ".lock"
    first = run(lock, 60)
    try:
        with pytest.raises(AlreadyRunning, match=rf"results: another run works here \(process {first.pid} on .+, since \d{{4}}-"):
            hold(lock)
    finally:
        first.kill()
        first.wait(10)
    assert hold(lock) is None  # the kernel has let go, and this machine sees that the process is no more


def of_another_machine(lock) -> str:
    told = json.dumps(vars(this_process()) | {"machine": "other 1", "host": "login2", "pid": 17})
    lock.write_text(told)
    return told


def test_a_run_of_another_machine_that_did_not_end_is_told_with_how_to_be_sure(tmp_path):
    of_another_machine(tmp_path / ".lock")
    doubt = hold(tmp_path / ".lock")
    assert "process 17 on login2" in doubt and "`ssh login2 ps -p 17`" in doubt
    assert json.loads((tmp_path / ".lock").read_text())["pid"] == os.getpid()


def test_a_run_of_another_machine_that_ended_is_no_matter(tmp_path):
    (tmp_path / ".lock.ended").write_text(of_another_machine(tmp_path / ".lock"))
    assert hold(tmp_path / ".lock") is None


def test_a_run_says_that_it_ended(tmp_path):
    process = run(tmp_path / ".lock", 0)
    assert process.wait(10) == 0
    assert (tmp_path / ".lock.ended").read_text() == (tmp_path / ".lock").read_text() != ""


def test_without_locks_of_the_filesystem_a_living_process_is_seen_all_the_same(tmp_path, monkeypatch):
    def none(*_):
        raise OSError(38, "Function not implemented")

    first = run(tmp_path / ".lock", 60)
    monkeypatch.setattr("fcntl.flock", none)
    try:
        with pytest.raises(AlreadyRunning, match=f"process {first.pid}"):
            hold(tmp_path / ".lock")
    finally:
        first.kill()
        first.wait(10)
    assert hold(tmp_path / ".lock") is None


def test_a_lock_of_an_earlier_version_is_taken_over(tmp_path):
    (tmp_path / ".lock").write_text("4711")
    assert hold(tmp_path / ".lock") is None
