"""What is asked of each site, and how its videos are named. No site is asked: yt-dlp's own extractors say whether they would."""

from __future__ import annotations

import re

import pytest

from codecap.collect.naming import LONGEST_CANDIDATE
from codecap.collect.sites.access import Access
from codecap.collect.sites.session import session
from codecap.collect.sites.site import candidate_id
from codecap.registry import load


def source(plugin: str, *queries: dict, **settings):
    return load("collect.sources", plugin).load({"queries": list(queries), **settings})


@pytest.mark.parametrize(
    ("plugin", "query", "extractor", "address"),
    [
        ("youtube", {"search": "bar race"}, "YoutubeSearch", "ytsearch40:bar race"),
        ("youtube", {"channel": "@name"}, "YoutubeTab", "https://www.youtube.com/@name/videos"),
        ("youtube", {"channel": "UCaBcDeFgHiJkLmNoPqRsTuV"}, "YoutubeTab", "https://www.youtube.com/channel/UCaBcDeFgHiJkLmNoPqRsTuV/videos"),
        ("youtube", {"playlist": "PLabcdefghijkl"}, "YoutubeTab", "https://www.youtube.com/playlist?list=PLabcdefghijkl"),
        ("bilibili", {"search": "图表"}, "BiliBiliSearch", "bilisearch40:图表"),
        ("bilibili", {"channel": "12345"}, "BilibiliSpaceVideo", "https://space.bilibili.com/12345/video"),
        ("bilibili", {"playlist": "https://space.bilibili.com/1/lists/2?type=season"}, "BilibiliCollectionList", None),
        ("vimeo", {"user": "name"}, "VimeoUser", "https://vimeo.com/name/videos"),
        ("vimeo", {"channel": "staffpicks"}, "VimeoChannel", "https://vimeo.com/channels/staffpicks"),
        ("vimeo", {"group": "motion"}, "VimeoGroups", "https://vimeo.com/groups/motion"),
        ("vimeo", {"album": "123"}, "VimeoAlbum", "https://vimeo.com/showcase/123"),
        ("behance", {"user": "ann"}, "BehanceList", "https://www.behance.net/ann"),
        ("behance", {"search": "data viz"}, "BehanceList", "https://www.behance.net/search/projects/data%20viz"),
        ("behance", {"url": "https://www.behance.net/gallery/1/x"}, "Behance", None),
    ],
)  # fmt: skip
def test_each_query_goes_to_the_extractor_that_is_meant(plugin, query, extractor, address):
    made = source(plugin, {**query, "quota": 10})
    asking = made._settings.queries[0]
    asked = made._site.addresses[asking.kind](getattr(asking, asking.kind), 40)
    assert asked == (address or query.get("url") or query.get("playlist"))
    with session(Access(), made._site.extractors(), made._site.allowed) as opened:
        assert next(key for key, one in opened._ies.items() if one.suitable(asked)) == extractor


def test_a_search_for_what_is_under_creative_commons():
    made = source("youtube", {"search": "bar race"}, creative_commons=True)
    asked = made._site.addresses["search"]("bar race", 40)
    assert asked == "https://www.youtube.com/results?search_query=bar+race&sp=EgQQATAB"
    with session(Access(), (), made._site.allowed) as opened:
        assert next(key for key, one in opened._ies.items() if one.suitable(asked)) == "YoutubeSearchURL"


@pytest.mark.parametrize(
    ("plugin", "address", "video"),
    [
        ("youtube", "https://www.youtube.com/watch?list=PL1&v=dQw4w9WgXcQ&t=3", ("dQw4w9WgXcQ", "https://www.youtube.com/watch?v=dQw4w9WgXcQ")),
        ("youtube", "https://youtu.be/-_w4w9WgXc-?si=x", ("-_w4w9WgXc-", "https://www.youtube.com/watch?v=-_w4w9WgXc-")),
        ("youtube", "https://www.youtube.com/shorts/dQw4w9WgXcQ", ("dQw4w9WgXcQ", "https://www.youtube.com/watch?v=dQw4w9WgXcQ")),
        ("youtube", "https://www.youtube.com/@name/videos", None),
        ("youtube", "https://evil.example/?u=https://www.example.com/", None),
        ("bilibili", "https://www.bilibili.com/video/BV1n44y1Q7sc/?p=2&x=1", ("BV1n44y1Q7sc-2", "https://www.bilibili.com/video/BV1n44y1Q7sc?p=2")),
        ("bilibili", "http://www.bilibili.com/video/av988222410", ("av988222410", "https://www.bilibili.com/video/av988222410")),
        ("bilibili", "https://space.bilibili.com/12345/video", None),
        ("vimeo", "https://vimeo.com/channels/staffpicks/76979871", ("76979871", "https://vimeo.com/76979871")),
        ("vimeo", "https://vimeo.com/76979871/0123456789", ("76979871", "https://vimeo.com/76979871/0123456789")),
        ("vimeo", "https://player.vimeo.com/video/76979871?h=1", ("76979871", "https://vimeo.com/76979871")),
        ("vimeo", "https://vimeo.com/showcase/3253534/video/76979871", ("76979871", "https://vimeo.com/76979871")),
        ("vimeo", "https://vimeo.com/showcase/3253534", None),
        ("vimeo", "https://vimeo.com/name/videos", None),
        ("behance", "https://www.behance.net/gallery/12/A-b?x=1#video=3", ("12-3", "https://www.behance.net/gallery/12/A-b#video=3")),
        ("behance", "https://www.behance.net/gallery/12/A-b", None),
        ("behance", None, None),
    ],
)  # fmt: skip
def test_a_video_s_id_and_address(plugin, address, video):
    queries = {"behance": {"user": "a"}}.get(plugin, {"url": "https://example.org/"})
    assert source(plugin, queries)._site.video(address) == video


def test_a_single_address_is_a_candidate_without_asking_anyone():
    made = source("youtube", {"url": "https://youtu.be/dQw4w9WgXcQ", "category": "E", "whole": True})
    (query,) = made.queries()
    (one,) = made.discover(query)
    assert (query.quota, one.candidate_id, one.whole) == (1, "E_youtube-dQw4w9WgXcQ", True)


def test_ids_fit_and_differ():
    names = ["a", "A", "a/b", "a-b", "a b", "ü", "x" * 60, "x" * 61, "x" * 500, "", "../..", "-"]
    ids = [candidate_id("C", "behance", name) for name in names]
    assert len(set(ids)) == len(names) and all(len(one) <= LONGEST_CANDIDATE for one in ids)
    assert all(re.fullmatch(r"C_behance-[A-Za-z0-9_-]+", one) for one in ids)


@pytest.mark.parametrize(
    ("plugin", "settings", "says"),
    [
        ("youtube", {"queries": [{"album": "x"}]}, "youtube: has no queries by album"),
        ("vimeo", {"queries": [{"search": "x"}]}, "vimeo: has no queries by search"),
        ("youtube", {"queries": []}, "queries"),
        ("youtube", {"queries": [{"playlist": "https://me:secret@youtube.com/x"}]}, "holds a name or a password"),
        ("youtube", {"queries": [{"search": "x", "category": "D"}]}, "category"),
        ("youtube", {"queries": [{"search": "x"}], "js_runtime": "bash"}, "js_runtime"),
        ("bilibili", {"queries": [{"search": "x"}], "creative_commons": True}, "unknown key creative_commons"),
    ],
)
def test_a_wrong_entry_says_what_is_wrong(plugin, settings, says):
    with pytest.raises(ValueError, match=says):
        load("collect.sources", plugin).load(settings)
