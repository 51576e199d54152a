"""All videos that the configured sources offer."""

from __future__ import annotations

import logging
from collections.abc import Mapping
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


def collect_candidates(sources: Mapping[str, Mapping[str, Any]], turns: Path | None = None) -> Collected:
    """Ask each source that takes part for its videos, each query up to its quota.

    A video that several queries find is counted for the first of them. A query that is not answered is a row with a reason.

    Args:
        sources: the config's entries by name, `plugin` and the plugin's settings in each:
            `{"mine": {"plugin": "local", "paths": ["clips"]}}`.
        turns: folder where runs side by side share the turns of sites; None: this one is alone.

    Raises:
        CandidateError: an id is given to two videos, or an entry names no plugin.
        Unavailable: there is no such plugin.
        ValueError, FileNotFoundError: an entry's settings are wrong.
    """
    found: dict[str, Candidate] = {}
    asked: list[Asked] = []
    for name in (name for name, entry in sources.items() if entry.get("enabled", True)):
        source = open_source(name, sources)
        pace = Pace.of(source, turns)
        for query in source.queries():
            row = Asked(source=name, query=query.words, category=query.category, quota=query.quota)
            pace.wait()
            try:
                offered = _offered(name, source, query, found)
            except NotToBeHad as error:
                LOG.warning("source %s: %s: %s", name, query.words, error.reason)
                row = row.model_copy(update={"cause": error.cause, "reason": error.reason})
            else:
                row = row.model_copy(update={"offered": offered})
            asked.append(row)
    return Collected([found[candidate_id] for candidate_id in sorted(found)], asked)


def _offered(name: str, source: Source, query: Query, found: dict[str, Candidate]) -> int:
    """Add what a query offers to what was found before; how many are new."""
    new = 0
    for offered in source.discover(query):
        if query.quota is not None and new >= query.quota:
            break
        candidate = offered.model_copy(update={"source": name, "query": query.words})
        twin = found.setdefault(candidate.candidate_id, candidate)
        if twin is candidate:
            new += 1
        elif twin.locator != candidate.locator:
            raise CandidateError(
                f"clip id {candidate.candidate_id!r} is used twice: by {twin.locator} (source {twin.source}) and by "
                f"{candidate.locator} (source {candidate.source}); rename one file, or give it an `id` if its source takes one"
            )
    return new


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
