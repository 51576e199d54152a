"""Unix sockets that only their owner can reach. A path of one has 107 bytes at most, so their folders are short and private."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from codecap.errors import UserError
from codecap.render.scratch import hold, remove_abandoned

LONGEST_PATH = 107  # bytes
NAME = "model"
PREFIX = "codecap-socket-"  # of the folder's name; a prefix of no other folder of ours


@contextlib.contextmanager
def private_path() -> Iterator[Path]:
    """A path for a socket in a new folder that only its owner can enter; both are gone at the end. Those of processes that were
    killed are removed first.

    Raises:
        UserError: no folder is short enough.
    """
    for place in (tempfile.gettempdir(), "/tmp"):
        remove_abandoned(Path(place), PREFIX)
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=place))
        held = hold(folder)
        try:
            path = folder / NAME
            if len(bytes(path)) <= LONGEST_PATH:
                yield path
                return
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            if held is not None:
                os.close(held)
    raise UserError(f"{tempfile.gettempdir()}: is too long a path for a socket, and /tmp too; set TMPDIR to a shorter one")
