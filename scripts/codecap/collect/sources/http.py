"""Source `http`: videos by their addresses, each a file or an HLS playlist."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from codecap.collect.naming import candidate_id_of, category_of
from codecap.collect.sites.access import Access, as_settings, refuse_password
from codecap.collect.sites.addresses import stem_of
from codecap.collect.sources import Query
from codecap.records import Candidate, Original, Row

Category = Literal["A", "B", "C", "E", "F", "U"]


class Address(Row):
    """One video.

    Attributes:
        url: its address.
        id: of the candidate; by default the address's file name.
        category, licence, whole: over those of the entry.
        sha256: of the file that is meant; another one is refused.
    """

    url: str = Field(pattern=r"^https?://", max_length=4000)
    id: str | None = Field(default=None, pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$", max_length=72)
    category: Category | None = None
    licence: str | None = None
    title: str = ""
    uploader: str = ""
    published: str = ""
    whole: bool | None = None
    sha256: str = Field(default="", pattern=r"^([0-9a-f]{64})?$")

    @field_validator("url")
    @classmethod
    def _holds_no_password(cls, url: str) -> str:
        return refuse_password(url)


class Settings(Access):
    """The entry.

    Attributes:
        urls: addresses, or mappings with the keys of `Address`.
        category: of those that say none; by default the letter before the first underscore of each name.
        licence: of those that say none.
        whole: whether each becomes one clip as it is (true), or parts are chosen.
        most_mb: of one file, in MB (1e6 bytes).
        audio: whether sound that lies apart (of an HLS playlist) is fetched too. Clips have none.
        per_minute: how many are fetched a minute at most.
    """

    urls: list[Address] = Field(min_length=1)
    category: Category | None = None
    licence: str = ""
    whole: bool = True
    most_mb: float = Field(default=2000.0, gt=0)
    audio: bool = False
    per_minute: float | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _each_once(self) -> Settings:
        twice = sorted(url for url, number in Counter(one.url for one in self.urls).items() if number > 1)
        if twice:
            raise ValueError(f"urls: {', '.join(twice)} occurs more than once")
        return self

    @field_validator("urls", mode="before")
    @classmethod
    def _addresses(cls, told: Any) -> Any:
        return [{"url": one} if isinstance(one, str) else one for one in told] if isinstance(told, list) else told


def load(settings: Mapping[str, Any]) -> Http:
    """Make the source from its entry, see `Settings`.

    Raises:
        ValueError: an unknown key, or a wrong value.
    """
    return Http(as_settings(settings, Settings, "http"))


class Http:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.site, self.per_minute = "http", settings.per_minute
        self._by_url = {one.url: one for one in settings.urls}

    def queries(self) -> list[Query]:
        return [Query(quota=len(self._by_url), asks=False)]

    def discover(self, query: Query) -> Iterator[Candidate]:  # noqa: ARG002
        """All addresses, in order; nobody is asked."""
        for one in self._by_url.values():
            name = Path(f"{stem_of(one.url)}.mp4")
            whole = self._settings.whole if one.whole is None else one.whole
            yield Candidate(
                candidate_id=one.id or candidate_id_of(name, whole),
                source="http",
                locator=one.url,
                category=one.category or self._settings.category or category_of(name),
                licence=self._settings.licence if one.licence is None else one.licence,
                title=one.title or name.stem,
                uploader=one.uploader,
                published=one.published,
                whole=whole,
            )

    def video_of(self, candidate: Candidate) -> str:
        return candidate.locator

    def determines(self, candidate: Candidate) -> list[Any]:
        expected = self._by_url.get(candidate.locator)
        return [candidate.locator, self._settings.audio, expected.sha256 if expected else ""]

    def look(self, candidate: Candidate) -> None:
        from codecap.collect.sites.download import look

        look(candidate.locator, self._settings)

    def fetch(self, candidate: Candidate, folder: Path) -> Original:
        from codecap.collect.sites.bringing import bring
        from codecap.collect.sites.download import Limits

        expected = self._by_url.get(candidate.locator)
        limits = Limits(most_mb=self._settings.most_mb, audio=self._settings.audio, longest_s=1e9)
        return bring(candidate, folder, self._settings, limits, sha256=expected.sha256 if expected else "")
