"""Private temporary folders: how much is in one, and which are left of processes that could not remove them."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

BYTES_PER_MB = 1_000_000
BYTES_PER_BLOCK = 512  # of st_blocks, whatever the file system's own are
YOUNG_S = 60.0  # a folder that has just been made may not be held yet


def hold(folder: Path) -> int | None:
    """Say that a folder is in use, for as long as this process lives or until the descriptor that is returned is closed.

    Returns:
        A descriptor; None where the file system knows no such locks: then `abandoned` does not find the folder either.
    """
    try:
        held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(held)
        return None
    return held


def files_mb(folder: Path, enough_mb: float) -> float:
    """What the files in a folder take on the disk; counting ends at `enough_mb`, since it may hold very many."""
    taken = 0
    for where, _, files in os.walk(folder):
        for file in files:
            with contextlib.suppress(OSError):
                taken += os.lstat(f"{where}/{file}").st_blocks * BYTES_PER_BLOCK
        if taken > enough_mb * BYTES_PER_MB:
            break
    return taken / BYTES_PER_MB


def remove_abandoned(parent: Path, prefix: str) -> list[str]:
    """Remove folders of ours that nobody holds; their names. Safe beside others, also in other containers on the same disk."""
    removed = []
    for folder in _ours(parent, prefix):
        held = hold(folder)
        if held is not None:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(held)
            removed.append(folder.name)
    return removed


def _ours(parent: Path, prefix: str) -> Iterator[Path]:
    with contextlib.suppress(OSError):
        for folder in parent.glob(f"{prefix}*"):
            with contextlib.suppress(OSError):
                told = folder.lstat()
                if told.st_uid == os.geteuid() and time.time() - told.st_mtime > YOUNG_S:
                    yield folder
