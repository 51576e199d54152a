"""What processes hold of the machine's memory, as the kernel tells of each in its /proc."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

BYTES_PER_MB = 1_000_000
OWN = ("RssAnon", "VmSwap", "HugetlbPages", "VmPTE")  # lines of its status; the last is the kernel's tables of its pages
SHARED = "RssShmem"


@dataclass(frozen=True)
class Memory:
    """Of one process, in MB of 10^6 bytes.

    Attributes:
        pid: its id here.
        own_mb: private memory, also what is swapped out, and the tables of its pages.
        shared_mb: resident memory that others may have too.
    """

    pid: int
    own_mb: float
    shared_mb: float

    @property
    def all_mb(self) -> float:
        return self.own_mb + self.shared_mb

    @classmethod
    def told(cls, pid: int, status: Mapping[str, str]) -> Memory:
        """From the lines of its status, by name."""
        return cls(pid, sum(_mb(status, name) for name in OWN), _mb(status, SHARED))


def status_of(pid: int) -> dict[str, str]:
    """The lines of a process's status, by name; empty where it is gone."""
    with contextlib.suppress(OSError):
        return _lines(Path(f"/proc/{pid}/status"))
    return {}


def together_mb(processes: Iterable[Memory], limit_mb: float) -> float:
    """Private memory of all, and their shared memory.

    Several may have the same shared memory, so the sum of it may be too much, and that of the one that has most too little. The
    second is taken where even the first keeps to the limit. Else the kernel is asked how it is shared out, which takes longer.
    """
    held = list(processes)
    own_mb = sum(process.own_mb for process in held)
    if own_mb + sum(process.shared_mb for process in held) <= limit_mb:
        return own_mb + max((process.shared_mb for process in held), default=0.0)
    return own_mb + sum(map(_share_mb, held))


def _share_mb(process: Memory) -> float:
    """Its part of its shared memory, each page divided by the processes that have it; all of it where that is not told: an old
    kernel, or a process that lets nobody look."""
    if process.shared_mb == 0:
        return 0.0
    told: dict[str, str] = {}
    try:
        told = _lines(Path(f"/proc/{process.pid}/smaps_rollup"))
    except (ProcessLookupError, FileNotFoundError):
        if SHARED not in status_of(process.pid):  # it has ended since; a kernel before 4.14 has no such file
            return 0.0
    except OSError:  # it is not ours to look at
        pass
    return _mb(told, "Pss_Shmem") if "Pss_Shmem" in told else process.shared_mb


def _lines(file: Path) -> dict[str, str]:
    lines = file.read_text(errors="replace").splitlines()
    return {name: value.strip() for name, colon, value in (line.partition(":") for line in lines) if colon}


def _mb(told: Mapping[str, str], name: str) -> float:
    """A line `NAME: 123 kB`; 0 where there is none."""
    return int(told[name].split()[0]) * 1024 / BYTES_PER_MB if name in told else 0.0
