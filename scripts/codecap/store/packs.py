"""Packs: many items of one stage and system in one uncompressed zip file, read where they lie.

A pack is never changed; it is replaced by another that holds what it held. Its directory is read once a process. Names of a folder
are read again when something is not found and the folder has changed.

Every member is written down twice in a zip file: in the directory at its end, and in a head before its bytes. Where something is
found damaged, the heads are read too, so that damage costs no more than the member it lies in. The rest of the process takes that
member from another pack, or counts it as absent.
"""

from __future__ import annotations

import errno
import logging
import os
import re
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
SIGNATURE = b"PK\3\4"  # a member's head begins so
LOCAL_HEAD = struct.Struct("<14xIIIHH")  # CRC-32, packed size, size, lengths of its name and of what follows that
SOUND = re.compile(r"(?!\.)[^/\0]+/(?!\.)[^/\0]+")  # a member's name: a shelf and a file
RACY_NS = 2_000_000_000  # a folder that changed so lately may change again without a new time
PIECE, SEARCHED = 1 << 20, 1 << 16
LOOKS = TRIES = 50  # at most, while others pack and unpack without a rest

T = TypeVar("T")


@dataclass(frozen=True)
class Packed:
    """Where a member of a pack lies: offset of its local head, size in bytes, CRC-32."""

    pack: Path
    offset: int
    size: int
    crc: int


class Damaged(OSError):
    """A member of a pack is not what was written there."""

    def __init__(self, member: str, pack: Path) -> None:
        cure = "`codecap store unpack` saves all else that is in the pack; then run again, and it is made again"
        super().__init__(errno.EIO, f"{member} is damaged there; {cure}", str(pack))
        self._told = member, pack

    def __reduce__(self) -> tuple[type[Damaged], tuple[str, Path]]:
        return Damaged, self._told


class Packs:
    """The packs of one stage and system.

    Args:
        folder: theirs; it need not exist.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._of_pack: dict[str, dict[str, Packed]] = {}
        self._by_heads: dict[str, dict[str, Packed]] = {}  # of packs in which damage was found
        self._damaged: set[tuple[str, Packed]] = set()
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

    def test(self, name: str) -> None:
        """Read a pack to its end, and note what is damaged there."""
        tested: set[tuple[str, Packed]] = set()
        while left := [one for one in self._candidates(name) if one not in tested]:
            tested.update(left)
            for member, found in left:
                try:
                    with found.pack.open("rb") as file:
                        _pass_by(_checked(file, found, member))
                except Damaged:
                    self._note(found, member)

    def is_damaged(self, name: str) -> bool:
        """Whether damage was found in a pack, by now."""
        return name in self._by_heads

    def lost(self, name: str) -> list[str]:
        """Members that were found damaged in a pack, and are whole in no pack."""
        with self._lock:
            self._refresh()
            damaged = {member for member, found in self._damaged if found.pack.name == name}
            return sorted(damaged - self._places.keys())

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
            return {name: self._by_heads.get(name, {}) | held for name, held in sorted(self._of_pack.items())}

    def use(self, member: str, use: Callable[[Iterator[bytes]], T]) -> T | None:
        """Do something with the bytes of a member, again where its pack is replaced by another meanwhile, or is damaged.

        Raises:
            Damaged: it is damaged wherever it is.
        """
        for _ in range(TRIES):
            found = self.find(member)
            if found is None:
                self.raise_if_damaged(member)
                return None
            try:
                with found.pack.open("rb") as file:
                    return use(_checked(file, found, member))
            except Damaged:
                self._note(found, member)
            except OSError as error:
                if error.errno not in VANISHED:
                    raise
                self._forget(found.pack)
        return None

    def _candidates(self, name: str) -> list[tuple[str, Packed]]:
        """Where members of a pack lie, as its directory has it, and as their heads have it where damage was found."""
        with self._lock:
            return [*self._of_pack.get(name, {}).items(), *self._by_heads.get(name, {}).items()]

    def _note(self, found: Packed, member: str) -> None:
        with self._lock:
            self._damaged.add((member, found))
            if found.pack.name not in self._by_heads:
                self._by_heads[found.pack.name] = _heads(found.pack)
            self._order()

    def raise_if_damaged(self, member: str) -> None:
        """Say why a member that is not found is not."""
        with self._lock:
            for name, found in self._damaged:
                if name == member and found.pack.name in self._of_pack:
                    raise Damaged(member, found.pack)

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
        read = {name: held if held is not None else self._directory(self.folder / name) for name, held in known.items()}
        self._of_pack = {name: held for name, held in read.items() if held is not None}
        self._order()
        return True

    def _directory(self, pack: Path) -> dict[str, Packed] | None:
        """Members of a pack by its directory, none where that is damaged; None where the pack is gone."""
        import zipfile

        try:
            with zipfile.ZipFile(pack) as opened:
                infos = opened.infolist()
        except OSError as error:
            if error.errno not in VANISHED:
                raise
            return None
        except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error) as error:
            self._by_heads[pack.name] = _heads(pack)
            LOG.warning("%s: not a whole pack (%s); `codecap store unpack` saves what is whole in it", pack, error)
            return {}
        found = {info.filename: Packed(pack, info.header_offset, info.file_size, info.CRC) for info in infos}
        if not all(map(SOUND.fullmatch, found)):
            self._by_heads[pack.name] = _heads(pack)
        return {member: place for member, place in found.items() if SOUND.fullmatch(member)}

    def _order(self) -> None:
        self._places = {}
        for name in sorted(self._of_pack, reverse=True):
            for held in (self._by_heads.get(name, {}), self._of_pack[name]):
                self._places.update({member: found for member, found in held.items() if (member, found) not in self._damaged})


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


def _heads(pack: Path) -> dict[str, Packed]:
    """Members of a pack by the heads before their bytes, however much of it is damaged or gone."""
    found: dict[str, Packed] = {}
    try:
        with pack.open("rb") as file:
            length, at = file.seek(0, os.SEEK_END), _next_head(file, 0)
            while at is not None:
                file.seek(at)
                crc, packed, size, name, more = LOCAL_HEAD.unpack(file.read(LOCAL_HEAD.size))
                end = at + LOCAL_HEAD.size + name + more + size
                is_head = packed == size and end <= length
                if is_head:
                    member = file.read(name).decode("utf-8", "replace")
                    if SOUND.fullmatch(member):
                        found.setdefault(member, Packed(pack, at, size, crc))
                at = _next_head(file, end if is_head else at + len(SIGNATURE))
    except OSError as error:
        if error.errno not in VANISHED:
            raise
    return found


def _next_head(file: BinaryIO, at: int) -> int | None:
    """Where the next head begins."""
    file.seek(at)
    told = b""
    while piece := file.read(SEARCHED):
        told += piece
        place = told.find(SIGNATURE)
        if 0 <= place <= len(told) - LOCAL_HEAD.size:
            return at + place
        kept = told[-LOCAL_HEAD.size :]
        at, told = at + len(told) - len(kept), kept
    return None


def _checked(file: BinaryIO, found: Packed, member: str) -> Iterator[bytes]:
    """The bytes of a member.

    Raises:
        Damaged: they are not those that were written, or are those of another.
    """
    file.seek(max(found.offset, 0))
    head = file.read(LOCAL_HEAD.size)
    if len(head) < LOCAL_HEAD.size:
        raise Damaged(member, found.pack)
    name, more = LOCAL_HEAD.unpack(head)[3:]
    if file.read(name) != member.encode():
        raise Damaged(member, found.pack)
    file.seek(more, os.SEEK_CUR)
    left, crc = found.size, 0
    while left and (piece := file.read(min(left, PIECE))):
        left, crc = left - len(piece), zlib.crc32(piece, crc)
        yield piece
    if left or crc != found.crc:
        raise Damaged(member, found.pack)


def _pass_by(pieces: Iterator[bytes]) -> None:
    for _ in pieces:
        pass
