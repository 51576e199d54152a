"""Finished items, kept outside Snakemake's outputs.

Snakemake deletes what a failed job has made. A shard that dies after 31 of 32 clips would make them all again; for paid model
calls that is money. So each item is written here when it is done, under a key that digests all that determines it:

    <root>/<stage>/<system>/<clip>/<key>.json      its value, and the size of each of its files
    <root>/<stage>/<system>/<clip>/<key>.<suffix>  its files

An item is there whole or not at all, after SIGKILL and on shared filesystems too: every file is written under a draft's name,
flushed to disk and renamed, the JSON last.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import socket
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from codecap.errors import UserError
from codecap.records import UMASK

DRAFT_SUFFIX = ".draft"
LOG_FOLDER = "log"


class StoreError(UserError, OSError):
    """The store cannot be written; the message names the place and the way out."""


@dataclass(frozen=True)
class Item:
    """One finished item: its JSON value, and the files that belong to it, by suffix."""

    key: str
    value: Any
    files: Mapping[str, Path] = field(default_factory=dict)


class Draft:
    """Where a new item's files are written until it is whole."""

    def __init__(self, folder: Path, key: str) -> None:
        self.folder, self.key = folder, key
        self.paths: dict[str, Path] = {}

    def file(self, suffix: str) -> Path:
        """Path for the item's file with this suffix ("mp4", "npz"); it is kept if something is written there."""
        if suffix not in self.paths:
            descriptor, path = tempfile.mkstemp(dir=self.folder, prefix=f".{self.key}.", suffix=f"{DRAFT_SUFFIX}.{suffix}")
            os.close(descriptor)
            self.paths[suffix] = Path(path)
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
        """The item, if it is there with all its files in their recorded sizes."""
        folder = self._folder(system, clip_id)
        try:
            stored = json.loads((folder / f"{key}.json").read_text(encoding="utf-8"))
        except (FileNotFoundError, json.JSONDecodeError):
            return None
        files = {suffix: folder / f"{key}.{suffix}" for suffix in stored["files"]}
        if any(not path.is_file() or path.stat().st_size != stored["files"][suffix] for suffix, path in files.items()):
            return None
        return Item(key=key, value=stored["value"], files=files)

    def get_or_make(
        self,
        system: str,
        clip_id: str,
        key: str,
        make: Callable[[Draft], Any],
        keep: Callable[[Any], bool] = lambda _: True,
    ) -> Item:
        """The item, from the store or by calling `make`.

        Args:
            make: gets a `Draft` for the item's files, returns its value (JSON).
            keep: false for a value that must not be stored (a failure of ours); its files are thrown away.

        Raises:
            StoreError: the item could not be written.
        """
        found = self.get(system, clip_id, key)
        if found is not None:
            return found
        folder = self._folder(system, clip_id)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise explained(error, folder) from error
        draft = Draft(folder, key)
        try:
            value = make(draft)
            if not keep(value):
                return Item(key=key, value=value)
            return self._commit(system, clip_id, draft, value)
        except OSError as error:
            raise explained(error, folder) from error
        finally:
            draft.discard()

    def _commit(self, system: str, clip_id: str, draft: Draft, value: Any) -> Item:
        files, sizes = {}, {}
        for suffix, path in draft.paths.items():
            if not path.exists() or (size := path.stat().st_size) == 0:
                continue
            _flush(path)
            files[suffix] = draft.folder / f"{draft.key}.{suffix}"
            os.replace(path, files[suffix])
            sizes[suffix] = size
        whole = draft.file("json")
        whole.write_text(json.dumps({"value": value, "files": sizes}), encoding="utf-8")
        _flush(whole)
        os.replace(whole, draft.folder / f"{draft.key}.json")
        self._log(system, clip_id, draft.key)
        return Item(key=draft.key, value=json.loads(json.dumps(value)), files=files)

    def _log(self, system: str, clip_id: str, key: str) -> None:
        line = {"stage": self.stage, "system": system, "clip_id": clip_id, "key": key, "time": round(time.time(), 3)}
        with _log_of_this_process(self.root).open("a", encoding="utf-8") as log:
            log.write(json.dumps(line) + "\n")

    def _folder(self, system: str, clip_id: str) -> Path:
        return self.root / self.stage / system / clip_id


def digest_of(value: Any) -> str:
    """Digest of a JSON value: 24 hexadecimal digits, the same for equal values whatever the order of their keys.

    >>> digest_of({"a": 1, "b": 2}) == digest_of({"b": 2, "a": 1})
    True
    """
    told = json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(told.encode()).hexdigest()[:24]


def made(root: Path) -> Iterator[dict[str, Any]]:
    """The store log: one entry for each item ever made under `root`, hits leave none."""
    for log in sorted((Path(root) / LOG_FOLDER).glob("*.jsonl")):
        with log.open(encoding="utf-8") as lines:
            for line in lines:
                if line.endswith("\n"):  # a killed writer may leave half a line
                    yield json.loads(line)


def verify(root: Path) -> Iterator[str]:
    """Problems of the items under `root`: files that are missing or of another size, JSON that does not parse, old drafts."""
    for path in sorted(Path(root).rglob("*")):
        if path.is_dir() or LOG_FOLDER in path.relative_to(root).parts[:1]:
            continue
        if DRAFT_SUFFIX in path.name:
            if time.time() - path.stat().st_mtime > 86_400:
                yield f"{path}: a draft that was never finished; it can be deleted"
        elif path.suffix == ".json":
            yield from _problems_of(path)


def _problems_of(path: Path) -> Iterator[str]:
    try:
        sizes = json.loads(path.read_text(encoding="utf-8"))["files"]
    except (json.JSONDecodeError, KeyError, UnicodeDecodeError):
        yield f"{path}: not an item; delete it and it is made again"
        return
    for suffix, size in sizes.items():
        file = path.with_suffix(f".{suffix}")
        if not file.is_file():
            yield f"{file}: missing; it is made again at the next run"
        elif file.stat().st_size != size:
            yield f"{file}: {file.stat().st_size} bytes instead of {size}; it is made again at the next run"


def explained(error: OSError, place: Path) -> OSError:
    """The same error with a message that says what to do, for those a user can cure; any other as it is."""
    cures = {
        errno.ENOSPC: "no space left on the device; free some or move it",
        errno.EDQUOT: "the disk quota is used up; free some space or move it",
        errno.EROFS: "the filesystem is read-only; mount it for writing or move it",
        errno.EACCES: "no permission to write; change the permissions or move it",
        errno.EPERM: "writing is not permitted; change the permissions or move it",
    }
    if isinstance(error, StoreError) or error.errno not in cures:
        return error
    return StoreError(
        error.errno,
        f"{place}: {cures[error.errno]} (config keys store.durable, store.bulk, store.scratch; "
        "results lie in the working folder). Nothing finished is lost: run again",
    )


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    if path.stat().st_mode & 0o777 == 0o600:  # a draft's own mode, not that of a file linked into its place
        path.chmod(0o666 & ~UMASK)


_LOG_NAMES: dict[int, str] = {}


def _log_of_this_process(root: Path) -> Path:
    """One log a process, so that no two writers share a file; its name is new for each process."""
    pid = os.getpid()
    if pid not in _LOG_NAMES:
        _LOG_NAMES[pid] = f"{time.strftime('%Y%m%dT%H%M%S')}-{socket.gethostname()}-{pid}-{time.monotonic_ns()}.jsonl"
    folder = Path(root) / LOG_FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    return folder / _LOG_NAMES[pid]
