"""Source `page`: pages of one's own, rendered. A page knows where its objects are, so the clip's true boxes come with it.

The page is one HTML file as `resources/demo/README.md` describes: `SIZE`, `DURATION_S`, `seek` and `LAYERS`, `boxes.js` beside it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from codecap.collect.naming import candidate_id_of, category_of
from codecap.collect.sites.access import as_settings
from codecap.collect.sources import Query
from codecap.collect.sources.local import look_at_file, places
from codecap.records import Candidate, Original, Row


class Settings(Row):
    """The entry.

    Attributes:
        pages: HTML files, folders of them, and patterns.
        category: of all of them; by default the letter before the first underscore of each name.
        licence: of all of them.
        whole: whether each becomes one clip as it is. Parts of one get no true boxes.
    """

    pages: list[str] = Field(min_length=1)
    category: Literal["A", "B", "C", "E", "F", "U"] | None = None
    licence: str = ""
    whole: bool = True


def load(settings: Mapping[str, Any]) -> Page:
    """Make the source from its entry, see `Settings`.

    Raises:
        ValueError: an unknown key, or a wrong value.
    """
    return Page(as_settings(settings, Settings, "page"))


class Page:
    site = ""
    per_minute = None

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def queries(self) -> list[Query]:
        return [Query(asks=False)]

    def discover(self, query: Query = Query()) -> Iterator[Candidate]:  # noqa: ARG002, B008
        """The pages, in the order of the entry and of the names under each.

        Raises:
            FileNotFoundError: an entry of `pages` fits nothing.
        """
        for entry in self._settings.pages:
            found = [page for place in places(entry) for page in (sorted(place.glob("*.html")) if place.is_dir() else [place])]
            if not found:
                raise FileNotFoundError(f"source page: {entry} is not there, or fits no page; correct `pages` in the config")
            for page in found:
                yield Candidate(
                    candidate_id=candidate_id_of(page, self._settings.whole),
                    source="page",
                    locator=str(page),
                    category=self._settings.category or category_of(page),
                    licence=self._settings.licence,
                    title=page.stem,
                    whole=self._settings.whole,
                )

    def video_of(self, candidate: Candidate) -> str:
        return candidate.locator

    def determines(self, candidate: Candidate) -> list[Any]:
        page = Path(candidate.locator)
        digests = [hashlib.sha256(file.read_bytes()).hexdigest() for file in (page, page.parent / "boxes.js") if file.is_file()]
        return [candidate.locator, *digests]

    def look(self, candidate: Candidate) -> None:
        look_at_file(candidate)

    def fetch(self, candidate: Candidate, folder: Path) -> Original:
        """Render the page, and keep its boxes beside the video."""
        from codecap import demo
        from codecap.collect.known_boxes import keep
        from codecap.video import file_sha256

        page, mp4 = Path(candidate.locator), Path(folder) / f"{candidate.candidate_id}.mp4"
        try:
            if not page.is_file():
                raise demo.DemoError(f"{page}: there is no such page")
            if not (page.parent / "boxes.js").is_file():
                raise demo.DemoError(f"{page}: `boxes.js` is not beside it; copy it from resources/demo/pages")
            with demo.open_browser() as chromium:
                boxes = demo.render_page(chromium, page, mp4)
        except demo.DemoError as error:
            return Original(candidate=candidate, status="failed", reason=str(error))
        keep(mp4, boxes)
        return Original(
            candidate=candidate,
            status="ok",
            path=mp4,
            sha256=file_sha256(mp4),
            size_bytes=mp4.stat().st_size,
            fetched=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        )
