"""Videos over HTTP from a site on this machine: whole, or a reason; and nothing twice."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from codecap.collect import collect_candidates, fetch_shard
from codecap.records import Original


@pytest.fixture
def fetch(tmp_path: Path):
    """Discover and fetch all that `urls` name, as a run does; the store stays from run to run."""

    def run(*urls, **settings) -> list[Original]:
        sources = {"web": {"plugin": "http", "urls": list(urls), **settings}}
        found = collect_candidates(sources).candidates
        return list(fetch_shard(found, sources, tmp_path / "bulk", tmp_path / "durable"))

    return run


def drafts(tmp_path: Path) -> list[Path]:
    return [path for path in (tmp_path / "bulk").rglob("*") if path.is_file() and ".drafts" in path.parts]


def test_a_file_comes_whole_and_only_once(site, video, fetch, tmp_path):
    body = video()
    address = site.put("media/E_bars.mp4", body, "video/mp4")
    (first,) = fetch(address, licence="CC0-1.0")
    assert (first.status, first.size_bytes, first.sha256) == ("ok", len(body), hashlib.sha256(body).hexdigest())
    assert first.path == tmp_path / "bulk/originals/web/E_bars.mp4" and first.path.read_bytes() == body
    assert (first.candidate.category, first.candidate.licence, first.candidate.whole) == ("E", "CC0-1.0", True)
    assert fetch(address, licence="CC0-1.0") == [first]
    assert (site.count(address), site.sent(address), drafts(tmp_path)) == (1, len(body), [])


def test_a_lost_file_is_fetched_again(site, video, fetch):
    address = site.put("a.mp4", video(), "video/mp4")
    (first,) = fetch(address)
    first.path.write_bytes(first.path.read_bytes()[:100])  # or purged
    (again,) = fetch(address)
    assert (again.status, again.sha256, site.count(address)) == ("ok", first.sha256, 2)
    other = video(seed=1)
    site.put("a.mp4", other, "video/mp4")
    again.path.unlink()
    (changed,) = fetch(address)
    assert changed.sha256 == hashlib.sha256(other).hexdigest()
    assert fetch(address) == [changed] and site.count(address) == 3


@pytest.mark.parametrize(
    ("ways", "cause"),
    [
        ([404], "gone"),
        ([410], "gone"),
        ([401], "private"),
        ([403], "private"),
        ([451], "country"),
        ([412], "refused"),
        ([429], "refused"),
        ([503], "network"),
    ],
)
def test_what_a_status_means(site, video, fetch, ways, cause):
    address = site.put("a.mp4", video(frames=4), "video/mp4", *ways)
    (row,) = fetch(address)
    assert (row.status, row.cause, row.path) == ("failed", cause, None)
    assert str(ways[0]) in row.reason


def test_429_is_asked_again_when_the_server_says(site, video, fetch):
    address = site.put("a.mp4", video(), "video/mp4", 429, "ok", headers={"Retry-After": "0"})
    assert fetch(address)[0].status == "ok" and site.count(address) == 2


def test_a_long_wait_is_left_to_the_next_run(site, video, fetch):
    address = site.put("a.mp4", video(), "video/mp4", 429, "ok", headers={"Retry-After": "3600"})
    assert fetch(address)[0].cause == "refused" and site.count(address) == 1
    assert fetch(address)[0].status == "ok"


def test_a_site_that_refuses_is_left_alone(site, video, fetch):
    addresses = [site.put(f"{number}.mp4", video(frames=4), "video/mp4", 429) for number in range(5)]
    rows = fetch(*addresses)
    assert [row.cause for row in rows] == ["refused"] * 5
    assert sum(map(site.count, addresses)) == 3 and "not asked" in rows[-1].reason


def test_cut_at_four_fifths_the_rest_is_fetched(site, video, fetch, tmp_path):
    body = video()
    address = site.put("a.mp4", body, "video/mp4", "cut", "ok")
    (row,) = fetch(address)
    assert row.path.read_bytes() == body
    (asked,) = site.ranges
    assert len(body) / 2 < int(asked.removeprefix("bytes=").removesuffix("-")) <= len(body) * 4 // 5  # all but the last block
    assert site.sent(address) < len(body) * 1.4


def test_always_cut_is_no_video_and_the_next_run_goes_on(site, video, fetch, tmp_path):
    body = video()
    address = site.put("a.mp4", body, "video/mp4", "cut", 503)
    (row,) = fetch(address)
    assert (row.status, row.cause, row.path) == ("failed", "network", None)
    (part,) = [path for path in drafts(tmp_path) if path.suffix == ".part"]
    assert len(body) / 2 < part.stat().st_size <= len(body) * 4 // 5
    site.pages[site._key(address)].ways = ["ok"]
    (mended,) = fetch(address)
    assert mended.path.read_bytes() == body and site.sent(address) < len(body) * 1.4


@pytest.mark.parametrize("heeds", [True, False])
def test_a_draft_of_another_file_is_not_gone_on_with(site, video, fetch, heeds):
    address = site.put("a.mp4", video(), "video/mp4", "cut", 503)
    assert fetch(address)[0].status == "failed"
    other = video(seed=1, frames=72)
    site.put("a.mp4", other, "video/mp4", heeds=heeds)
    assert fetch(address)[0].path.read_bytes() == other


def test_a_file_that_changes_while_it_is_fetched(site, video, fetch, monkeypatch):
    """The connection is cut, and the rest would be another file's."""
    address = site.put("a.mp4", video(), "video/mp4", "cut")
    other = video(seed=1)
    monkeypatch.setattr(
        "codecap.collect.sites.session._growing", lambda n: site.put("a.mp4", other, "video/mp4", heeds=False) and 0.0
    )
    assert fetch(address)[0].path.read_bytes() == other


@pytest.mark.parametrize("more", [0, 500])
def test_a_draft_that_has_no_rest_is_begun_anew(site, video, fetch, tmp_path, more):
    """Killed between the last byte and the file's name; or the file has become shorter."""
    body = video()
    address = site.put("a.mp4", body, "video/mp4", "cut", 503)
    fetch(address)
    (part,) = [path for path in drafts(tmp_path) if path.suffix == ".part"]
    part.write_bytes(body + bytes(more))
    site.pages[site._key(address)].ways = ["ok"]
    (row,) = fetch(address)
    assert row.status == "ok" and row.path.read_bytes() == body and site.ranges == [f"bytes={len(body) + more}-"]


@pytest.mark.parametrize("way", ["long", "cut"])
def test_a_server_without_ranges_that_sends_too_little(site, video, fetch, way):
    address = site.put("a.mp4", video(frames=12), "video/mp4", way, ranges=False)
    (row,) = fetch(address)
    assert (row.status, row.cause) == ("failed", "cut_short"), row.reason
    site.pages[site._key(address)].ways = ["ok"]
    assert fetch(address)[0].status == "ok"


def test_less_promised_than_there_is(site, video, fetch, tmp_path):
    """What comes is what was promised, and still a part: the file's own index tells."""
    address = site.put("a.mp4", video(), "video/mp4", "short")
    (row,) = fetch(address)
    assert (row.status, row.cause) == ("failed", "cut_short") and "it has" in row.reason
    assert drafts(tmp_path) == []


@pytest.mark.parametrize("name", ["index_last.mp4", "fragments.mp4", "a.mkv", "a.avi"])
def test_less_promised_of_other_containers(site, video, fetch, name):
    options = {"index_last.mp4": {"brand": "mp42"}, "fragments.mp4": {"movflags": "frag_keyframe+empty_moov"}}
    body = video(frames=96, name=name, **options.get(name, {}))
    (row,) = fetch(site.put(name, body, "video/mp4", "short"))
    assert (row.status, row.cause) == ("failed", "cut_short"), row.reason
    assert fetch(site.put(f"whole/{name}", body, "video/mp4"))[0].status == "ok"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"<!doctype html><title>Sorry</title>", "text/html"),
        (b"<!doctype html><title>Sorry</title>", "video/mp4"),
        (b"\x89PNG\r\n\x1a\nnothing", "image/png"),
    ],
)
def test_what_is_no_video(site, fetch, body, kind, tmp_path):
    (row,) = fetch(site.put("a.mp4", body, kind))
    assert (row.status, row.cause) == ("failed", "not_a_video"), row.reason
    assert drafts(tmp_path) == []


def test_nothing_comes(site, fetch):
    (row,) = fetch(site.put("a.mp4", b"", "video/mp4"))
    assert (row.status, row.cause) == ("failed", "cut_short"), row.reason


def test_another_file_than_the_one_that_is_meant(site, video, fetch):
    body = video()
    address = site.put("a.mp4", body, "video/mp4")
    (row,) = fetch({"url": address, "sha256": "0" * 64})
    assert (row.status, row.cause) == ("failed", "gone") and hashlib.sha256(body).hexdigest() in row.reason
    assert fetch({"url": address, "sha256": hashlib.sha256(body).hexdigest()})[0].status == "ok"


def test_too_large_is_not_fetched(site, video, fetch):
    address = site.put("a.mp4", video(), "video/mp4")
    (row,) = fetch(address, most_mb=0.01)
    assert (row.status, row.cause) == ("failed", "unwanted") and "limit is 0.01 MB" in row.reason


def test_no_server(fetch):
    (row,) = fetch("http://127.0.0.1:9/a.mp4")
    assert (row.status, row.cause) == ("failed", "network")
