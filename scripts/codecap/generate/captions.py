"""Caption a shard of clips with one system."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from codecap import registry
from codecap.clips import check_file
from codecap.generate import paid
from codecap.generate.entries import FAMILY
from codecap.generate.harnesses import COLUMN, SUFFIX, Harness, Made
from codecap.records import Caption, Clip, Outcome, Usage
from codecap.store import Draft, ItemStore
from codecap.video import VideoError


def caption_shard(
    clips: Iterable[Clip],
    system: str,
    harness: str,
    settings: Mapping[str, Any],
    code: str,
    durable: Path,
    sources: Mapping[str, Caption] | None = None,
) -> Iterator[Caption]:
    """One row a clip, in their order. What is in the store is not made again.

    Args:
        harness, settings: the system's plugin and what it gets of the configuration, see `entries.settings_of`.
        code: digest of the code that makes the caption, part of the store's key where that costs nothing but computing.
        sources: captions of the other system that this one starts from, by clip, where its harness says `FROM`.
    """
    if registry.said(FAMILY, harness, "PAID", default=False):
        return paid.caption_shard(clips, system, harness, settings, durable, sources)
    return _free(clips, system, harness, settings, code, durable)


def _free(
    clips: Iterable[Clip], system: str, harness: str, settings: Mapping[str, Any], code: str, durable: Path
) -> Iterator[Caption]:
    """A full hit loads no harness."""
    worker = functools.cache(lambda: registry.make(FAMILY, harness, settings))
    store = ItemStore(durable, stage="generate", salt=[harness, settings, code])
    for clip in clips:
        key = store.key(clip.sha256)
        try:
            item = store.get_or_make(system, clip.clip_id, key, functools.partial(_make, worker, clip), keep=_not_ours)
        except VideoError as error:
            yield Caption(system=system, clip_id=clip.clip_id, key=key, outcome=Outcome.INFRA_ERROR, detail=str(error))
            continue
        value = dict(item.value)
        value[COLUMN[value["kind"]]] = item.files.get(SUFFIX[value["kind"]])
        yield Caption(system=system, clip_id=clip.clip_id, key=key, **value)


def _not_ours(value: Mapping[str, Any]) -> bool:
    return value["outcome"] != Outcome.INFRA_ERROR


def _make(load: Callable[[], Harness], clip: Clip, draft: Draft) -> dict[str, Any]:
    check_file(clip)
    worker = load()
    started = time.monotonic()
    made: Made = worker.caption(clip, draft.file(SUFFIX[worker.kind]))
    return {
        "outcome": made.outcome,
        "detail": made.detail,
        "kind": made.kind,
        "salvaged": made.salvaged,
        "usage": Usage.model_validate(made.usage).model_dump(),
        "cost_usd": made.cost_usd,
        "rounds": made.rounds,
        "wall_s": round(time.monotonic() - started, 3),
        "tool_calls": made.tool_calls,
        "harness_version": worker.version(),
        "protocol": worker.protocol,
    }
