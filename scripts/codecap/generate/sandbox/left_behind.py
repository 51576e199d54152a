"""Folders that untrusted commands have written: their size, the files in them, their removal. No link in them is ever followed."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path, PurePosixPath

BYTES_PER_MB = 1_000_000
BYTES_PER_BLOCK = 512  # of st_blocks, whatever the file system's own are
LEAST_BYTES = 4096  # that a file or folder counts for, so that there cannot be millions of empty ones
DEEPEST = 64
REMOVED_WITHIN_S = 120


class NotReadable(Exception):
    """There is no such file, or it is none that we read; the message says which."""


def read(folder: Path, place: str, most_bytes: int) -> bytes:
    """A regular file of a folder that untrusted commands have written.

    Args:
        place: relative, with forward slashes; no part of it may be a symbolic link.
        most_bytes: a larger file is not read.

    Raises:
        NotReadable: it is not there, a link, no regular file, or larger.
    """
    parts = PurePosixPath(place).parts
    if not parts or ".." in parts or place.startswith("/"):
        raise NotReadable(f"{place}: is not a place in the folder")
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for number, part in enumerate(parts, 1):
            kind = os.O_NONBLOCK if number == len(parts) else os.O_DIRECTORY  # a named pipe must not keep us waiting
            inner = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | kind, dir_fd=opened)
            os.close(opened)
            opened = inner
        told = os.fstat(opened)
        if not stat.S_ISREG(told.st_mode):
            raise NotReadable(f"{place}: is no ordinary file")
        if told.st_size > most_bytes:
            raise NotReadable(f"{place}: {told.st_size} bytes; at most {most_bytes} are read")
        return _whole(opened, most_bytes)
    except OSError as error:
        raise NotReadable(f"{place}: {error.strerror}") from error
    finally:
        os.close(opened)


def too_much(folder: Path, limit_mb: int) -> str | None:
    """In words, when a folder holds more than it may, or is nested deeper than anybody could read; else None.

    May be called while its files are written and moved.
    """
    try:
        opened = _open_folder(folder)
        try:
            taken = _taken(opened, limit_mb * BYTES_PER_MB, DEEPEST)
        finally:
            os.close(opened)
    except OSError:
        return None
    except _TooDeep:
        return f"folders within folders, more than {DEEPEST} deep"
    return f"more than {limit_mb} MB of files" if taken > limit_mb * BYTES_PER_MB else None


def remove(folder: Path) -> None:
    """Remove the folder with all that is in it, however deep and whatever its modes. Nothing may run in it any more.

    Raises:
        OSError: something is left.
    """
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    for command in (["chmod", "-R", "u+rwX", "--"], ["rm", "-rf", "--"]):
        subprocess.run([*command, str(folder.absolute())], **quiet, timeout=REMOVED_WITHIN_S, check=False)
    if os.path.lexists(folder):
        raise OSError(f"{folder}: cannot be removed whole; remove it by hand")


class _TooDeep(Exception):
    pass


def _taken(opened: int, enough: float, deeper: int) -> float:
    """Bytes on the disk, counted until there are enough. By descriptors, so that a folder changed for a link leads nowhere."""
    taken = 0.0
    with os.scandir(opened) as entries:
        for entry in entries:
            try:
                told = entry.stat(follow_symlinks=False)
                taken += max(told.st_blocks * BYTES_PER_BLOCK, LEAST_BYTES)
                if taken > enough:
                    break
                if stat.S_ISDIR(told.st_mode):
                    if deeper == 0:
                        raise _TooDeep
                    inner = _open_folder(entry.name, opened)
                    try:
                        taken += _taken(inner, enough - taken, deeper - 1)
                    finally:
                        os.close(inner)
            except OSError:  # gone
                continue
    return taken


def _open_folder(place: Path | str, of: int | None = None) -> int:
    """For reading; a folder that its maker has closed to us is opened to us first, since much may be in it."""
    flags = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(place, os.O_RDONLY | flags, dir_fd=of)
    except PermissionError:
        there = os.open(place, os.O_PATH | flags, dir_fd=of)
        try:
            Path(f"/proc/self/fd/{there}").chmod(0o700)
            return os.open(f"/proc/self/fd/{there}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        finally:
            os.close(there)


def _whole(opened: int, most_bytes: int) -> bytes:
    chunks = []
    left = most_bytes
    while left > 0 and (chunk := os.read(opened, min(left, 1 << 20))):
        chunks.append(chunk)
        left -= len(chunk)
    return b"".join(chunks)
