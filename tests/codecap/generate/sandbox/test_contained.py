"""Starting, waiting, signals, and the end of all that was started."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from codecap.generate.sandbox import SandboxUnavailable, contained

ESCAPES = """
import os, sys, time
for how in range(2):
    if os.fork() == 0:
        os.setsid()
        if how and os.fork():
            os._exit(0)
        for _ in range(600):
            with open("alive", "a") as file:
                file.write("x")
            time.sleep(0.02)
        os._exit(0)
print("started", flush=True)
time.sleep(float(sys.argv[1]))
"""


@pytest.fixture(params=["bwrap", "trusted"])
def sandbox(request):
    return request.getfixturevalue(request.param)


def grows(file) -> bool:
    before = file.stat().st_size
    time.sleep(0.15)
    return file.stat().st_size > before


def wait_for(file, words=""):
    ends_at = time.monotonic() + 10
    while not (file.exists() and file.stat().st_size and words in file.read_text()):
        assert time.monotonic() < ends_at
        time.sleep(0.01)


def test_with_the_command_ends_what_it_has_started(sandbox, box, run, python):
    made = box()
    ran = run(sandbox, made, *python(ESCAPES, "0.3"))
    assert (ran.status, ran.said) == (0, "started\n")
    assert not grows(made.work / "alive")


def test_killing_ends_sessions_of_their_own_and_orphans(sandbox, box, python, tmp_path):
    made = box()
    with sandbox.start(made, python(ESCAPES, "60"), tmp_path / "out", tmp_path / "err") as running:
        wait_for(made.work / "alive")
        assert grows(made.work / "alive")
        assert running.wait(time.monotonic() + 0.1) is None
        running.kill()
        assert not grows(made.work / "alive")
        assert running.wait(time.monotonic() + 5) == 137
        running.kill()
    assert (running.outgrown, running.curbed, running.broken_off) == (None, (), None)


def test_a_deadline_that_is_over_is_no_time(bwrap, box, tmp_path):
    with bwrap.start(box(), ["sleep", "30"], tmp_path / "out", tmp_path / "err") as running:
        assert running.wait(time.monotonic() - 5) is None


@pytest.mark.parametrize(("program", "status"), [("exit 0", 0), ("exit 42", 42), ("kill -TERM $$", 143), ("kill -KILL $$", 137)])
def test_its_exit_status(sandbox, box, run, program, status):
    assert run(sandbox, box(), "sh", "-c", program).status == status


def test_output_is_kept_apart_and_input_is_empty(sandbox, box, run):
    ran = run(sandbox, box(), "sh", "-c", "cat; echo out; echo err >&2; readlink /proc/self/fd/0")
    assert (ran.said, ran.complained) == ("out\n/dev/null\n", "err\n")


def test_its_environment_is_made_from_nothing(sandbox, box, run, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("LD_PRELOAD_OF_OURS", "x")
    lines = run(sandbox, box(env={"OWN": "a b\n'\"$c", "TZ": "Asia/Tokyo"}), "env", "-0").said.split("\0")
    told = dict(line.split("=", 1) for line in lines if line)
    assert told.pop("OWN") == "a b\n'\"$c"
    assert told.pop("TZ") == "Asia/Tokyo"
    assert set(told) - {contained.MARK_VARIABLE} == {"PATH", "HOME", "TMPDIR", "USER", "LANG"}


def test_no_process_inside_holds_our_environment(bwrap, box, run, monkeypatch):
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:/opt/secret-project/bin")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    held = run(bwrap, box(), "sh", "-c", "cat /proc/1/environ /proc/self/environ").said
    assert "TMPDIR=" in held
    assert "secret" not in held


def test_signals_are_as_for_a_new_program(sandbox, box, run, python):
    before = signal.signal(signal.SIGINT, signal.SIG_IGN), signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    try:
        ran = run(sandbox, box(), "sh", "-c", "grep -E '^Sig(Blk|Ign)' /proc/self/status")
    finally:
        signal.signal(signal.SIGINT, before[0])
        signal.pthread_sigmask(signal.SIG_SETMASK, before[1])
    of_the_c_library = 0b11 << 31  # SIGCANCEL and SIGSETXID, which no program can change
    assert {int(line.split()[1], 16) & ~of_the_c_library for line in ran.said.splitlines()} == {0}


def test_a_command_that_is_not_there_is_told_at_once(sandbox, box, tmp_path):
    with pytest.raises(SandboxUnavailable, match="not found in the sandbox: no-such-agent"):
        sandbox.start(box(), ["no-such-agent"], tmp_path / "out", tmp_path / "err")


def test_the_end_of_the_thread_that_started_it_is_not_its_end(bwrap, box, tmp_path):
    """The kernel would end it with the thread that has forked it."""
    started = []
    thread = threading.Thread(
        target=lambda: started.append(bwrap.start(box(), ["sleep", "0.7"], tmp_path / "out", tmp_path / "err"))
    )
    thread.start()
    thread.join()
    assert started[0].wait(time.monotonic() + 10) == 0


def test_all_are_ended_when_the_work_is_broken_off(bwrap, box, tmp_path):
    with bwrap.start(box(), ["sleep", "30"], tmp_path / "out", tmp_path / "err") as running:
        contained.end_all()
        assert running.wait(time.monotonic() + 5) == 137
        assert running.broken_off == "stopped"


def test_nothing_survives_our_own_violent_end(bwrap, box, tmp_path):
    made = box()
    program = f"""
import time
from pathlib import Path
from codecap.generate import sandbox
box = sandbox.Box(Path({str(made.work)!r}), memory_mb=300, processes=60)
command = ["sh", "-c", "(setsid sleep 4321 &); echo > up; sleep 4321"]
running = sandbox.load({{}}).start(box, command, Path({str(tmp_path / "out")!r}), Path({str(tmp_path / "err")!r}))
time.sleep(60)
"""
    ours = subprocess.Popen([sys.executable, "-c", program])
    wait_for(made.work / "up")
    ours.kill()
    ours.wait()
    ends_at = time.monotonic() + 10
    while any(process.info["cmdline"] == ["sleep", "4321"] for process in psutil.process_iter(["cmdline"])):
        assert time.monotonic() < ends_at
        time.sleep(0.05)


def test_its_namespace_is_known_by_its_first_process_only(bwrap, box, tmp_path):
    with bwrap.start(box(), ["sleep", "30"], tmp_path / "out", tmp_path / "err") as running:
        assert running._first.name() == "bwrap"
    with subprocess.Popen(["sh", "-c", "sleep 30; true"]) as shell:
        wait_until = time.monotonic() + 10
        while not psutil.Process(shell.pid).children():
            assert time.monotonic() < wait_until
        assert contained._first_of_namespace(shell.pid) is None  # a child, but in our own
        psutil.Process(shell.pid).children()[0].kill()


def test_descriptors_and_threads_are_given_back(bwrap, box, run):
    run(bwrap, box(), "true")
    descriptors, threads = {*Path("/proc/self/fd").iterdir()}, set(threading.enumerate())
    for _ in range(3):
        run(bwrap, box(), "true")
    assert {*Path("/proc/self/fd").iterdir()} <= descriptors
    assert set(threading.enumerate()) <= threads  # those of other tests may have ended meanwhile


def test_an_output_that_cannot_be_written_is_our_fault(bwrap, box, run, tmp_path):
    with pytest.raises(SandboxUnavailable, match="none/out: cannot be written"):
        bwrap.start(box(), ["true"], tmp_path / "none" / "out", tmp_path / "err")
    with bwrap.start(box(), ["sh", "-c", "echo; sleep 30"], Path("/dev/full"), tmp_path / "err") as running:
        assert running.wait(time.monotonic() + 10) == 137
    assert running.broken_off == "/dev/full: cannot be written: No space left on device"
