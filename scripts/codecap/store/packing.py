"""Packing finished items into few files, and taking them apart again, at any time, while others read and write.

One pack holds the items of one stage and system that are of one shard. It is written whole under a name that nothing had, flushed,
and read back, before the loose files that are in it, and the older packs that it replaces, are deleted: files first, JSON files
last. A packer deletes nothing but what it has put into its own pack. So a kill at any time loses nothing, and leaves a draft at
most, or items that are both loose and packed, which are the same. One packer works on a stage and system at a time.

Where a pack is damaged, what is whole in it is taken over as from any other, what is not is told, and the pack is set aside under
another name instead of being deleted.

Who is reading a loose file when it is deleted reads on, but for a reader on another machine over NFS: its item fails by no fault of
the item, and is tried again. What comes after a shard begins when the shard is packed.
"""

from __future__ import annotations

import contextlib
import errno
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
    """What was packed, or taken apart.

    Attributes:
        items: how many.
        files: how many there are more (fewer: below 0).
        lost: in words, what was damaged, and what became of its pack.
    """

    items: int = 0
    files: int = 0
    lost: tuple[str, ...] = ()

    def __add__(self, other: Done) -> Done:
        return Done(self.items + other.items, self.files + other.files, self.lost + other.lost)


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
            done = pack_folder(folder, bucket_of, only={bucket_of(clip_id) for clip_id in clips})
        except OSError as error:
            LOG.warning("%s: not packed: %s; `codecap store pack` does it later", folder, error.args[-1])
        else:
            clips.clear()
            for lost in done.lost:
                LOG.warning("%s", lost)


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
    """Make a stage's and system's packed items loose. Each pack is deleted when all that was in it is durable.

    A damaged one costs what is damaged in it: the rest is made loose, and the others too.
    """
    done = Done()
    try:
        with lease(folder / LOCK) as held:
            _sweep(folder)
            known = packs.of(folder)
            for name in known.all():
                done += _unpack(folder, known, name, held)
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


def _tested(known: packs.Packs, old: Iterable[str]) -> dict[str, dict[str, packs.Packed]]:
    """Packs that are to be merged, with their members: what is damaged in them is known from here on, and is not found."""
    for name in old:
        known.test(name)
    now = known.all()
    return {name: now[name] for name in old if name in now}


def _pack_bucket(
    folder: Path, bucket: str, loose: list[folders.Loose], old: dict[str, dict[str, packs.Packed]], held: Lease
) -> Done:
    known = packs.of(folder)
    old = _tested(known, old)
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
        _read_back(draft, names)
        if not held.is_ours() or not putting.put_new(draft, folder / name):
            return Done()  # it was stopped for so long that another packs here now
    finally:
        draft.unlink(missing_ok=True)
    deleted, lost = _delete(folder, packed, known, old, held)
    return Done(len(packed), 1 - deleted, lost)


def _read_back(draft: Path, names: set[str]) -> None:
    """Compare what is on the disk, to the last byte, with the checksums of what was written.

    Raises:
        StoreError: it is something else.
    """
    with draft.open("rb") as file:
        if hasattr(os, "posix_fadvise"):  # what the kernel has in memory proves little
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        try:
            with zipfile.ZipFile(file) as written:
                whole = set(written.namelist()) == names and written.testzip() is None
        except zipfile.BadZipFile:
            whole = False
    if not whole:
        raise StoreError(None, f"{draft}: is not on the disk as it was written; nothing is packed here, and nothing lost")


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
    """Add what older packs hold whole and the new one does not have yet; of two that differ, the oldest counts, as so far."""
    for name, inside in old.items():
        lost = known.lost(name)
        for member in inside:
            if member not in new.NameToInfo and member not in lost and not _add_packed(new, known, member):
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


def _delete(
    folder: Path, packed: list[folders.Loose], known: packs.Packs, old: Iterable[str], held: Lease
) -> tuple[int, tuple[str, ...]]:
    """Delete what is in a new pack now; how many files that were, and what was damaged of the older packs."""
    if not held.is_ours():
        return 0, ()
    deleted, lost = 0, []
    for item in packed:
        assert item.stored is not None
        for member in [*(file.member for file in item.stored.files.values()), item.member]:
            with contextlib.suppress(FileNotFoundError):
                (folder / member).unlink()
                deleted += 1
    for name in old:
        lost += _retire(folder, known, name)
        deleted += not known.is_damaged(name)
    return deleted, tuple(lost)


def _retire(folder: Path, known: packs.Packs, name: str) -> Iterator[str]:
    """Delete a pack that is not needed any more, or set it aside where damage was found; what is lost of it."""
    with contextlib.suppress(FileNotFoundError):
        if not known.is_damaged(name):
            (folder / name).unlink()
            return
        aside = folder / (name + layout.SET_ASIDE)
        (folder / name).rename(aside)
        putting.flush_folder(folder)
        for member in known.lost(name):
            if places.size_of(folder / member) is None:
                yield f"{aside}: {member} is damaged there, and is made again at the next run"
        yield f"{aside}: damaged, and set aside; all that was whole in it is saved, so it may be deleted"


def _unpack(folder: Path, known: packs.Packs, name: str, held: Lease) -> Done:
    made, tried, unread = 0, set(), []
    while left := known.all().get(name, {}).keys() - tried:  # more than before where damage was found
        for member in sorted(left, key=lambda member: (layout.clip_of(member) is not None, member)):  # JSON files last
            tried.add(member)
            try:
                made += _put_loose(folder, known, member)
            except packs.Damaged:
                pass  # told below
            except OSError as error:
                if error.errno != errno.EIO:
                    raise
                unread.append(member)
    lost = set(known.lost(name))
    gone = [member for member in tried - lost if places.size_of(folder / member) is None]
    if unread:
        told = f"{folder / name}: {len(unread)} files in it cannot be read now ({unread[0]}); all else is loose, and it stays"
        return Done(0, made, (told,))
    if gone or not held.is_ours() or not (tried or known.is_damaged(name)):
        return Done(0, made)
    for shelf in {member.partition("/")[0] for member in tried}:
        putting.flush_folder(folder / shelf)
    told = tuple(_retire(folder, known, name))
    whole = [member for member in tried - lost if layout.clip_of(member) is not None]
    if lost:
        whole = [member for member in whole if _has_files(folder, folder / member, member)]
    return Done(len(whole), made - (not known.is_damaged(name)), told)


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
        if is_json and _has_files(folder, draft, member):
            putting.put_over(draft, place)
        return False
    finally:
        draft.unlink(missing_ok=True)


def _has_files(folder: Path, told: Path, member: str) -> bool:
    """Whether a JSON file is that of an item which is whole, loose; else another may have made the item again."""
    try:
        stored = layout.read(told.read_bytes(), member)
    except ValueError:
        return False
    return all(places.size_of(folder / file.member) == file.size for file in stored.files.values())


def _sweep(folder: Path) -> None:
    for path in cleaning.left_in(folder):
        path.unlink(missing_ok=True)
