"""Is a published folder whole, and does it say the same everywhere?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from codecap.annotate.approved import content_digest
from codecap.annotate.validate import problems as problems_of
from codecap.clips import check_file
from codecap.errors import UserError
from codecap.job import counted
from codecap.publish import alignment, folder, licences
from codecap.publish.folder import Published, read_published
from codecap.publish.prints import prints_of, unpacked
from codecap.records import Clip, LedgerEntry, RecordError, read_rows

LARGEST_CARD = 64_000_000


def verify(place: Path) -> list[str]:
    """All that is wrong with a folder that `codecap dataset export` wrote, each with its place; empty when nothing is.

    Raises:
        RecordError: it is no such folder, or its tables cannot be read.
    """
    place = Path(place)
    published = read_published(place)
    there = folder.digests(place)
    found = list(_digests(place, there))
    for clip in counted(published.clips, "clips verified", len(published.clips)):
        found += _clip(published, clip)
    found += _annotations(published)
    found += _card(place, there)
    try:
        folder.must_be_small(place / folder.LEDGER, folder.LARGEST_TEXT)
        for _ in read_rows(place / folder.LEDGER, LedgerEntry):
            pass
    except (RecordError, OSError) as error:
        found.append(str(error))
    return ["".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in problem) for problem in found]


def _digests(place: Path, there: Mapping[str, str]) -> Iterator[str]:
    told = folder.read_digests(place)
    for name in sorted(told.keys() | there.keys()):
        if name not in there:
            yield f"{place / name}: is missing; take the data set anew"
        elif name not in told:
            yield f"{place / name}: is not in {folder.DIGESTS}; nobody vouches for it, remove it"
        elif told[name] != there[name]:
            yield f"{place / name}: is not the published file (its sha256 differs); take it anew"


def _clip(published: Published, clip: Clip) -> Iterator[str]:
    origin, prints = published.origins.get(clip.clip_id), published.prints.get(clip.clip_id)
    pixels = None
    if prints is None:
        yield f"{published.folder / folder.PRINTS}: clip {clip.clip_id} has no prints"
    else:
        try:
            pixels = unpacked(prints)
        except RecordError as error:
            yield str(error)
    cut = clip.frames if origin is None or origin.stop is None else origin.stop - origin.start
    if cut != clip.frames:
        yield f"{published.folder / folder.ORIGINS}: clip {clip.clip_id}: {cut} frames, the table says {clip.frames}"
    if clip.mp4.is_symlink() or not clip.mp4.is_file():
        if origin is None:
            yield f"{clip.mp4}: is not here, and {folder.ORIGINS} does not say where it came from"
        return
    if not licences.identifier(clip.licence):
        yield f"{clip.mp4}: is here, though its licence ({clip.licence or 'none stated'}) is none that is known to allow it"
    try:
        check_file(clip)
        if pixels is not None and not alignment.likeness(pixels, prints_of(clip.mp4)).same:
            yield f"{clip.mp4}: does not look as {folder.PRINTS} says"
    except UserError as error:
        yield str(error)


def _annotations(published: Published) -> Iterator[str]:
    known = {clip.clip_id: clip for clip in published.clips}
    for path in sorted((published.folder / folder.ANNOTATIONS).glob("*")):
        if path.suffix != ".json" or path.stem not in known:
            yield f"{path}: is the annotation of no clip of the table"
    for clip in published.clips:
        try:
            annotation = published.annotation(clip.clip_id)
        except RecordError as error:
            yield str(error)
            continue
        if annotation is not None:
            yield from (str(problem) for problem in problems_of(annotation, clip) if problem.severity == "error")
        path = published.folder / folder.ANNOTATIONS / f"{clip.clip_id}.json"
        if clip.annotation_sha256 and (annotation is None or content_digest(annotation) != clip.annotation_sha256):
            yield f"{path}: is not the annotation that {folder.TABLE} was frozen with"


def _card(place: Path, there: Mapping[str, str]) -> Iterator[str]:
    """The digests in the metadata are those of the files."""
    path = place / folder.CARD
    try:
        folder.must_be_small(path, LARGEST_CARD)
        told: Any = json.loads(path.read_text(encoding="utf-8"))
        listed = {one["contentUrl"]: one["sha256"] for one in told["distribution"] if "sha256" in one}
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        yield f"{path}: is no metadata of a data set: {' '.join(str(error).split())}"
        return
    for name, sha256 in listed.items():
        if there.get(name) != sha256:
            yield f"{path}: {name} is not the file that it describes"
