"""Behance-like pages through our extractors, reached by a proxy on this machine that answers for the site's name."""

from __future__ import annotations

import json
import time

import pytest

from codecap.collect import CandidateError, collect_candidates, fetch_shard

GALLERY = "http://www.behance.net/gallery/123/Moving-Shapes"
PLAYER = "http://www-ccv.adobe.io/v1/player/ccv/AbC-1/embed"
CDN = "http://cdn-prod-ccv.adobe.com/AbC-1/rend"


def page(modules: list[dict], key: str = "allModules", **told) -> bytes:
    project = {"id": 123, "name": "Moving Shapes", "owners": [{"displayName": "Ann"}, {"displayName": "Ben"}], key: modules, **told}
    state = json.dumps({"project": {"project": project}})
    return f'<html><script type="application/json" id="beconfig-store_state">{state}</script></html>'.encode()


def embed(address: str) -> dict:
    return {
        "__typename": "EmbedModule",
        "originalEmbed": f'<iframe src="{address}?bgcolor=%23191919&amp;api_key=x" allowfullscreen></iframe>',
    }


@pytest.fixture
def behance(site, video):
    """A project with a picture, two renditions of one video and one in Adobe's player."""
    site.put(PLAYER, f"<script>window.ccv$serverData = {json.dumps({'mp4URL': f'{CDN}_576.mp4', 'title': 'x'})};</script>".encode())
    site.put(f"{CDN}_576.mp4", video(seed=3), "video/mp4")
    for height_px in (48, 96):
        site.put(f"http://cdn.behance.net/own_{height_px}.mp4", video(height_px=height_px), "video/mp4")
    renditions = [{"url": f"http://cdn.behance.net/own_{height_px}.mp4", "height": height_px} for height_px in (48, 96)]
    modules = [
        {"__typename": "ImageModule", "src": "http://cdn.behance.net/picture.png"},
        {"__typename": "VideoModule", "videoData": {"renditions": renditions}},
        embed(PLAYER),
    ]
    site.put(GALLERY, page(modules, license={"label": "Attribution"}, publishedOn=1767225600))
    return site


def entry(site, *queries, **settings) -> dict:
    return {
        "mine": {
            "plugin": "behance",
            "queries": list(queries),
            "proxy": site.url,
            "per_minute": None,
            "pause_s": 0,
            "shortest_s": 0.0,
            **settings,
        }
    }


def run(sources, tmp_path):
    found = collect_candidates(sources)
    return found, list(fetch_shard(found.candidates, sources, tmp_path / "bulk", tmp_path / "durable"))


def test_a_project_page_and_its_players(behance, tmp_path):
    sources = entry(behance, {"url": GALLERY, "category": "C", "quota": 5})
    found, rows = run(sources, tmp_path)
    assert [(one.candidate_id, one.locator, one.uploader, one.licence, one.published) for one in found.candidates] == [
        (f"C_behance-123-{number}", f"{GALLERY}#video={number}", "Ann, Ben", "Attribution", "2026-01-01") for number in (1, 2)
    ]
    assert [row.status for row in rows] == ["ok", "ok"], rows
    assert rows[0].path.read_bytes() == behance.pages["cdn.behance.net/own_96.mp4"].body
    assert rows[1].path.read_bytes() == behance.pages["cdn-prod-ccv.adobe.com/AbC-1/rend_576.mp4"].body
    assert not any(one.whole for one in found.candidates)
    files = [name for name in behance.asked if name.endswith(".mp4")]
    assert sorted(files) == ["cdn-prod-ccv.adobe.com/AbC-1/rend_576.mp4", "cdn.behance.net/own_96.mp4"]
    before = behance.asked.total()
    assert list(fetch_shard(found.candidates, sources, tmp_path / "bulk", tmp_path / "durable")) == rows
    assert behance.asked.total() == before


def test_pages_of_the_site_s_earlier_form(behance, tmp_path):
    old = {"type": "embed", "original_embed": f"<iframe src='{PLAYER}'></iframe>"}
    behance.put(GALLERY, page([{"type": "image"}, old, {"type": "video", "src": PLAYER}], key="modules"))
    assert [one.candidate_id for one in run(entry(behance, {"url": GALLERY}), tmp_path)[0].candidates] == [
        "U_behance-123-1",
        "U_behance-123-2",
    ]


def test_the_rendition_of_the_height_that_is_wanted(behance, tmp_path):
    _, rows = run(entry(behance, {"url": GALLERY, "quota": 1}, tallest_px=480), tmp_path)
    assert len(rows) == 1 and rows[0].path.read_bytes() == behance.pages["cdn.behance.net/own_96.mp4"].body


def test_a_user_s_projects_each_page_once(behance, tmp_path):
    links = "".join(
        f'<a href="/gallery/{number}/{name}">' for number, name in ((123, "Moving-Shapes"), (123, "Moving-Shapes"), (9, "Photos"))
    )
    behance.put("http://www.behance.net/ann", links.encode())
    behance.put("http://www.behance.net/gallery/9/Photos", page([{"__typename": "ImageModule"}]))
    found = collect_candidates(entry(behance, {"user": "http://www.behance.net/ann", "category": "C", "quota": 10}))
    assert [one.candidate_id for one in found.candidates] == ["C_behance-123-1", "C_behance-123-2"]
    assert (found.asked[0].quota, found.asked[0].offered) == (10, 2)
    assert behance.count(GALLERY) == 1


def test_one_video_s_address(behance, tmp_path):
    _, rows = run(entry(behance, {"url": f"{GALLERY}#video=2", "whole": True}), tmp_path)
    assert [(row.candidate.candidate_id, row.candidate.whole, row.status) for row in rows] == [("U_behance-123-2", True, "ok")]
    assert (rows[0].candidate.title, rows[0].candidate.uploader) == ("Moving Shapes", "Ann, Ben")


def test_a_video_that_left_the_project(behance, tmp_path):
    _, rows = run(entry(behance, {"url": f"{GALLERY}#video=7"}), tmp_path)
    assert (rows[0].status, rows[0].cause) == ("failed", "gone") and "has 2 now" in rows[0].reason


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        ((page([{"__typename": "ImageModule"}]),), "no_video"),
        ((b"<html>changed</html>",), "no_video"),
        ((b"", "text/html", 404), "gone"),
        ((b"", "text/html", 403), "private"),
        ((b"", "text/html", 429), "refused"),
    ],
)
def test_a_query_that_is_not_answered_is_a_row(site, answer, cause):
    site.put(GALLERY, *answer)
    found = collect_candidates(entry(site, {"url": GALLERY, "quota": 3}))
    assert found.candidates == [] and [(row.cause, row.offered) for row in found.asked] == [(cause, 0)], found.asked


def test_only_what_is_licensed(behance, tmp_path):
    sources = entry(behance, {"url": GALLERY, "quota": 1}, licences=["CC0", "public domain"])
    _, (row,) = run(sources, tmp_path)
    assert (row.cause, behance.count("http://cdn.behance.net/own_96.mp4")) == ("unwanted", 0) and "'Attribution'" in row.reason


def test_hostile_pages(site, tmp_path):
    """Addresses of other schemes, and of files of this machine, lead nowhere."""
    secret = tmp_path / "secret.mp4"
    secret.write_bytes(b"secret")
    renditions = [{"url": f"file://{secret}", "height": 48}, {"url": 7}, "x", {"url": "ftp://127.0.0.1/x.mp4"}]
    hostile = [
        {"__typename": "VideoModule", "videoData": {"renditions": renditions}},
        {"__typename": "EmbedModule", "originalEmbed": f'<iframe src="file://{secret}">'},
        {"__typename": "VideoModule", "videoData": [], "src": ["x"]},
        "not a module",
    ]
    site.put(GALLERY, page(hostile, owners=["x", {"displayName": 7}], license=[1], publishedOn="soon"))
    found = collect_candidates(entry(site, {"url": GALLERY}))
    assert found.candidates == [] and found.asked[0].cause == "no_video"


def test_an_extractor_that_stumbles_is_told_and_stops_nothing(behance, tmp_path, monkeypatch):
    """Sites change, and yt-dlp's extractors then raise anything."""
    monkeypatch.setattr("codecap.collect.sites.behance._told", lambda project: project["no such key"]["x"] + 1)
    monkeypatch.setattr("codecap.collect.sites.behance._videos", lambda project: [1, None + 1])
    found = collect_candidates(entry(behance, {"url": GALLERY}))
    assert [(row.cause, row.offered) for row in found.asked] == [("no_video", 0)]
    _, (row,) = run(entry(behance, {"url": f"{GALLERY}#video=1"}), tmp_path)
    assert (row.status, row.cause) == ("failed", "no_video")


def test_a_site_that_refuses_between_its_pages_is_asked_no_more(behance):
    links = "".join(f'<a href="/gallery/{number}/x">' for number in range(1, 9))
    behance.put("http://www.behance.net/ann", links.encode())
    for number in range(1, 9):
        behance.put(f"http://www.behance.net/gallery/{number}/x", b"", "text/html", 429)
    found = collect_candidates(entry(behance, {"user": "http://www.behance.net/ann", "quota": 10}))
    assert found.asked[0].cause == "refused" and behance.count("http://www.behance.net/gallery/2/x") == 0


def test_a_playlist_that_names_files_of_this_machine(site, tmp_path):
    secret = tmp_path / "secret.ts"
    secret.write_bytes(b"secret" * 1000)
    body = f"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile://{secret}\n#EXT-X-ENDLIST\n".encode()
    address = site.put("x.m3u8", body, "application/x-mpegurl")
    sources = {"web": {"plugin": "http", "urls": [address]}}
    (row,) = fetch_shard(collect_candidates(sources).candidates, sources, tmp_path / "bulk", tmp_path / "durable")
    assert row.status == "failed" and "http and https" in row.reason, row
    assert not any(b"secretsecret" in path.read_bytes() for path in (tmp_path / "bulk").rglob("*") if path.is_file())


@pytest.mark.parametrize(
    ("queries", "says"),
    [
        ([{"channel": "x"}], "behance: has no queries by channel"),
        ([{"user": "a", "search": "b"}], "has search and user"),
        ([{}], "has none"),
        ([{"user": "a"}, {"user": "a"}], "user: a occurs more than once"),
        ([{"user": "a", "quota": 0}], "quota"),
        ([{"url": "file:///etc/passwd"}], "url"),
    ],
)
def test_a_wrong_entry_says_what_is_wrong(site, queries, says):
    with pytest.raises((ValueError, CandidateError), match=says):
        collect_candidates(entry(site, *queries))


@pytest.mark.parametrize("begun", ['<iframe src="', "<iframe ", "<script ", "<source "])
def test_a_page_of_a_thousand_beginnings_is_read_in_no_time(site, begun):
    flood = begun * (1_000_000 // len(begun))
    embedded = page([{"__typename": "EmbedModule", "originalEmbed": flood}])
    site.put(GALLERY, flood.encode() + embedded if begun == "<script " else embedded)
    started = time.process_time()
    found = collect_candidates(entry(site, {"url": GALLERY}))
    assert found.asked[0].cause == "no_video" and time.process_time() - started < 10
