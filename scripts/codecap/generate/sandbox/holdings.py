"""What the processes of a box hold of the machine's memory, and how many they are."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from dataclasses import dataclass

from codecap.render import held_memory
from codecap.render.held_memory import BYTES_PER_MB, Memory

BYTES_PER_INODE = 1024  # what the kernel keeps of a file in memory, at least


@dataclass(frozen=True)
class Held:
    """Of one process.

    Attributes:
        pid: its id here.
        name: the first letters of its program's.
        first: it is among the first two processes of a process namespace of its own: its reaper, and the command itself.
        tasks: itself and its other threads.
        memory: what it holds.
    """

    pid: int
    name: str
    first: bool
    tasks: int
    memory: Memory


def of(pid: int) -> Held | None:
    """None: it is gone, or has ended and only waits to be read."""
    told = held_memory.status_of(pid)
    if told.get("State", "Z")[0] in "ZX":
        return None
    numbers = told.get("NSpid", "").split()
    return Held(
        pid=pid,
        name=told.get("Name", "?"),
        first=len(numbers) > 1 and int(numbers[-1]) <= 2,
        tasks=int(told.get("Threads", "1")),
        memory=Memory.told(pid, told),
    )


def together_mb(processes: Iterable[Held], folders_in_memory: Iterable[str], limit_mb: float) -> float:
    """Memory of all, see `held_memory.together_mb`, and what is in file systems in memory.

    Args:
        folders_in_memory: their mount points, as they can be reached from here.
    """
    files_mb = sum(map(_in_folder_mb, folders_in_memory))
    return files_mb + held_memory.together_mb([process.memory for process in processes], limit_mb - files_mb)


def _in_folder_mb(folder: str) -> float:
    with contextlib.suppress(OSError):
        told = os.statvfs(folder)
        files = (told.f_files - told.f_ffree) * BYTES_PER_INODE
        return ((told.f_blocks - told.f_bfree) * told.f_frsize + files) / BYTES_PER_MB
    return 0.0
