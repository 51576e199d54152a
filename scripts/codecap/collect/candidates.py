"""All videos that the configured sources offer, and their fetch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from codecap.collect.sources import Source
from codecap.errors import UserError
from codecap.records import Candidate, Original
from codecap.registry import load


class CandidateError(UserError, ValueError):
    """A source's entry that cannot be used, or two candidates of one id; the message names what is meant."""


def collect_candidates(sources: Mapping[str, Mapping[str, Any]]) -> list[Candidate]:
    """Ask each source for its videos.

    Args:
        sources: the config's entries by name, `plugin` and the plugin's settings in each:
            `{"mine": {"plugin": "local", "paths": ["clips"]}}`.

    Returns:
        The candidates, sorted by id; `source` is the name of the entry.

    Raises:
        CandidateError: an id occurs twice, or an entry names no plugin.
        Unavailable: there is no such plugin.
        ValueError, FileNotFoundError: an entry's settings are wrong.
    """
    found: dict[str, Candidate] = {}
    for name in sources:
        for offered in _source(name, sources).discover():
            candidate = offered.model_copy(update={"source": name})
            twin = found.setdefault(candidate.candidate_id, candidate)
            if twin is not candidate:
                raise CandidateError(
                    f"clip id {candidate.candidate_id!r} is used twice: by {twin.locator} (source {twin.source}) and by "
                    f"{candidate.locator} (source {candidate.source}); rename one of the files"
                )
    return [found[candidate_id] for candidate_id in sorted(found)]


def fetch_shard(candidates: Iterable[Candidate], sources: Mapping[str, Mapping[str, Any]], folder: Path) -> Iterator[Original]:
    """Fetch candidates one after another; what cannot be had is a row with a reason.

    Args:
        candidates: as `collect_candidates` gives them.
        sources: the same entries.
        folder: where sources put what they download, each in a folder of its own name.
    """
    opened: dict[str, Source] = {}
    for candidate in candidates:
        name = candidate.source
        if name not in opened:
            opened[name] = _source(name, sources)
        yield opened[name].fetch(candidate, Path(folder) / name)


def _source(name: str, sources: Mapping[str, Mapping[str, Any]]) -> Source:
    if name not in sources:
        raise CandidateError(f"source {name!r} is not in the config any more; collect the candidates again")
    settings = dict(sources[name])
    if "plugin" not in settings:
        raise CandidateError(f"source {name!r} names no `plugin`; give one, such as `plugin: local`")
    return load("collect.sources", settings.pop("plugin")).load(settings)
