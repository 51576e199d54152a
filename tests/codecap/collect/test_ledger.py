"""What the ledger says of candidates over several runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from codecap.collect.ledger import COLUMNS, KEPT, make_entries, table, write_ledger
from codecap.records import Asked, Candidate, Duplicate, LedgerEntry, Original, Part, PassedOver, read_rows


def candidate(name: str, **told) -> Candidate:
    return Candidate(
        **{"candidate_id": name, "source": "web", "locator": f"http://x/{name}", "category": "C", "query": "search: a", **told}
    )


def fetched(one: Candidate) -> Original:
    known = one.model_copy(update={"licence": "CC BY", "uploader": "Ann"})
    return Original(candidate=known, status="ok", path=Path("x.mp4"), sha256="5" * 64, size_bytes=7, fetched="2026-11-30T11:45:00Z")


def failed(one: Candidate, cause: str | None) -> Original:
    return Original(candidate=one, status="failed", cause=cause, reason=f"it is {cause}")


def test_each_candidate_has_what_became_of_it():
    offered = [candidate(name) for name in "abcdef"]
    a, b, c, d, e, _ = offered
    entries = make_entries(
        offered,
        [fetched(a), fetched(b), failed(c, "private"), failed(d, "network"), fetched(e)],
        {},
        seen="2026-11-30",
        duplicates=[Duplicate(candidate_id="b", twin="a", offset_s=0, shared_s=5, likeness=1)],
        passed_over=[PassedOver(candidate_id="e", reason="nothing moves")],
        parts=[Part(candidate_id="a", clip_id=f"a_f{start:06d}", start=start, stop=start + 240) for start in (480, 0)],
    )
    assert [(name, row.status, row.cause) for name, row in entries.items()] == [
        ("a", "fetched", None),
        ("b", "duplicate", None),
        ("c", "failed", "private"),
        ("d", "waiting", "network"),
        ("e", "fetched", None),
        ("f", "waiting", None),
    ]
    assert entries["a"].clips == ["a_f000000", "a_f000480"] and entries["a"].candidate.licence == "CC BY"
    assert (entries["b"].twin, entries["e"].reason, entries["c"].reason) == ("a", "nothing moves", "it is private")
    assert {row.first_seen for row in entries.values()} == {"2026-11-30"}


def test_a_video_that_is_gone_keeps_what_was_known_of_it():
    one = candidate("a")
    first = make_entries([one], [fetched(one)], {}, seen="2026-11-01")
    gone = make_entries([one], [failed(one, "gone")], first, seen="2026-12-01")["a"]
    assert (gone.status, gone.gone, gone.first_seen, gone.last_seen) == ("gone", "2026-12-01", "2026-11-01", "2026-12-01")
    assert (gone.sha256, gone.candidate.licence, gone.clips) == ("5" * 64, "CC BY", [])
    later = make_entries([one], [failed(one, "gone")], {"a": gone}, seen="2027-01-01")["a"]
    assert (later.gone, later.last_seen) == ("2026-12-01", "2027-01-01")
    again = fetched(one).model_copy(update={"fetched": "2026-12-31T11:45:00Z"})
    back = make_entries([one], [again], {"a": gone}, seen="2027-01-01")["a"]
    assert (back.status, back.gone, back.first_seen) == ("fetched", "", "2026-11-01")


def test_never_fetched_is_failed_and_not_gone():
    one = candidate("a")
    assert make_entries([one], [failed(one, "gone")], {}, seen="2026-11-30")["a"].status == "failed"


def test_what_is_no_more_offered_stays_as_it_was():
    one = candidate("a")
    before = make_entries([one], [fetched(one)], {}, seen="2026-11-01")
    assert make_entries([], [], before, seen="2026-12-01") == before


def test_the_ledger_outlives_the_results(tmp_path):
    one, other = candidate("a"), candidate("b")
    durable = tmp_path / "durable"
    write_ledger(tmp_path / "r1", durable, ["web"], [], [one], originals=[fetched(one)], seen="2026-11-01")
    write_ledger(tmp_path / "r2", durable, ["web"], [], [other], originals=[failed(other, "age")], seen="2026-12-01")
    rows = list(read_rows(tmp_path / "r2" / "ledger.jsonl", LedgerEntry))
    assert [(row.candidate.candidate_id, row.status, row.last_seen) for row in rows] == [
        ("a", "fetched", "2026-11-01"),
        ("b", "failed", "2026-12-01"),
    ]
    write_ledger(tmp_path / "r3", durable, ["elsewhere"], [], [], originals=[], seen="2026-12-02")
    assert list(read_rows(tmp_path / "r3" / "ledger.jsonl", LedgerEntry)) == []
    assert len(list(read_rows(durable / KEPT, LedgerEntry))) == 2


def test_expected_against_actual():
    offered = [candidate(name) for name in "abc"]
    old = candidate("z", query="search: old", category="E")
    entries = make_entries(
        [*offered, old],
        [fetched(offered[0]), failed(offered[1], "gone"), failed(offered[2], "gone"), fetched(old)],
        {},
        seen="2026-11-30",
        parts=[Part(candidate_id="a", clip_id="a", start=0, stop=24)],
    )
    asked = [
        Asked(source="web", query="search: a", category="C", quota=5, offered=3),
        Asked(source="web", query="search: b", category="C", quota=4, cause="refused", reason="HTTP Error 412"),
    ]
    lines = [dict(zip(COLUMNS, line, strict=True)) for line in table(asked, entries.values())][1:]
    numbers = [tuple(line[name] for name in ("query", "expected", "offered", "there", "clips", "failed", "why")) for line in lines]
    assert numbers == [
        ("search: a", "5", "3", "1", "1", "2", "gone 2"),
        ("search: b", "4", "0", "0", "0", "0", "not answered: refused: HTTP Error 412"),
        ("search: old", "0", "0", "1", "0", "0", ""),
        ("", "9", "3", "2", "1", "2", "gone 2"),
    ]


@pytest.mark.parametrize("text", ["tab\there", "line\nhere"])
def test_a_site_s_words_break_no_table(text):
    asked = [Asked(source="web", query=text, cause="network", reason=text)]
    assert all("\t" not in cell and "\n" not in cell for line in table(asked, []) for cell in line)


def test_two_data_sets_of_one_store_may_call_two_videos_alike():
    one, other = candidate("a"), candidate("a", locator="http://y/a")
    first = make_entries([one], [fetched(one)], {}, seen="2026-11-01")
    entry = make_entries([other], [failed(other, "gone")], first, seen="2026-12-01")["a"]
    assert (entry.status, entry.sha256, entry.first_seen, entry.candidate.locator) == ("failed", "", "2026-12-01", "http://y/a")
