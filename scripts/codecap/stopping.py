"""Stopping cleanly: the scheduler's warning, a signal or the deadline sets one flag, which all threads of the process look at.

No new item begins then. What is under way may end within a grace time and is stored; after it, it is thrown away and the process
ends. A thread looks after that, so that it holds whatever the main thread is busy with.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, wait
from typing import Any

STATUS = 75  # EX_TEMPFAIL of sysexits.h: not now, try again
TERM_GRACE_S = 20.0  # SLURM kills 30 s after its SIGTERM
CLEAN_UP_S = 5.0  # for what is under way to be thrown away
SAME_S = 0.5  # one signal may come twice: to the group and to the process
AT_ONCE_S = 0.5  # a signal to a whole job comes to its processes one after another
SIGNALS = {
    signal.SIGUSR1: "time limit near",
    signal.SIGTERM: "asked to end (SIGTERM)",
    signal.SIGINT: "interrupted (Ctrl-C)",
    signal.SIGHUP: "the terminal was closed",
}
INSISTING = (signal.SIGTERM, signal.SIGINT)  # whoever sends one a second time does not want to wait


class Stopped(BaseException):
    """The work under way is broken off, because the process is to end. No `except Exception` holds it up."""


_asked = threading.Event()
_reached_others = threading.Event()
_broken_off = threading.Event()
_why = ""


def ask(why: str, reached_others: bool = False) -> None:
    """Ask all threads to stop; the first reason stays.

    Args:
        reached_others: the signal may have come to processes that this one has started: what they do is not to be trusted.
    """
    global _why
    if reached_others:
        _reached_others.set()
    if not _asked.is_set():
        _why = why
        _asked.set()


def reason() -> str | None:
    """Why the process should stop, in words; None as long as it should not."""
    return _why if _asked.is_set() else None


def reached_others(within_s: float = 0.0) -> bool:
    """Whether what this process has started may have been ended as well, now or in a moment."""
    return _reached_others.is_set() or (within_s > 0 and _reached_others.wait(within_s))


def broken_off() -> bool:
    """Whether the grace time is over: what was under way has been thrown away."""
    return _broken_off.is_set()


def check() -> None:
    """To be called before something new begins.

    Raises:
        Stopped: nothing new should.
    """
    if _asked.is_set():
        raise Stopped(_why)


def sleep(seconds: float) -> None:
    """Wait; raises `Stopped` as soon as the process should stop."""
    if _asked.wait(max(seconds, 0.0)):
        raise Stopped(_why)


def wind_up(pool: Executor, begun: Sequence[Future[Any]], break_off: Callable[[], None]) -> None:
    """After an error, or an end from outside: what has not begun in a pool does not begin, what runs is broken off.

    Where the process stops cleanly, what runs may come to its end first: it has until `Stopped` comes.
    """
    pool.shutdown(wait=False, cancel_futures=True)
    try:
        if reason() is not None and not reached_others():
            wait(begun)
    finally:
        if not all(item.done() for item in begun):
            break_off()


def forget() -> None:
    """Go on as if nobody had asked: a new piece of work begins."""
    for flag in (_asked, _reached_others, _broken_off):
        flag.clear()


@contextlib.contextmanager
def watched(deadline_s: float | None, grace_s: float, last_words: Callable[[], None]) -> Iterator[None]:
    """Have signals and a deadline set the flag while the block runs; what is not over after the grace time is broken off.

    SIGUSR1 and the deadline give `grace_s`, the others `TERM_GRACE_S`. A second SIGTERM or SIGINT breaks off at once. In the main
    thread that is the exception `Stopped`; where it does not end the process within `CLEAN_UP_S`, the process is ended. In another
    thread than the main one nothing is watched: the flag is looked at all the same. SIGINT stays ignored where it is, as in a
    command that a script has put into the background: the rest of the run goes on there too.

    Args:
        deadline_s: seconds from now; None for none.
        grace_s: seconds that what is under way may take.
        last_words: called before the process is ended here, in the watching thread.
    """
    forget()
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    watch = _Watch(deadline_s, grace_s, last_words)
    try:
        yield
    finally:
        watch.leave()


class _Watch:
    """A thread that reads the numbers of signals from a pipe, which the interpreter fills at once, whatever it is busy with."""

    def __init__(self, deadline_s: float | None, grace_s: float, last_words: Callable[[], None]) -> None:
        self._deadline = None if deadline_s is None else time.monotonic() + deadline_s
        self._grace_s, self._last_words = grace_s, last_words
        self._ends_at: float | None = None  # what is under way is broken off then
        self._gone_by: float | None = None  # and the process ended then
        self._insisted_at: float | None = None
        self._raised = self._left = False
        self._main = threading.main_thread().ident
        self._read, self._write = os.pipe()
        os.set_blocking(self._write, False)
        self._wakeup_before = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        heard = [number for number in SIGNALS if (number, signal.getsignal(number)) != (signal.SIGINT, signal.SIG_IGN)]
        self._handlers_before = {number: signal.signal(number, self._in_main_thread) for number in heard}
        _ours.append(self._write)
        self._thread = threading.Thread(target=self._keep_watch, name="stopping", daemon=True)
        self._thread.start()

    def leave(self) -> None:
        """The work is over. Where it was broken off and threads of it still run, they have until the end of the grace time."""
        self._left = True
        busy = [thread for thread in threading.enumerate() if not thread.daemon and thread is not threading.main_thread()]
        if reason() is not None and busy:
            return
        for number, handler in self._handlers_before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._wakeup_before)
        _ours.remove(self._write)
        os.close(self._write)  # ends the thread
        self._thread.join()
        os.close(self._read)

    def _in_main_thread(self, _number: int, _frame: object) -> None:
        if self._gone_by is not None and not (self._raised or self._left):
            self._raised = True
            raise Stopped(_why)

    def _keep_watch(self) -> None:
        while True:
            moments = [moment for moment in (self._deadline, self._ends_at, self._gone_by) if moment is not None]
            wait_s = max(min(moments) - time.monotonic(), 0.0) if moments else None
            if select.select([self._read], [], [], wait_s)[0]:
                numbers = os.read(self._read, 512)
                if not numbers:
                    return
                for number in numbers:
                    self._heard(number)
            self._look_at_the_clock()

    def _heard(self, number: int) -> None:
        if number not in SIGNALS:
            return
        ask(SIGNALS[signal.Signals(number)], reached_others=True)
        now = time.monotonic()
        self._end_by(now + (self._grace_s if number == signal.SIGUSR1 else TERM_GRACE_S))
        if number in INSISTING:
            if self._insisted_at is not None and now - self._insisted_at > SAME_S:
                self._end_by(now)
            self._insisted_at = self._insisted_at or now

    def _look_at_the_clock(self) -> None:
        now = time.monotonic()
        if self._deadline is not None and now >= self._deadline:
            self._deadline = None
            ask(SIGNALS[signal.SIGUSR1])
            self._end_by(now + self._grace_s)
        if self._gone_by is not None and now >= self._gone_by:
            self._end()
        if self._ends_at is not None and now >= self._ends_at:
            self._ends_at = None
            _broken_off.set()
            self._gone_by = now if self._left else now + CLEAN_UP_S
            signal.pthread_kill(self._main, signal.SIGUSR1)  # wakes the main thread, which raises

    def _end(self) -> None:
        if not self._left:
            speaking = threading.Thread(target=self._last_words, daemon=True)
            speaking.start()
            speaking.join(CLEAN_UP_S)  # a disk may keep it waiting for ever
        sys.stderr.flush()
        os._exit(STATUS)

    def _end_by(self, moment: float) -> None:
        if self._gone_by is None:
            self._ends_at = moment if self._ends_at is None else min(self._ends_at, moment)


_ours: list[int] = []  # ends of pipes that signals are written to


def _before_fork() -> None:
    if _ours:
        _masks.append(signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS))


def _in_parent() -> None:
    if _masks:
        signal.pthread_sigmask(signal.SIG_SETMASK, _masks.pop())


def _in_child() -> None:
    """A forked child must not speak for its parent."""
    if _masks:
        signal.set_wakeup_fd(-1)
        for number in SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        _in_parent()


_masks: list[set[int]] = []
os.register_at_fork(before=_before_fork, after_in_parent=_in_parent, after_in_child=_in_child)
