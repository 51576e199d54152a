"""What dead writers left: drafts, leases, and files that no item names. Nobody has touched them for a day."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from codecap.store import folders, layout, leases
from codecap.store.failures import explained

DAY_S = 86_400.0


def clean(root: Path) -> Iterator[Path]:
    """Remove what was left under a root, and folders that are empty; what was removed.

    Raises:
        StoreError: it may not be removed.
    """
    root = Path(root)
    try:
        for place, _, _ in os.walk(root):
            yield from _removed(left_in(Path(place)))
        for folder in folders.under(root):
            yield from _removed(_named_by_none(folder))
            drop_empty(folder)
    except OSError as error:
        raise explained(error, root) from error


def left_in(folder: Path) -> Iterator[Path]:
    """Drafts and leases in a folder that are a day old."""
    with contextlib.suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            hidden = entry.name.startswith(".") and (layout.DRAFT in entry.name or leases.SUFFIX in entry.name)
            if hidden and entry.is_file(follow_symlinks=False) and is_old(Path(entry.path)):
                yield Path(entry.path)


def is_old(path: Path) -> bool:
    """Whether nobody has touched a file for a day. A file that was linked to its place keeps the time of its contents."""
    try:
        told = path.stat()
    except FileNotFoundError:
        return False
    return time.time() - max(told.st_mtime, told.st_ctime) > DAY_S


def drop_empty(folder: Path) -> None:
    """Remove the shelves of a stage and system that hold nothing; whoever writes there makes them again."""
    for shelf in folders.shelves(folder):
        with contextlib.suppress(OSError):
            (folder / shelf).rmdir()


def _named_by_none(folder: Path) -> Iterator[Path]:
    """Loose files that no loose item names: their writer died, or was second, or their item is packed."""
    named: dict[str, set[str]] = {shelf: set() for shelf in folders.shelves(folder)}
    for item in folders.loose(folder):
        held = named.setdefault(item.member.partition("/")[0], set())
        held.add(item.member)
        held.update(file.member for file in item.stored.files.values()) if item.stored else None
    for shelf, held in named.items():
        for path in sorted((folder / shelf).iterdir()):
            if path.name[0] != "." and f"{shelf}/{path.name}" not in held and path.is_file() and is_old(path):
                yield path


def _removed(paths: Iterator[Path]) -> Iterator[Path]:
    for path in paths:
        path.unlink(missing_ok=True)
        yield path
