"""Source `vimeo`: what users, channels, groups and albums show, and single videos. The site is not searched."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from codecap.collect.sites.access import as_settings
from codecap.collect.sites.site import Settings, Site, SiteSource


def _page(form: str) -> Callable[[str, int], str]:
    return lambda name, _: name if "://" in name else f"https://vimeo.com/{form.format(name)}"


SITE = Site(
    name="vimeo",
    addresses={
        "user": _page("{}/videos"),
        "channel": _page("channels/{}"),
        "group": _page("groups/{}"),
        "album": _page("showcase/{}"),
        "url": lambda address, _: address,
    },
    video_id=re.compile(
        r"vimeo\.com/(?:(?:channels|groups|album|showcase)/[^/?#]+/(?:videos?/)?|videos?/)?"
        r"(?P<id>\d{5,})(?:/(?P<key>[0-9a-f]{8,}))?(?:[/?#]|$)"
    ),
    locator=lambda found: f"https://vimeo.com/{found['id']}" + (f"/{found['key']}" if found["key"] else ""),
    names=("id",),
    allowed=("vimeo", "vimeo:(album|channel|group|user)"),
)


def load(settings: Mapping[str, Any]) -> SiteSource:
    """Make the source from its entry, see `codecap.collect.sites.site.Settings`.

    Raises:
        ValueError: an unknown key, or a wrong value.
    """
    return SiteSource(SITE, as_settings(settings, Settings, "vimeo"))
