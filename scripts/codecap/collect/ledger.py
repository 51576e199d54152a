"""The ledger: what became of each candidate that a source ever offered, and how much of what was asked for is there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

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
        before: what the ledger said of it.
        seen: when the sources were asked, `2026-11-30`.
        twin: candidate_id of the one that shows the same and is kept.
        passed_over: why no clip is made of it.
    """
    first_seen = before.first_seen if before is not None and before.first_seen else seen
    common = {"first_seen": first_seen, "last_seen": seen}
    if original is not None and original.status == "ok":
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
    cause, reason = (original.cause, original.reason) if original is not None else (None, "")
    if original is None or cause in LATER:
        status = "waiting"
    elif cause == "gone" and before is not None and before.sha256:
        status, common["gone"] = "gone", before.gone or seen
    else:
        status = "failed"
    if before is not None and before.sha256:  # it was here once
        common |= {"sha256": before.sha256, "size_bytes": before.size_bytes, "fetched": before.fetched}
        candidate = before.candidate
    return LedgerEntry(candidate=candidate, status=status, cause=cause, reason=reason, **common)


def make_entries(
    candidates: Iterable[Candidate],
    originals: Iterable[Original],
    before: Mapping[str, LedgerEntry],
    *,
    seen: str,
    duplicates: Iterable[Duplicate] = (),
    passed_over: Iterable[PassedOver] = (),
    parts: Iterable[Part] = (),
) -> dict[str, LedgerEntry]:
    """The ledger anew, by candidate. What is no more offered keeps its entry as it was."""
    fetched = {row.candidate.candidate_id: row for row in originals}
    twins = {row.candidate_id: row.twin for row in duplicates}
    reasons = {row.candidate_id: row.reason for row in passed_over}
    clips: dict[str, list[str]] = {}
    for part in parts:
        clips.setdefault(part.candidate_id, []).append(part.clip_id)
    entries = dict(before)
    for candidate in candidates:
        one = candidate.candidate_id
        entries[one] = entry_of(
            candidate,
            fetched.get(one),
            before.get(one),
            seen=seen,
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
    kept, sources = Path(durable) / KEPT, set(sources)
    kept.parent.mkdir(parents=True, exist_ok=True)
    with lease(kept):
        before = {row.candidate.candidate_id: row for row in read_rows(kept, LedgerEntry)} if kept.exists() else {}
        entries = make_entries(offered, before=before, **rows)
        write_rows(kept, LedgerEntry, entries.values())
    ours = [entry for entry in entries.values() if entry.candidate.source in sources]
    write_rows(Path(folder) / "ledger.jsonl", LedgerEntry, ours)
    write_whole(Path(folder) / "ledger.tsv", ("\t".join(line) + "\n" for line in table(asked, ours)))


def table(asked: Iterable[Asked], entries: Iterable[LedgerEntry]) -> Iterator[list[str]]:
    """Expected against actual: a line for each query of each source, a last one for all.

    `expected` is the query's quota (where it has none: what it offers), `there` the videos that are here, `why` the causes of
    what is not, with their numbers.
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
            *(statuses[name] for name in ("duplicate", "failed", "waiting", "gone")),
        )
        category = self.asked.category or ", ".join(sorted({entry.candidate.category for entry in self.entries}))
        why = "; ".join([*unanswered, *(f"{cause} {number}" for cause, number in causes.most_common())])
        return [" ".join(cell.split()) for cell in (self.asked.source, self.asked.query, category, *map(str, numbers), why)]
