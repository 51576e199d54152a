"""What an address says by itself: the name and the ending of its file."""

from __future__ import annotations

import re
import urllib.parse


def stem_of(address: str) -> str:
    """
    >>> stem_of("https://example.org/media/my%20clip.v2.mp4?x=1"), stem_of("https://example.org/")
    ('my clip.v2', 'example.org')
    """
    parts = urllib.parse.urlsplit(address)
    name = urllib.parse.unquote(parts.path).rpartition("/")[2]
    return name.rpartition(".")[0] or name or parts.hostname or "video"


def suffix_of(address: str) -> str:
    """
    >>> suffix_of("https://example.org/a.MP4?b=c.webm"), suffix_of("https://example.org/watch")
    ('mp4', '')
    """
    _, dot, suffix = urllib.parse.urlsplit(address).path.rpartition("/")[2].rpartition(".")
    return suffix.lower() if dot and re.fullmatch(r"[A-Za-z0-9]{1,5}", suffix) else ""


def is_playlist(address: str) -> bool:
    return suffix_of(address) in ("m3u8", "m3u")
