"""What was fetched: a small file beside each entry's folder, against which every load and every `codecap weights verify` compares.

The table pins what its owners have published. Where they have published nothing, the digest of what came at the first fetch is
recorded and holds from then on. A load compares sizes and times of change, which are those of the moment when the digest was
taken; where they differ (a folder that was copied), the digest is taken again. `verify` takes it always.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from codecap import weights
from codecap.records import UMASK, Row
from codecap.store.leases import lease
from codecap.weights import PREPARED, Entry, Part, WeightsMissing, files_of, folder

UNVERIFIED = "unverified: no digest in the table"


class KeptFile(Row):
    sha256: str
    size_bytes: int
    changed_ns: int


class Manifest(Row):
    """What lies in an entry's folder.

    Attributes:
        files: by path in the folder.
        commits: of the parts that are repositories, by the part's `into`.
        made_from: of a prepared form: digest of what it was made from.
    """

    files: dict[str, KeptFile]
    commits: dict[str, str] = {}
    archives: dict[str, str] = {}
    made_from: str = ""

    def revision(self, told: Entry) -> str:
        """A commit for one repository, a digest for one file, else a digest over all files' digests."""
        if len(told.parts) == 1 and told.parts[0].into in self.commits:
            return self.commits[told.parts[0].into]
        if told.file:
            return self.files[told.file].sha256
        return _digest_over(self.files)


def _digest_over(files: dict[str, KeptFile]) -> str:
    lines = "".join(f"{name} {kept.sha256}\n" for name, kept in sorted(files.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def path_of(name: str) -> Path:
    return folder() / f"{name}.json"


def read(name: str) -> Manifest | None:
    """None where nothing was fetched (or made) under this name.

    Raises:
        WeightsMissing: the manifest is damaged.
    """
    path = path_of(name)
    try:
        return Manifest.model_validate_json(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValidationError as error:
        raise WeightsMissing(f"{path}: damaged; {_cure(name)}") from error


@contextlib.contextmanager
def alone(name: str) -> Iterator[None]:
    """One process at a time, of all machines that share the folder, changes what lies under a name; see `codecap.store.leases`.

    Raises:
        WeightsMissing: the folder for the weights cannot be made.
    """
    weights.make_folder()
    with lease(folder() / name):
        yield


def recorded(name: str, part: Part) -> str:
    """What the first fetch found of a part that the table does not pin; "unknown" before that.

    Where nothing was fetched, but a checkpoint of the user's was prepared under this name, it is that one.
    """
    kept = read(name)
    if kept is None:
        prepared = read(name + PREPARED)
        return prepared.made_from if prepared else "unknown"
    if part.kind == "file":
        return kept.files[part.into].sha256 if part.into in kept.files else "unknown"
    return (kept.archives if part.kind == "archive" else kept.commits).get(part.into, "unknown")


def take(there: Path) -> dict[str, KeptFile]:
    """Digests, sizes and times of all files of a folder."""
    return {file.relative_to(there).as_posix(): _kept(file) for file in files_of(there)}


def _kept(file: Path) -> KeptFile:
    stat = file.stat()
    return KeptFile(sha256=weights.digest(file), size_bytes=stat.st_size, changed_ns=stat.st_mtime_ns)


def write(name: str, made: Manifest) -> None:
    """Put a manifest in place, whole or not at all."""
    path = path_of(name)
    descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".draft")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(made.model_dump(mode="json"), file, indent=1, sort_keys=True)
        file.flush()
        os.fsync(file.fileno())
    Path(draft).chmod(0o666 & ~UMASK)
    Path(draft).replace(path)


def check(name: str, told: Entry) -> Manifest:
    """The manifest of an entry whose files are there and unchanged, and are what the table demands.

    Raises:
        WeightsMissing: they are not.
    """
    kept = read(name)
    if kept is None:
        raise WeightsMissing(f"{folder() / name}: the weights are not there; {_cure(name)}")
    for problem in _differences(name, kept, deep=False):
        raise WeightsMissing(f"{problem}; {_cure(name)}")
    for problem in contradictions(name, told, kept):
        raise WeightsMissing(f"{problem}; {_cure(name)}")
    return kept


def check_prepared(name: str) -> Manifest:
    """As `check`, for what was made of an entry.

    Raises:
        WeightsMissing: it was not made, or has changed since.
    """
    kept = read(name + PREPARED)
    cure = f"run `codecap weights prepare {name}`"
    if kept is None:
        raise WeightsMissing(f"{folder() / (name + PREPARED)}: the prepared weights are not there; {cure}")
    for problem in _differences(name + PREPARED, kept, deep=False):
        raise WeightsMissing(f"{problem}; {cure}")
    for problem in _made_from_another(name, kept):
        raise WeightsMissing(problem)
    return kept


def _made_from_another(name: str, prepared: Manifest) -> Iterator[str]:
    """Where a prepared form is not of the checkpoint that the table names, or that was fetched, which keys of scores tell."""
    (part,) = weights.entry(name).parts
    found = f"{folder() / (name + PREPARED)}: was made from {prepared.made_from}"
    cure = f"run `codecap weights prepare {name}`"
    if part.sha256:
        if prepared.made_from != part.sha256:
            yield f"{found}, {weights.TABLE.name} names {part.sha256}; {_cure(name)}, then {cure}"
    elif prepared.made_from != (fetched := recorded(name, part)):
        yield f"{found}, but {fetched} is what was fetched; {cure}"


def verify(name: str, told: Entry) -> list[str]:
    """What is wrong with an entry's files and with what was prepared from them, every byte read; empty when nothing is.

    Raises:
        WeightsMissing: nothing was fetched under this name.
    """
    kept = read(name)
    if kept is None:
        raise WeightsMissing(f"{folder() / name}: the weights are not there; {_cure(name)}")
    problems = [f"{problem}; {_cure(name)}" for problem in _differences(name, kept, deep=True)]
    problems += [f"{problem}; {_cure(name)}" for problem in contradictions(name, told, kept)]
    try:
        prepared = read(name + PREPARED)
    except WeightsMissing as error:
        return [*problems, str(error)]
    if prepared is not None:
        wrong = _differences(name + PREPARED, prepared, deep=True)
        problems += [f"{problem}; run `codecap weights prepare {name}`" for problem in wrong]
        problems += _made_from_another(name, prepared)
    return problems


def is_whole(name: str, kept: Manifest) -> bool:
    """All files are there with their sizes; none is read."""
    files = {folder() / name / inner: known.size_bytes for inner, known in kept.files.items()}
    return all(file.is_file() and file.stat().st_size == size for file, size in files.items())


def contradictions(name: str, told: Entry, kept: Manifest) -> Iterator[str]:
    """Where what was fetched is not what the table pins, as after an edit of the table."""
    there = folder() / name
    for part in told.parts:
        if part.kind in ("git", "hub"):
            found, wanted = kept.commits.get(part.into, "nothing"), part.revision
        elif part.kind == "archive":
            found, wanted = kept.archives.get(part.into, "nothing"), part.sha256
        else:
            found, wanted = kept.files[part.into].sha256 if part.into in kept.files else "nothing", part.sha256
        if wanted and found != wanted:
            yield f"{there / part.into}: is {found}, {weights.TABLE.name} names {wanted}"


def _differences(name: str, kept: Manifest, deep: bool) -> Iterator[str]:
    there = folder() / name
    for inner, known in kept.files.items():
        file = there / inner
        try:
            stat = file.stat()
        except OSError:
            yield f"{file}: is missing"
            continue
        if stat.st_size != known.size_bytes:
            yield f"{file}: has {stat.st_size} bytes, {known.size_bytes} were fetched"
        elif (deep or stat.st_mtime_ns != known.changed_ns) and weights.digest(file) != known.sha256:
            yield f"{file}: its contents have changed since it was fetched"


def _cure(name: str) -> str:
    if name.endswith(PREPARED):
        return f"run `codecap weights prepare {name.removesuffix(PREPARED)}`"
    return f"run `codecap weights fetch {name}` where there is a network"
