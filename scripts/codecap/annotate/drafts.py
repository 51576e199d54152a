"""Draft annotations of a shard of clips, kept in the store."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from codecap import registry
from codecap.annotate.proposers import Proposer
from codecap.clips import check_file
from codecap.records import Annotation, Clip
from codecap.store import ItemStore
from codecap.video import VideoError

LOG = logging.getLogger("codecap")


def draft_shard(
    clips: Iterable[Clip],
    proposer: str,
    settings: Mapping[str, Any],
    code: str,
    durable: Path,
    known: Callable[[Clip], Annotation | None] = lambda _: None,
) -> Iterator[Annotation]:
    """One row a clip that can be read; a clip that cannot is named in the log, and the metrics that need it stay unscored.

    Args:
        known: gives the annotation of a clip of which nothing need be proposed, such as a rendered page; else None.
    """
    store = ItemStore(durable, stage="draft_annotations", salt=[proposer, settings, code])
    load = functools.cache(lambda: registry.make("annotate.proposers", proposer, settings))
    for clip in clips:
        annotation = known(clip)
        if annotation is not None:
            yield annotation
            continue
        try:
            item = store.get_or_make(
                proposer,
                clip.clip_id,
                store.key(clip.sha256),
                lambda _draft, clip=clip: _proposed(load(), clip),
            )
        except VideoError as error:
            LOG.error("no annotation of %s: %s", clip.clip_id, error)
            continue
        yield Annotation.model_validate(item.value)


def _proposed(proposer: Proposer, clip: Clip) -> dict[str, Any]:
    check_file(clip)
    return proposer.propose(clip).model_dump(mode="json")
