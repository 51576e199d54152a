"""Which walls this machine lets us put around a browser: found out by trying, since no kernel setting tells all of it."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import subprocess
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from codecap.render.memory_group import MemoryGroup, NoMemoryGroup

TRIAL_LIMIT_S = 10.0
# Arguments: the folder to be in, the cgroup's file ("" for none), a file for the process id ("" for none), the command.
JOIN = (
    'ulimit -c 0; cd "$1" || exit 125; '
    'if [ -n "$2" ]; then echo 0 > "$2" || exit 125; fi; '
    'if [ -n "$3" ]; then echo $$ > "$3" || exit 125; fi; '
    'shift 3; exec "$@"'
)


@dataclass(frozen=True)
class Layers:
    """What this machine allows.

    Attributes:
        network_namespace: the browser has a network of its own, in which there is nothing.
        pid_namespace: the kernel ends all processes of the browser with its first one.
        memory_cgroup: the kernel limits its memory; else a thread watches it.
        browser_sandbox: the browser's own sandbox can work (never as root).
        unshare: the command that makes the namespaces; empty for none.
    """

    network_namespace: bool
    pid_namespace: bool
    memory_cgroup: bool
    browser_sandbox: bool
    unshare: tuple[str, ...] = ()

    @property
    def missing(self) -> list[str]:
        """Flags for the certificate."""
        flags = {
            "no_network_namespace": self.network_namespace,
            "no_pid_namespace": self.pid_namespace,
            "no_memory_cgroup": self.memory_cgroup,
            "sandbox_off": self.browser_sandbox,
        }
        return [flag for flag, there in flags.items() if not there]


@functools.cache
def layers() -> Layers:
    """Find out by trying, once a process (some 30 ms)."""
    unshare: tuple[str, ...] = ()
    network = pids = False
    for network, pids in ((True, True), (True, False), (False, True)):
        unshare = _working_unshare(network, pids)
        if unshare:
            break
    else:
        network = pids = False
    return Layers(network, pids, _memory_cgroup_works(), _browser_sandbox_works(unshare), unshare)


def _working_unshare(network: bool, pids: bool) -> tuple[str, ...]:
    """The command that makes these namespaces, as ourselves or in a user namespace where we stay who we are; empty: none works."""
    program = shutil.which("unshare")
    if program is None:
        return ()
    asked = (["--net"] if network else []) + (["--pid", "--fork", "--kill-child", "--mount-proc"] if pids else [])
    for user in ([], ["--user", "--map-current-user"]):
        command = (program, *user, *asked, "--")
        if (user or os.geteuid() == 0) and _works([*command, "true"]):
            return command
    return ()


def _memory_cgroup_works() -> bool:
    """A group can be made, and a process can join it."""
    try:
        group = MemoryGroup(f"codecap-trial-{os.getpid()}-{uuid.uuid4().hex[:12]}", limit_mb=100)
    except NoMemoryGroup:
        return False
    try:
        return _works(["/bin/sh", "-c", JOIN, "codecap-cage", "/", str(group.joining_file), "", "true"])
    finally:
        with contextlib.suppress(OSError):
            group.remove()


def _browser_sandbox_works(unshare: Iterable[str]) -> bool:
    """The namespaces that the browser's sandbox makes can be made, inside our own. The browser refuses its sandbox to root."""
    if os.geteuid() == 0 or (program := shutil.which("unshare")) is None:
        return False
    return _works([*unshare, program, "--user", "--map-root-user", "--pid", "--net", "--fork", "true"])


def _works(command: Sequence[str]) -> bool:
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=TRIAL_LIMIT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
