"""Weights: one folder that holds them, one table that says where they come from, and no download but by `codecap weights fetch`.

    found = weights.find("sam2_1_large")            # what the table has under this name, fetched before
    found = weights.find("sam2_1_large", settings.folder)     # or what a setting names instead
    model = load(found.path); protocol = f"... {found.revision}"

A backend's `Settings` has the key `weights`, the name of an entry of resources/weights.yaml, so that the workflow knows what a
configuration needs without importing the backend. The folder is `CODECAP_WEIGHTS`, by default `~/.cache/codecap/weights`; entry
NAME lies in its folder NAME, and NAME.json beside it (see `manifest`) says what was fetched. Cheap to import: no library of models.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field, ValidationError, model_validator

from codecap.config import PROJECT
from codecap.errors import UserError
from codecap.records import Row, in_words

TABLE = PROJECT / "resources" / "weights.yaml"
FOLDER_VARIABLE = "CODECAP_WEIGHTS"
SHOWN = 12  # digits of a digest or a commit that stand in a protocol
PREPARED = ".prepared"
OFFLINE = (  # of libraries that would look for a hub; the last has torch unpickle nothing but tensors
    "HF_HUB_OFFLINE",
    "TRANSFORMERS_OFFLINE",
    "HF_DATASETS_OFFLINE",
    "HF_HUB_DISABLE_TELEMETRY",
    "TORCH_FORCE_WEIGHTS_ONLY_LOAD",
)
SECURE = ("https://", "http://127.0.0.1:")  # the second reaches no network

Digest = Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")]
Commit = Annotated[str, Field(pattern=r"^([0-9a-f]{40})?$")]


class WeightsMissing(UserError):
    """Weights that are needed are not there, or are not what they must be; the message names the file and the cure."""


class Part(Row):
    """One thing to fetch.

    Attributes:
        kind: `file` and `archive` (a zip, unpacked) by https, `hub` (a repository of the Hugging Face hub), `git` (a checkout).
        source: the address; for `hub` the repository.
        revision: the commit, for `hub` and `git`; empty for a hub repository whose commit is not known: the one found is recorded.
        sha256: of the file or the archive; empty where nobody has published it: the one found is recorded.
        size_bytes: of the file or the archive; 0 where it is not known.
        into: where it lies in the entry's folder: a file's path, or a folder ("" is the entry's own).
        only: patterns of the files of a hub repository that are needed; empty: all.
    """

    kind: Literal["file", "archive", "hub", "git"]
    source: str = Field(min_length=1)
    revision: Commit = ""
    sha256: Digest = ""
    size_bytes: int = Field(default=0, ge=0)
    into: str = ""
    only: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Part:
        if self.kind == "git" and not self.revision:
            raise ValueError("a git part needs its commit as revision")
        if self.kind == "file" and not self.into:
            raise ValueError("a file part needs its name in `into`")
        if Path(self.into).is_absolute() or ".." in Path(self.into).parts:
            raise ValueError(f"into: {self.into} leads out of the entry's folder")
        if self.kind != "hub" and not self.source.startswith(SECURE):
            raise ValueError(f"source: {self.source} does not begin with https://")
        return self

    @property
    def pinned(self) -> bool:
        """The table says what must be found, to the bit."""
        return bool(self.revision if self.kind in ("git", "hub") else self.sha256)


class Entry(Row):
    """One row of the table.

    Attributes:
        licence: of the weights, as their owner names it.
        gated: the owner wants an agreement first; fetching needs `HF_TOKEN`.
        needed_by: plugins ("score.encoders.vjepa2_1") that cannot run without it, whatever their settings.
        default_of: plugins that use it unless their setting `weights` names another entry.
        instead: settings of these plugins that name a file or folder of the user's to take in its place.
        size_gb: what it takes on the disk, roughly; 0 where it is not known.
        prepare: how `codecap weights prepare` makes a form that loads faster: a module's function of `weights.preparing`.
    """

    parts: tuple[Part, ...] = Field(min_length=1)
    licence: str
    about: str = ""
    gated: bool = False
    needed_by: tuple[str, ...] = ()
    default_of: tuple[str, ...] = ()
    instead: tuple[str, ...] = ("checkpoint", "folder")
    size_gb: float = Field(default=0, ge=0)
    prepare: Literal["", "vjepa2_1"] = ""

    @property
    def file(self) -> str:
        """The one file of an entry that is a single file; empty for a folder."""
        return self.parts[0].into if len(self.parts) == 1 and self.parts[0].kind == "file" else ""


@dataclass(frozen=True)
class Found:
    """Weights on this machine: a file or a folder, and a short revision for a protocol."""

    path: Path
    revision: str


@functools.cache
def _table_of(path: Path, _changed_ns: int) -> dict[str, Entry]:
    try:
        rows = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
        return {name: Entry.model_validate(row) for name, row in rows.items()}
    except (yaml.YAMLError, AttributeError) as error:
        raise UserError(f"{path}: not a table of weights: {' '.join(str(error).split())}") from error
    except ValidationError as error:
        raise UserError(f"{path}: wrong entry: {in_words(error)}") from error


def table() -> Mapping[str, Entry]:
    """The entries of resources/weights.yaml, by name."""
    return _table_of(TABLE, TABLE.stat().st_mtime_ns)


def entry(name: str) -> Entry:
    """Raises WeightsMissing: no such entry."""
    if name not in table():
        raise WeightsMissing(f"no weights called {name!r} in {TABLE}; there are {', '.join(table())}")
    return table()[name]


def folder() -> Path:
    """Where all weights lie on this machine.

    Raises:
        WeightsMissing: there is something else than a folder.
    """
    there = _named_folder()
    if there.exists() and not there.is_dir():
        raise WeightsMissing(f"{there}: is no folder; set {FOLDER_VARIABLE} to the folder for the weights")
    return there


def make_folder() -> None:
    """Raises WeightsMissing: the folder is not there and cannot be made."""
    try:
        folder().mkdir(parents=True, exist_ok=True)
    except OSError as error:
        cure = f"set {FOLDER_VARIABLE} to a folder that can be written"
        raise WeightsMissing(f"{folder()}: the folder for the weights cannot be made ({error.strerror}); {cure}") from error


def _named_folder() -> Path:
    given = os.environ.get(FOLDER_VARIABLE)
    return Path(given) if given else Path.home() / ".cache" / "codecap" / "weights"


def place(name: str) -> Path:
    """The file, or the folder, of an entry, when it was fetched and has not changed since.

    Raises:
        WeightsMissing: it is not there, is not whole, or is not what was fetched or what the table demands.
    """
    return find(name).path


def find(name: str, given: str | Path | None = None) -> Found:
    """Where weights lie and which they are.

    Args:
        name: an entry of the table.
        given: a file or folder of the user's to take instead; it is digested, and compared with nothing.

    Raises:
        WeightsMissing: see `place`; or there is nothing at `given`.
    """
    from codecap.weights import manifest

    if given:
        return Found(Path(given), f"sha256:{digest(Path(given))[:SHOWN]}")
    told = entry(name)
    kept = manifest.check(name, told)
    there = folder() / name
    return Found(there / told.file if told.file else there, f"{name}@{kept.revision(told)[:SHOWN]}")


def find_prepared(name: str) -> Found:
    """As `find`, for the form that `codecap weights prepare` has made of an entry.

    Raises:
        WeightsMissing: it was not made yet, or has changed since.
    """
    from codecap.weights import manifest

    kept = manifest.check_prepared(name)
    (file,) = kept.files
    return Found(folder() / f"{name}{PREPARED}" / file, f"{name}@{kept.made_from[:SHOWN]}")


def cure(name: str, given: str | Path | None = None) -> str:
    """What to do about weights that cannot be used: one clause for the end of a message."""
    return "correct the setting that names it, or take it out" if given else f"run `codecap weights fetch {name}`"


def digest(path: Path) -> str:
    """sha256 of a file, or of the names and digests of all files of a folder (git's own files and caches left out).

    Raises:
        WeightsMissing: nothing is there.
    """
    if path.is_file():
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    if not path.is_dir():
        raise WeightsMissing(f"{path}: no weights there; correct the setting that names it, or take it out and fetch them")
    whole = hashlib.sha256()
    for file in files_of(path):
        whole.update(f"{file.relative_to(path).as_posix()} {digest(file)}\n".encode())
    return whole.hexdigest()


def mark(path: Path) -> str:
    """What tells whether a file, or a folder, is still the same, without reading it: sizes and times of change; "missing"."""
    held = [path] if path.is_file() else list(files_of(path))
    if not held:
        return "missing"
    stats = [f"{file.name} {(stat := file.stat()).st_size} {stat.st_mtime_ns}" for file in held]
    return hashlib.sha256("\n".join(stats).encode()).hexdigest()[:SHOWN]


def files_of(there: Path) -> Iterator[Path]:
    """Files of a folder that are content, in the order of their names."""
    for file in sorted(there.rglob("*")):
        inner = file.relative_to(there).parts
        if file.is_file() and not {".git", ".cache", "__pycache__"} & set(inner):
            yield file


def needed(plugin: str, settings: Mapping[str, Any]) -> list[str]:
    """Entries that a plugin needs with these settings: cheap, the plugin is not imported.

    >>> needed("score.encoders.efficientnet", {})
    []
    """
    used = [name for name, told in table().items() if plugin in told.needed_by]
    chosen = settings.get("weights")
    used += [chosen] if chosen else [name for name, told in table().items() if plugin in told.default_of]
    return [name for name in used if not any(settings.get(key) for key in entry(name).instead)]


def work_offline() -> None:
    """Tell the libraries of models, before they are imported, that there is no network and where what they look for lies.

    Every job begins so: what is missing is then an error at once, and not a download or a wait for one.
    """
    for variable in OFFLINE:
        os.environ[variable] = "1"
    os.environ.setdefault("TORCH_HOME", str(_named_folder() / "torch"))
    os.environ.setdefault("HF_HOME", str(_named_folder() / "huggingface"))
    os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(_named_folder() / "cl100k_base"))
