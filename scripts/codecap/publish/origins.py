"""Where each clip of a published data set was cut from, in a form that others can fetch again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Annotated, Any

from pydantic import Field, model_validator

from codecap.clock import FPS
from codecap.publish import shareable
from codecap.records import Candidate, Clip, ClipId, LedgerEntry, Row

_DIGEST = re.compile(r"[0-9a-f]{64}")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


class Origin(Row):
    """Of one clip.

    Attributes:
        plugin: module of `codecap/collect/sources` that fetches it; empty for a file that had no source.
        candidate: its `locator` is an address, or the name of a file that only its owner has.
        sha256, size_bytes: of the file that was fetched.
        start, stop: first frame and the frame after the last, on the 24 fps clock of that file; None: to its end.
    """

    clip_id: ClipId
    plugin: Annotated[str, Field(pattern=r"^[a-z0-9_]{0,40}$")]
    candidate: Candidate
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    size_bytes: int = Field(ge=0)
    start: int = Field(ge=0)
    stop: int | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _is_harmless(self) -> Origin:
        """Others fetch what is said here, and give files and folders such names."""
        candidate = self.candidate
        for what, name in (("candidate_id", candidate.candidate_id), ("source", candidate.source)):
            if not _ID.fullmatch(name):
                raise ValueError(f"{what} {name!r} is no plain name")
        if not self.has_address and (PurePath(candidate.locator).name != candidate.locator or "\\" in candidate.locator):
            raise ValueError(f"locator {candidate.locator!r} is neither an http(s) address nor the name of a file")
        if self.stop is not None and self.stop <= self.start:
            raise ValueError(f"frames {self.start} to {self.stop} are none")
        return self

    @property
    def has_address(self) -> bool:
        return shareable.is_address(self.candidate.locator)


def why_not_to_be_had(origin: Origin | None) -> str:
    """Why others cannot fetch a clip's original; empty where nothing is known against it."""
    if origin is None:
        return "nobody knows from which file it was cut"
    if not origin.has_address:
        return f"its original, {origin.candidate.locator}, has no address"
    if not origin.plugin:
        return f"no source {origin.candidate.source!r} is in the configuration, which would fetch {origin.candidate.locator}"
    if shareable.lacks_secret(origin.candidate.locator):
        return f"the address {origin.candidate.locator} held a secret, which is left out"
    return ""


def origins_of(
    clips: Iterable[Clip], ledger: Sequence[LedgerEntry], sources: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[Clip, Origin | None]]:
    """Each clip with its origin; None where nobody knows from which file it came.

    Args:
        ledger: of the collection; a clip that is not in it is told by its own row.
        sources: the configuration's entries, for the plugin of each.
    """
    by_clip = {clip_id: entry for entry in ledger for clip_id in entry.clips}
    by_digest: dict[str, LedgerEntry] = {}
    for entry in sorted(ledger, key=lambda entry: entry.status == "duplicate"):
        by_digest.setdefault(entry.sha256, entry)
    for clip in clips:
        name, _, digest = clip.source.rpartition(" sha256:")
        entry = by_clip.get(clip.clip_id)
        if not _DIGEST.fullmatch(digest):
            digest = entry.sha256 if entry is not None else ""
        if not _DIGEST.fullmatch(digest):
            yield clip, None
            continue
        if entry is None or entry.sha256 != digest:  # a site that has it no more, or in other bytes, has no clip of it any more
            entry = by_digest.get(digest, entry)
        yield clip, _origin(clip, entry, name, digest, sources)


def _origin(clip: Clip, entry: LedgerEntry | None, name: str, sha256: str, sources: Mapping[str, Mapping[str, Any]]) -> Origin:
    candidate = entry.candidate if entry is not None else _unlisted(clip, name)
    return Origin(
        clip_id=clip.clip_id,
        plugin=sources.get(candidate.source, {}).get("plugin", "") if entry is not None else "",
        candidate=shareable.candidate(candidate),
        sha256=sha256,
        size_bytes=entry.size_bytes if entry is not None and entry.sha256 == sha256 else 0,
        start=round(clip.source_start_s * FPS),
        stop=None if clip.source_end_s is None else round(clip.source_end_s * FPS),
    )


def _unlisted(clip: Clip, name: str) -> Candidate:
    return Candidate(
        candidate_id=clip.clip_id, source="unlisted", locator=name or "unnamed", category=clip.category, licence=clip.licence
    )
