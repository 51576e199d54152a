"""All videos that the configured sources offer."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codecap.collect.pace import Pace
from codecap.collect.sources import NotToBeHad, Query, Source
from codecap.errors import UserError
from codecap.records import Asked, Candidate
from codecap.registry import load

LOG = logging.getLogger("codecap")


class CandidateError(UserError, ValueError):
    """A source's entry that cannot be used, or two candidates of one id; the message names what is meant."""


@dataclass(frozen=True)
class Collected:
    """The candidates, sorted by id, and one row for each query of each source."""

    candidates: list[Candidate]
    asked: list[Asked]


def collect_candidates(
    sources: Mapping[str, Mapping[str, Any]],
    turns: Path | None = None,
    offered_before: Callable[[str, Query], Iterable[Candidate]] = lambda *_: (),
) -> Collected:
    """Ask each source that takes part for its videos, each query up to its quota.

    A video that several queries find is counted for the first of them. A query that is not answered is a row with a reason, and
    offers what it offered before: that a site refuses today takes nothing out of a data set.

    Args:
        sources: the config's entries by name, `plugin` and the plugin's settings in each:
            `{"mine": {"plugin": "local", "paths": ["clips"]}}`.
        turns: folder where runs side by side share the turns of sites; None: this one is alone.
        offered_before: what a source's query offered when it was answered last.

    Raises:
        CandidateError: an id is given to two videos, or an entry names no plugin.
        Unavailable: there is no such plugin.
        ValueError, FileNotFoundError: an entry's settings are wrong.
    """
    found = _Found()
    asked: list[Asked] = []
    for name in (name for name, entry in sources.items() if entry.get("enabled", True)):
        source = open_source(name, sources)
        pace = Pace.of(source, turns)
        for query in source.queries():
            row = Asked(source=name, query=query.words, category=query.category, quota=query.quota)
            if query.asks:
                pace.wait()
            before = len(found)
            most = None if query.quota is None else before + query.quota
            try:
                found.add(name, source, query, source.discover(query), most)
            except NotToBeHad as error:  # perhaps after some of what it offers
                LOG.warning("source %s: %s: %s", name, query.words, error.reason)
                row = row.model_copy(update={"cause": error.cause, "reason": error.reason})
                found.add(name, source, query, offered_before(name, query), most)
            asked.append(row.model_copy(update={"offered": len(found) - before}))
    return Collected(found.candidates(), asked)


class _Found:
    """What was found so far, each video once."""

    def __init__(self) -> None:
        self._by_id: dict[str, Candidate] = {}
        self._videos: set[str] = set()

    def __len__(self) -> int:
        return len(self._by_id)

    def candidates(self) -> list[Candidate]:
        """Sorted by id."""
        return [self._by_id[candidate_id] for candidate_id in sorted(self._by_id)]

    def add(self, name: str, source: Source, query: Query, every: Iterable[Candidate], most: int | None) -> None:
        """Add what a query offers, until there are `most` in all.

        Raises:
            CandidateError: an id is given to two videos.
        """
        for offered in every:
            if most is not None and len(self) >= most:
                return
            candidate = offered.model_copy(update={"source": name, "query": query.words})
            video = source.video_of(candidate)
            if video in self._videos:
                continue
            twin = self._by_id.setdefault(candidate.candidate_id, candidate)
            if twin is not candidate:
                raise CandidateError(
                    f"clip id {candidate.candidate_id!r} is used twice: by {twin.locator} (source {twin.source}) and by "
                    f"{candidate.locator} (source {name}); rename one file, or give it an `id` if its source takes one"
                )
            self._videos.add(video)


def open_source(name: str, sources: Mapping[str, Mapping[str, Any]]) -> Source:
    """A source by the name of its entry.

    Raises:
        CandidateError: it is not there, or names no plugin.
        Unavailable: there is no such plugin.
        ValueError: its settings are wrong.
    """
    if name not in sources:
        raise CandidateError(f"source {name!r} is not in the config any more; collect the candidates again")
    settings = {key: value for key, value in sources[name].items() if key != "enabled"}
    if "plugin" not in settings:
        raise CandidateError(f"source {name!r} names no `plugin`; give one, such as `plugin: local`")
    return load("collect.sources", settings.pop("plugin")).load(settings)
