"""A published data set as a folder: what lies where, its digests, and how it is read by somebody who need not trust it."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from codecap.clips_table import read_clips
from codecap.collect.ingest import IngestSettings
from codecap.publish.origins import Origin
from codecap.publish.prints import Prints
from codecap.records import Annotation, Clip, RecordError, Row, read_record, read_rows

CARD, TABLE, ORIGINS, PRINTS, LEDGER = "croissant.json", "clips.tsv", "origins.jsonl", "prints.jsonl", "ledger.jsonl"
RECIPE, DECISIONS, ATTRIBUTION, STATISTICS, FIGURE = (
    "recipe.json", "decisions.tsv", "attribution.tsv", "statistics.json", "statistics.svg"
)  # fmt: skip
README, DIGESTS = "README.md", "SHA256SUMS"
CLIPS, ANNOTATIONS = "clips", "annotations"
LAYOUT = 1
LARGEST_TEXT = 512_000_000  # bytes of one file of rows
LARGEST_ANNOTATION = 64_000_000
_LINE = re.compile(r"([0-9a-f]{64})  ([^\\\n]{1,300})")

R = TypeVar("R", bound=Row)


class Recipe(Row):
    """How the clips were made, as far as making them again depends on it.

    Attributes:
        made_with: versions of this project and of the packages that decode and encode.
        ingest, parts, filter, sources: those sections of the configuration, without secrets and without places of one machine.
    """

    layout: int
    made_with: dict[str, str] = {}
    ingest: dict[str, Any] = {}
    parts: dict[str, Any] = {}
    filter: dict[str, Any] = {}
    sources: dict[str, Any] = {}


@dataclass(frozen=True)
class Published:
    """A folder that was read.

    Attributes:
        clips: with the places of their videos in the folder, whether they are there or not.
        origins, prints: by clip id; not every clip has them.
    """

    folder: Path
    recipe: Recipe
    clips: list[Clip]
    origins: dict[str, Origin]
    prints: dict[str, Prints]

    @property
    def ingest(self) -> IngestSettings:
        try:
            return IngestSettings(**self.recipe.ingest)
        except (TypeError, ValueError) as error:
            raise RecordError(f"{self.folder / RECIPE}: ingest: {error}") from error

    def annotation(self, clip_id: str) -> Annotation | None:
        """Of a clip; None where there is none.

        Raises:
            RecordError: it cannot be read.
        """
        path = self.folder / ANNOTATIONS / f"{clip_id}.json"
        if not path.exists():
            return None
        must_be_small(path, LARGEST_ANNOTATION)
        return read_record(path, Annotation)


def read_published(folder: Path) -> Published:
    """Read a folder that `codecap dataset export` made, wherever it comes from.

    Raises:
        RecordError: it is no such folder, or something in it is not what it must be; the message names file and place.
    """
    folder = Path(folder)
    recipe = _recipe(folder / RECIPE)
    must_be_small(folder / TABLE, LARGEST_TEXT)
    clips = read_clips(folder / TABLE)
    for clip in clips:
        if clip.mp4 != folder / place_of(clip):
            raise RecordError(f"{folder / TABLE}: clip {clip.clip_id}: mp4 must be {place_of(clip)}")
    known = {clip.clip_id for clip in clips}
    origins = _by_clip(folder / ORIGINS, Origin, known)
    prints = _by_clip(folder / PRINTS, Prints, known)
    for clip in clips:
        if clip.clip_id in prints and prints[clip.clip_id].frames != clip.frames:
            raise RecordError(
                f"{folder / PRINTS}: clip {clip.clip_id}: {prints[clip.clip_id].frames} frames, the table says {clip.frames}"
            )
    return Published(folder, recipe, clips, origins, prints)


def place_of(clip: Clip) -> str:
    """Where a clip's video lies in the folder."""
    return f"{CLIPS}/{clip.clip_id}.mp4"


def digests(folder: Path) -> dict[str, str]:
    """sha256 of each file of a folder, by its place, but of the file of digests itself; of what is no ordinary file "".

    Links are not followed: what they lead to is none of the folder's.
    """
    found = {}
    for root, folders, names in os.walk(folder):
        for name in [*names, *(name for name in folders if (Path(root) / name).is_symlink())]:
            path = Path(root) / name
            place = path.relative_to(folder).as_posix()
            if not stat.S_ISREG(path.lstat().st_mode):
                found[place] = ""
            elif place != DIGESTS:
                with path.open("rb") as file:
                    found[place] = hashlib.file_digest(file, "sha256").hexdigest()
    return dict(sorted(found.items()))


def write_digests(folder: Path, told: Mapping[str, str]) -> None:
    """As `sha256sum` writes and checks them."""
    lines = "".join(f"{sha256}  {place}\n" for place, sha256 in sorted(told.items()))
    (folder / DIGESTS).write_text(lines, encoding="utf-8")


def read_digests(folder: Path) -> dict[str, str]:
    """As they were written.

    Raises:
        RecordError: the file is not there, or a line is wrong.
    """
    path = folder / DIGESTS
    must_be_small(path, LARGEST_TEXT)
    text = path.read_text(encoding="utf-8", errors="replace").removesuffix("\n")
    told = {}
    for number, line in enumerate(text.split("\n"), start=1):
        found = _LINE.fullmatch(line)
        if found is None:
            raise RecordError(f"{path}:{number}: not a sha256 and a place, separated by two blanks")
        told[found[2]] = found[1]
    return told


def _recipe(path: Path) -> Recipe:
    must_be_small(path, 4_000_000)
    recipe = read_record(path, Recipe)
    if recipe.layout != LAYOUT:
        raise RecordError(f"{path}: layout {recipe.layout}; this version reads layout {LAYOUT}: take the version that wrote it")
    return recipe


def _by_clip(path: Path, kind: type[R], known: set[str]) -> dict[str, R]:
    must_be_small(path, LARGEST_TEXT)
    found: dict[str, R] = {}
    for row in read_rows(path, kind):
        if row.clip_id not in known or row.clip_id in found:
            raise RecordError(f"{path}: clip {row.clip_id} is told twice, or is not in {TABLE}")
        found[row.clip_id] = row
    return found


def must_be_small(path: Path, bytes_: int) -> None:
    """Called before a file is read as a whole.

    Raises:
        RecordError: it is not there, is larger, or is no file: a pipe or a device may have no end.
    """
    try:
        size = path.stat().st_size
    except OSError as error:
        raise RecordError(f"{path}: {error.strerror}; this is no folder of `codecap dataset export`, or not all of it") from error
    if not path.is_file() or size > bytes_:
        raise RecordError(f"{path}: is no file of at most {bytes_ // 1_000_000} MB")
