"""Proposals of a shard of clips, asked of a hosted model and kept in the store; a segmenter makes drafts of them (`drafts`)."""

from __future__ import annotations

import functools
import logging
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from codecap import registry, stopping
from codecap.annotate.proposers import FAMILY, AskingProposer
from codecap.clips import check_file
from codecap.exchange import at_once
from codecap.records import Clip, Proposal
from codecap.score import Unreached, Unscored
from codecap.score.engine.memory import within_memory
from codecap.store import ItemStore
from codecap.video import VideoError

LOG = logging.getLogger("codecap")
CLIPS_AT_ONCE = 4  # the pictures of so many are in memory


def propose_shard(
    clips: Iterable[Clip], proposer: str, settings: Mapping[str, Any], code: str, durable: Path
) -> Iterator[Proposal]:
    """One row a clip, in their order, several clips at once. Within an open session of the exchange.

    A clip that gets no proposal is a row that says why; only proposals are stored.

    Args:
        code: digest of the proposer's code.

    Raises:
        registry.Unavailable: the proposer is not there, or a setting of it is wrong.
    """
    store = ItemStore(durable, stage="ask_proposer", salt=[proposer, settings, code])
    asked = registry.make(FAMILY, proposer, settings)

    def row(clip: Clip) -> Proposal:
        stopping.check()
        try:
            key = store.key(clip.sha256)
            make = functools.partial(store.get_or_make, proposer, clip.clip_id, key, lambda _draft: _proposed(asked, clip))
            item = within_memory(make)
            return Proposal.model_validate(item.value)
        except (Unscored, VideoError) as why:
            LOG.error("%s: no proposal: %s", clip.clip_id, why)
            return Proposal(clip_id=clip.clip_id, status=str(why), retry=isinstance(why, Unreached | VideoError))

    with ThreadPoolExecutor(max_workers=min(CLIPS_AT_ONCE, at_once(asked.settings.endpoint))) as pool:
        rows = [pool.submit(row, clip) for clip in clips]
        try:
            for made in rows:
                yield made.result()
        finally:
            stopping.wind_up(pool, rows, lambda: None)


def _proposed(proposer: AskingProposer, clip: Clip) -> dict[str, Any]:
    check_file(clip)
    return proposer.propose(clip).model_dump(mode="json")
