"""Bring a shard of originals to canonical clips, kept in the store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from codecap.collect.ingest import IngestSettings, ingest_file, source_mark
from codecap.records import Clip, Ingested, Original
from codecap.store import Draft, ItemStore
from codecap.video import VideoError


def ingest_shard(originals: Iterable[Original], settings: Mapping[str, Any], code: str, bulk: Path) -> Iterator[Ingested]:
    """One row an original: its clip, or why there is none. What is in the store is not ingested again."""
    store = ItemStore(bulk, stage="ingest", salt=[settings, code])
    for original in originals:
        candidate = original.candidate
        if original.status != "ok" or original.path is None:
            yield Ingested(source=candidate.locator, status="failed", reason=original.reason)
            continue
        path, key = original.path, store.key(original.sha256)

        def make(draft: Draft, path: Path = path) -> dict[str, Any]:
            facts = ingest_file(path, draft.file("mp4"), settings=IngestSettings(**settings))
            return {
                "sha256": facts.sha256,
                "frames": facts.frames,
                "width_px": facts.width_px,
                "height_px": facts.height_px,
            }

        try:
            item = store.get_or_make(candidate.source, candidate.candidate_id, key, make)
        except VideoError as error:
            yield Ingested(source=candidate.locator, status="failed", reason=str(error))
            continue
        clip = Clip(
            clip_id=candidate.candidate_id,
            category=candidate.category,
            mp4=item.files["mp4"],
            source=source_mark(path, original.sha256),
            licence=candidate.licence,
            **item.value,
        )
        yield Ingested(source=candidate.locator, status="ok", clip=clip)
