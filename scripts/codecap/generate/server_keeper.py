"""Keeps a server: ends it, and all that it has started, when whoever has asked for it is gone. Runs alone, on Python's own library.

    python -I -S server_keeper.py GRACE_S COMMAND...

Its standard input is a pipe into which nobody writes: that it ends says that the one who holds the other end has closed it or is no
more, however that came about. Then the server's process group gets SIGTERM and, after GRACE_S seconds, SIGKILL; what has left the
group is a child of this process by then, and is killed too. Signals do not concern it: they come to whole jobs, and whoever asked
for the server says when it ends. Its status is the server's, as a shell tells it.
"""

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
KILLED_WITHIN_S = 10.0  # a process that the kernel keeps (on a dead disk, in a driver) is not waited for any longer
STEP_S = 0.02


def main(grace_s: float, command: list[str]) -> int:
    told, tell = os.pipe()
    os.set_blocking(tell, False)
    signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, lambda *_: None)  # not SIG_IGN, which the server would inherit
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    try:
        server = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=_end_with_parent)
    except OSError as error:
        print(f"{command[0]}: cannot be started: {error.strerror}", file=sys.stderr)
        return 127
    while server.poll() is None and 0 not in select.select([0, told], [], [])[0]:
        os.read(told, 512)
    _end(server, grace_s)
    return server.returncode if server.returncode >= 0 else 128 - server.returncode


def _end(server: subprocess.Popen, grace_s: float) -> None:
    _signal_group(server.pid, signal.SIGTERM)
    ends = time.monotonic() + grace_s
    while server.poll() is None and time.monotonic() < ends:
        time.sleep(STEP_S)
    _signal_group(server.pid, signal.SIGKILL)
    server.wait()
    ends = time.monotonic() + KILLED_WITHIN_S
    while (left := _children()) and time.monotonic() < ends:
        for pid in left:
            _ended(pid)
        time.sleep(STEP_S)


def _ended(pid: int) -> None:
    """Kill a child, and read its status if it has one already; its own children are ours then."""
    with contextlib.suppress(ProcessLookupError, ChildProcessError):
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, os.WNOHANG)


def _children() -> list[int]:
    return [int(word) for word in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]


def _signal_group(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, number)


def _end_with_parent() -> None:
    """In the server's process, before it begins: should this keeper be killed itself, the server is too."""
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    raise SystemExit(main(float(sys.argv[1]), sys.argv[2:]))
