"""Link rot: sites are asked again about videos that are here, and those that could not be had; the ledger keeps the answers."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codecap.collect.candidates import open_source
from codecap.collect.fetching import TURNS
from codecap.collect.ledger import HERE, changed, read_ledger
from codecap.collect.pace import Pace
from codecap.collect.sources import NotToBeHad, Source
from codecap.records import LATER, LedgerEntry

WRITE_EVERY_S = 30.0


@dataclass(frozen=True)
class Rechecked:
    """What a site says of one candidate of the ledger.

    Attributes:
        entry: as it was before.
        there: None: it did not answer, and nothing is known anew.
        reason: why not, in words.
    """

    entry: LedgerEntry
    there: bool | None
    reason: str = ""

    @property
    def is_lost(self) -> bool:
        """Whether its file is here, and its site has it no more."""
        return self.there is False and self.entry.status in HERE

    @property
    def can_be_had(self) -> bool:
        """Whether it could not be had, and is there now; what is too long or too large always was."""
        return bool(self.there) and self.entry.status not in HERE and self.entry.cause != "unwanted"


def recheck(sources: Mapping[str, Mapping[str, Any]], bulk: Path, durable: Path, today: str) -> Iterator[Rechecked]:
    """Ask about each candidate of the sources that take part, those first that were not asked about for longest.

    What was asked about today is not asked about again, so that a call that was broken off is gone on with by the next one.

    Args:
        bulk, durable: the config's `store.bulk`, where sites' turns are, and `store.durable`, where the ledger is.
        today: as in 2026-11-30.

    Raises:
        CandidateError, ValueError: an entry's settings are wrong.
    """
    opened = {name: open_source(name, sources) for name, entry in sources.items() if entry.get("enabled", True)}
    paces = {name: Pace.of(source, Path(bulk) / TURNS) for name, source in opened.items()}
    entries = [entry for entry in read_ledger(durable).values() if entry.candidate.source in opened and entry.status != "waiting"]
    found: list[tuple[LedgerEntry, dict[str, Any]]] = []
    written = time.monotonic()
    try:
        for entry in sorted((one for one in entries if one.checked < today), key=lambda one: one.checked):
            name = entry.candidate.source
            told = _asked(entry, opened[name], paces[name])
            if told.there is not None:
                found.append((entry, _news(told, today)))
            yield told
            if time.monotonic() - written > WRITE_EVERY_S:
                _keep(durable, found)
                written = time.monotonic()
    finally:
        _keep(durable, found)


def _asked(entry: LedgerEntry, source: Source, pace: Pace) -> Rechecked:
    if pace.is_closed:
        return Rechecked(entry, None, "its site has refused too often; not asked")
    pace.wait()
    try:
        source.look(entry.candidate)
    except NotToBeHad as error:
        pace.answered(refused=error.cause == "refused")
        return Rechecked(entry, None if error.cause in LATER else False, error.reason)
    pace.answered(refused=False)
    return Rechecked(entry, True)


def _news(told: Rechecked, today: str) -> dict[str, Any]:
    """What is new in the entry. One that can be had again waits for the next fetch."""
    entry = told.entry
    if entry.status in HERE:
        return {"checked": today, "gone": "" if told.there else entry.gone or today}
    if told.can_be_had:
        return {"checked": today, "status": "waiting", "cause": None, "reason": "", "gone": "", "terms": ""}
    return {"checked": today}


def _keep(durable: Path, found: list[tuple[LedgerEntry, dict[str, Any]]]) -> None:
    """Put what is new into the ledger, but for entries that a fetch has changed since."""
    if not found:
        return
    with changed(durable) as entries:
        for entry, news in found:
            name = entry.candidate.candidate_id
            now = entries.get(name)
            if now is not None and (now.candidate, now.status, now.fetched) == (entry.candidate, entry.status, entry.fetched):
                entries[name] = now.model_copy(update=news)
    found.clear()
