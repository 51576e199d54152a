"""Files that have no name any more and take their place on the disk until the last process closes them."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable

from codecap.generate.sandbox.left_behind import BYTES_PER_BLOCK


def held_bytes(processes: Iterable[int], device: int) -> int:
    """Bytes on a disk that these processes hold in open files without a name, each file once.

    Args:
        processes: their ids; one that is gone holds nothing.
        device: the disk's, as `os.stat` tells it of files there. Files in memory have others.
    """
    found: dict[int, int] = {}
    for pid in processes:
        with contextlib.suppress(OSError), os.scandir(f"/proc/{pid}/fd") as entries:
            for entry in entries:
                with contextlib.suppress(OSError):  # closed meanwhile
                    told = entry.stat()
                    if told.st_nlink == 0 and told.st_dev == device and stat.S_ISREG(told.st_mode):
                        found[told.st_ino] = told.st_blocks * BYTES_PER_BLOCK
    return sum(found.values())
