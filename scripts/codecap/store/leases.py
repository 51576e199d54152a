"""A lock that every filesystem has: one holder at a time among threads, processes and machines, without flock or fcntl.

A holder is who has given a file of its own the lock's name by link(2): of many that try, one succeeds, on NFS and Lustre as on a
local disk. The file says which process that is. A holder that died is found out and its lock freed: by others on its machine at
once, since they see that the process is no more; by other machines when it has not renewed its lease for `LEASE_S`. Times are those
that the filesystem keeps: the server's on NFS, the machines' on Lustre, whose clocks must not differ by more than some seconds. A
lease from a future that is further off than that is freed when who waits has seen it unchanged for `LEASE_S` by a clock of its own.

Two that would free one dead holder's lock at the same time do it one after the other, under a lease named after that very holder,
and the second finds that it is another's by then. Where the filesystem has no hard links, the lock's name is made by exclusive
creation instead.

What it guarantees: while its holder runs, nobody else holds it. A holder that is stopped for longer than `LEASE_S` (a suspended
job, a file server that hangs) and then goes on may find others in its place; `Lease.is_ours` tells it. So sections are short, and
what is written in them is whole at any time.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import random
import secrets
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from codecap.store.holders import Process, this_process

LEASE_S = 60.0
RENEW_S = 10.0
SUFFIX = ".lease"
BREAKING = ".freeing-"
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.0005, 0.008  # between tries
FIRST_LOOK_S, NEXT_LOOK_S = 0.02, 0.1  # at the holder: mostly it lets go before
LOOK_S = 2.0  # between looks at the age of another machine's lease
NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK)


@contextlib.contextmanager
def lease(path: Path) -> Iterator[Lease]:
    """Hold a name against all others that ask for it. The file of that name itself is not touched and need not exist.

    Raises:
        OSError: the folder cannot be written.
    """
    path = Path(path)
    with _held(path.with_name(f".{path.name}{SUFFIX}")) as held:
        yield held


class Lease:
    """One try to hold a lock, and the lock while it is held."""

    def __init__(self, name: Path) -> None:
        self.name, self.token = name, secrets.token_hex(6)
        self.file = name.with_name(f"{name.name}.{self.token}")
        self._looked = 0.0
        self._seen: tuple[str, float, float] | None = None  # another's token, its last renewal, and when that was first seen
        self._write(self.file)

    def is_ours(self) -> bool:
        """Whether it is still held, and has not been taken for a dead one's."""
        holder = _holder_of(self.name)
        return holder is not None and holder.token == self.token

    def take(self) -> bool:
        """Try to hold it."""
        try:
            os.link(self.file, self.name)
        except OSError as error:
            if self._is_linked():  # the server did it, its answer was lost, and the client asked again
                return True
            if error.errno == errno.EEXIST:
                return False
            if error.errno not in NO_LINKS:
                raise
            return self._create()
        return True

    def let_go(self) -> None:
        if self.is_ours():
            self.name.unlink(missing_ok=True)
        self.file.unlink(missing_ok=True)

    def renew(self) -> None:
        """Say that the holder lives."""
        for path in (self.file, self.name) if self.is_ours() else ():
            with contextlib.suppress(OSError):
                os.utime(path)

    def age_of(self, other: Holder) -> float | None:
        """Seconds since another's lease was renewed; None when it was looked at just now.

        They are told by the filesystem's clock; of a renewal in its future, by how long it was seen to be the last one.
        """
        now = time.monotonic()
        if now - self._looked < LOOK_S:
            return None
        self._looked = now
        os.utime(self.file)
        with self.file.open("rb") as file:
            age_s = os.fstat(file.fileno()).st_mtime - other.renewed
        if age_s >= -LEASE_S:
            return age_s
        if self._seen is None or self._seen[:2] != (other.token, other.renewed):
            self._seen = other.token, other.renewed, now
        return now - self._seen[2]

    def _write(self, path: Path) -> None:
        told = {"token": self.token, **vars(this_process())}
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        try:
            with contextlib.suppress(PermissionError):  # a filesystem without permissions
                os.fchmod(descriptor, 0o644)  # others of the group must see who it is
            os.write(descriptor, json.dumps(told).encode())
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        finally:
            os.close(descriptor)

    def _is_linked(self) -> bool:
        try:
            return os.path.samestat(self.name.stat(), self.file.stat())
        except OSError:
            return False

    def _create(self) -> bool:
        try:
            self._write(self.name)
        except FileExistsError:
            return False
        return True


@dataclass(frozen=True)
class Holder:
    """Who holds a lock, as its file says."""

    token: str
    process: Process | None  # None: it has not said so yet, or cannot be read
    renewed: float  # seconds of the filesystem's clock


@contextlib.contextmanager
def _held(name: Path) -> Iterator[Lease]:
    own = Lease(name)
    try:
        pause_s, look_at = FIRST_PAUSE_S, time.monotonic() + FIRST_LOOK_S
        while not own.take():
            if time.monotonic() > look_at:
                _free_of_dead(name, own)
                look_at = time.monotonic() + NEXT_LOOK_S
            time.sleep(random.uniform(0.5, 1.0) * pause_s)
            pause_s = min(pause_s * 1.5, LONGEST_PAUSE_S)
        with _RENEWER.renewing(own):
            yield own
    finally:
        own.let_go()


def _free_of_dead(name: Path, own: Lease) -> None:
    """Free the lock if its holder is dead."""
    holder = _holder_of(name)
    if holder is None or not _is_dead(holder, own):
        return
    with _held(name.with_name(f"{name.name.partition(BREAKING)[0]}{BREAKING}{holder.token}")):
        again = _holder_of(name)
        if again is not None and again.token == holder.token and again.renewed == holder.renewed:
            name.unlink(missing_ok=True)
            name.with_name(f"{name.name}.{holder.token}").unlink(missing_ok=True)


def _is_dead(holder: Holder, own: Lease) -> bool:
    gone = None if holder.process is None else holder.process.is_gone()
    if gone is not None:
        return gone
    age_s = own.age_of(holder)
    return age_s is not None and age_s > LEASE_S


def _holder_of(name: Path) -> Holder | None:
    """Who holds a lock; None when nobody does. It is opened, not only looked at: NFS then asks the server."""
    try:
        with name.open("rb") as file:
            told, state = file.read(), os.fstat(file.fileno())
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ESTALE):
            return None
        if error.errno != errno.EACCES:
            raise
        told, state = b"", name.stat()
    try:
        said = json.loads(told)
        token = said.pop("token")
        return Holder(token, Process(**said), state.st_mtime)
    except (ValueError, TypeError, KeyError, AttributeError):
        return Holder(f"{state.st_ino:x}", None, state.st_mtime)


class _Renewer:
    """One thread that renews all leases this process holds, while it holds any for long."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: set[Lease] = set()
        self._thread: threading.Thread | None = None

    @contextlib.contextmanager
    def renewing(self, held: Lease) -> Iterator[None]:
        with self._lock:
            self._held.add(held)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._renew, name="leases", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._lock:
                self._held.discard(held)

    def _renew(self) -> None:
        while True:
            time.sleep(RENEW_S)
            with self._lock:
                if not self._held:
                    self._thread = None
                    return
                held = list(self._held)
            for one in held:
                with contextlib.suppress(OSError):
                    one.renew()


_RENEWER = _Renewer()


def _anew() -> None:
    """A forked child holds nothing, and its parent's thread is not in it."""
    global _RENEWER
    _RENEWER = _Renewer()


os.register_at_fork(after_in_child=_anew)
