"""Draft annotations of a shard of clips, kept in the store: what a proposer measured, or what a model proposed and a segmenter
followed."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from codecap import registry
from codecap.annotate.following import followed
from codecap.annotate.proposers import FAMILY, Proposer
from codecap.clips import check_file
from codecap.records import Annotation, Clip, Proposal, read_rows
from codecap.score import Unscored
from codecap.score.engine.choice import Choice
from codecap.score.engine.memory import within_memory
from codecap.store import ItemStore, digest_of
from codecap.video import VideoError

LOG = logging.getLogger("codecap")
Known = Callable[[Clip], Annotation | None]  # the annotation of a clip of which nothing need be proposed, such as a rendered page


def nothing_known(_clip: Clip) -> None:
    return None


def drafts(
    clips: Iterable[Clip], by: Mapping[str, Any], durable: Path, proposals: Path | None = None, known: Known = nothing_known
) -> Iterator[Annotation]:
    """Drafts of a shard, made as the plan says.

    Args:
        by: `proposer`, `settings` and `code` of one that measures; or `segmenter` and `code` of what follows the proposals.
        proposals: the file of these.
    """
    if "segmenter" in by:
        asked = {row.clip_id: row for row in read_rows(proposals, Proposal)}
        return follow_shard(clips, asked, Choice(**by["segmenter"]), by["code"], durable, known)
    return draft_shard(clips, by["proposer"], by["settings"], by["code"], durable, known)


def to_try_again(clips: Iterable[Clip], made: Iterable[Annotation], proposals: Path | None) -> list[tuple[str, str]]:
    """Clips that have no draft by our fault, with the reason. Where nothing was proposed, its asking is tried again, or not."""
    drafted = {row.clip_id for row in made}
    if proposals is not None:
        drafted |= {row.clip_id for row in read_rows(proposals, Proposal) if row.status != "ok"}
    return [(clip.clip_id, "no annotation, see the log") for clip in clips if clip.clip_id not in drafted]


def draft_shard(
    clips: Iterable[Clip],
    proposer: str,
    settings: Mapping[str, Any],
    code: str,
    durable: Path,
    known: Known = nothing_known,
) -> Iterator[Annotation]:
    """One row a clip that can be read; a clip that cannot is named in the log, and the metrics that need it stay unscored."""
    store = ItemStore(durable, stage="draft_annotations", salt=[proposer, settings, code])
    load = functools.cache(lambda: registry.make(FAMILY, proposer, settings))
    for clip in clips:
        annotation = known(clip)
        if annotation is not None:
            yield annotation
            continue
        try:
            make = functools.partial(_proposed, load, clip)
            item = within_memory(functools.partial(store.get_or_make, proposer, clip.clip_id, store.key(clip.sha256), make))
        except (Unscored, VideoError) as error:
            LOG.error("no annotation of %s: %s", clip.clip_id, error)
            continue
        yield Annotation.model_validate(item.value)


def _proposed(load: Callable[[], Proposer], clip: Clip, _draft: Any) -> dict[str, Any]:
    check_file(clip)
    return load().propose(clip).model_dump(mode="json")


def follow_shard(
    clips: Iterable[Clip],
    proposals: Mapping[str, Proposal],
    segmenter: Choice,
    code: str,
    durable: Path,
    known: Known = nothing_known,
) -> Iterator[Annotation]:
    """One row a clip of which there is a proposal, its objects followed through the clip; the others are named in the log.

    Args:
        proposals: by clip.
        code: digest of the code that follows, beside the segmenter's own.
    """
    store = ItemStore(durable, stage="draft_annotations", salt=[*segmenter.salt, code])
    load = functools.cache(lambda: registry.make("score.segmenters", segmenter.name, segmenter.settings))
    for clip in clips:
        annotation, proposal = known(clip), proposals.get(clip.clip_id)
        if annotation is not None:
            yield annotation
            continue
        if proposal is None or proposal.status != "ok":
            LOG.error("no annotation of %s: %s", clip.clip_id, "nothing was proposed" if proposal is None else proposal.status)
            continue
        key = store.key(clip.sha256, digest_of(proposal.model_dump(mode="json")))

        def make(_draft: Any, clip: Clip = clip, proposal: Proposal = proposal) -> dict[str, Any]:
            check_file(clip)
            return followed(proposal, clip, load()).model_dump(mode="json")

        try:
            item = within_memory(functools.partial(store.get_or_make, segmenter.name, clip.clip_id, key, make))
        except (Unscored, VideoError) as error:
            LOG.error("no annotation of %s: %s", clip.clip_id, error)
            continue
        yield Annotation.model_validate(item.value)
