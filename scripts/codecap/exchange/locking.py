"""One process and one thread at a time, on shared filesystems too."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from codecap.store import explained, make_folder, open_shared
from codecap.store.leases import lease


@contextlib.contextmanager
def locked(path: Path) -> Iterator[int]:
    """Hold a file, made where it is missing, against all others that ask for it; see `codecap.store.leases`.

    Others let go of it when a process has ended: on its machine at once, on another one after a minute.

    Yields:
        Its descriptor, for reading and writing. It is opened when the file is held, so that it shows what the last holder wrote.

    Raises:
        StoreError: it cannot be made.
    """
    with contextlib.ExitStack() as held:
        try:
            make_folder(path.parent)
            held.enter_context(lease(path))
            descriptor = open_shared(path, os.O_RDWR | os.O_CREAT)
            held.callback(os.close, descriptor)
        except OSError as error:
            raise explained(error, path.parent) from error
        yield descriptor
