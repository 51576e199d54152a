"""A process that is asked to stop: by its scheduler, by a signal, by its deadline, whatever it is busy with."""

import signal
import subprocess
import sys
import threading
import time

import pytest

from codecap import stopping

BEGIN = """
import hashlib, os, signal, subprocess, sys, threading, time
from concurrent.futures import ThreadPoolExecutor
from codecap import stopping
stopping.CLEAN_UP_S, stopping.TERM_GRACE_S = 0.8, float(sys.argv[1])
def last_words():
    print("last words", flush=True)
def items(seconds=0.1):
    while True:
        stopping.check()
        time.sleep(seconds)
        print("item", flush=True)
deadline_s = float(sys.argv[2]) if sys.argv[2] != "none" else None
try:
    with stopping.watched(deadline_s, float(sys.argv[3]), last_words):
        print("ready", flush=True)
"""
END = """
except stopping.Stopped as why:
    print("stopped:", why, "broken off" if stopping.broken_off() else "", flush=True)
    sys.exit(stopping.STATUS)
"""
ITEMS = "        items()"
LONG = "        time.sleep(60)"
WAITING = "        threading.Event().wait()"
COMPUTING = "        hashlib.pbkdf2_hmac('sha256', b'', b'', 2_000_000_000)"  # in one call, in which no handler can run
POOL = """
        with ThreadPoolExecutor(2) as pool:
            pool.submit(time.sleep, 60)
"""
FORKED = """
        child = os.fork()
        if child == 0:
            time.sleep(60)
        os.kill(child, signal.SIGTERM)
        assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGTERM
        time.sleep(0.3)
        print(stopping.reason(), flush=True)
"""


@pytest.fixture
def start():
    processes = []

    def begin(body: str, term_grace_s=5.0, deadline_s="none", grace_s=5.0) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", BEGIN + body + END, str(term_grace_s), str(deadline_s), str(grace_s)]
        processes.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        assert processes[-1].stdout.readline() == "ready\n"
        return processes[-1]

    yield begin
    for process in processes:
        process.kill()
        process.communicate()


def told(process: subprocess.Popen[str]) -> tuple[int, str, float]:
    """Status, what it has said, and seconds that it took."""
    began = time.monotonic()
    said, _ = process.communicate(timeout=30)
    return process.returncode, said, time.monotonic() - began


@pytest.mark.parametrize(
    ("number", "why"),
    [
        (signal.SIGUSR1, "time limit near"),
        (signal.SIGTERM, "asked to end (SIGTERM)"),
        (signal.SIGINT, "interrupted (Ctrl-C)"),
        (signal.SIGHUP, "the terminal was closed"),
    ],
)
def test_no_new_item_begins_and_the_one_under_way_comes_to_its_end(start, number, why):
    process = start(ITEMS.replace("items()", "items(0.6)"))
    time.sleep(0.2)
    process.send_signal(number)
    status, said, _ = told(process)
    assert (status, said.split("\n")[:2]) == (stopping.STATUS, ["item", f"stopped: {why} "])


def test_the_deadline_stops_it_as_the_scheduler_would(start):
    status, said, _ = told(start(ITEMS, deadline_s=0.5))
    assert status == stopping.STATUS
    assert "stopped: time limit near" in said
    assert 1 <= said.count("item") <= 6


@pytest.mark.parametrize("body", [LONG, WAITING])
def test_what_is_not_over_after_the_grace_time_is_broken_off(start, body):
    process = start(body, grace_s=0.5)
    process.send_signal(signal.SIGUSR1)
    status, said, took_s = told(process)
    assert status == stopping.STATUS
    assert "broken off" in said
    assert 0.4 < took_s < 5


@pytest.mark.parametrize(("body", "words"), [(COMPUTING, "last words"), (POOL, "stopped: asked to end (SIGTERM) broken off")])
def test_what_cannot_be_broken_off_is_ended_with_a_last_word(start, body, words):
    process = start(body, term_grace_s=0.3)
    process.send_signal(signal.SIGTERM)
    status, said, took_s = told(process)
    assert status == stopping.STATUS
    assert said == words + "\n"
    assert took_s < 10


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_second_one_of_those_who_insist_ends_it_at_once(start, number):
    process = start(LONG, term_grace_s=60)
    for _ in range(2):  # the same signal twice: to the group and to the process
        process.send_signal(number)
    time.sleep(stopping.SAME_S + 0.3)
    assert process.poll() is None
    process.send_signal(number)
    status, said, took_s = told(process)
    assert (status, "broken off" in said) == (stopping.STATUS, True)
    assert took_s < 3


def test_an_interrupt_that_is_ignored_stays_so(start):
    """As in a command that a script has put into the background."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = start(ITEMS.replace("items()", "time.sleep(0.8)"))
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    process.send_signal(signal.SIGINT)
    status, said, _ = told(process)
    assert (status, said) == (0, "")


def test_work_that_is_done_within_the_grace_time_ends_well(start):
    process = start("        time.sleep(0.8)")
    process.send_signal(signal.SIGTERM)
    status, said, _ = told(process)
    assert (status, said) == (0, "")


def test_a_forked_child_speaks_for_itself(start):
    status, said, _ = told(start(FORKED))
    assert (status, said) == (0, "None\n")


def test_handlers_are_as_before_and_the_next_work_begins_afresh():
    before = {number: signal.getsignal(number) for number in stopping.SIGNALS}
    with stopping.watched(None, 1.0, lambda: None):
        assert not [number for number in stopping.SIGNALS if signal.getsignal(number) == before[number]]
        signal.raise_signal(signal.SIGUSR1)
        with pytest.raises(stopping.Stopped, match="time limit near"):
            stopping.sleep(5)
    assert {number: signal.getsignal(number) for number in stopping.SIGNALS} == before
    assert "stopping" not in [thread.name for thread in threading.enumerate()]
    with stopping.watched(None, 1.0, lambda: None):
        assert stopping.reason() is None
        stopping.check()


def test_a_signal_makes_the_work_of_other_processes_doubtful_a_deadline_does_not():
    with stopping.watched(0.05, 5.0, lambda: None):
        with pytest.raises(stopping.Stopped):
            stopping.sleep(5)
        assert not stopping.reached_others(within_s=0.1)
        signal.raise_signal(signal.SIGTERM)
        assert stopping.reached_others(within_s=1)
        assert stopping.reason() == "time limit near"  # the first reason stays
    stopping.forget()
