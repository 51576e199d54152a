"""Shards' journals: what each job says of its work, for whoever plans, waits or looks.

Snakemake knows that a job ran or did not. A shard's journal is one small JSON file that its job writes when it starts, now and then
while items are finished, and at its end:

    results/shards/<rule>/<wildcards joined by dots>.json

The number of its tries goes into the rule's params: where rows failed by our fault, or files that they name are gone, the next plan
differs from what was recorded and runs the shard again, and stays the same once it came through.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import logging
import os
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from codecap.records import in_words, write_whole

if TYPE_CHECKING:
    from pydantic import TypeAdapter

LOG = logging.getLogger("codecap")

RESULTS = Path("results")
SHARDS = RESULTS / "shards"
BEGUN_ANEW = "begun-anew"  # among the journals: when they were, after all had been deleted, in Unix seconds
LOCK = RESULTS / ".lock"  # held by the run that works in this folder, see `plan.hold`

State = Literal["running", "finished", "stopped", "failed"]


@dataclass(frozen=True)
class Mark:
    """What a shard's job says of itself.

    Attributes:
        shard: its name: the rule and its wildcards, "render_captions/vtrace/03".
        this_try: number of the try, as planned; it is in the rule's params.
        state: of the job. One that says "running" and is no more was killed, or its node died. "stopped": it ended between two
            items, or was ended, and goes on at its next try. "failed": an error ended it.
        for_good: it failed by what another attempt of this run cannot cure: bad input, a programming error, no memory with all that
            the site allows.
        unfinished: some rows failed by our fault; a later run tries them again.
        total, done: its items, and how many have their row.
        started, told, ended: Unix seconds; `told` is when this was written, `ended` is 0 for a job that runs.
        run: which run of the workflow it belongs to, see `this_run`; "" where that is not known.
        attempt: Snakemake's number of the attempt in this run, from 1.
        ooms: how often attempts were killed for memory; each doubles what the next one asks for. It outlives a run.
        usd: what its questions to hosted models have cost, all its tries together.
        slurm_job: id of the SLURM job that it ran in, "" without one.
        host, pid: where it ran.
        log: its log file.
        detail: in words, why it was stopped or failed, or why rows of a finished shard did where a file that it reads is gone.
        cause: of a shard that the disk ended, the words that are the same for all which met it; of a finished one, what to do.
        trace: where in the code, where a programming error ended it.
        failures: of a finished shard, of how many clips rows failed by our fault, by reason, see `in_general`.
        files: of a finished shard, the files of the store that its rows name, as these name them: whoever reads the rows opens
            these very paths, wherever the configuration has the store now.
    """

    shard: str
    this_try: int = 0
    state: State = "running"
    for_good: bool = False
    unfinished: bool = False
    total: int = 0
    done: int = 0
    started: float = 0.0
    told: float = 0.0
    ended: float = 0.0
    run: str = ""
    attempt: int = 1
    ooms: int = 0
    usd: float = 0.0
    slurm_job: str = ""
    host: str = ""
    pid: int = 0
    log: str = ""
    detail: str = ""
    cause: str = ""
    trace: str = ""
    failures: dict[str, int] = field(default_factory=dict)
    files: tuple[str, ...] = ()

    @property
    def rule(self) -> str:
        return self.shard.partition("/")[0]

    @property
    def wildcards(self) -> list[str]:
        """Their values, in the order of the rule's output."""
        return self.shard.split("/")[1:]

    @property
    def left(self) -> int:
        """Items that are not done; 0 where their number is not known."""
        return max(self.total - self.done, 0)


class Journals:
    """The journals of a run's shards.

    Args:
        folder: where they lie, `SHARDS` below a run's folder.
        bulk: the configuration's `store.bulk`, from which journals of earlier versions name files; None: files are not looked at.
        is_there: whether a file of the store is there, given as path.
    """

    def __init__(self, folder: Path, bulk: Path | None = None, is_there: Callable[[Path], bool] = Path.is_file) -> None:
        self.folder, self.bulk = Path(folder), bulk
        self._is_there = is_there
        self._tries: dict[str, int] = {}
        self._told: set[Path] = set()

    def path(self, name: str) -> Path:
        """Where a shard's journal lies.

        >>> Journals(Path("shards")).path("score_renders/cpu/vtrace/03").as_posix()
        'shards/score_renders/cpu.vtrace.03.json'
        """
        rule, _, wildcards = name.partition("/")
        return self.folder / rule / f"{wildcards.replace('/', '.')}.json" if wildcards else self.folder / f"{rule}.json"

    def read(self, name: str) -> Mark | None:
        """What a shard's journal says now; None without one."""
        return self._read(self.path(name))

    def every(self) -> dict[str, Mark]:
        """All journals, by the shards' names, in order."""
        paths = sorted([*self.folder.glob("*.json"), *self.folder.glob("*/*.json")])
        return {mark.shard: mark for mark in map(self._read, paths) if mark is not None}

    def next_try(self, name: str) -> int:
        """Number of the try that is planned next, the same as long as this object lives.

        `first_try` for a shard that has no journal; the next number where rows failed by our fault or files are gone; else that of
        the last try, which Snakemake runs again where it did not end well.
        """
        if name not in self._tries:
            mark = self.read(name)
            self._tries[name] = self.first_try if mark is None else mark.this_try + self._must_be_again(mark)
        return self._tries[name]

    @functools.cached_property
    def first_try(self) -> int:
        """Number of a shard's first try: 0, or one that none had before, where all journals were deleted and results are there.

        Nobody knows then which files of the store the rows name. So each shard runs once more: it takes its items from the store,
        and writes its journal. Where single journals were deleted, their shards do not run before something else asks for it.
        """
        begun = self.folder / BEGUN_ANEW
        try:
            if not self.folder.exists() and any(self.folder.parent.glob("[0-9]_*/**/*.jsonl")):
                write_whole(begun, [f"{int(time.time())}\n"])
            return int(begun.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return 0
        except (ValueError, OSError) as error:
            self._tell_once(begun, error)
            return 0

    def are_gone(self, mark: Mark) -> bool:
        """Whether a file that a shard's rows name is no more where they say: purged, or the store has moved."""
        return self.bulk is not None and not all(
            self._is_there(Path(name)) or self._is_there(self.bulk / name) for name in mark.files
        )

    def write(self, name: str, mark: Mark) -> None:
        """Put a journal there, whole."""
        if mark.shard != name:
            raise ValueError(f"the mark of {mark.shard} is none of {name}")
        write_whole(self.path(name), [_as_json(mark) + "\n"])

    def _must_be_again(self, mark: Mark) -> bool:
        return mark.state == "finished" and (mark.unfinished or self.are_gone(mark))

    def _read(self, path: Path) -> Mark | None:
        """A journal that cannot be read counts as none: its shard is planned once more, and takes what it did from the store."""
        try:
            mark = _marks().validate_json(path.read_bytes())
        except FileNotFoundError:
            return None
        except (ValueError, OSError) as error:
            self._tell_once(path, error)
            return None
        return mark

    def _tell_once(self, path: Path, error: Exception) -> None:
        from pydantic import ValidationError

        if path not in self._told:
            self._told.add(path)
            why = in_words(error) if isinstance(error, ValidationError) else error
            LOG.warning("%s: not a journal of a shard, taken as none: %s", path, why)


def this_run(lock: Path = LOCK) -> str:
    """What tells the run that holds a folder from all before it, for its jobs on other nodes too; "" where none has held it."""
    try:
        with lock.open() as held:  # opened, a shared filesystem looks again
            told = f"{held.read()}@{os.fstat(held.fileno()).st_mtime_ns}"
            return hashlib.sha256(told.encode()).hexdigest()[:12]
    except FileNotFoundError:
        return ""


def in_general(words: str, names: Iterable[str] = (), folders: Iterable[Path] = ()) -> str:
    """Without what is one shard's or one clip's own, so that those of one cause are told together.

    Args:
        names: of systems and clips.
        folders: in which places differ.

    >>> in_general("captions of still: stopped after 12 of 32: time limit near", ["still"])
    'captions: stopped: time limit near'
    >>> in_general("store/bulk/render/still/_0/A_001.5f.mp4: no space left", folders=[Path("store/bulk")])
    'store/bulk/…: no space left'
    """
    for folder in folders:
        for place in {str(folder.absolute()), str(folder)}:
            words = re.sub(rf"(?<![^\s'\"(=]){re.escape(place)}/[^\s:;,'\")]+", lambda _, told=folder: f"{told}/…", words)
    words = re.sub(r" after \d+ of \d+( clips)?", "", words)
    for name in names:
        words = re.sub(rf"( (of|by) {re.escape(name)}\b)|(?<!\w){re.escape(name)}(: | |$)", "", words)
    return words


@functools.cache
def _marks() -> TypeAdapter[Mark]:
    from pydantic import ConfigDict, TypeAdapter, with_config

    return TypeAdapter(with_config(ConfigDict(extra="forbid"))(Mark))


def _as_json(mark: Mark) -> str:
    """Without what has its default."""
    told: dict[str, Any] = {}
    for item in dataclasses.fields(mark):
        value = getattr(mark, item.name)
        if item.name == "shard" or value not in (item.default, {}, ()):
            told[item.name] = value
    return json.dumps(told, ensure_ascii=False)
