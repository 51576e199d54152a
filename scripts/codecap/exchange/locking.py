"""One process and one thread at a time, on shared filesystems too."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from codecap.store import StoreError, explained

NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[int]:
    """Hold a file, made where it is missing, against all others that ask for it; the kernel lets go when the process ends.

    Yields:
        Its descriptor, for reading and writing.

    Raises:
        StoreError: it cannot be made, or the filesystem has no locks.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise explained(error, path.parent) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError as error:
            if error.errno in NO_LOCKS:
                told = f"{path}: this filesystem has no file locks; move store.durable to one that has (Lustre: mounted with flock)"
                raise StoreError(error.errno, told) from error
            raise
        yield descriptor
    finally:
        os.close(descriptor)
