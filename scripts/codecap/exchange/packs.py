"""Append-only packs: records that are there whole or not at all, many writers, one file each.

    <folder>/<writer>.pack     frames: a head line `ccx1 <digest> <bytes> <checksum>`, the payload, a newline
    <folder>/<writer>.index    where each frame lies, a line each; a short cut only: what it lacks is read from the pack

A writer appends to its own pack and to no other, so nothing is locked, on shared filesystems too. A process that is killed leaves
at most one torn frame, at the end of its own pack; readers pass over it and count it.
"""

from __future__ import annotations

import hashlib
import logging
import os
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from codecap.store import explained, make_folder, open_shared

LOG = logging.getLogger("codecap")

MAGIC = b"ccx1"
CHECKSUM = 16  # hexadecimal digits of the payload's sha256
LONGEST_HEAD = 256
LONGEST_PAYLOAD = 1 << 33
WINDOW = 1 << 20  # bytes that are searched at once


@dataclass(frozen=True)
class Place:
    """Where a record lies: its pack, the offset of its head line, and the size of the whole frame in bytes."""

    pack: Path
    offset: int
    size: int


@dataclass
class _Read:
    """How far a pack and its index have been read, in bytes, and the torn frame at its end that was told."""

    pack: int = 0
    index: int = 0
    torn: int | None = None
    size: int = 0  # of the pack when it was read last


@dataclass
class Packs:
    """The records under a folder, by digest.

    Args:
        folder: made with the first record.
        synced: whether every record is flushed to the disk before `append` returns.
    """

    folder: Path
    synced: bool = True
    places: dict[str, list[Place]] = field(default_factory=dict)
    _read: dict[Path, _Read] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _writer: _Writer | None = None

    def refresh(self) -> None:
        """Take in what this and other processes have written since the last time."""
        with self._lock:
            try:
                entries = sorted((entry for entry in os.scandir(self.folder) if entry.name.endswith(".pack")), key=lambda e: e.name)
            except FileNotFoundError:
                return
            for entry in entries:
                pack = Path(entry.path)
                done = self._read.setdefault(pack, _Read())
                size = entry.stat().st_size
                if size > max(done.pack, done.size):
                    done.size = size
                    self._take_index(pack, done, size)
                    self._take_frames(pack, done, size)

    def read(self, digest: str) -> Iterator[bytes]:
        """The payloads recorded under a digest, those last that other processes have just written; damaged ones are passed over."""
        seen = 0
        for look_again in (False, True):
            if look_again:
                self.refresh()
            places = list(self.places.get(digest, ()))
            for place in places[seen:]:
                payload = _payload(place, digest)
                if payload is None:
                    LOG.warning("%s: the record at byte %d is damaged; passed over", place.pack, place.offset)
                else:
                    yield payload
            seen = len(places)

    def every(self) -> Iterator[tuple[str, bytes]]:
        """All records, pack after pack: digest and payload."""
        self.refresh()
        with self._lock:
            ordered = sorted(
                ((place, digest) for digest, places in self.places.items() for place in places),
                key=lambda pair: (pair[0].pack, pair[0].offset),
            )
        opened: BinaryIO | None = None
        try:
            for place, digest in ordered:
                if opened is None or opened.name != str(place.pack):
                    if opened is not None:
                        opened.close()
                    opened = place.pack.open("rb")
                payload = _payload(place, digest, opened)
                if payload is not None:
                    yield digest, payload
        finally:
            if opened is not None:
                opened.close()

    def append(self, digest: str, payload: bytes) -> Place:
        """Record a payload: it is there whole when this returns, or an error is raised and nothing is.

        Raises:
            StoreError: the disk is full, or cannot be written.
        """
        with self._lock:
            if self._writer is None or self._writer.pid != os.getpid():
                self._writer = _Writer(self.folder, self.synced)
            place = self._writer.append(digest, payload)
            done = self._read.setdefault(place.pack, _Read())
            if done.pack == place.offset:
                done.pack = place.offset + place.size
                self.places.setdefault(digest, []).append(place)
            return place

    def append_new(self, payloads: Mapping[str, bytes]) -> None:
        """Record those payloads whose digests are not recorded yet, by any process."""
        if any(digest not in self.places for digest in payloads):
            with self._lock:
                self.refresh()
                for digest, payload in payloads.items():
                    if digest not in self.places:
                        self.append(digest, payload)

    def close(self) -> None:
        with self._lock:
            if self._writer is not None:
                self._writer.close()
                self._writer = None

    def _take_index(self, pack: Path, done: _Read, size: int) -> None:
        try:
            with pack.with_suffix(".index").open("rb") as file:
                file.seek(done.index)
                told = file.read()
        except FileNotFoundError:
            return
        told = told[: told.rfind(b"\n") + 1]
        for line in told.splitlines():
            digest, offset, length = _indexed(line)
            if digest is None or offset > done.pack or offset + length > size:
                break  # not what the pack holds: its frames are read themselves, from here on
            if offset == done.pack:
                self.places.setdefault(digest, []).append(Place(pack, offset, length))
                done.pack = offset + length
            done.index += len(line) + 1

    def _take_frames(self, pack: Path, done: _Read, size: int) -> None:
        if done.pack >= size:
            return
        with pack.open("rb") as file:
            while done.pack < size:
                head = _head(file, done.pack)
                if head is None or done.pack + head[1] > size:
                    beyond = _next_frame(file, done.pack + 1, size)
                    if beyond is None:
                        if done.torn != done.pack:
                            LOG.info("%s: ends with a torn record at byte %d; passed over", pack, done.pack)
                            done.torn = done.pack
                        return
                    LOG.warning("%s: damaged between bytes %d and %d; passed over", pack, done.pack, beyond)
                    done.pack = beyond
                    continue
                digest, length = head
                self.places.setdefault(digest, []).append(Place(pack, done.pack, length))
                done.pack += length

    @property
    def torn(self) -> list[Path]:
        """Packs that end with a torn record: their writer was killed, or is writing it now."""
        return [pack for pack, done in self._read.items() if done.torn == done.pack]


class _Writer:
    """This process's pack, made with its first record."""

    def __init__(self, folder: Path, synced: bool) -> None:
        self.pid, self.synced = os.getpid(), synced
        name = f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{socket.gethostname()}-{self.pid}-{time.monotonic_ns()}"
        self.pack = folder / f"{name}.pack"
        try:
            make_folder(folder)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
            self._pack = open_shared(self.pack, flags)
            self._index = open_shared(self.pack.with_suffix(".index"), flags)
        except OSError as error:
            raise explained(error, folder) from error
        self.end = 0

    def append(self, digest: str, payload: bytes) -> Place:
        frame = b"%s %s %d %s\n%s\n" % (MAGIC, digest.encode(), len(payload), _checksum(payload), payload)
        try:
            _write_all(self._pack, frame)
            if self.synced:
                os.fsync(self._pack)
        except OSError as error:
            os.ftruncate(self._pack, self.end)  # what is behind it would be lost with it
            raise explained(error, self.pack) from error
        place = Place(self.pack, self.end, len(frame))
        self.end += len(frame)
        _write_all(self._index, b"%s %d %d\n" % (digest.encode(), place.offset, place.size))
        return place

    def close(self) -> None:
        os.close(self._pack)
        os.close(self._index)


def _write_all(descriptor: int, told: bytes) -> None:
    left = memoryview(told)
    while left:
        left = left[os.write(descriptor, left) :]


def _checksum(payload: bytes) -> bytes:
    return hashlib.sha256(payload).hexdigest()[:CHECKSUM].encode()


def _indexed(line: bytes) -> tuple[str, int, int] | tuple[None, int, int]:
    try:
        digest, offset, length = line.split(b" ")
        return digest.decode("ascii"), int(offset), int(length)
    except ValueError:
        return None, 0, 0


def _head(file: BinaryIO, offset: int) -> tuple[str, int] | None:
    """Digest and size of the frame that starts at a byte, or None when none does."""
    file.seek(offset)
    line = file.readline(LONGEST_HEAD)
    told = line.split(b" ")
    try:
        magic, digest, length, _ = told
        payload = int(length)
    except ValueError:
        return None
    if magic != MAGIC or not line.endswith(b"\n") or not 0 <= payload <= LONGEST_PAYLOAD:
        return None
    return digest.decode("ascii", "replace"), len(line) + payload + 1


def _next_frame(file: BinaryIO, start: int, size: int) -> int | None:
    """The first byte from `start` on at which a whole frame with the right checksum lies."""
    mark = b"\n" + MAGIC + b" "
    for position in range(start, size, WINDOW):
        file.seek(position)
        part = file.read(min(WINDOW + len(mark), size - position))
        at = part.find(mark)
        while at >= 0:
            offset = position + at + 1
            head = _head(file, offset)
            if head is not None and _payload(Place(Path(file.name), offset, head[1]), head[0], file) is not None:
                return offset
            at = part.find(mark, at + 1)
    return None


def _payload(place: Place, digest: str, opened: BinaryIO | None = None) -> bytes | None:
    """A record's payload, or None when it is not what its head says."""
    if opened is None:
        try:
            with place.pack.open("rb") as file:
                return _payload(place, digest, file)
        except FileNotFoundError:
            return None
    opened.seek(place.offset)
    frame = opened.read(place.size)
    line, _, rest = frame.partition(b"\n")
    told, payload = line.split(b" "), rest[:-1]
    right = [MAGIC, digest.encode(), str(len(payload)).encode(), _checksum(payload)]
    return payload if told == right and rest.endswith(b"\n") else None
