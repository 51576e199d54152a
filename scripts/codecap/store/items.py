"""Items: whole or absent, made once, the same for all who ask."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from codecap.store import cleaning, layout, log, packs, places, putting
from codecap.store.failures import explained
from codecap.store.leases import lease

LOG = logging.getLogger("codecap")
ROUNDS = 10  # of asking again where a packer has just removed an empty folder, or another machine has replaced a file
TOUCHED: dict[Path, set[str]] = {}  # folders of stages and systems, and the clips of which this process had loose items there
_SWEPT: set[Path] = set()  # shelves where this process has removed what dead writers left


@dataclass(frozen=True)
class Item:
    """One finished item: its JSON value, and the files that belong to it, by suffix.

    The paths are the files' places in the store: to open one, ask `store.at`, since the item may be packed.
    """

    key: str
    value: Any
    files: Mapping[str, Path] = field(default_factory=dict)


class Draft:
    """Where a new item's files are written until it is whole.

    Args:
        folder: the shelf that the item will be on.
    """

    def __init__(self, folder: Path, clip_id: str, key: str) -> None:
        self.folder, self.clip_id, self.key = folder, clip_id, key
        self.paths: dict[str, Path] = {}

    def file(self, suffix: str) -> Path:
        """Path for the item's file with this suffix ("mp4", "npz"); it is kept if something is written there."""
        if suffix not in self.paths:
            self.paths[suffix] = draft_in(self.folder, f".{self.clip_id}.{self.key}.", f"{layout.DRAFT}.{suffix}")
        return self.paths[suffix]

    def discard(self) -> None:
        for path in self.paths.values():
            path.unlink(missing_ok=True)


class ItemStore:
    """One stage's items.

    Args:
        root: one of the config's store folders, shared by all jobs.
        stage: name of the stage, a folder: "render", "score/kss".
        salt: what determines every item of the stage: settings, code digest, weights revision. JSON values.
    """

    def __init__(self, root: Path, *, stage: str, salt: Any) -> None:
        self.root, self.stage, self.salt = Path(root), stage, salt

    def key(self, *upstream: str) -> str:
        """Key of the item that is made from these inputs: digests or keys, in order."""
        return digest_of([self.stage, self.salt, *upstream])

    def get(self, system: str, clip_id: str, key: str) -> Item | None:
        """The item, if it is there with all its files in their recorded sizes, loose or packed."""
        folder = layout.folder_of(self.root, self.stage, system)
        packed = packs.of(folder)
        for _ in packed.looks():
            for member in layout.members(clip_id, key):
                stored = _loose(folder, member)
                if stored is not None and _is_whole(folder, packed, stored):
                    TOUCHED.setdefault(folder, set()).add(clip_id)
                    return _item(folder, key, stored)
            found = _packed(folder, packed, clip_id, key)
            if found is not None:
                return found
        return None

    def get_or_make(
        self,
        system: str,
        clip_id: str,
        key: str,
        make: Callable[[Draft], Any],
        keep: Callable[[Any], bool] = lambda _: True,
    ) -> Item:
        """The item, from the store or by calling `make`. Where others make it at the same time, the first to finish is taken.

        Args:
            make: gets a `Draft` for the item's files, returns its value (JSON).
            keep: false for a value that must not be stored (a failure of ours); its files are thrown away.

        Raises:
            StoreError: the item could not be written.
        """
        found = self.get(system, clip_id, key)
        if found is not None:
            return found
        shelf = layout.folder_of(self.root, self.stage, system) / layout.shelf_of(clip_id)
        draft = Draft(shelf, clip_id, key)
        try:
            putting.make_folder(shelf)
            _sweep(shelf)
            value = make(draft)
            if not keep(value):
                return Item(key=key, value=value)
            return self._commit(system, draft, value)
        except OSError as error:
            raise explained(error, shelf) from error
        finally:
            draft.discard()

    def _commit(self, system: str, draft: Draft, value: Any) -> Item:
        """Put the files, then the JSON file, which alone says that there is an item."""
        folder, ours = draft.folder.parent, set()
        place = folder / layout.members(draft.clip_id, draft.key)[0]
        try:
            files = _put_files(draft, ours)
            told = draft.file("json")
            told.write_text(layout.write(value, files), encoding="utf-8")
            putting.seal(told)
            item = self._first(system, draft, place, ours)
        except BaseException:
            if not place.exists():  # else it may name them
                _remove(ours)
            raise
        if item is not None:
            return item
        (folder / layout.members(draft.clip_id, draft.key)[1]).unlink(missing_ok=True)  # of an item that lost its files
        TOUCHED.setdefault(folder, set()).add(draft.clip_id)
        entry = {"stage": self.stage, "system": system, "clip_id": draft.clip_id, "key": draft.key}
        log.note(self.root, entry)
        return _item(folder, draft.key, layout.Stored(json.loads(json.dumps(value)), files))

    def _first(self, system: str, draft: Draft, place: Path, ours: set[Path]) -> Item | None:
        """The item of another who was first; None where it is this one, which has its place then."""
        folder, clip_id, key = draft.folder.parent, draft.clip_id, draft.key
        told, other = draft.file("json").stat(), None
        for _ in range(ROUNDS):
            if putting.put_new(draft.file("json"), place):
                other = _packed(folder, packs.of(folder), clip_id, key)  # made and packed by others since this one was begun
                if other is not None and putting.is_file(place, told):
                    place.unlink(missing_ok=True)
                break
            other = self.get(system, clip_id, key)
            if other is not None or self._replaced(system, draft, place):
                break
        if other is not None:
            _remove(ours.difference(other.files.values()))
        return other

    def _replaced(self, system: str, draft: Draft, place: Path) -> bool:
        """Whether the JSON file of an item that has lost its files was replaced. Of several who would, one is first again."""
        with lease(place):
            if self.get(system, draft.clip_id, draft.key) is not None or not place.exists():
                return False
            putting.put_over(draft.file("json"), place)
            return True


def digest_of(value: Any) -> str:
    """Digest of a JSON value: 24 hexadecimal digits, the same for equal values whatever the order of their keys.

    >>> digest_of({"a": 1, "b": 2}) == digest_of({"b": 2, "a": 1})
    True
    """
    told = json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(told.encode()).hexdigest()[:24]


def draft_in(shelf: Path, prefix: str, suffix: str) -> Path:
    """An empty file of a new name on a shelf, which is made where it is missing: a packer removes empty ones."""
    for left in reversed(range(ROUNDS)):
        putting.make_folder(shelf)
        try:
            descriptor, path = tempfile.mkstemp(dir=shelf, prefix=prefix, suffix=suffix)
        except FileNotFoundError:
            if not left:
                raise
        else:
            os.close(descriptor)
            break
    return Path(path)


def _loose(folder: Path, member: str) -> layout.Stored | None:
    """What a loose JSON file says; None where there is none that can be read."""
    told = places.seen((folder / member).read_bytes)
    try:
        return None if told is None else layout.read(told, member)
    except ValueError:
        return None


def _packed(folder: Path, packed: packs.Packs, clip_id: str, key: str) -> Item | None:
    for member in layout.members(clip_id, key):
        if packed.find(member) is None:
            continue
        try:
            told = packed.read(member)
            stored = None if told is None else layout.read(told, member)
        except ValueError:
            continue
        except packs.Damaged as error:  # told once: from now on it is not found
            LOG.warning("%s: %s", error.filename, error.strerror)
            continue
        if stored is not None and _is_whole(folder, packed, stored):
            return _item(folder, key, stored)
    return None


def _is_whole(folder: Path, packed: packs.Packs, stored: layout.Stored) -> bool:
    """Whether all files are there in their sizes, each of them loose or packed."""
    for file in stored.files.values():
        if places.size_of(folder / file.member) == file.size:
            continue
        found = packed.find(file.member)
        if found is None or found.size != file.size:
            return False
    return True


def _item(folder: Path, key: str, stored: layout.Stored) -> Item:
    return Item(key, stored.value, {suffix: folder / file.member for suffix, file in stored.files.items()})


def _put_files(draft: Draft, ours: set[Path]) -> dict[str, layout.File]:
    """Give a draft's files their names. Places that were not there before are added to `ours`."""
    files: dict[str, layout.File] = {}
    for suffix, path in list(draft.paths.items()):
        if not path.exists() or path.stat().st_size == 0:
            continue
        size, sha256 = putting.seal(path)
        member = layout.file_member(draft.clip_id, draft.key, sha256, suffix)
        place = draft.folder.parent / member
        files[suffix] = layout.File(member, size, sha256)
        if putting.put_new(path, place, durable=False):
            ours.add(place)
        elif places.size_of(place) != size:  # its name says what should be in it: it was cut short since
            putting.put_over(path, place)
    return files


def _remove(places: Iterable[Path]) -> None:
    for place in places:
        place.unlink(missing_ok=True)


def _sweep(shelf: Path) -> None:
    """Remove drafts of dead writers from a shelf, once a process."""
    if shelf in _SWEPT:
        return
    _SWEPT.add(shelf)
    _remove(cleaning.left_in(shelf))
