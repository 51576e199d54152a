"""One run at a time in a folder. The kernel holds the lock, so that a killed run leaves none behind, unlike Snakemake's own.

The lock's file says which process on which machine works here: a shared filesystem may have no locks, or keep them to one machine.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import fcntl
import json
import os
import time
from pathlib import Path
from typing import IO

from codecap.errors import UserError
from codecap.store.holders import Process, this_process

NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)
ENDED = ".ended"  # ends the name of the file that says which run came to its end
_HELD: list[IO[str]] = []  # until the process ends


class AlreadyRunning(UserError):
    """Another run is at work in the folder; the message says where."""


def hold(lock: Path) -> str | None:
    """Hold a file until this process ends, however it ends.

    Returns:
        None; or, in words, which run of another machine may still be at work here without that this can be seen.

    Raises:
        AlreadyRunning: another run is at work here.
    """
    lock.parent.mkdir(parents=True, exist_ok=True)
    file = lock.open("a+", encoding="utf-8")
    file.seek(0)
    told = file.read()
    before, since = _process(told), time.strftime("%Y-%m-%d %H:%M", time.localtime(os.fstat(file.fileno()).st_mtime))
    if not _is_free(file) or (before is not None and before != this_process() and before.is_gone() is False):
        file.close()
        who = f"process {before.pid} on {before.host}, since {since}" if before is not None else "not known which"
        raise AlreadyRunning(f"{lock.parent.absolute()}: another run works here ({who}); wait for its end")
    doubt = None
    if before is not None and before.is_gone() is None and _read(_ended(lock)) != told:
        doubt = (
            f"{lock.parent.absolute()}: the last run here, process {before.pid} on {before.host}, since {since}, has not said that "
            "it ended, and not every filesystem shows that from here. To be sure, look there: "
            f"`ssh {before.host} ps -p {before.pid}`; if it still works, end one of the two"
        )
    file.truncate(0)
    file.write(json.dumps(vars(this_process())))
    file.flush()
    _HELD.append(file)
    atexit.register(_say_ended, lock, os.getpid())
    return doubt


def _is_free(file: IO[str]) -> bool:
    """Whether the kernel gives the lock; where the filesystem has none, what the file says must do."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
    return True


def _process(told: str) -> Process | None:
    try:
        return Process(**json.loads(told))
    except (ValueError, TypeError):
        return None  # the first run here, or one of an earlier version


def _say_ended(lock: Path, pid: int) -> None:
    if os.getpid() == pid:  # and not in a forked child
        with contextlib.suppress(OSError):
            _ended(lock).write_text(_read(lock), encoding="utf-8")


def _ended(lock: Path) -> Path:
    return lock.with_name(lock.name + ENDED)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
