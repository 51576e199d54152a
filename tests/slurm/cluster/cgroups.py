"""The kernel's groups of processes, by which SLURM limits the memory of jobs."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from .configuration import NODES

CGROUPS = Path("/sys/fs/cgroup")


def limit_memory() -> bool:
    """Whether this machine lets us limit memory by cgroups of version 1; SLURM 22.05 wants systemd for version 2."""
    probe = CGROUPS / "memory" / f"codecap_probe_{os.getpid()}"
    try:
        probe.mkdir()
        (probe / "memory.limit_in_bytes").write_text(str(64 << 20))
        return True
    except OSError:
        return False
    finally:
        if probe.is_dir():
            probe.rmdir()


def remove() -> None:
    """Groups that SLURM made, innermost first; one that still holds a process stays."""
    for group in _slurm_groups():
        with contextlib.suppress(OSError):
            group.rmdir()


def _slurm_groups() -> Iterator[Path]:
    for node in NODES:
        for top in CGROUPS.glob(f"*/slurm_{node}"):
            yield from sorted((path for path in (top, *top.rglob("*")) if path.is_dir()), key=lambda path: -len(path.parts))
