"""Where a file of the store can be opened now: in its own place, or taken out of a pack.

Rows name files by the places they were made in. Whoever opens such a file asks `at` for it each time, since it may be packed or
unpacked meanwhile; `open_at` does that for it.
"""

from __future__ import annotations

import errno
import stat
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from codecap.store import extracted, packs
from codecap.store.failures import explained

ROUNDS = 10  # of asking again where a file has just been moved

T = TypeVar("T")


def at(path: Path) -> Path:
    """Where to open a file that has this place in the store; the place itself where there is no such file.

    Raises:
        StoreError: it is packed, and node-local scratch cannot be written.
    """
    path = Path(path)
    if size_of(path) is not None:
        return path
    held, member = _member(path)
    for _ in held.looks():
        copy = extracted.place(held, member)
        if copy is not None:
            return copy
        if size_of(path) is not None:
            break
    return path


def open_at(path: Path, opening: Callable[[Path], T]) -> T:
    """Open a file where it is now. Where it is packed in the moment between, it is opened again where it is then.

    Args:
        opening: gets the path, opens it, and gives what it makes of it; its errors are raised.
    """
    for _ in range(ROUNDS):
        place = at(path)
        try:
            return opening(place)
        except OSError as error:
            if error.errno not in packs.VANISHED or at(path) == place:
                raise
    return opening(at(path))


def there(path: Path) -> bool:
    """Whether a file is in the store, loose or packed; it is not taken out."""
    path = Path(path)
    if size_of(path) is not None:
        return True
    held, member = _member(path)
    return any(held.find(member) is not None or size_of(path) is not None for _ in held.looks())


def pack_of(path: Path) -> Path | None:
    """The pack that a file is in and is to be read from; None for a loose one, or where there is none."""
    path = Path(path)
    if size_of(path) is not None:
        return None
    held, member = _member(path)
    found = held.find(member)
    return None if found is None else found.pack


def copy_to(path: Path, target: Path) -> bool:
    """Write a packed file to a place of its own, without a copy in scratch; false where it is in no pack."""
    held, member = _member(Path(path))
    try:
        return held.copy(member, target)
    except OSError as error:
        raise explained(error, target) from error


def size_of(path: Path) -> int | None:
    """Bytes of a loose file; None where there is none."""
    told = seen(path.stat)
    return told.st_size if told is not None and stat.S_ISREG(told.st_mode) else None


def seen(look: Callable[[], T]) -> T | None:
    """What a look at a loose file gives; None where there is none."""
    for _ in range(ROUNDS):
        try:
            return look()
        except OSError as error:
            if error.errno == errno.ESTALE:  # it was replaced on another machine: ask again
                continue
            if error.errno in packs.VANISHED:
                return None
            raise
    return None


def _member(path: Path) -> tuple[packs.Packs, str]:
    """The packs of a file's stage and system, and its name there."""
    folder = path.parent
    return packs.of(folder.parent), f"{folder.name}/{path.name}"
