"""What lies under a root of the store: folders of stages and systems, their loose items, and what belongs to others."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from codecap.store import layout, log

OTHERS = (log.FOLDER, "clips", "exchange", "humans", "originals")  # under a root, and no items


@dataclass(frozen=True)
class Loose:
    """A loose item: its JSON file's place under stage and system, the clip, and what it says; None for what is no item."""

    member: str
    clip_id: str
    stored: layout.Stored | None


def under(root: Path) -> Iterator[Path]:
    """Folders of stages and systems that hold something, in order."""
    root = Path(root)
    found = set()
    for place, folders, files in os.walk(root):
        if Path(place) == root:
            folders[:] = [name for name in folders if name not in OTHERS]
        if any(name.endswith(layout.PACK) for name in files):
            found.add(Path(place))
        elif any(name.endswith(".json") for name in files):
            found.add(Path(place).parent)
    return iter(sorted(found))


def loose(folder: Path) -> Iterator[Loose]:
    """Loose items of a stage and system, in order."""
    for shelf in shelves(folder):
        with contextlib.suppress(FileNotFoundError):
            for path in sorted((folder / shelf).iterdir()):
                member = f"{shelf}/{path.name}"
                clip_id = layout.clip_of(member)
                if clip_id is not None:
                    yield Loose(member, clip_id, _read(path, member))


def shelves(folder: Path) -> list[str]:
    """Names of the folders in which a stage and system has loose items."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    except FileNotFoundError:
        return []


def _read(path: Path, member: str) -> layout.Stored | None:
    try:
        return layout.read(path.read_bytes(), member)
    except (ValueError, FileNotFoundError):
        return None
