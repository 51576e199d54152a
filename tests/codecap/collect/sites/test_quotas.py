"""How many videos a query gives, and how far a site is asked for them."""

from __future__ import annotations

import re
import types

import pytest
from yt_dlp.extractor.common import InfoExtractor

from codecap.collect import candidates
from codecap.collect.sites.site import Asking, Settings, Site, SiteSource

NAMED: list[int] = []  # videos that the site has named, in order


class ListIE(InfoExtractor):
    """A list of a hundred videos, page after page; every third is too long."""

    _VALID_URL = r"https?://list\.example/(?P<id>\w+)"

    def _real_extract(self, url):
        first = {"one": 0, "two": 5}[self._match_id(url)]
        return self.playlist_result(self._videos(first), "list")

    def _videos(self, first):
        for number in range(first, first + 100):
            NAMED.append(number)
            yield {
                **self.url_result(f"https://video.example/{number}?list=1", video_id=str(number), video_title=f"video {number}"),
                "duration": 5000 if number % 3 == 2 else 30 if number % 3 else None,
                "channel": "Ann",
                "timestamp": 1767225600,
            }
            yield {"_type": "url", "url": "https://list.example/another"}
            yield None


class RedirectIE(InfoExtractor):
    _VALID_URL = r"https?://go\.example/(?P<id>\w+)"

    def _real_extract(self, url):
        name = self._match_id(url)
        return self.url_result(url if name == "round" else f"https://list.example/{name}")


SITE = Site(
    name="example",
    addresses={"user": lambda name, _: f"https://list.example/{name}", "channel": lambda name, _: f"https://go.example/{name}"},
    video_id=re.compile(r"video\.example/(\d+)"),
    locator=lambda found: f"https://video.example/{found[1]}",
    extractors=lambda: (ListIE, RedirectIE),
)


@pytest.fixture
def collect(monkeypatch):
    def run(*queries: dict, **settings):
        NAMED.clear()
        made = SiteSource(SITE, Settings(queries=[Asking(**query) for query in queries], per_minute=None, **settings))
        monkeypatch.setattr(candidates, "load", lambda *_: types.SimpleNamespace(load=lambda _: made))
        return candidates.collect_candidates({"site": {"plugin": "example"}})

    return run


def test_a_quota_is_filled_with_what_fits_and_no_more_is_asked(collect):
    found = collect({"user": "one", "category": "E", "quota": 4})
    assert sorted(one.locator for one in found.candidates) == [f"https://video.example/{number}" for number in (0, 1, 3, 4)]
    assert (found.asked[0].query, found.asked[0].quota, found.asked[0].offered) == ("user: one", 4, 4)
    assert [0, 1, 2, 3, 4, 5, 6][: len(NAMED)] == NAMED and len(NAMED) <= 7
    known = {(one.title, one.uploader, one.published, one.duration_s, one.query) for one in found.candidates if one.duration_s}
    assert known == {(f"video {number}", "Ann", "2026-01-01", 30.0, "user: one") for number in (1, 4)}


def test_what_was_found_before_does_not_fill_a_quota(collect):
    found = collect({"user": "one", "category": "E", "quota": 6}, {"user": "two", "category": "E", "quota": 3})
    assert [row.offered for row in found.asked] == [6, 3]
    assert sorted(int(one.locator.rpartition("/")[2]) for one in found.candidates) == [0, 1, 3, 4, 6, 7, 9, 10, 12]


def test_a_site_is_looked_at_four_times_as_far_as_is_wanted(collect):
    found = collect({"user": "one", "quota": 2}, shortest_s=6000, longest_s=9000)
    assert len(found.candidates) == 2 and len(NAMED) <= 8  # those of unknown length, which the fetch will refuse


def test_an_address_that_names_another(collect):
    assert len(collect({"channel": "one", "quota": 4}).candidates) == 4
    (asked,) = collect({"channel": "round", "quota": 4}).asked
    assert asked.cause == "no_video" and "more than 5 times" in asked.reason


def test_a_video_belongs_to_the_first_query_whatever_the_others_category(collect):
    found = collect({"user": "one", "category": "E", "quota": 6}, {"user": "two", "category": "C", "quota": 3})
    assert [row.offered for row in found.asked] == [6, 3]
    numbers = [int(one.locator.rpartition("/")[2]) for one in found.candidates]
    assert sorted(numbers) == [0, 1, 3, 4, 6, 7, 9, 10, 12] and {one.category for one in found.candidates[-6:]} == {"E"}


def test_two_addresses_of_one_video_are_one(monkeypatch):
    """As of Vimeo, where some pages name a video with its key and others without."""
    queries = [{"url": "https://vimeo.com/76979871/0123456789"}, {"url": "https://vimeo.com/76979871"}]
    monkeypatch.setattr("codecap.collect.pace.Pace.wait", lambda _: pytest.fail("nobody is asked"))
    found = candidates.collect_candidates({"v": {"plugin": "vimeo", "queries": queries}})
    assert [one.locator for one in found.candidates] == ["https://vimeo.com/76979871/0123456789"]
    assert [row.offered for row in found.asked] == [1, 0]
