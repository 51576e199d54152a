"""What processes hold of the machine's memory, and how many they are, as the kernel tells of each."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

BYTES_PER_MB = 1_000_000
BYTES_PER_INODE = 1024  # what the kernel keeps of a file in memory, at least


@dataclass(frozen=True)
class Held:
    """Of one process.

    Attributes:
        pid: its id here.
        name: the first letters of its program's.
        first: it is among the first two processes of a process namespace of its own: its reaper, and the command itself.
        tasks: itself and its other threads.
        own_mb, shared_mb: resident private and shared memory, in MB of 10^6 bytes.
    """

    pid: int
    name: str
    first: bool
    tasks: int
    own_mb: float
    shared_mb: float


def of(pid: int) -> Held | None:
    """None: it is gone, or has ended and only waits to be read."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(errors="replace").splitlines()
    except OSError:
        return None
    told = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    if told.get("State", "Z")[0] in "ZX":
        return None
    numbers = told.get("NSpid", "").split()
    megabytes = {
        name: int(told[name].split()[0]) * 1024 / BYTES_PER_MB if name in told else 0.0 for name in ("RssAnon", "RssShmem")
    }
    return Held(
        pid=pid,
        name=told.get("Name", "?"),
        first=len(numbers) > 1 and int(numbers[-1]) <= 2,
        tasks=int(told.get("Threads", "1")),
        own_mb=megabytes["RssAnon"],
        shared_mb=megabytes["RssShmem"],
    )


def together_mb(processes: Iterable[Held], folders_in_memory: Iterable[str]) -> float:
    """Private memory of all, the shared memory of the one that has most of it, and what is in file systems in memory.

    Args:
        folders_in_memory: their mount points, as they can be reached from here.
    """
    held = list(processes)
    shared = max((process.shared_mb for process in held), default=0.0)
    return sum(process.own_mb for process in held) + shared + sum(map(_in_folder_mb, folders_in_memory))


def _in_folder_mb(folder: str) -> float:
    with contextlib.suppress(OSError):
        told = os.statvfs(folder)
        files = (told.f_files - told.f_ffree) * BYTES_PER_INODE
        return ((told.f_blocks - told.f_bfree) * told.f_frsize + files) / BYTES_PER_MB
    return 0.0
