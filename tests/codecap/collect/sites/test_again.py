"""What is asked of a site again, and what is not: by runs one after another, and by `codecap dataset recheck`."""

from __future__ import annotations

from pathlib import Path

import pytest

from codecap.collect import collect_candidates, fetch_shard
from codecap.collect.ledger import offered_before, read_ledger, write_ledger
from codecap.collect.recheck import recheck
from codecap.collect.sources import Query
from codecap.records import Asked, Candidate


class Runs:
    """Runs of stage 1 on one store: discovery, fetch and ledger."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.bulk, self.durable = folder, folder / "bulk", folder / "durable"

    def __call__(self, *urls, seen: str = "2026-11-30", **settings):
        sources = {"web": {"plugin": "http", "urls": list(urls), **settings}}
        found = collect_candidates(sources, None, offered_before(self.durable))
        rows = list(fetch_shard(found.candidates, sources, self.bulk, self.durable))
        write_ledger(self.folder, self.durable, sources, found.asked, found.candidates, originals=rows, seen=seen)
        return rows

    def recheck(self, *urls, today: str = "2026-12-01"):
        sources = {"web": {"plugin": "http", "urls": list(urls)}, "off": {"plugin": "nowhere", "enabled": False}}
        return list(recheck(sources, self.bulk, self.durable, today))

    def ledger(self):
        return read_ledger(self.durable)

    def line(self) -> dict[str, str]:
        head, line, *_ = (self.folder / "ledger.tsv").read_text().splitlines()
        return dict(zip(head.split("\t"), line.split("\t"), strict=True))


@pytest.fixture
def runs(tmp_path) -> Runs:
    return Runs(tmp_path)


@pytest.mark.parametrize("answer", [404, 403, 451])
def test_what_cannot_be_had_is_not_asked_for_again(site, runs, answer):
    address = site.put("a.mp4", b"", "video/mp4", answer)
    (first,) = runs(address)
    assert runs(address, per_minute=10_000) == [first] and site.count(address) == 1
    assert runs(address, timeout_s=5, pause_s=0) == [first] and site.count(address) == 1


def test_what_may_come_is_asked_for_again(site, runs, video):
    address = site.put("a.mp4", video(frames=4), "video/mp4", 412, "ok")
    assert [runs(address)[0].cause, runs(address)[0].status] == ["refused", "ok"]


@pytest.mark.parametrize("change", ["limit", "digest", "address"])
def test_with_other_settings_it_is_asked_for_again(site, runs, video, change):
    address = site.put("a.mp4", video(), "video/mp4")
    meant = {"url": address, "sha256": "0" * 64} if change == "digest" else address
    assert runs(meant, most_mb=2000.0 if change == "digest" else 0.01)[0].status == "failed"
    if change == "limit":
        assert runs(address, most_mb=100)[0].status == "ok"
    elif change == "digest":
        assert runs(address)[0].status == "ok"
    else:
        other = site.put("elsewhere/a.mp4", video(), "video/mp4")
        assert runs(other, most_mb=0.01)[0].cause == "unwanted" and site.count(other) == 1


def test_link_rot_of_what_is_here(site, runs, video):
    urls = [site.put(f"{name}.mp4", video(frames=4, seed=n), "video/mp4") for n, name in enumerate("abc")]
    first = runs(*urls)
    site.put("a.mp4", b"", "video/mp4", 404)
    site.put("b.mp4", b"", "video/mp4", 503)
    told = {one.entry.candidate.candidate_id: (one.there, one.is_lost) for one in runs.recheck(*urls)}
    assert told == {"a": (False, True), "b": (None, False), "c": (True, False)}
    ledger = runs.ledger()
    assert [(one.status, one.gone, one.checked) for one in ledger.values()] == [
        ("fetched", "2026-12-01", "2026-12-01"),
        ("fetched", "", ""),
        ("fetched", "", "2026-12-01"),
    ]
    assert runs(*urls, seen="2026-12-02") == first  # its file is here all the same
    assert (runs.ledger()["a"].gone, runs.ledger()["a"].checked) == ("2026-12-01", "2026-12-01")
    line = runs.line()
    assert (line["there"], line["gone"], line["failed"]) == ("3", "1", "0")
    site.put("a.mp4", video(frames=4), "video/mp4")
    assert all(one.there is not False for one in runs.recheck(*urls, today="2026-12-03"))
    assert runs.ledger()["a"].gone == ""


def test_a_recheck_goes_on_the_same_day_and_fetches_nothing(site, runs, video):
    urls = [site.put(f"{name}.mp4", video(frames=480, height_px=96), "video/mp4") for name in "ab"]
    runs(*urls)
    before = site.asked.total()
    asking = recheck({"web": {"plugin": "http", "urls": urls}}, runs.bulk, runs.durable, "2026-12-01")
    next(asking)
    asking.close()  # as by Ctrl-C
    assert [one.entry.candidate.candidate_id for one in runs.recheck(*urls)] == ["b"]
    assert runs.recheck(*urls) == [] and site.asked.total() == before + 2


def test_what_is_there_again_is_fetched_by_the_next_run(site, runs, video):
    address = site.put("a.mp4", b"", "video/mp4", 404)
    page = site.put("b.mp4", b"<html>", "text/html")
    assert [row.cause for row in runs(address, page)] == ["gone", "not_a_video"]
    site.put("a.mp4", video(frames=4), "video/mp4")
    told = runs.recheck(address, page)
    assert [(one.can_be_had, one.there) for one in told] == [(True, True), (False, False)]
    assert [one.status for one in runs.ledger().values()] == ["waiting", "failed"]
    assert [row.status for row in runs(address, page)] == ["ok", "failed"]


def test_what_is_too_large_does_not_become_smaller(site, runs, video):
    address = site.put("a.mp4", video(), "video/mp4")
    assert runs(address, most_mb=0.01)[0].cause == "unwanted"
    assert [one.can_be_had for one in runs.recheck(address)] == [False]
    assert runs.ledger()["a"].status == "failed"


def test_a_draft_of_another_address_is_not_gone_on_with(site, runs, video):
    """The entry's address was wrong, and the servers name both files alike."""
    headers = {"ETag": '"1"', "Last-Modified": "Mon, 30 Nov 2026 12:00:00 GMT"}
    wrong = site.put("wrong.mp4", video(), "video/mp4", "cut", 503, headers=headers)
    assert runs({"url": wrong, "id": "x"})[0].cause == "network"
    body = video(seed=1)
    right = site.put("right.mp4", body, "video/mp4", headers=headers)
    (row,) = runs({"url": right, "id": "x"})
    assert row.path.read_bytes() == body and site.sent(right) == len(body)


def test_a_query_that_is_refused_takes_nothing_out_of_a_data_set(site, tmp_path):
    state = '{"project": {"project": {"id": 1, "name": "x", "allModules": [%s]}}}'
    players = ", ".join(f'{{"__typename": "VideoModule", "src": "http://www-ccv.adobe.io/v1/player/ccv/{n}/embed"}}' for n in "ab")
    body = f'<script id="beconfig-store_state">{state % players}</script>'.encode()
    gallery = site.put("http://www.behance.net/gallery/1/x", body, "text/html", "ok", 429)
    query = {"url": gallery, "category": "C", "quota": 3}
    sources = {"mine": {"plugin": "behance", "queries": [query], "proxy": site.url, "per_minute": None, "pause_s": 0}}
    first = collect_candidates(sources, None, offered_before(tmp_path))
    write_ledger(tmp_path, tmp_path, sources, first.asked, first.candidates, originals=[], seen="2026-11-30")
    second = collect_candidates(sources, None, offered_before(tmp_path))
    assert second.candidates == first.candidates and len(first.candidates) == 2
    assert [(row.cause, row.offered) for row in second.asked] == [("refused", 2)]
    write_ledger(tmp_path, tmp_path, sources, second.asked, second.candidates, originals=[], seen="2026-12-01")
    assert {entry.last_seen for entry in read_ledger(tmp_path).values()} == {"2026-11-30"}
    other = {"mine": {**sources["mine"], "queries": [{**query, "category": "E"}]}}
    assert collect_candidates(other, None, offered_before(tmp_path)).candidates == []


def test_what_a_query_offered_last_is_what_counts(tmp_path):

    def seen(names: str, when: str) -> None:
        every = [Candidate(candidate_id=f"C_{one}", source="s", locator=one, category="C", query="search: a") for one in names]
        write_ledger(tmp_path, tmp_path, ["s"], [Asked(source="s", query="search: a")], every, originals=[], seen=when)

    seen("ab", "2026-11-30")
    seen("bc", "2026-12-01")
    found = offered_before(tmp_path)
    assert [one.locator for one in found("s", Query("search: a", "C", 5))] == ["b", "c"]
    assert found("s", Query("search: b", "C", 5)) == found("t", Query("search: a", "C", 5)) == []
