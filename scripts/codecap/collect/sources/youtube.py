"""Source `youtube`: searches, channels, playlists and single videos."""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Mapping
from typing import Any, Literal

from codecap.collect.sites.access import as_settings
from codecap.collect.sites.site import Settings, Site, SiteSource

CREATIVE_COMMONS = "EgQQATAB"  # the site's own filter of searches: videos, and of these what is under such a licence


class YouTubeSettings(Settings):
    """An entry, see `Settings`.

    Attributes:
        creative_commons: whether searches name only videos that are under a Creative Commons licence.
        js_runtime: the program that computes the site's riddles, without which many renditions are not offered: it runs the site's
            own JavaScript, `deno` without any permission. Taken from PATH where it is there; null: none.
    """

    creative_commons: bool = False
    js_runtime: Literal["deno", "node", "bun", "quickjs"] | None = "deno"


def load(settings: Mapping[str, Any]) -> SiteSource:
    """Make the source from its entry, see `YouTubeSettings`.

    Raises:
        ValueError: an unknown key, or a wrong value.
    """
    entry = as_settings(settings, YouTubeSettings, "youtube")
    runtimes = {} if entry.js_runtime is None else {entry.js_runtime: {}}
    return SiteSource(site(entry.creative_commons), entry, {"js_runtimes": runtimes})


def site(creative_commons: bool = False) -> Site:
    return Site(
        name="youtube",
        addresses={
            "search": _licensed_search if creative_commons else (lambda words, most: f"ytsearch{most}:{words}"),
            "channel": lambda name, _: name if "://" in name else f"https://www.youtube.com/{_handle(name)}/videos",
            "playlist": lambda name, _: name if "://" in name else f"https://www.youtube.com/playlist?list={name}",
            "url": lambda address, _: address,
        },
        video_id=re.compile(
            r"(?:youtube(?:-nocookie)?\.com/(?:watch\?(?:[^#]*&)?v=|shorts/|embed/|live/|v/)|youtu\.be/)([\w-]{11})"
        ),
        locator=lambda found: f"https://www.youtube.com/watch?v={found[1]}",
        allowed=("youtube", "youtube:(tab|playlist|search|search_url|user|truncated.*)", "YoutubeYtBe"),
    )


def _licensed_search(words: str, _: int) -> str:
    return "https://www.youtube.com/results?" + urllib.parse.urlencode({"search_query": words, "sp": CREATIVE_COMMONS})


def _handle(name: str) -> str:
    """
    >>> _handle("@name"), _handle("UCaBcDeFgHiJkLmNoPqRsTuV"), _handle("name")
    ('@name', 'channel/UCaBcDeFgHiJkLmNoPqRsTuV', '@name')
    """
    if re.fullmatch(r"UC[\w-]{22}", name):
        return f"channel/{name}"
    return name if name.startswith("@") else f"@{name}"
