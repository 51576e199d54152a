"""A limit on calls that may never return: when it passes, the browser is killed, and the call fails at once."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator

import psutil

GRACE_S = 10.0


class Watchdog:
    """Calls `kill` when a limit passes, and `kill_harder` when the guarded call has not returned `GRACE_S` later.

    Attributes:
        expired: what took too long, in words; None as long as nothing did.
    """

    def __init__(self, kill: Callable[[], object], kill_harder: Callable[[], object]) -> None:
        self.expired: str | None = None
        self._kill, self._kill_harder = kill, kill_harder

    @contextlib.contextmanager
    def limit(self, seconds: float, complaint: str) -> Iterator[None]:
        """Bound the time spent in the block; `complaint` becomes `expired`."""
        returned = threading.Event()

        def expire() -> None:
            self.expired = complaint
            self._kill()
            if not returned.wait(GRACE_S):
                self._kill_harder()

        timer = threading.Timer(max(seconds, 0.001), expire)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            returned.set()


def process_groups(argument: str) -> dict[int, int]:
    """Process groups, other than our own, in which a process was started with this argument: group id to process id."""
    own = os.getpgrp()
    groups: dict[int, int] = {}
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, ProcessLookupError):
            if argument in process.cmdline():
                group = os.getpgid(process.pid)
                if group != own:
                    groups.setdefault(group, process.pid)
    return groups


def kill_groups(groups: Iterable[int], wait_s: float = 0.0) -> None:
    """Kill process groups with SIGKILL, and wait up to `wait_s` until nothing of them runs any more."""
    members = list(_members(set(groups))) if wait_s else []
    for group in groups:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
    ends_at = time.monotonic() + wait_s
    while any(_runs(process) for process in members) and time.monotonic() < ends_at:
        time.sleep(0.005)


def _members(groups: set[int]) -> Iterator[psutil.Process]:
    for process in psutil.process_iter():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.getpgid(process.pid) in groups:
                yield process


def _runs(process: psutil.Process) -> bool:
    """It is there, and not only as an entry that its parent has not read yet."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
