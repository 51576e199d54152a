"""The processes that descend from one: which are there, and how much memory they hold."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import threading
from pathlib import Path

import psutil

from codecap.render import held_memory
from codecap.render.held_memory import BYTES_PER_MB, Memory


class ProcessTree:
    """A process and all that were ever seen to descend from it, also when their parents have ended since.

    Args:
        root: id of the process.
    """

    def __init__(self, root: int) -> None:
        self._members: dict[int, psutil.Process] = {}
        self._remember(root)

    def alive(self) -> list[psutil.Process]:
        """Those that run, after another look for new ones."""
        waiting = list(self._members)
        looked_at: set[int] = set()
        while waiting:
            pid = waiting.pop()
            if pid in looked_at:
                continue
            looked_at.add(pid)
            if self._remember(pid):
                waiting += children(pid)
        return list(self._members.values())

    def memory_mb(self, limit_mb: float) -> float:
        """What the known members hold, see `held_memory.together_mb`."""
        return held_memory.together_mb(map(_held, list(self._members)), limit_mb)

    def cpu_s(self) -> float:
        """CPU time that those that run have used so far, in seconds."""
        used = 0.0
        for process in self.alive():
            with contextlib.suppress(psutil.Error):
                times = process.cpu_times()
                used += times.user + times.system
        return used

    def _remember(self, pid: int) -> bool:
        """Keep it if it runs, and is the same as before where there was one of this id."""
        known = self._members.get(pid)
        with contextlib.suppress(psutil.Error):
            process = known or psutil.Process(pid)
            if runs(process):
                self._members[pid] = process
                return True
        self._members.pop(pid, None)
        return False


def children(pid: int) -> list[int]:
    """Ids of a process's children; empty when it is gone."""
    if not _told_by_thread():
        with contextlib.suppress(psutil.Error):
            return [child.pid for child in psutil.Process(pid).children()]
        return []
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):  # the thread has ended
                found += map(int, (thread / "children").read_text().split())
    return found


def marked(mark: str) -> list[psutil.Process]:
    """Processes, but this one, with a text in their arguments or in their environment; looks at all of the machine."""
    found = []
    for process in psutil.process_iter():
        if process.pid == os.getpid():
            continue
        with contextlib.suppress(psutil.Error, OSError):
            if any(mark in text for text in (*process.cmdline(), *process.environ().values())):
                found.append(process)
    return [process for process in found if runs(process)]


def runs(process: psutil.Process) -> bool:
    """It is there, and not only as an entry that its parent has not read yet."""
    try:
        return process.is_running() and process.status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
    except psutil.NoSuchProcess:
        return False


def kill_now(process: psutil.Process) -> None:
    """SIGKILL, if it is still the same process."""
    with contextlib.suppress(psutil.Error):
        process.send_signal(signal.SIGKILL)


@functools.cache
def _told_by_thread() -> bool:
    """The kernel lists the children of a thread; where it does not, all processes of the machine must be looked through."""
    return Path(f"/proc/self/task/{threading.get_native_id()}/children").exists()


def _held(pid: int) -> Memory:
    """Nothing when it is gone. Without Linux's /proc, all that is resident counts as private."""
    if not _told_by_thread() and not Path("/proc/self/status").exists():
        with contextlib.suppress(psutil.Error):
            return Memory(pid, psutil.Process(pid).memory_info().rss / BYTES_PER_MB, 0.0)
    return Memory.told(pid, held_memory.status_of(pid))
