"""A data set as a folder to publish: tables, annotations, ledger and recipe, and those videos whose licence allows it."""

from __future__ import annotations

import importlib.metadata
import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codecap import __version__, store
from codecap.annotate.validate import problems as problems_of
from codecap.clips import check_file
from codecap.clips_table import write_clips
from codecap.errors import UserError
from codecap.filtering.decisions import Decision, write_decisions
from codecap.job import counted
from codecap.new_folder import new_folder
from codecap.publish import croissant, folder, licences, shareable
from codecap.publish.about import About
from codecap.publish.origins import Origin, origins_of, why_not_to_be_had
from codecap.publish.prints import Prints, packed, prints_of
from codecap.publish.readme import readme
from codecap.publish.statistics import statistics_of
from codecap.records import Annotation, Clip, LedgerEntry, write_record, write_rows
from codecap.report.dataset_figure import write_figure

PACKAGES = ("av", "numpy", "opencv-python-headless", "pillow", "scenedetect-headless", "yt-dlp")
SECTIONS = ("ingest", "parts", "filter")
NAMED = 5  # clips, in one message


@dataclass(frozen=True)
class Material:
    """What is published.

    Attributes:
        clips: their videos are there.
        annotations: by clip id; not every clip need have one.
        ledger: of the collection; empty where there was none.
        decisions: of people, by clip id.
        config: the configuration.
    """

    clips: Sequence[Clip]
    annotations: Mapping[str, Annotation]
    ledger: Sequence[LedgerEntry]
    decisions: Mapping[str, Decision]
    config: Mapping[str, Any]


@dataclass(frozen=True)
class Exported:
    """What was written.

    Attributes:
        videos: how many of the clips have their video there.
        lost: clips that nobody can have from the folder, by id, and why their originals cannot be fetched.
    """

    clips: int
    videos: int
    lost: dict[str, str]
    bytes: int


def export(material: Material, about: About, out: Path) -> Exported:
    """Write the folder; it appears whole or not at all.

    Raises:
        UserError: something is there already, or a clip or an annotation is not what the table says; nothing is written then.
    """
    if not material.clips:
        raise UserError("there is no clip to publish: the clips table is empty")
    with new_folder(out, "a published folder is not written over") as draft:
        _must_be_right(material)
        return _write(material, about, draft)


def _must_be_right(material: Material) -> None:
    """All clips and annotations are what they are said to be."""
    found = []
    for clip in counted(material.clips, "clips checked", len(material.clips)):
        try:
            check_file(clip)
        except UserError as error:
            found.append(str(error))
        annotation = material.annotations.get(clip.clip_id)
        if annotation is not None:
            found += [str(problem) for problem in problems_of(annotation, clip) if problem.severity == "error"]
    if found:
        more = f"\n  and {len(found) - NAMED} more" if len(found) > NAMED else ""
        raise UserError("nothing was exported:\n  " + "\n  ".join(found[:NAMED]) + more)


def _write(material: Material, about: About, draft: Path) -> Exported:
    with_origin = list(origins_of(material.clips, material.ledger, material.config["sources"]))
    videos = [clip for clip in material.clips if licences.allows_media(clip.licence, about.media_licences)]
    _write_videos(videos, draft / folder.CLIPS)
    write_clips(draft / folder.TABLE, [_published(clip, draft) for clip in material.clips])
    write_rows(draft / folder.ORIGINS, Origin, (origin for _, origin in with_origin if origin is not None))
    prints = (packed(clip.clip_id, prints_of(clip.mp4)) for clip in material.clips)
    write_rows(draft / folder.PRINTS, Prints, counted(prints, "prints", len(material.clips)))
    for clip_id in (clip.clip_id for clip in material.clips if clip.clip_id in material.annotations):
        write_record(draft / folder.ANNOTATIONS / f"{clip_id}.json", material.annotations[clip_id])
    write_rows(draft / folder.LEDGER, LedgerEntry, map(shareable.entry, material.ledger))
    if material.decisions:
        write_decisions(draft / folder.DECISIONS, material.decisions.values())
    write_record(draft / folder.RECIPE, _recipe(material.config))
    has_video = {clip.clip_id for clip in videos}
    _write_attribution(with_origin, has_video, draft / folder.ATTRIBUTION)
    reasons = {clip.clip_id: why_not_to_be_had(origin) for clip, origin in with_origin if clip.clip_id not in has_video}
    lost = {clip_id: reason for clip_id, reason in reasons.items() if reason}
    _write_card(material, about, len(videos), lost, draft)
    size = sum(path.stat().st_size for path in draft.rglob("*") if path.is_file())
    return Exported(len(material.clips), len(videos), lost, size)


def _write_videos(clips: Iterable[Clip], target: Path) -> None:
    for clip in clips:
        target.mkdir(exist_ok=True)
        store.open_at(clip.mp4, lambda place, clip=clip: shutil.copyfile(place, target / f"{clip.clip_id}.mp4"))


def _write_card(material: Material, about: About, videos: int, lost: Mapping[str, str], draft: Path) -> None:
    """Statistics, figure, README, metadata and digests, which speak of all that was written before."""
    counted_ = statistics_of(material.clips, material.annotations)
    write_record(draft / folder.STATISTICS, counted_)
    write_figure(counted_, draft / folder.FIGURE)
    page = readme(about, counted_, videos=videos, lost=len(lost), licences=[clip.licence for clip in material.clips])
    (draft / folder.README).write_text(page, encoding="utf-8")
    told = folder.digests(draft)
    single = {name: told[name] for name in croissant.single_files(list(told))}
    has_annotations = any(place.startswith(f"{folder.ANNOTATIONS}/") for place in told)
    statement = about.description or (
        f"{len(material.clips)} clips of structured 2D video at 24 frames a second, with objects, boxes and focal points."
    )
    card = croissant.card(about, single, statement, has_media=videos > 0, has_annotations=has_annotations)
    (draft / folder.CARD).write_text(json.dumps(card, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    folder.write_digests(draft, folder.digests(draft))


def _write_attribution(with_origin: Sequence[tuple[Clip, Origin | None]], has_video: set[str], target: Path) -> None:
    """Who made what, under which licence, and what was changed: what licences ask to be told."""
    lines = ["clip_id\tlicence_as_stated\tlicence\tvideo_here\ttitle\tuploader\tlocator\tchanges\n"]
    for clip, origin in with_origin:
        candidate = origin.candidate if origin is not None else None
        cells = [
            clip.clip_id,
            clip.licence,
            licences.identifier(clip.licence),
            "yes" if clip.clip_id in has_video else "no",
            candidate.title if candidate else "",
            candidate.uploader if candidate else "",
            candidate.locator if candidate else "",
            "cut, brought to 24 frames a second, encoded anew, without sound",
        ]
        lines.append("\t".join(" ".join(cell.split()) for cell in cells) + "\n")
    target.write_text("".join(lines), encoding="utf-8")


def _published(clip: Clip, draft: Path) -> Clip:
    return clip.model_copy(update={"mp4": draft / folder.place_of(clip), "source": shareable.text(clip.source)})


def _recipe(config: Mapping[str, Any]) -> folder.Recipe:
    versions = {"codecap": __version__}
    for package in PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue  # a source that needs it could not have been used
    return folder.Recipe(
        layout=folder.LAYOUT,
        made_with=versions,
        **{name: shareable.settings(config.get(name) or {}) for name in SECTIONS},
        sources={name: shareable.settings(entry) for name, entry in config["sources"].items()},
    )
