"""Render a shard of captions."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from codecap.records import Caption, Certificate, Clip, Outcome, Render
from codecap.render.failures import BrowserMissing, InfraError
from codecap.render.rendering import partial_path, render_caption
from codecap.store import Draft, Item, ItemStore, explained
from codecap.video import ENCODING


def render_shard(
    captions: Iterable[Caption],
    clips: Mapping[str, Clip],
    *,
    settings: Mapping[str, Any],
    code: str,
    bulk: Path,
) -> Iterator[Render]:
    """One row a caption. What is in the store is not rendered again; a full hit starts no browser.

    Args:
        settings: see `RenderSettings`.
        code: digest of the code that renders.
        bulk: root of the store for videos.

    Raises:
        BrowserMissing: nothing can be rendered; the message says how to get a browser.
    """
    store = ItemStore(bulk, stage="render", salt=[settings, code])
    for caption in captions:
        if caption.outcome is not Outcome.OK and caption.html is None:
            yield Render(system=caption.system, clip_id=caption.clip_id, key="none", outcome=caption.outcome, detail=caption.detail)
            continue
        clip = clips[caption.clip_id]
        key = store.key(clip.sha256, caption.key)

        def make(draft: Draft, caption: Caption = caption, clip: Clip = clip) -> dict[str, Any]:
            return _rendered(caption, clip, settings, draft)

        try:
            item = store.get_or_make(caption.system, caption.clip_id, key, make)
        except BrowserMissing:
            raise
        except InfraError as error:
            if isinstance(error.__cause__, OSError):  # the disk is full or read-only: no other clip would fare better
                raise explained(error.__cause__, bulk) from error
            yield Render(system=caption.system, clip_id=caption.clip_id, key=key, outcome=Outcome.INFRA_ERROR, detail=str(error))
            continue
        yield _row(caption, key, item)


def _rendered(caption: Caption, clip: Clip, settings: Mapping[str, Any], draft: Draft) -> dict[str, Any]:
    started = time.monotonic()
    out_mp4 = draft.file("mp4")
    certificate = render_caption(caption, clip, out_mp4, settings)
    if (partial := partial_path(out_mp4)).exists():
        partial.replace(draft.file("partial.mp4"))
    return {"certificate": certificate.model_dump(mode="json"), "wall_s": round(time.monotonic() - started, 3)}


def _row(caption: Caption, key: str, item: Item) -> Render:
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
        protocol=f"{certificate.engine} | {ENCODING}",
    )
