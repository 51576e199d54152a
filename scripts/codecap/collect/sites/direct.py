"""What an address of media itself answers: a file, an HLS playlist, or a page, which is refused before it is read."""

from __future__ import annotations

import re
from typing import Any

from yt_dlp.extractor.common import InfoExtractor

from codecap.collect.sites.addresses import stem_of, suffix_of

PREFIX = "codecap-playlist:"
PLAYLISTS = ("application/vnd.apple.mpegurl", "application/x-mpegurl", "audio/mpegurl", "audio/x-mpegurl")
PAGES = ("text/html", "application/xhtml+xml")


class PlaylistIE(InfoExtractor):
    """`codecap-playlist:<address>`: the renditions of an HLS playlist."""

    IE_NAME = "codecap:playlist"
    _VALID_URL = re.escape(PREFIX) + r"(?P<address>https?://.+)"

    def _real_extract(self, url: str) -> dict[str, Any]:
        address = self._match_valid_url(url)["address"]
        formats = self._extract_m3u8_formats(address, None, "mp4", m3u8_id="hls")
        return {"id": "playlist", "title": stem_of(address), "webpage_url": address, "formats": formats}


def file_info(address: str) -> dict[str, Any]:
    """What yt-dlp must know of a file to fetch it, without asking anyone."""
    return {
        "_type": "video",
        "id": "file",
        "title": stem_of(address),
        "url": address,
        "webpage_url": address,
        "ext": suffix_of(address) or "mp4",
        "vcodec": "unknown",
        "extractor": "codecap:direct",
        "extractor_key": "Direct",
    }
