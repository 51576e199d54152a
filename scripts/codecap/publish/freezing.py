"""A clips table that is frozen: clips whose annotations people approved, each with the digest of what its annotation says.

Whoever scores with a frozen table is told when an annotation is not the one that it was frozen with. A row also says in which
version of the data set it came in or changed last; the others keep theirs, and so do all their scores. Beside the table lies the
list of its versions.
"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codecap import config as configuration
from codecap.annotate.approved import content_digest, gather, is_approved
from codecap.clips import check_file
from codecap.clips_table import read_clips, write_clips
from codecap.errors import UserError
from codecap.job import counted
from codecap.plan import COLLECTED, clips_folder
from codecap.publish.about import About
from codecap.records import Annotation, Clip, Row, read_rows, write_rows

VERSIONS = ".versions.jsonl"  # put after the table's name without its ending
NAMED = 5  # clips, in one message


class Version(Row):
    """One version of a frozen table.

    Attributes:
        frozen: day, 2026-11-30.
        sha256: of the data set as a whole, see `set_digest`.
        clips: how many.
        changed: ids of clips that came in, or whose video, annotation or facts changed.
        left: ids of clips that are not in the table any more.
    """

    version: str
    frozen: str
    sha256: str
    clips: int
    changed: list[str] = []
    left: list[str] = []


@dataclass(frozen=True)
class Frozen:
    """What freezing gives.

    Attributes:
        table: where it lies.
        version: the one that the table is of.
        is_new: whether it was made now.
        left_out: by clip id, why a clip of the source is not in the table.
    """

    table: Path
    version: Version
    is_new: bool
    left_out: Mapping[str, str]


def freeze(
    config: Mapping[str, Any], source: Path | None = None, out: Path | None = None, version: str | None = None, drop: bool = False
) -> Frozen:
    """Write the clips table of a configuration anew, from the approved annotations that there are.

    Args:
        source: clips table to take clips from; by default that of the run in the working folder, else the one that is frozen.
        out: the frozen table; by default the configuration's `clips`.
        version: of the data set, as 1.1.0; by default the configuration's `dataset.version`.
        drop: whether clips may leave a table that was frozen before.

    Raises:
        UserError: a video is not that of the table, nothing is approved, clips would leave, or the version is frozen already with
            other contents. Nothing is written then.
    """
    out = Path(config["clips"]) if out is None else Path(out)
    version = _checked(version or About.of(config.get("dataset") or {}).version)
    folder = clips_folder(config, Path(config["clips"]))  # the table is to be the configuration's, wherever it is written
    before, versions = _frozen_before(out, folder)
    source = source if source is not None else COLLECTED if COLLECTED.is_file() else out
    if not source.is_file():
        raise UserError(f"{source}: no such clips table; name one with --from, or run `snakemake dataset`, which makes {COLLECTED}")
    clips = read_clips(source, folder if source == out else clips_folder(config, source))
    approved = configuration.find(config["annotations_folder"])
    usable, left_out = _approved(clips, approved)
    if not usable:
        reasons = [f"{clip_id}: {reason}" for clip_id, reason in left_out.items()]
        raise UserError(f"{source}: none of its clips has an approved annotation in {approved}{_lines(reasons)}")
    rows = [_row(clip, annotation, before.get(clip.clip_id), version) for clip, annotation in usable]
    now = Version(
        version=version,
        frozen=datetime.datetime.now(datetime.UTC).date().isoformat(),
        sha256=set_digest(rows),
        clips=len(rows),
        changed=[row.clip_id for row in rows if _differs(row, before.get(row.clip_id))],
        left=sorted(before.keys() - {row.clip_id for row in rows}),
    )
    if now.left and not drop:
        told = [f"{clip_id}: {left_out.get(clip_id, f'is not in {source}')}" for clip_id in now.left]
        cure = "correct their annotations, or let them go with --drop:"
        raise UserError(f"{out}: {len(now.left)} clips would leave the table; {cure}{_lines(told)}")
    for clip in counted(rows, "clips checked", len(rows)):
        check_file(clip)
    if versions and versions[-1].sha256 == now.sha256 and not _is_in(versions[-1], before):
        del versions[-1]
    if versions and versions[-1].sha256 == now.sha256 and not now.changed:
        return Frozen(out, versions[-1], False, left_out)
    _must_be_later(now, versions, out)
    write_rows(versions_of(out), Version, [*versions, now])  # first: the table does not tell what has left
    write_clips(out, rows, folder)
    return Frozen(out, now, True, left_out)


def set_digest(clips: Iterable[Clip]) -> str:
    """sha256 of a data set: over the ids of its clips and the digests of their videos and annotations."""
    rows = sorted(f"{clip.clip_id} {clip.sha256} {clip.annotation_sha256}\n" for clip in clips)
    return hashlib.sha256("".join(rows).encode()).hexdigest()


def versions_of(table: Path) -> Path:
    """Where the versions of a frozen table are told.

    >>> versions_of(Path("config/clips.tsv")).as_posix()
    'config/clips.versions.jsonl'
    """
    return table.with_name(f"{table.stem}{VERSIONS}")


def _frozen_before(table: Path, folder: Path | None) -> tuple[dict[str, Clip], list[Version]]:
    """The frozen rows of a table by clip id, and its versions."""
    known = read_clips(table, folder) if table.is_file() else []
    told = versions_of(table)
    versions = list(read_rows(told, Version)) if told.is_file() else []
    return {clip.clip_id: clip for clip in known if clip.dataset_version}, versions


def _is_in(version: Version, before: Mapping[str, Clip]) -> bool:
    """Whether frozen rows are those of their last version, and not of the one before: a freeze may have been killed between."""
    if version.changed:
        return any(clip.dataset_version == version.version for clip in before.values())
    return not before.keys() & set(version.left)


def _approved(clips: Sequence[Clip], folder: Path) -> tuple[list[tuple[Clip, Annotation]], dict[str, str]]:
    """Clips with an annotation that a person approved and that has no errors; and why each of the others has none."""
    unfrozen = [clip.model_copy(update={"annotation_sha256": "", "dataset_version": ""}) for clip in clips]
    gathered, _ = gather(unfrozen, folder)
    usable, left_out = [], {}
    for clip in unfrozen:
        told = gathered[clip.clip_id]
        if isinstance(told, str):
            left_out[clip.clip_id] = told
        elif not is_approved(told):
            left_out[clip.clip_id] = f"{folder / clip.clip_id}.json: `reviews` is empty, nobody has approved it"
        else:
            usable.append((clip, told))
    return usable, left_out


def _row(clip: Clip, annotation: Annotation, before: Clip | None, version: str) -> Clip:
    """The row of a clip; where nothing of it has changed, with the version in which it changed last."""
    row = clip.model_copy(update={"annotation_sha256": content_digest(annotation), "dataset_version": version})
    if before is None or _differs(row, before):
        return row
    return row.model_copy(update={"dataset_version": before.dataset_version})


def _differs(row: Clip, before: Clip | None) -> bool:
    """Whether a row says something else, apart from where the video lies here."""
    told, known = (None if clip is None else clip.model_dump(exclude={"mp4", "dataset_version"}) for clip in (row, before))
    return told != known


def _must_be_later(now: Version, versions: Sequence[Version], table: Path) -> None:
    if versions and _as_numbers(now.version) <= _as_numbers(versions[-1].version):
        raise UserError(
            f"{table}: version {versions[-1].version} is frozen already, with other contents; give a later one with --version, "
            f"or as dataset.version in the configuration; what differs:{_lines([*now.changed, *now.left])}"
        )


def _lines(names: Sequence[str]) -> str:
    """The first of some lines, for the end of a message."""
    more = f"\n  and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return "".join(f"\n  {name}" for name in names[:NAMED]) + more


def _checked(version: str) -> str:
    try:
        numbers = _as_numbers(version)
    except ValueError:
        numbers = ()
    if len(numbers) != 3:
        raise UserError(f"--version {version}: must be three numbers, as 1.1.0")
    return version


def _as_numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
