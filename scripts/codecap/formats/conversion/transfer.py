"""Annotations out to the files of a format, and back from them."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codecap import registry
from codecap.annotate.validate import Problem, problems
from codecap.formats import UNTOLD, Format, FormatError, Told
from codecap.formats.conversion.merging import onto, reviewed, told_changes
from codecap.records import Annotation, Clip, RecordError, read_record, write_record
from codecap.store.leases import lease

LOG = logging.getLogger("codecap")
UNFIT = ("other_clip", "box_count", "empty_box", "bad_interval")  # no format could say it, or would say it of another clip


def export(form: str, clips: Iterable[Clip], source: Path, folder: Path) -> Iterator[tuple[Clip, Path]]:
    """Write the annotation of each clip that has one, and yield where.

    Args:
        form: name of the format.
        source: holds `<clip_id>.json`.

    Raises:
        FormatError: an annotation is of another clip, or the format cannot hold it; or there is an annotation where the file goes.
    """
    module: Format = registry.load("formats", form)
    for clip in clips:
        file = source / f"{clip.clip_id}.json"
        if not file.exists():
            continue
        annotation = read_record(file, Annotation)
        wrong = next((problem for problem in problems(annotation, clip) if problem.rule in UNFIT), None)
        if wrong is not None:
            raise FormatError(f"{file}: {wrong.place}: {wrong.message}")
        path = folder / f"{clip.clip_id}{module.SUFFIX}"
        if _annotation_at(path) is not None:
            raise FormatError(f"{path}: is an annotation, which would be lost; choose another --out")
        try:
            module.write(annotation, clip, path)
        except FormatError as error:
            raise FormatError(f"{file}: {error}") from error
        yield clip, path


@dataclass(frozen=True)
class Found:
    """What a file says of one clip."""

    clip: Clip
    path: Path
    annotation: Annotation


def read(form: str, paths: Sequence[Path], clips: Mapping[str, Clip], only: str | None = None, told: Told = UNTOLD) -> list[Found]:
    """Read all clips that some files are about.

    Args:
        clips: by clip id; parts of a file about others are passed over, and named in the log.
        only: the one clip that is wanted; then a file about one clip need not bear its id.

    Raises:
        FormatError: a file cannot be read, a clip is in two of them, or none is about a clip of the table.
    """
    module: Format = registry.load("formats", form)
    found: dict[str, Found] = {}
    strangers: list[str] = []
    for path in paths:
        names = module.names(path) if only is None else [only]
        strangers += [f"{path}: {name!r}" for name in names if name not in clips]
        for clip_id in [name for name in names if name in clips]:
            if clip_id in found:
                raise FormatError(f"{path}: clip {clip_id} is in {found[clip_id].path} too; import one of them")
            found[clip_id] = Found(clips[clip_id], path, module.read(path, clips[clip_id], told))
    for stranger in strangers:
        LOG.warning("%s is no clip of the table; passed over (if it is one under another name, say which: --clip)", stranger)
    if not found:
        raise FormatError("nothing was imported: the files are about no clip of the table; say which it is with --clip")
    return list(found.values())


@dataclass(frozen=True)
class Imported:
    """An annotation as it is to be kept.

    Attributes:
        changed: against what was there before, in words.
        problems: what the validator finds; with an error among them the annotation is not written.
    """

    clip: Clip
    annotation: Annotation
    changed: str
    problems: list[Problem]

    @property
    def usable(self) -> bool:
        return all(problem.severity != "error" for problem in self.problems)


def merge(form: str, rows: Iterable[Found], before: Path | None, who: str | None, when: str) -> list[Imported]:
    """Put what was read onto the annotations that were exported, and check it.

    Args:
        before: folder of the annotations that were exported, for what the format does not hold.
        who, when: vouches for what has changed, and since when; None: it is yet to be approved.

    Raises:
        FormatError: there is no such folder.
    """
    if before is not None and not before.is_dir():
        raise FormatError(f"{before}: no such folder; --onto names the one with the annotations that were exported")
    module: Format = registry.load("formats", form)
    merged = []
    for row in rows:
        file = None if before is None else before / f"{row.clip.clip_id}.json"
        old = read_record(file, Annotation) if file is not None and file.exists() else None
        if file is not None and old is None:
            LOG.warning("%s: is not there; what the format does not hold of clip %s is missing now", file, row.clip.clip_id)
        new = row.annotation if old is None else onto(row.annotation, old, row.clip, module.HOLDS)
        changed = told_changes(old or Annotation(clip_id=row.clip.clip_id), new)
        kept = reviewed(new, old, who, when, f"imported from {form}")
        merged.append(Imported(row.clip, kept, changed, problems(kept, row.clip)))
    return merged


def keep(rows: Iterable[Imported], folder: Path, replace: bool) -> list[Path]:
    """Write the annotations that have no error, as `<clip_id>.json`; what is there already and says the same stays as it is.

    Raises:
        FormatError: another annotation is there already, and is not to be replaced; nothing is written then.
    """
    usable = {folder / f"{row.clip.clip_id}.json": row.annotation for row in rows if row.usable}
    if not usable:
        return []
    folder.mkdir(parents=True, exist_ok=True)
    with lease(folder / "import"):  # of two imports at once, the second sees what the first has written
        others = [path for path, annotation in usable.items() if not _says(path, annotation)]
        there = [path for path in others if path.exists()]
        if there and not replace:
            raise FormatError(f"{there[0]}: is there already and says something else; choose another --out, or add --replace")
        for path in others:
            write_record(path, usable[path])
    return list(usable)


def _says(path: Path, annotation: Annotation) -> bool:
    """Whether a file holds this annotation, whenever somebody vouched for it: an import that was ended is done again later."""
    found = _annotation_at(path)
    return found is not None and _undated(found) == _undated(annotation)


def _undated(annotation: Annotation) -> Annotation:
    return annotation.model_copy(update={"reviews": [review.model_copy(update={"when": ""}) for review in annotation.reviews]})


def _annotation_at(path: Path) -> Annotation | None:
    try:
        return read_record(path, Annotation)
    except (FileNotFoundError, RecordError):
        return None
