"""Who holds something: a process by machine, number and start, so that others on that machine see whether it lives."""

from __future__ import annotations

import contextlib
import functools
import os
import socket
import time
from dataclasses import dataclass
from pathlib import Path

BOOT = Path("/proc/sys/kernel/random/boot_id")
CLOCK_STEP_S = 5.0  # that a clock may have been set forward meanwhile
GONE = "ZX"  # states of a process that does nothing any more


@dataclass(frozen=True)
class Process:
    """A process.

    Attributes:
        machine: where its number means something: a host since it was started, and a container's own numbers of processes.
        host: the machine's name, to be told.
        started: of the process, in the kernel's ticks, since numbers are used again; "" where it is not known.
    """

    machine: str
    host: str
    pid: int
    started: str

    def is_gone(self) -> bool | None:
        """Whether it is no more; None where that cannot be seen from here."""
        if self.machine != machine():
            return None
        state, started = _state(self.pid)
        return state in GONE or bool(self.started and started and self.started != started)


def this_process() -> Process:
    return _named(os.getpid())


@functools.cache
def _named(pid: int) -> Process:
    return Process(machine(), socket.gethostname(), pid, _state(pid)[1])


@functools.cache
def machine() -> str:
    """Name of this machine, until it is started again, and of this container where it has its own numbers of processes."""
    parts = [socket.gethostname()]
    with contextlib.suppress(OSError):  # not Linux: the host's name must do
        parts += [BOOT.read_text().strip()[:8], Path("/proc/self/ns/pid").readlink().name]
    return " ".join(parts)


def is_at_work(pid: int, told: float) -> bool:
    """Whether a process of this machine lives that gave a sign of life then (Unix seconds); one that began later is another."""
    state, started = _state(pid)
    if state in GONE:
        return False
    if not started or not hasattr(time, "CLOCK_BOOTTIME"):
        return True
    age_s = time.clock_gettime(time.CLOCK_BOOTTIME) - int(started) / os.sysconf("SC_CLK_TCK")
    return time.time() - age_s < told + CLOCK_STEP_S


def _state(pid: int) -> tuple[str, str]:
    """State of a process as one letter, "X" for none, and when it was started."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ("X", "") if Path("/proc/self/stat").exists() or not _answers(pid) else ("R", "")
    fields = told.rpartition(")")[2].split()  # the name before it may hold anything
    return fields[0], fields[19]


def _answers(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
