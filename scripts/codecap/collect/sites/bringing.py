"""One candidate's video into its source's folder: asked politely, asked again where that may help, and whole."""

from __future__ import annotations

import itertools
import logging
import shutil
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from codecap import stopping
from codecap.collect.naming import VIDEO_SUFFIXES
from codecap.collect.sites.access import Access
from codecap.collect.sites.download import Download, Got, Limits
from codecap.collect.sources import NotToBeHad
from codecap.collect.whole import check_whole
from codecap.records import LATER, Candidate, Original
from codecap.video import file_sha256

LOG = logging.getLogger("codecap")
DRAFTS = ".drafts"
TRIES = {"network": 2, "cut_short": 2, "refused": 3}  # in one run; yt-dlp has by then tried each connection several times
PAUSE_S = 2.0  # before the next try, where the site does not say
PATIENCE_S = 120.0  # a site that asks for a longer pause is asked again by the next run


def bring(
    candidate: Candidate,
    folder: Path,
    access: Access,
    limits: Limits,
    *,
    sha256: str = "",
    extractors: Sequence[type] = (),
    allowed: Sequence[str] = (),
    options: Mapping[str, Any] | None = None,
) -> Original:
    """Fetch a candidate as `<folder>/<candidate id>.<suffix>`, or say why not.

    Args:
        sha256: of the file that is meant, where that is known.
        extractors, allowed, options: see `Download`.
    """
    draft = Path(folder) / DRAFTS / candidate.candidate_id
    for tried in itertools.count(1):
        try:
            got = Download(candidate.locator, draft, access, limits, extractors, allowed, options).get()
            return _accepted(candidate, got, draft, folder, sha256)
        except NotToBeHad as refusal:
            pause_s = _pause_s(refusal, tried)
            if pause_s is None:
                if refusal.cause not in LATER:
                    shutil.rmtree(draft, ignore_errors=True)
                return Original(candidate=candidate, status="failed", cause=refusal.cause, reason=refusal.reason)
            LOG.info("%s: %s; asked again in %.0f s", candidate.candidate_id, refusal.reason, pause_s)
            stopping.sleep(pause_s)
    raise AssertionError


def _pause_s(refusal: NotToBeHad, tried: int) -> float | None:
    """How long to wait before the next try; None where there is none in this run.

    Whoever suspects a robot, and does not say when to come back, is not asked again at once.
    """
    if tried >= TRIES.get(refusal.cause, 1) or (refusal.cause == "refused" and refusal.wait_s is None):
        return None
    pause_s = PAUSE_S if refusal.wait_s is None else refusal.wait_s
    return pause_s if pause_s <= PATIENCE_S else None


def _accepted(candidate: Candidate, got: Got, draft: Path, folder: Path, sha256: str) -> Original:
    """Look at what came, and give it its name.

    Raises:
        NotToBeHad: it is no video, a part of one, or not the one that is meant.
    """
    try:
        check_whole(got.path, got.duration_s)
        digest = file_sha256(got.path)
        if sha256 and digest != sha256:
            raise NotToBeHad("gone", f"another file is there now: its SHA-256 is {digest}, not {sha256}")
    except NotToBeHad:
        shutil.rmtree(draft, ignore_errors=True)  # it would be taken for the beginning of the next try's
        raise
    suffix = got.path.suffix.lower()
    place = Path(folder) / f"{candidate.candidate_id}{suffix if suffix in VIDEO_SUFFIXES | {'.webp', '.png'} else '.video'}"
    got.path.replace(place)
    shutil.rmtree(draft, ignore_errors=True)
    return Original(
        candidate=candidate.model_copy(update=_told(candidate, got)),
        status="ok",
        path=place,
        sha256=digest,
        size_bytes=place.stat().st_size,
        fetched=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    )


def _told(candidate: Candidate, got: Got) -> dict[str, Any]:
    """What the site says, where the candidate does not say it."""
    fields = ("title", "uploader", "licence", "published", "duration_s")
    return {name: getattr(got, name) for name in fields if getattr(got, name) and not getattr(candidate, name)}
