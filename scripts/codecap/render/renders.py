"""Render a shard of captions."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from codecap import stopping
from codecap.records import Caption, Certificate, Clip, Outcome, Render
from codecap.render.cage import end_all_cages
from codecap.render.failures import BrowserMissing, InfraError
from codecap.render.rendering import partial_path, render_caption
from codecap.render.settings import RenderSettings
from codecap.store import Draft, Item, ItemStore, explained
from codecap.video import encoding


def render_shard(
    captions: Iterable[Caption],
    clips: Mapping[str, Clip],
    *,
    settings: Mapping[str, Any],
    code: str,
    bulk: Path,
    browsers: int = 1,
) -> Iterator[Render]:
    """One row a caption, in their order. What is in the store is not rendered again; a full hit starts no browser.

    Args:
        settings: see `RenderSettings`.
        code: digest of the code that renders.
        bulk: root of the store for videos.
        browsers: how many pages are rendered at the same time; one a core is best. Rows do not depend on it.

    Raises:
        BrowserMissing: nothing can be rendered; the message says how to get a browser.
        StoreError: the disk is full or read-only: no other page would fare better.
    """
    store = ItemStore(bulk, stage="render", salt=[settings, code])
    with ThreadPoolExecutor(max_workers=browsers) as pool:
        rows = [pool.submit(_one, caption, clips, store, settings) for caption in captions]
        try:
            for row in rows:
                yield row.result()
        finally:
            stopping.wind_up(pool, rows, end_all_cages)


def _one(caption: Caption, clips: Mapping[str, Clip], store: ItemStore, settings: Mapping[str, Any]) -> Render:
    stopping.check()
    if caption.outcome is not Outcome.OK and caption.html is None:
        return Render(system=caption.system, clip_id=caption.clip_id, key="none", outcome=caption.outcome, detail=caption.detail)
    clip = clips[caption.clip_id]
    key = store.key(clip.sha256, caption.key)
    try:
        item = store.get_or_make(caption.system, caption.clip_id, key, lambda draft: _rendered(caption, clip, settings, draft))
    except BrowserMissing:
        raise
    except InfraError as error:
        stopping.check()
        if isinstance(error.__cause__, OSError):
            raise explained(error.__cause__, store.root) from error
        return Render(system=caption.system, clip_id=caption.clip_id, key=key, outcome=Outcome.INFRA_ERROR, detail=str(error))
    return _row(caption, key, item, settings)


def _rendered(caption: Caption, clip: Clip, settings: Mapping[str, Any], draft: Draft) -> dict[str, Any]:
    started = time.monotonic()
    out_mp4 = draft.file("mp4")
    partial = partial_path(out_mp4)
    try:
        certificate = render_caption(caption, clip, out_mp4, settings)
        if certificate.outcome is not Outcome.OK and stopping.reached_others(within_s=stopping.AT_ONCE_S):
            raise InfraError(f"stopped: the browser may have been told to end as well ({certificate.detail})")
        if partial.exists():
            partial.replace(draft.file("partial.mp4"))
    finally:
        partial.unlink(missing_ok=True)  # of a page that failed because the job is ended
    return {"certificate": certificate.model_dump(mode="json"), "wall_s": round(time.monotonic() - started, 3)}


def _row(caption: Caption, key: str, item: Item, settings: Mapping[str, Any]) -> Render:
    """A page that came too late is rendered, but its caption's outcome stays (METRICS: salvaged)."""
    certificate = Certificate.model_validate(item.value["certificate"])
    late = caption.outcome is not Outcome.OK
    return Render(
        system=caption.system,
        clip_id=caption.clip_id,
        key=key,
        outcome=caption.outcome if late else certificate.outcome,
        detail=caption.detail if late else certificate.detail,
        mp4=item.files.get("mp4") or item.files.get("partial.mp4"),
        certificate=certificate,
        salvaged=caption.salvaged,
        wall_s=item.value["wall_s"],
        protocol=f"{certificate.engine} | {encoding(RenderSettings.of(settings).codec)}",
    )
