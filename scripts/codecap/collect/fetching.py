"""The fetch: each candidate's file, from its source, or from where it was put before. The store remembers what was fetched."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from codecap.collect.candidates import open_source
from codecap.collect.ledger import read_ledger
from codecap.collect.pace import REFUSALS, Pace
from codecap.collect.sources import Source
from codecap.records import LATER, Candidate, Original
from codecap.store import ItemStore, digest_of
from codecap.store.leases import lease

STAGE = "fetch_originals"
ORIGINALS = "originals"  # below the bulk store: a folder a source
TURNS = f"{ORIGINALS}/.turns"
WHAT = ("queries", "urls", "pages", "enabled")  # keys of an entry that say which videos are asked for,
HOW_FAST = ("per_minute", "pause_s", "timeout_s", "mbit_per_s")  # and how fast; none of them lets a video be had
TOLD = ("title", "uploader", "licence", "published", "duration_s")  # of a candidate, which the fetch may add


class Fetcher:
    """Fetches candidates, and remembers.

    Args:
        sources: the config's entries.
        bulk: the config's `store.bulk`; files are put below `originals/<source>/`.
        durable: the config's `store.durable`; what was fetched is remembered there, and outlives `results`.
    """

    def __init__(self, sources: Mapping[str, Mapping[str, Any]], bulk: Path, durable: Path) -> None:
        self._sources = sources
        self._folder, self._turns = Path(bulk) / ORIGINALS, Path(bulk) / TURNS
        self._items = ItemStore(Path(durable), stage=STAGE, salt=1)
        self._open: dict[str, tuple[Source, Pace]] = {}
        self._ledger = read_ledger(Path(durable))

    def fetch(self, candidate: Candidate) -> Original:
        """A candidate's file; what cannot be had is a row with a reason.

        Raises:
            CandidateError: its source is not in the config any more.
            OSError: a disk of ours is full, or cannot be written.
        """
        source, pace = self._source(candidate.source)
        folder = self._folder / candidate.source
        determines = source.determines(candidate)
        if determines is None:
            return source.fetch(candidate, folder)
        terms = _terms(self._sources[candidate.source], determines)
        kept = self._kept(candidate, determines) or self._refused_for_good(candidate, terms)
        if kept is not None:
            return kept
        folder.mkdir(parents=True, exist_ok=True)
        with lease(folder / candidate.candidate_id):  # another run may be fetching it
            original = self._kept(candidate, determines) or self._fetched(candidate, source, pace, folder, determines)
        return original if original.status == "ok" else original.model_copy(update={"terms": terms})

    def _refused_for_good(self, candidate: Candidate, terms: str) -> Original | None:
        """What the ledger says of one that cannot be had, and was asked for with the same settings."""
        entry = self._ledger.get(candidate.candidate_id)
        if entry is None or entry.terms != terms or entry.cause is None or entry.cause in LATER:
            return None
        return Original(candidate=candidate, status="failed", cause=entry.cause, reason=entry.reason, terms=terms)

    def _fetched(self, candidate: Candidate, source: Source, pace: Pace, folder: Path, determines: list[Any]) -> Original:
        if pace.is_closed:
            return Original(
                candidate=candidate,
                status="failed",
                cause="refused",
                reason=f"not asked: {source.site} has refused {REFUSALS} requests one after another; run again later",
            )
        pace.wait()
        original = source.fetch(candidate, folder)
        pace.answered(refused=original.cause == "refused")
        if original.status == "ok":
            self._remember(original, determines)
        return original

    def _kept(self, candidate: Candidate, determines: list[Any]) -> Original | None:
        """What was fetched before, if its file is still there."""
        last = self._last(candidate, determines)[1]
        if last is None:
            return None
        path = self._folder / last["file"]
        try:
            if path.stat().st_size != last["size_bytes"]:
                return None
        except FileNotFoundError:
            return None
        told = {name: last[name] for name in TOLD if last.get(name) and not getattr(candidate, name)}
        return Original(
            candidate=candidate.model_copy(update=told),
            status="ok",
            path=path,
            sha256=last["sha256"],
            size_bytes=last["size_bytes"],
            fetched=last["fetched"],
        )

    def _remember(self, original: Original, determines: list[Any]) -> None:
        candidate, path = original.candidate, original.path
        edition, last = self._last(candidate, determines)
        file = path.relative_to(self._folder).as_posix()
        if last is not None and (last["sha256"], last["file"]) == (original.sha256, file):
            return
        value = {
            "file": file,
            "sha256": original.sha256,
            "size_bytes": original.size_bytes,
            "fetched": original.fetched,
            "locator": candidate.locator,
            **{name: getattr(candidate, name) for name in TOLD},
        }
        self._items.get_or_make(candidate.source, candidate.candidate_id, self._key(determines, edition), lambda _: value)

    def _last(self, candidate: Candidate, determines: list[Any]) -> tuple[int, dict[str, Any] | None]:
        """What was fetched last, and how many editions there are: a file that was lost may come back with other bytes."""
        last = None
        for edition in itertools.count():
            item = self._items.get(candidate.source, candidate.candidate_id, self._key(determines, edition))
            if item is None:
                return edition, last
            last = item.value
        raise AssertionError

    def _key(self, determines: list[Any], edition: int) -> str:
        return self._items.key(digest_of(determines), str(edition))

    def _source(self, name: str) -> tuple[Source, Pace]:
        if name not in self._open:
            source = open_source(name, self._sources)
            self._open[name] = source, Pace.of(source, self._turns)
        return self._open[name]


def _terms(entry: Mapping[str, Any], determines: list[Any]) -> str:
    """Digest of all by which a video that could not be had might be had: limits, cookies, a proxy, another yt-dlp."""
    settings = {key: value for key, value in entry.items() if key not in WHAT + HOW_FAST}
    return digest_of([determines, settings, version("yt-dlp")])


def fetch_shard(
    candidates: Iterable[Candidate], sources: Mapping[str, Mapping[str, Any]], bulk: Path, durable: Path
) -> Iterator[Original]:
    """Fetch candidates one after another, see `Fetcher`."""
    fetcher = Fetcher(sources, bulk, durable)
    return map(fetcher.fetch, candidates)
