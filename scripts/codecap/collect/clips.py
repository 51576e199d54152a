"""Bring the chosen parts of a shard of originals to canonical clips, kept in the store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from codecap.clock import FPS
from codecap.collect.ingest import IngestSettings, ingest_file, source_mark
from codecap.records import Clip, Ingested, Original, Part, PassedOver
from codecap.store import Draft, ItemStore
from codecap.video import VideoError


def ingest_shard(
    originals: Iterable[Original],
    parts: Iterable[Part],
    passed_over: Iterable[PassedOver],
    settings: Mapping[str, Any],
    code: str,
    bulk: Path,
) -> Iterator[Ingested]:
    """One row a part: its clip, or why there is none. An original without a part has one row that says why.

    What is in the store is not ingested again.
    """
    store = ItemStore(bulk, stage="ingest", salt=[settings, code])
    reasons = {row.candidate_id: row.reason for row in passed_over}
    chosen: dict[str, list[Part]] = {}
    for part in parts:
        chosen.setdefault(part.candidate_id, []).append(part)
    for original in originals:
        name = original.candidate.candidate_id
        if original.status != "ok" or original.path is None:
            yield _failed(original, original.reason)
        elif name not in chosen:
            yield _failed(original, reasons.get(name, "has no part; choose the parts anew"))
        for part in chosen.get(name, []) if original.path is not None else []:
            yield _ingested(original, part, IngestSettings(**settings), store)


def _ingested(original: Original, part: Part, settings: IngestSettings, store: ItemStore) -> Ingested:
    candidate, path = original.candidate, original.path
    assert path is not None
    edges = {} if candidate.whole else {"start": part.start, "stop": part.stop}

    def make(draft: Draft) -> dict[str, Any]:
        facts = ingest_file(path, draft.file("mp4"), settings=settings, **edges)
        return {"sha256": facts.sha256, "frames": facts.frames, "width_px": facts.width_px, "height_px": facts.height_px}

    key = store.key(original.sha256, *(str(edge) for edge in edges.values()))
    try:
        item = store.get_or_make(candidate.source, part.clip_id, key, make)
    except VideoError as error:
        return _failed(original, str(error))
    clip = Clip(
        clip_id=part.clip_id,
        category=candidate.category,
        mp4=item.files["mp4"],
        source=source_mark(path, original.sha256),
        licence=candidate.licence,
        source_start_s=part.start / FPS,
        source_end_s=None if candidate.whole else part.stop / FPS,
        **item.value,
    )
    return Ingested(source=candidate.locator, status="ok", clip=clip)


def _failed(original: Original, reason: str) -> Ingested:
    return Ingested(source=original.candidate.locator, status="failed", reason=reason)
