"""The ledger: what became of each candidate that a source ever offered, and how much of what was asked for is there."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from pathlib import Path

from codecap.collect.sources import Query
from codecap.records import (
    LATER,
    Asked,
    Candidate,
    Duplicate,
    LedgerEntry,
    Original,
    Part,
    PassedOver,
    read_rows,
    write_rows,
    write_whole,
)
from codecap.store.leases import lease

KEPT = Path("ledger") / "ledger.jsonl"  # below the durable store
HERE = ("fetched", "duplicate")  # statuses of what is here
COLUMNS = ("source", "query", "category", "expected", "offered", "there", "clips", "duplicate", "failed", "waiting", "gone", "why")


def entry_of(
    candidate: Candidate,
    original: Original | None,
    before: LedgerEntry | None,
    *,
    seen: str,
    twin: str = "",
    passed_over: str = "",
    clips: Iterable[str] = (),
) -> LedgerEntry:
    """What became of a candidate that a source offers now.

    Args:
        original: of the fetch; None where it was not tried yet.
        before: what the ledger said of it; of another video of this id nothing is taken over.
        seen: when the sources were asked, `2026-11-30`.
        twin: candidate_id of the one that shows the same and is kept.
        passed_over: why no clip is made of it.
    """
    if before is not None and not _same_video(before.candidate, candidate):
        before = None
    first_seen = before.first_seen if before is not None and before.first_seen else seen
    common = {"first_seen": first_seen, "last_seen": seen, "checked": before.checked if before is not None else ""}
    if original is not None and original.status == "ok":
        if before is not None and before.fetched == original.fetched:  # this file was here when its site had it no more
            common["gone"] = before.gone
        return LedgerEntry(
            candidate=original.candidate,
            status="duplicate" if twin else "fetched",
            reason=passed_over,
            sha256=original.sha256,
            size_bytes=original.size_bytes,
            fetched=original.fetched,
            twin=twin,
            clips=sorted(clips),
            **common,
        )
    cause, reason, terms = (original.cause, original.reason, original.terms) if original is not None else (None, "", "")
    if original is None or cause in LATER:
        status = "waiting"
    elif cause == "gone" and before is not None and before.sha256:
        status, common["gone"] = "gone", before.gone or seen
    else:
        status = "failed"
    if before is not None and before.sha256:  # it was here once
        common |= {"sha256": before.sha256, "size_bytes": before.size_bytes, "fetched": before.fetched}
        candidate = before.candidate
    return LedgerEntry(candidate=candidate, status=status, cause=cause, reason=reason, terms=terms, **common)


def _same_video(one: Candidate, other: Candidate) -> bool:
    """Two data sets that share a store may call two videos alike."""
    return (one.source, one.locator) == (other.source, other.locator)


def make_entries(
    candidates: Iterable[Candidate],
    originals: Iterable[Original],
    before: Mapping[str, LedgerEntry],
    *,
    seen: str,
    unanswered: Container[tuple[str, str]] = (),
    duplicates: Iterable[Duplicate] = (),
    passed_over: Iterable[PassedOver] = (),
    parts: Iterable[Part] = (),
) -> dict[str, LedgerEntry]:
    """The ledger anew, by candidate. What is no more offered keeps its entry as it was.

    Args:
        unanswered: sources and queries that were not answered: what they had offered before was not seen again.
    """
    fetched = {row.candidate.candidate_id: row for row in originals}
    twins = {row.candidate_id: row.twin for row in duplicates}
    reasons = {row.candidate_id: row.reason for row in passed_over}
    clips: dict[str, list[str]] = {}
    for part in parts:
        clips.setdefault(part.candidate_id, []).append(part.clip_id)
    entries = dict(before)
    for candidate in candidates:
        one = candidate.candidate_id
        known = before.get(one)
        stale = known is not None and (candidate.source, candidate.query) in unanswered
        entries[one] = entry_of(
            candidate,
            fetched.get(one),
            known,
            seen=known.last_seen if stale else seen,
            twin=twins.get(one, ""),
            passed_over=reasons.get(one, ""),
            clips=clips.get(one, ()),
        )
    return dict(sorted(entries.items()))


def write_ledger(
    folder: Path, durable: Path, sources: Iterable[str], asked: list[Asked], offered: Iterable[Candidate], **rows
) -> None:
    """Write `ledger.jsonl` and `ledger.tsv`, and keep the ledger in the durable store, where runs to come find it.

    Args:
        folder: gets the entries of these sources.
        durable: the config's `store.durable`; its ledger has those of all sources that ever used it.
        rows: see `make_entries`.
    """
    sources = set(sources)
    unanswered = {(row.source, row.query) for row in asked if row.cause}
    with changed(durable) as entries:
        entries |= make_entries(offered, before=dict(entries), unanswered=unanswered, **rows)
    ours = [entry for entry in entries.values() if entry.candidate.source in sources]
    write_rows(Path(folder) / "ledger.jsonl", LedgerEntry, ours)
    write_whole(Path(folder) / "ledger.tsv", ("\t".join(line) + "\n" for line in table(asked, ours)))


@contextlib.contextmanager
def changed(durable: Path) -> Iterator[dict[str, LedgerEntry]]:
    """The kept ledger by candidate, to be changed: it is written when that is done, and nobody else writes it in between."""
    kept = Path(durable) / KEPT
    kept.parent.mkdir(parents=True, exist_ok=True)
    with lease(kept):
        entries = read_ledger(durable)
        yield entries
        write_rows(kept, LedgerEntry, (entries[name] for name in sorted(entries)))


def read_ledger(durable: Path) -> dict[str, LedgerEntry]:
    """The kept ledger by candidate; empty before the first run."""
    kept = Path(durable) / KEPT
    return {row.candidate.candidate_id: row for row in read_rows(kept, LedgerEntry)} if kept.exists() else {}


def offered_before(durable: Path) -> Callable[[str, Query], list[Candidate]]:
    """What a source's query offered when it was answered last, by the ledger."""
    by_query: dict[tuple[str, str], list[LedgerEntry]] = {}
    for entry in read_ledger(durable).values():
        by_query.setdefault((entry.candidate.source, entry.candidate.query), []).append(entry)

    def of(source: str, query: Query) -> list[Candidate]:
        entries = [entry for entry in by_query.get((source, query.words), []) if entry.candidate.category == query.category]
        last = max((entry.last_seen for entry in entries), default="")
        return [entry.candidate for entry in entries if entry.last_seen == last]

    return of


def table(asked: Iterable[Asked], entries: Iterable[LedgerEntry]) -> Iterator[list[str]]:
    """Expected against actual: a line for each query of each source, a last one for all.

    `expected` is the query's quota (where it has none: what it offers), `there` the videos that are here, `gone` those that their
    sites have no more, here or not, `why` the causes of what is not here, with their numbers.
    """
    yield list(COLUMNS)
    by_query: dict[tuple[str, str], list[LedgerEntry]] = {}
    for entry in entries:
        by_query.setdefault((entry.candidate.source, entry.candidate.query), []).append(entry)
    lines = [_Line(row, by_query.pop((row.source, row.query), [])) for row in asked]
    lines += [_Line(Asked(source=source, query=query, quota=0), mine) for (source, query), mine in sorted(by_query.items())]
    yield from (line.cells() for line in lines)
    total = Asked(source="all", quota=sum(line.expected for line in lines), offered=sum(line.asked.offered for line in lines))
    yield _Line(total, [entry for line in lines for entry in line.entries]).cells()


class _Line:
    """A query and its entries. One that is not asked any more has a quota of 0."""

    def __init__(self, asked: Asked, entries: list[LedgerEntry]) -> None:
        self.asked, self.entries = asked, entries
        self.expected = asked.offered if asked.quota is None else asked.quota

    def cells(self) -> list[str]:
        statuses = Counter(entry.status for entry in self.entries)
        causes = Counter(entry.cause or "not fetched yet" for entry in self.entries if entry.status not in HERE)
        unanswered = [f"not answered: {self.asked.cause}: {self.asked.reason}"] if self.asked.cause else []
        numbers = (
            self.expected,
            self.asked.offered,
            sum(statuses[name] for name in HERE),
            sum(len(entry.clips) for entry in self.entries),
            *(statuses[name] for name in ("duplicate", "failed", "waiting")),
            sum(bool(entry.gone) for entry in self.entries),
        )
        category = self.asked.category or ", ".join(sorted({entry.candidate.category for entry in self.entries}))
        why = "; ".join([*unanswered, *(f"{cause} {number}" for cause, number in causes.most_common())])
        return [" ".join(cell.split()) for cell in (self.asked.source, self.asked.query, category, *map(str, numbers), why)]
