"""What all sites have in common: queries with quotas, candidates by the site's own ids, and the fetch."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from codecap.collect.naming import LONGEST_CANDIDATE
from codecap.collect.sites.access import Access, refuse_password
from codecap.collect.sites.download import Limits
from codecap.collect.sources import Query
from codecap.records import Candidate, Original, Row

MORE = 4  # times as many are looked at as are wanted: some are too long, some were found before
MOST = 500  # that are looked at for one query
KINDS = ("search", "channel", "playlist", "user", "group", "album", "url")


class Asking(Row):
    """One query: one of the kinds that the site has, and what is wanted of it.

    Attributes:
        search: words; channel, playlist, user, group, album: the site's name of it, or its address; url: of one video.
        category: of all that it finds.
        quota: how many videos are wanted.
        whole: whether each becomes one clip as it is, or (false) parts are chosen.
    """

    search: str | None = Field(default=None, min_length=1, max_length=300)
    channel: str | None = Field(default=None, min_length=1, max_length=2000)
    playlist: str | None = Field(default=None, min_length=1, max_length=2000)
    user: str | None = Field(default=None, min_length=1, max_length=2000)
    group: str | None = Field(default=None, min_length=1, max_length=2000)
    album: str | None = Field(default=None, min_length=1, max_length=2000)
    url: str | None = Field(default=None, pattern=r"^https?://", max_length=2000)
    category: Literal["A", "B", "C", "E", "F", "U"] = "U"
    quota: int = Field(default=20, ge=1, le=MOST)
    whole: bool = False

    @model_validator(mode="after")
    def _is_one(self) -> Asking:
        given = [kind for kind in KINDS if getattr(self, kind) is not None]
        if len(given) != 1:
            raise ValueError(f"a query has one of {', '.join(KINDS)}; this one has {' and '.join(given) or 'none'}")
        if self.search is None:
            refuse_password(getattr(self, given[0]))
        return self

    @property
    def kind(self) -> str:
        return next(kind for kind in KINDS if getattr(self, kind) is not None)

    @property
    def words(self) -> str:
        return f"{self.kind}: {getattr(self, self.kind)}"


class Settings(Access, Limits):
    """An entry of a site.

    Attributes:
        queries: what is asked, in order; a video belongs to the first that finds it.
        per_minute: how many videos and queries a minute, of all jobs together.
    """

    queries: list[Asking] = Field(min_length=1)
    per_minute: float | None = Field(default=6.0, gt=0)
    shortest_s: float = Field(default=5.0, ge=0)
    longest_s: float = Field(default=1800.0, gt=0)
    most_mb: float = Field(default=1000.0, gt=0)

    @model_validator(mode="after")
    def _each_once(self) -> Settings:
        twice = sorted(words for words, number in Counter(one.words for one in self.queries).items() if number > 1)
        if twice:
            raise ValueError(f"queries: {', '.join(twice)} occurs more than once")
        return self


@dataclass(frozen=True)
class Site:
    """How one site is asked.

    Attributes:
        name: of the plugin; part of its candidates' ids.
        addresses: for each kind of query that the site has: from its words and a number of videos to what yt-dlp is given.
        video_id: finds a video's address; its groups `names` (by default all) joined are its id.
        locator: from what `video_id` found to the address that is kept.
        allowed: yt-dlp's extractors that may be used, see `session`.
        extractors: makes ours.
        pages: fits addresses of pages that may hold several videos, where the site has such.
    """

    name: str
    addresses: Mapping[str, Callable[[str, int], str]]
    video_id: re.Pattern[str]
    locator: Callable[[re.Match[str]], str]
    names: Sequence[str] = ()
    allowed: Sequence[str] = ()
    extractors: Callable[[], Sequence[type]] = field(default=lambda: ())
    pages: re.Pattern[str] | None = None

    def video(self, address: Any) -> tuple[str, str] | None:
        """Id and address of the video that an address names; None where it names none."""
        found = self.video_id.search(address) if isinstance(address, str) else None
        if found is None:
            return None
        parts = [found[name] for name in self.names] if self.names else found.groups()
        return "-".join(part for part in parts if part), self.locator(found)


class SiteSource:
    """The source of one entry.

    Args:
        options: of yt-dlp, over ours.

    Raises:
        ValueError: a query of a kind that the site does not have.
    """

    def __init__(self, site: Site, settings: Settings, options: Mapping[str, Any] | None = None) -> None:
        for one in settings.queries:
            if one.kind not in site.addresses:
                raise ValueError(f"source {site.name}: has no queries by {one.kind}; it has {', '.join(site.addresses)}")
        self._site, self._settings, self._options = site, settings, dict(options or {})
        self.site, self.per_minute = site.name, settings.per_minute

    def queries(self) -> list[Query]:
        every = [(one, self._names_one(one)) for one in self._settings.queries]
        return [Query(one.words, one.category, 1 if single else one.quota, not single) for one, single in every]

    def discover(self, query: Query) -> Iterator[Candidate]:
        """Videos in the order in which the site names them, those of a length that is not wanted left out.

        A single video's address is taken as it is: the site is asked when it is fetched.

        Raises:
            NotToBeHad: the site does not answer, or names no videos.
        """
        from codecap.collect.sites.listing import Listed, listed

        asking = next(one for one in self._settings.queries if one.words == query.words)
        settings, most = self._settings, min(MOST, (query.quota or MOST) * MORE)
        address = self._site.addresses[asking.kind](getattr(asking, asking.kind), most)
        if self._names_one(asking):
            found = [Listed(*self._site.video(address))]
        else:
            found = listed(address, most, self._site, settings, self._options)
        for one in found:
            if one.duration_s and not settings.shortest_s <= one.duration_s <= settings.longest_s:
                continue
            yield Candidate(
                candidate_id=candidate_id(asking.category, self._site.name, one.video_id),
                source=self._site.name,
                locator=one.address,
                category=asking.category,
                licence=one.licence,
                title=one.title,
                uploader=one.uploader,
                published=one.published,
                duration_s=one.duration_s,
                query=asking.words,
                whole=asking.whole,
            )

    def video_of(self, candidate: Candidate) -> str:
        """An address may change, as where a page gets another title; the site's id stays."""
        named = self._site.video(candidate.locator)
        return f"{self._site.name} {named[0]}" if named else candidate.locator

    def determines(self, candidate: Candidate) -> list[Any]:
        return [candidate.locator, self._settings.tallest_px, self._settings.audio]

    def look(self, candidate: Candidate) -> None:
        from codecap.collect.sites.download import look

        look(candidate.locator, self._settings, self._site.extractors(), self._site.allowed, self._options)

    def fetch(self, candidate: Candidate, folder: Path) -> Original:
        from codecap.collect.sites.bringing import bring

        if self._site.video(candidate.locator) is None:
            reason = f"{candidate.locator} is no address of {self._site.name}"
            return Original(candidate=candidate, status="failed", cause="no_video", reason=reason)
        return bring(
            candidate,
            folder,
            self._settings,
            self._settings,
            extractors=self._site.extractors(),
            allowed=self._site.allowed,
            options=self._options,
        )

    def _names_one(self, asking: Asking) -> bool:
        return asking.kind == "url" and self._site.video(asking.url) is not None


def candidate_id(category: str, site: str, video_id: str) -> str:
    """`<category>_<site>-<the site's id>`; an id with other letters, or a long one, is made fit and kept apart by its digest.

    >>> candidate_id("E", "youtube", "dQw4w9WgXcQ"), candidate_id("C", "behance", "123-2"), candidate_id("B", "vimeo", "a/b")
    ('E_youtube-dQw4w9WgXcQ', 'C_behance-123-2', 'B_vimeo-a-b-c14cddc0')
    """
    room = LONGEST_CANDIDATE - len(f"{category}_{site}-")
    if re.fullmatch(r"[A-Za-z0-9_-]+", video_id) and len(video_id) <= room:
        return f"{category}_{site}-{video_id}"
    digest = hashlib.sha256(video_id.encode()).hexdigest()[:8]
    clean = re.sub(r"[^A-Za-z0-9_]+", "-", video_id)[: room - 9].strip("-")
    return f"{category}_{site}-{clean}-{digest}" if clean else f"{category}_{site}-{digest}"
