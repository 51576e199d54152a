"""Source `bilibili`: searches, a member's videos (`channel`), lists, and single videos."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from codecap.collect.sites.access import as_settings
from codecap.collect.sites.site import Settings, Site, SiteSource

SITE = Site(
    name="bilibili",
    addresses={
        "search": lambda words, most: f"bilisearch{most}:{words}",
        "channel": lambda name, _: name if "://" in name else f"https://space.bilibili.com/{name}/video",
        "playlist": lambda address, _: address,
        "url": lambda address, _: address,
    },
    video_id=re.compile(
        r"bilibili\.com/(?:video/|festival/[^/?#]+\?(?:[^#]*&)?bvid=)(BV\w{10}|[aA][vV]\d+)(?:/?\?(?:[^#]*&)?p=(\d+))?"
    ),
    locator=lambda found: f"https://www.bilibili.com/video/{found[1]}" + (f"?p={found[2]}" if found[2] else ""),
    allowed=("BiliBili", "BiliBiliSearch", "Bilibili(SpaceVideo|Playlist|SeriesList|CollectionList|FavoritesList)"),
)


def load(settings: Mapping[str, Any]) -> SiteSource:
    """Make the source from its entry, see `codecap.collect.sites.site.Settings`.

    Raises:
        ValueError: an unknown key, or a wrong value.
    """
    return SiteSource(SITE, as_settings(settings, Settings, "bilibili"))
