"""Behance for yt-dlp, which has no extractor for it: project pages with the players in them, and lists of projects.

A project page carries its data as JSON in `<script id="beconfig-store_state">`. Its modules are read in both forms that the site
has had: `allModules` with `__typename` and `originalEmbed`, and before that `modules` with `type` and `original_embed`.
"""

from __future__ import annotations

import html
import re
import urllib.parse
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from yt_dlp.extractor.common import InfoExtractor
from yt_dlp.utils import ExtractorError, smuggle_url

STATE = re.compile(r'<script[^>]{0,300}\bid="beconfig-store_state"[^>]{0,300}>(?P<json>.+?)</script>', re.DOTALL)
IFRAME = re.compile(r"<iframe[^>]{1,300}\bsrc\s{0,9}=\s{0,9}[\"'](?P<address>[^\"']{1,4000})", re.IGNORECASE)
GALLERY = re.compile(r"(?:behance\.net)?/gallery/(?P<id>\d{1,12})/(?P<slug>[^/?#\"'<>\\\s]{1,200})")
PLAYER = "www-ccv.adobe.io"
MOST_PROJECTS = 200  # of one list


class BehanceIE(InfoExtractor):
    """A project: a list of its videos, or with `#video=<number>` that one. Numbers count the page's videos from 1."""

    IE_NAME = "behance"
    _VALID_URL = r"https?://(?:www\.)?behance\.net/gallery/(?P<id>\d+)(?:/[^?#]*)?(?:\?[^#]*)?(?:#video=(?P<number>\d+))?"

    def _real_extract(self, url: str) -> dict[str, Any]:
        project_id, number = self._match_valid_url(url).group("id", "number")
        address = urllib.parse.urldefrag(url)[0]
        project = self._project(self._download_webpage(address, project_id), project_id)
        told = _told(project)
        videos = list(_videos(project))
        if not videos:
            raise ExtractorError(f"the project has no video in any of its {len(_modules(project))} modules", expected=True)
        entries = [
            {
                **told,
                "id": f"{project_id}-{place}",
                "webpage_url": f"{address}#video={place}",
                **self._media(video, address),
            }
            for place, video in enumerate(videos, start=1)
        ]
        if number is None:
            return {**self.playlist_result(entries, project_id, told["title"]), "uploader": told["uploader"]}
        if not 1 <= int(number) <= len(entries):
            raise ExtractorError(f"video {number} was removed: the project has {len(entries)} now", expected=True)
        return entries[int(number) - 1]

    def _project(self, page: str, project_id: str) -> dict[str, Any]:
        found = STATE.search(page)
        state = self._parse_json(found["json"], project_id, fatal=False) if found else None
        project = _dig(state, "project", "project")
        if not isinstance(project, dict):
            raise ExtractorError("no video: the page does not carry a project's data", expected=True)
        return project

    def _media(self, video: dict[str, Any], page: str) -> dict[str, Any]:
        """Either formats of Behance's own, or another player's address, which its own extractor reads."""
        formats: list[dict[str, Any]] = []
        for address, height in video["files"]:
            if address.partition("?")[0].endswith(".m3u8"):
                formats += self._extract_m3u8_formats(address, None, "mp4", m3u8_id="hls", fatal=False)
            else:
                formats.append({"url": address, "height": height, "ext": "mp4"})
        if formats:
            return {"formats": formats}
        address = video["player"]
        if urllib.parse.urlsplit(address).hostname != PLAYER:
            address = smuggle_url(address, {"referer": page})  # players of private videos look at where they are shown
        return {"_type": "url_transparent", "url": address}


class AdobePlayerIE(InfoExtractor):
    """Adobe's player, in which Behance shows what was uploaded to it."""

    IE_NAME = "behance:player"
    _VALID_URL = r"https?://www-ccv\.adobe\.io/v1/player/ccv/(?P<id>[\w-]+)/embed"

    def _real_extract(self, url: str) -> dict[str, Any]:
        video_id = self._match_id(url)
        page = self._download_webpage(url, video_id)
        data = self._search_json(r"ccv\$serverData\s*=", page, "player data", video_id, fatal=False) or {}
        addresses = [data.get(name) for name in ("m3u8URL", "mp4URL")]
        addresses += [html.unescape(address) for address in re.findall(r"<source[^>]{1,300}\bsrc=[\"']([^\"']{1,4000})", page)]
        formats: list[dict[str, Any]] = []
        for address in dict.fromkeys(address for address in addresses if _is_address(address)):
            if address.partition("?")[0].endswith(".m3u8"):
                formats += self._extract_m3u8_formats(address, video_id, "mp4", m3u8_id="hls", fatal=False)
            else:
                formats.append({"url": address, "ext": "mp4", "format_id": "mp4"})
        if not formats:
            raise ExtractorError("no video: the player names no file", expected=True)
        duration_s = data.get("duration")
        return {
            "id": video_id,
            "title": str(data.get("title") or video_id),
            "duration": duration_s if isinstance(duration_s, int | float) else None,
            "formats": formats,
        }


class BehanceListIE(InfoExtractor):
    """A page that links to projects: of a user, or what a search finds. Only what the page itself names is listed."""

    IE_NAME = "behance:list"
    _VALID_URL = r"https?://(?:www\.)?behance\.net/(?!gallery/)(?P<id>[^?#]+)"

    def _real_extract(self, url: str) -> dict[str, Any]:
        list_id = self._match_id(url)
        page = html.unescape(self._download_webpage(url, list_id)).replace("\\/", "/")
        scheme = url.partition(":")[0]
        projects = {found["id"]: found["slug"] for found in GALLERY.finditer(page)}
        entries = [
            self.url_result(f"{scheme}://www.behance.net/gallery/{project_id}/{slug}", BehanceIE, project_id)
            for project_id, slug in list(projects.items())[:MOST_PROJECTS]
        ]
        return self.playlist_result(entries, list_id)


def _modules(project: dict[str, Any]) -> list[dict[str, Any]]:
    found = project.get("allModules") or project.get("modules") or []
    return [module for module in found if isinstance(module, dict)] if isinstance(found, list) else []


def _videos(project: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A project's videos in the order of its page: `files`, addresses with their heights, or the address of a `player`."""
    for module in _modules(project):
        kind = str(module.get("__typename") or module.get("type") or "").lower()
        if kind not in ("videomodule", "video", "embedmodule", "embed"):
            continue
        renditions = _dig(module, "videoData", "renditions")
        files = [
            (one["url"], one.get("height") if isinstance(one.get("height"), int) else None)
            for one in (renditions if isinstance(renditions, list) else [])
            if isinstance(one, dict) and _is_address(one.get("url"))
        ]
        player = _player(module)
        if files or player:
            yield {"files": files, "player": player}


def _player(module: dict[str, Any]) -> str | None:
    for name in ("originalEmbed", "fluidEmbed", "original_embed", "embed"):
        text = module.get(name)
        found = IFRAME.search(html.unescape(text)) if isinstance(text, str) else None
        if found:
            address = html.unescape(found["address"])
            address = f"https:{address}" if address.startswith("//") else address
            if _is_address(address):
                return address
    address = module.get("src")
    return address if _is_address(address) else None


def _told(project: dict[str, Any]) -> dict[str, Any]:
    owners, licence = project.get("owners"), project.get("license")
    names = [one.get("displayName") or one.get("display_name") for one in owners or () if isinstance(one, dict)]
    if isinstance(licence, dict):
        licence = licence.get("label") or licence.get("license")
    stamp = project.get("publishedOn") or project.get("published_on")
    dated = isinstance(stamp, int) and 0 < stamp < 1e10
    return {
        "title": str(project.get("name") or "project"),
        "uploader": ", ".join(str(name) for name in names if name) or None,
        "license": str(licence) if licence else None,
        "upload_date": datetime.fromtimestamp(stamp, UTC).strftime("%Y%m%d") if dated else None,
    }


def _dig(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _is_address(value: Any) -> bool:
    return isinstance(value, str) and re.match(r"https?://[^\s]{3,4000}$", value) is not None
