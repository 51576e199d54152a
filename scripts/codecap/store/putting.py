"""Files that come into their place whole or not at all, on a local disk, on NFS and on Lustre.

A file is written under a draft's name in the folder where it belongs, flushed to the disk, and given its name by link(2) or
rename(2), which every filesystem does at once. The folder is flushed too, so that the name outlives a crash.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
from pathlib import Path

from codecap.store import settings
from codecap.store.leases import NO_LINKS, lease

os.umask(UMASK := os.umask(0))  # the only way to read it
DRAFT_MODE = 0o600  # of what tempfile.mkstemp makes
NO_FOLDER_FLUSH = (errno.EINVAL, errno.EBADF, errno.EACCES, errno.EPERM, errno.EISDIR, errno.ENOTSUP)


def file_mode() -> int:
    """Permissions of a finished file."""
    return 0o664 if settings.current().group_writable else 0o666 & ~UMASK


def open_shared(path: Path, flags: int) -> int:
    """Open a file of the store that is written as it lies there, made where `flags` say so; its descriptor.

    What this makes can be written by the group where the settings say so, whatever the umask.
    """
    descriptor = os.open(path, flags, file_mode())
    if settings.current().group_writable and flags & os.O_CREAT:
        with contextlib.suppress(PermissionError):  # another's: who made it has seen to that
            os.fchmod(descriptor, file_mode())
    return descriptor


def make_folder(folder: Path) -> None:
    """Make a folder with those above it; new ones belong to the group as the settings say (`store.group_writable`)."""
    if not settings.current().group_writable:
        folder.mkdir(parents=True, exist_ok=True)
        return
    missing = []
    while not folder.is_dir():
        missing.append(folder)
        folder = folder.parent
    for made in reversed(missing):
        with contextlib.suppress(FileExistsError):
            made.mkdir()
            with contextlib.suppress(PermissionError):
                made.chmod(0o2775)


def seal(draft: Path) -> tuple[int, str]:
    """Flush a draft to the disk, with the permissions of a finished file; its size in bytes and its SHA-256.

    A file that was linked into the draft's place keeps its own permissions.
    """
    with draft.open("rb") as file:
        os.fsync(file.fileno())
        told = os.fstat(file.fileno())
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if told.st_mode & 0o777 == DRAFT_MODE:
        with contextlib.suppress(PermissionError):  # a filesystem without permissions
            draft.chmod(file_mode())
    return told.st_size, digest


def put_new(draft: Path, place: Path, durable: bool = True) -> bool:
    """Give a sealed draft its name if nothing has that name; whether it did. Of several that try, one succeeds.

    Where the filesystem has no hard links, those who try hold a lease on the name one after another, and rename. The file then is
    as whole as with links; that one alone succeeds is as sure as the lease, see `leases`.

    Args:
        durable: flush the folder too. Not so where a later name in the same folder is needed to find this one.
    """
    own = draft.stat()
    try:
        os.link(draft, place)
    except OSError as error:
        if not is_file(place, own):  # else it was done, the answer was lost, and the client has asked the server again
            if error.errno == errno.EEXIST:
                return False
            if error.errno not in NO_LINKS:
                raise
            with lease(place):
                if os.path.lexists(place):
                    return False
                put_over(draft, place)
                return True
    draft.unlink(missing_ok=True)
    if durable:
        flush_folder(place.parent)
    return True


def put_over(draft: Path, place: Path) -> None:
    """Give a sealed draft its name, whatever has it."""
    own = draft.stat()
    try:
        os.replace(draft, place)
    except FileNotFoundError:
        if not is_file(place, own):  # as above
            raise
    flush_folder(place.parent)


def flush_folder(folder: Path) -> None:
    """Have the names in a folder outlive a crash, where the platform can say so."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except FileNotFoundError:
        return  # emptied and removed since
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in NO_FOLDER_FLUSH:
            raise
    finally:
        os.close(descriptor)


def is_file(place: Path, own: os.stat_result) -> bool:
    """Whether a name is that of a certain file, told by its state at an earlier time."""
    try:
        return os.path.samestat(place.stat(), own)
    except OSError:
        return False
