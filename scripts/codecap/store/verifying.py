"""Is everything that the store says it has really there?"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from codecap.store import cleaning, folders, layout, packs, places


def verify(root: Path, contents: bool = False) -> Iterator[str]:
    """Problems under `root`: files missing or of another size, JSON that is no item's, packs that are torn, drafts of the dead.

    Args:
        contents: read every file too, and compare it with what was written.
    """
    root = Path(root)
    for place, _, files in sorted(os.walk(root)):
        for path in sorted(cleaning.left_in(Path(place))):
            yield f"{path}: was never finished; `codecap store clean` removes it"
        for name in sorted(files):
            if name.endswith(layout.PACK + layout.SET_ASIDE):
                yield f"{Path(place) / name}: a damaged pack, set aside when all that was whole in it was saved; delete it"
    for folder in folders.under(root):
        for item in folders.loose(folder):
            if item.stored is None:
                yield f"{folder / item.member}: not an item; delete it and it is made again"
            else:
                yield from _problems(folder, item.stored, contents)
        yield from _problems_of_packs(folder, contents)


def _problems(folder: Path, stored: layout.Stored, contents: bool) -> Iterator[str]:
    for file in stored.files.values():
        path = folder / file.member
        size = places.size_of(path)
        if size is None:
            found = packs.of(folder).find(file.member)
            if found is None:
                yield f"{path}: missing; it is made again at the next run"
            elif found.size != file.size:
                yield f"{found.pack}: {file.member} has {found.size} bytes instead of {file.size}; it is made again at the next run"
        elif size != file.size:
            yield f"{path}: {size} bytes instead of {file.size}; it is made again at the next run"
        elif contents and file.sha256 is not None and _sha256(path) != file.sha256:
            yield f"{path}: not what was written; delete it and it is made again"


def _problems_of_packs(folder: Path, contents: bool) -> Iterator[str]:
    held = packs.of(folder)
    for pack, inside in held.all().items():
        for member in sorted(inside):
            if layout.clip_of(member) is None:
                continue
            try:
                yield from _problems(folder, layout.read(held.read(member) or b"", member), contents=False)
            except packs.Damaged:
                pass  # told below
            except ValueError:
                yield f"{folder / pack}: {member} is not an item; `codecap store unpack`, delete it, and it is made again"
        if contents:
            held.test(pack)
        lost = held.lost(pack)
        for member in lost:
            yield "{0.filename}: {0.strerror}".format(packs.Damaged(member, folder / pack))
        if held.is_damaged(pack) and not lost:
            yield f"{folder / pack}: not a whole pack; `codecap store unpack` saves what is whole in it"


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
