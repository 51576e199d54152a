"""Source `behance`: videos in project pages (`url`), of a user's projects, and of those that a search's first page names."""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Mapping, Sequence
from typing import Any

from codecap.collect.sites.access import as_settings
from codecap.collect.sites.site import Settings, Site, SiteSource


def _extractors() -> Sequence[type]:
    from codecap.collect.sites.behance import AdobePlayerIE, BehanceIE, BehanceListIE

    return AdobePlayerIE, BehanceIE, BehanceListIE


SITE = Site(
    name="behance",
    addresses={
        "search": lambda words, _: "https://www.behance.net/search/projects/" + urllib.parse.quote(words, safe=""),
        "user": lambda name, _: name if "://" in name else f"https://www.behance.net/{name}",
        "url": lambda address, _: address,
    },
    video_id=re.compile(r"(?P<page>https?://(?:www\.)?behance\.net/gallery/(?P<id>\d+)[^?#]*)(?:\?[^#]*)?#video=(?P<number>\d+)$"),
    locator=lambda found: f"{found['page']}#video={found['number']}",
    names=("id", "number"),
    allowed=("vimeo", "youtube"),  # whose players projects hold
    extractors=_extractors,
    pages=re.compile(r"behance\.net/gallery/\d+[^#]*$"),
)


def load(settings: Mapping[str, Any]) -> SiteSource:
    """Make the source from its entry, see `codecap.collect.sites.site.Settings`.

    Raises:
        ValueError: an unknown key, or a wrong value.
    """
    return SiteSource(SITE, as_settings(settings, Settings, "behance"))
