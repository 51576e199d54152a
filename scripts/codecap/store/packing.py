"""Packing finished items into few files, and taking them apart again, at any time, while others read and write.

One pack holds the items of one stage and system that are of one shard. It is written whole under a name that nothing had, flushed,
and read back, before the loose files that are in it, and the older packs that it replaces, are deleted: files first, JSON files
last. A packer deletes nothing but what it has put into its own pack. So a kill at any time loses nothing, and leaves a draft at
most, or items that are both loose and packed, which are the same. One packer works on a stage and system at a time.

Who is reading a loose file when it is deleted reads on, but for a reader on another machine over NFS: its item fails by no fault of
the item, and is tried again. What comes after a shard begins when the shard is packed.
"""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import tempfile
import time
import zipfile
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from codecap.store import cleaning, folders, items, layout, packs, places, putting
from codecap.store.failures import StoreError, explained
from codecap.store.leases import Lease, lease

LOG = logging.getLogger("codecap")
LOCK = "packing"
BucketOf = Callable[[str], str]


@dataclass(frozen=True)
class Done:
    """What was packed, or taken apart: how many items, and how many files there are more (fewer: below 0)."""

    items: int = 0
    files: int = 0

    def __add__(self, other: Done) -> Done:
        return Done(self.items + other.items, self.files + other.files)


def pack(root: Path, bucket_of: BucketOf) -> Iterator[tuple[Path, Done]]:
    """Pack all finished items under a root; each folder of a stage and system, and what was done there.

    Raises:
        StoreError: the store cannot be written.
    """
    for folder in folders.under(root):
        yield folder, pack_folder(folder, bucket_of)


def unpack(root: Path) -> Iterator[tuple[Path, Done]]:
    """Make all packed items under a root loose again."""
    for folder in folders.under(root):
        yield folder, unpack_folder(folder)


def pack_touched(bucket_of: BucketOf) -> None:
    """Pack the shards of which this process has made or found loose items. What goes wrong is told, and fails nothing."""
    for folder, clips in sorted(items.TOUCHED.items()):
        try:
            pack_folder(folder, bucket_of, only={bucket_of(clip_id) for clip_id in clips})
        except OSError as error:
            LOG.warning("%s: not packed: %s; `codecap store pack` does it later", folder, error.args[-1])
        else:
            clips.clear()


def pack_folder(folder: Path, bucket_of: BucketOf, only: Container[str] | None = None) -> Done:
    """Pack a stage's and system's items, those of some shards (`only`) or all."""
    done = Done()
    try:
        with lease(folder / LOCK) as held:
            _sweep(folder)
            loose = defaultdict(list)
            for item in folders.loose(folder):
                bucket = bucket_of(item.clip_id)
                if item.stored is not None and (only is None or bucket in only):
                    loose[bucket].append(item)
            old = _by_bucket(folder, only)
            for bucket in sorted(loose.keys() | old.keys()):
                if loose[bucket] or len(old[bucket]) > 1:
                    done += _pack_bucket(folder, bucket, loose[bucket], old[bucket], held)
            cleaning.drop_empty(folder)
    except FileNotFoundError:
        if folder.is_dir():
            raise
    except OSError as error:
        raise explained(error, folder) from error
    return done


def unpack_folder(folder: Path) -> Done:
    """Make a stage's and system's packed items loose. Each pack is deleted when all that was in it is durable."""
    done = Done()
    try:
        with lease(folder / LOCK) as held:
            _sweep(folder)
            known = packs.of(folder)
            for name, inside in known.all().items():
                if inside:
                    done += _unpack(folder, known, name, inside, held)
    except OSError as error:
        raise explained(error, folder) from error
    return done


def _by_bucket(folder: Path, only: Container[str] | None) -> dict[str, dict[str, dict[str, packs.Packed]]]:
    """Packs of each shard, with their members."""
    found: dict[str, dict[str, dict[str, packs.Packed]]] = defaultdict(dict)
    for name, inside in packs.of(folder).all().items():
        bucket = name.partition("-")[0]
        if inside and (only is None or bucket in only):
            found[bucket][name] = inside
    return found


def _pack_bucket(
    folder: Path, bucket: str, loose: list[folders.Loose], old: dict[str, dict[str, packs.Packed]], held: Lease
) -> Done:
    known = packs.of(folder)
    name = f"{bucket}-{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{secrets.token_hex(4)}{layout.PACK}"
    descriptor, draft = tempfile.mkstemp(dir=folder, prefix=f".{name}.", suffix=layout.DRAFT)
    os.close(descriptor)
    draft = Path(draft)
    try:
        with zipfile.ZipFile(draft, "w", zipfile.ZIP_STORED, strict_timestamps=False) as new:
            there = set().union(*old.values())
            packed = [item for item in loose if (item.member in there and _is_whole(known, item)) or _add(new, folder, known, item)]
            _add_old(new, known, old)
            names = set(new.namelist())
        if not names:
            return Done()
        putting.seal(draft)
        with zipfile.ZipFile(draft) as written:
            if set(written.namelist()) != names:
                raise StoreError(None, f"{draft}: was not written as a whole; nothing is packed here, and nothing lost")
        if not held.is_ours() or not putting.put_new(draft, folder / name):
            return Done()  # it was stopped for so long that another packs here now
    finally:
        draft.unlink(missing_ok=True)
    return Done(len(packed), 1 - _delete(folder, packed, old, held))


def _is_whole(known: packs.Packs, item: folders.Loose) -> bool:
    """Whether a loose item is packed too, as a whole: a packer was killed, or two have made it, and the packed one is first."""
    told = known.read(item.member)
    if told is None:
        return False
    found = [(known.find(file.member), file.size) for file in layout.read(told, item.member).files.values()]
    return all(packed is not None and packed.size == size for packed, size in found)


def _add(new: zipfile.ZipFile, folder: Path, known: packs.Packs, item: folders.Loose) -> bool:
    """Add a loose item to a pack; whether it is whole. Files of one that is not may be added, and then are named by none."""
    assert item.stored is not None
    for file in item.stored.files.values():
        if file.member in new.NameToInfo:
            continue
        if places.size_of(folder / file.member) == file.size:
            with contextlib.suppress(FileNotFoundError):
                new.write(folder / file.member, file.member)
        elif (found := known.find(file.member)) is None or found.size != file.size or not _add_packed(new, known, file.member):
            return False
        if file.member not in new.NameToInfo or new.getinfo(file.member).file_size != file.size:
            return False
    try:
        new.write(folder / item.member, item.member)
    except FileNotFoundError:
        return False
    return True


def _add_old(new: zipfile.ZipFile, known: packs.Packs, old: dict[str, dict[str, packs.Packed]]) -> None:
    """Add what older packs hold and the new one does not have yet; of two that differ, the oldest counts, as it did so far."""
    for inside in old.values():
        for member in inside:
            if member not in new.NameToInfo and not _add_packed(new, known, member):
                raise StoreError(None, f"{known.folder / member}: is gone from its pack; nothing is packed here, try again")


def _add_packed(new: zipfile.ZipFile, known: packs.Packs, member: str) -> bool:
    found = known.find(member)
    if found is None:
        return False

    def write(pieces: Iterator[bytes]) -> bool:
        info = zipfile.ZipInfo(member, date_time=time.gmtime()[:6])
        with new.open(info, "w", force_zip64=found.size >= zipfile.ZIP64_LIMIT) as target:
            for piece in pieces:
                target.write(piece)
        return True

    return bool(known.use(member, write))


def _delete(folder: Path, packed: list[folders.Loose], old: Iterable[str], held: Lease) -> int:
    """Delete what is in a new pack now; how many files that were."""
    if not held.is_ours():
        return 0
    deleted = 0
    for item in packed:
        assert item.stored is not None
        for member in [*(file.member for file in item.stored.files.values()), item.member]:
            with contextlib.suppress(FileNotFoundError):
                (folder / member).unlink()
                deleted += 1
    for name in old:
        with contextlib.suppress(FileNotFoundError):
            (folder / name).unlink()
            deleted += 1
    return deleted


def _unpack(folder: Path, known: packs.Packs, name: str, inside: dict[str, packs.Packed], held: Lease) -> Done:
    ordered = sorted(inside, key=lambda member: (layout.clip_of(member) is not None, member))  # JSON files last
    made = sum(_put_loose(folder, known, member) for member in ordered)
    lost = [member for member in inside if places.size_of(folder / member) is None]
    if lost or not held.is_ours():
        return Done(0, made)
    for shelf in {member.partition("/")[0] for member in inside}:
        putting.flush_folder(folder / shelf)
    (folder / name).unlink(missing_ok=True)
    return Done(sum(layout.clip_of(member) is not None for member in inside), made - 1)


def _put_loose(folder: Path, known: packs.Packs, member: str) -> bool:
    """Whether a packed file was put beside its pack. Where one of that name is there, only a JSON file is put over it.

    It may be of one who has just made the same item and is about to take it back, since this one was first.
    """
    place, is_json = folder / member, layout.clip_of(member) is not None
    if places.size_of(place) is not None and not is_json:
        return False
    draft = items.draft_in(place.parent, f".{place.name}.", layout.DRAFT)
    try:
        if not known.copy(member, draft):
            return False
        putting.seal(draft)
        if putting.put_new(draft, place):
            return True
        if is_json:
            putting.put_over(draft, place)
        return False
    finally:
        draft.unlink(missing_ok=True)


def _sweep(folder: Path) -> None:
    for path in cleaning.left_in(folder):
        path.unlink(missing_ok=True)
