"""Files of packs, taken out where they are needed: node-local copies, within a bound, the longest unused removed first."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import threading
import time
from pathlib import Path

from codecap.store import settings
from codecap.store.failures import StoreError, explained
from codecap.store.packs import Packs

IN_USE_S = 60.0  # a file that was asked for so lately may not be open yet
EMPTIED_TO = 0.9  # of the bound
TRIES = 3  # of a member that moves from pack to pack


def place(packs: Packs, member: str) -> Path | None:
    """A copy of a member in the node's own folder; None where there is no such member.

    Raises:
        StoreError: the folder cannot be written, or is not ours.
        Damaged: it is there, and not as it was written.
    """
    folder = _folder()
    for _ in range(TRIES):
        found = packs.find(member)
        if found is None:
            packs.raise_if_damaged(member)
            return None
        told = f"{packs.folder}\0{member}\0{found.size}\0{found.crc}"
        digest = hashlib.sha256(told.encode()).hexdigest()[:24]
        copy = folder / digest[:2] / f"{digest}-{member.rpartition('/')[2]}"
        if _is_whole(copy, found.size):
            return copy
        try:
            if _take_out(packs, member, copy):
                return copy
        except OSError as error:
            raise explained(error, folder) from error
    return None


def _folder() -> Path:
    """The folder of this user's copies; nobody else may put something there."""
    folder = settings.scratch_folder() / f"codecap-store-{os.geteuid()}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        told = folder.lstat()
    except OSError as error:
        raise explained(error, folder) from error
    if told.st_uid != os.geteuid() or not folder.is_dir() or folder.is_symlink():
        raise StoreError(None, f"{folder}: is not a folder of your own; remove it, or set store.scratch to another folder")
    return folder


def _is_whole(copy: Path, size: int) -> bool:
    try:
        if copy.stat().st_size != size:
            return False
        os.utime(copy)  # used now
    except FileNotFoundError:
        return False
    return True


def _take_out(packs: Packs, member: str, copy: Path) -> bool:
    copy.parent.mkdir(exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=copy.parent, prefix=".", suffix=".draft")
    os.close(descriptor)
    draft = Path(name)
    try:
        if not packs.copy(member, draft):
            return False
        _ROOM.take(draft.stat().st_size, copy.parents[1])
        draft.replace(copy)
    finally:
        draft.unlink(missing_ok=True)
    return True


class _Room:
    """Keeps the copies of all processes of this node within the bound, without counting them each time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taken: int | None = None  # bytes since the folder was counted

    def take(self, size: int, folder: Path) -> None:
        bound = int(settings.current().scratch_gb * 1e9)
        with self._lock:
            if self._taken is None or self._taken + size > bound * (1 - EMPTIED_TO) / 4:
                _shrink(folder, bound, size)
                self._taken = 0
            self._taken += size


_ROOM = _Room()


def _shrink(folder: Path, bound: int, coming: int) -> None:
    """Remove the longest unused copies where they and what is coming would pass the bound."""
    copies = []
    for path in folder.glob("*/*"):
        with contextlib.suppress(FileNotFoundError):
            told = path.stat()
            copies.append((told.st_mtime, told.st_size, path))
    total = sum(size for _, size, _ in copies) + coming
    if total <= bound:
        return
    for used, size, path in sorted(copies):
        if total <= bound * EMPTIED_TO or time.time() - used < IN_USE_S:
            return
        path.unlink(missing_ok=True)
        total -= size
