"""Processes by name, so that others on the same machine see whether one is still there."""

from __future__ import annotations

import functools
import os
import socket

ProcessName = tuple[str, int, float]  # host, pid, when it was started in seconds of the clock: pids are used again
SAME_S = 2.0  # when a process was started is told less exactly after the machine's clock was set


def this_process() -> ProcessName:
    return _named(os.getpid())


@functools.cache
def _named(pid: int) -> ProcessName:
    import psutil

    return socket.gethostname(), pid, round(psutil.Process(pid).create_time(), 3)


def is_gone(name: ProcessName | None) -> bool:
    """Whether a process is known to be no more; of one on another machine, or without a name, nothing is known."""
    if name is None or name == this_process() or name[0] != socket.gethostname():
        return False
    import psutil

    try:
        process = psutil.Process(name[1])
        return abs(process.create_time() - name[2]) > SAME_S or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
    except psutil.Error:
        return False
