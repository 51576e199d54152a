"""Packs: many items of one stage and system in one uncompressed zip file, read where they lie.

A pack is never changed; it is replaced by another that holds what it held. Its directory is read once a process. Names of a folder
are read again when something is not found and the folder has changed.
"""

from __future__ import annotations

import errno
import logging
import os
import struct
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeVar

from codecap.store.layout import PACK

LOG = logging.getLogger("codecap")
VANISHED = (errno.ENOENT, errno.ESTALE, errno.ENOTDIR)
LOCAL_HEAD = struct.Struct("<26xHH")  # of a zip's member: the lengths of its name and of what follows that
RACY_NS = 2_000_000_000  # a folder that changed so lately may change again without a new time
PIECE = 1 << 20
LOOKS = TRIES = 50  # at most, while others pack and unpack without a rest

T = TypeVar("T")


@dataclass(frozen=True)
class Packed:
    """Where a member of a pack lies: offset of its local head, size in bytes, CRC-32."""

    pack: Path
    offset: int
    size: int
    crc: int


class Packs:
    """The packs of one stage and system.

    Args:
        folder: theirs; it need not exist.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._of_pack: dict[str, dict[str, Packed]] = {}
        self._places: dict[str, Packed] = {}
        self._stamp: tuple[int, int] | None = None
        self._lock = threading.Lock()

    def find(self, member: str) -> Packed | None:
        """Where a member lies now; in the oldest pack that has it."""
        with self._lock:
            found = self._places.get(member)
            if found is None and self._refresh():
                found = self._places.get(member)
            return found

    def read(self, member: str) -> bytes | None:
        """A small member, whole; None where there is none."""
        return self.use(member, b"".join)

    def copy(self, member: str, target: Path) -> bool:
        """Write a member to a file; false where there is no such member."""
        with target.open("wb") as file:

            def write(pieces: Iterator[bytes]) -> bool:
                file.seek(0)
                file.truncate()
                file.writelines(pieces)
                return True

            return bool(self.use(member, write))

    def check(self, member: str) -> None:
        """Read a member to its end.

        Raises:
            OSError: it is damaged.
        """
        self.use(member, lambda pieces: sum(map(len, pieces)))

    def looks(self) -> Iterator[None]:
        """Rounds of looking for something loose or packed, for as long as things are moved from one to the other."""
        before = self._state()
        for number in range(LOOKS):
            yield
            after = self._state()
            if after == before and (number or not _is_racy(after)):
                return
            before = after

    def all(self) -> dict[str, dict[str, Packed]]:
        """Members by pack, oldest pack first, as they are now."""
        with self._lock:
            self._stamp = None
            self._refresh()
            return {name: dict(held) for name, held in sorted(self._of_pack.items())}

    def use(self, member: str, use: Callable[[Iterator[bytes]], T]) -> T | None:
        """Do something with the bytes of a member, again where its pack is replaced by another meanwhile."""
        for _ in range(TRIES):
            found = self.find(member)
            if found is None:
                return None
            try:
                with found.pack.open("rb") as file:
                    return use(_checked(file, found, member))
            except OSError as error:
                if error.errno not in VANISHED:
                    raise
                self._forget(found.pack)
        return None

    def _forget(self, pack: Path) -> None:
        with self._lock:
            self._of_pack.pop(pack.name, None)
            self._stamp = None
            self._order()

    def _refresh(self) -> bool:
        """Take in what has changed; false if nothing has."""
        stamp = self._state()
        if stamp is None:
            return self._take({})
        if stamp == self._stamp:
            return False
        racy = _is_racy(stamp)
        try:
            with os.scandir(self.folder) as entries:
                names = {entry.name for entry in entries if entry.name.endswith(PACK) and not entry.name.startswith(".")}
        except (FileNotFoundError, PermissionError):  # not a folder of the store, where it may not be listed
            names = set()
        changed = self._take({name: self._of_pack.get(name) for name in names})
        self._stamp = None if racy else stamp
        return changed

    def _state(self) -> tuple[int, int] | None:
        """What changes when a name comes or goes; None where there is no such folder."""
        try:
            told = self.folder.stat()
        except OSError as error:
            if error.errno not in VANISHED:
                raise
            return None
        return told.st_ino, told.st_mtime_ns

    def _take(self, known: dict[str, dict[str, Packed] | None]) -> bool:
        if known.keys() == self._of_pack.keys():
            return False
        read = {name: held if held is not None else _directory(self.folder / name) for name, held in known.items()}
        self._of_pack = {name: held for name, held in read.items() if held is not None}
        self._order()
        return True

    def _order(self) -> None:
        self._places = {}
        for name in sorted(self._of_pack, reverse=True):
            self._places.update(self._of_pack[name])


def _is_racy(state: tuple[int, int] | None) -> bool:
    return state is not None and time.time_ns() - state[1] < RACY_NS


def of(folder: Path) -> Packs:
    """The packs of a folder, the same object for a whole process."""
    name = os.path.abspath(folder)  # noqa: PTH100 - Path.absolute keeps "..", and this is asked for often
    with _LOCK:
        if name not in _KNOWN:
            _KNOWN[name] = Packs(Path(name))
        return _KNOWN[name]


_KNOWN: dict[str, Packs] = {}
_LOCK = threading.Lock()


def _directory(pack: Path) -> dict[str, Packed] | None:
    """Members of a pack, none of one that is no whole zip file; None where it is gone."""
    import zipfile

    try:
        with zipfile.ZipFile(pack) as opened:
            infos = opened.infolist()
    except OSError as error:
        if error.errno not in VANISHED:
            raise
        return None
    except zipfile.BadZipFile as error:
        LOG.warning("%s: not a whole pack, passed over: %s; what was in it is made again when it is needed", pack, error)
        return {}
    return {info.filename: Packed(pack, info.header_offset, info.file_size, info.CRC) for info in infos}


def _checked(file: BinaryIO, found: Packed, member: str) -> Iterator[bytes]:
    """The bytes of a member.

    Raises:
        OSError: they are not those that were written.
    """
    file.seek(found.offset)
    head = file.read(LOCAL_HEAD.size)
    if len(head) == LOCAL_HEAD.size:
        file.seek(sum(LOCAL_HEAD.unpack(head)), os.SEEK_CUR)
    left, crc = found.size, 0
    while left and (piece := file.read(min(left, PIECE))):
        left, crc = left - len(piece), zlib.crc32(piece, crc)
        yield piece
    if left or crc != found.crc:
        raise OSError(errno.EIO, f"{member} is damaged there; delete the pack, and what was in it is made again", str(found.pack))
