"""What a site answers to a query: addresses of videos, and what it says of each. No video is opened."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from codecap.collect.sites.failures import refusal
from codecap.collect.sites.session import session
from codecap.collect.sites.site import Settings, Site
from codecap.collect.sources import NotToBeHad

LONGEST_TEXT = 500  # characters
MOST_STEPS = 5


@dataclass(frozen=True)
class Listed:
    """One video that a site names."""

    video_id: str
    address: str
    title: str = ""
    uploader: str = ""
    licence: str = ""
    published: str = ""
    duration_s: float | None = None


def listed(address: str, most: int, site: Site, settings: Settings, options: Mapping[str, Any]) -> Iterator[Listed]:
    """The videos behind an address, at most `most`, each once.

    Raises:
        NotToBeHad: the site does not answer, or names no videos.
    """
    options = {"extract_flat": True, "noplaylist": False, "lazy_playlist": True, "playlistend": most, **options}
    found: set[str] = set()
    with session(settings, site.extractors(), site.allowed, **options) as ydl:
        for entry in _entries(ydl, address, site):
            one = _listed(entry, site)
            if one is not None and one.video_id not in found:
                found.add(one.video_id)
                yield one
            if len(found) >= most:
                return
    if not found:
        raise NotToBeHad("no_video", "the site names no videos")


def _entries(ydl: Any, address: str, site: Site) -> Iterator[Mapping[str, Any]]:
    """A list's entries, and where these are pages of several videos, those of each page; one video is a list of itself."""
    for entry in _of(_asked(ydl, address, site)):
        page = entry.get("url")
        if site.pages is None or not isinstance(page, str) or site.video(page) or not site.pages.search(page):
            yield entry
            continue
        try:
            yield from _of(ydl.extract_info(page, download=False, process=False) or {})
        except Exception as error:  # one page of many: most projects have no video
            told = refusal(error)
            if told.cause == "refused":
                raise
            ydl.report_warning(f"{page}: {told.reason}")


def _asked(ydl: Any, address: str, site: Site) -> Mapping[str, Any]:
    """What is behind an address, where it only names another one, behind that."""
    for _ in range(MOST_STEPS):
        info = ydl.extract_info(address, download=False, process=False) or {}
        if info.get("_type") not in ("url", "url_transparent") or site.video(info.get("url")):
            return info
        address = info["url"]
    raise NotToBeHad("no_video", f"{address}: one address names another, more than {MOST_STEPS} times")


def _of(info: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    if info.get("_type") in ("playlist", "multi_video"):
        return (entry for entry in info.get("entries") or () if isinstance(entry, Mapping))
    return [info]


def _listed(entry: Mapping[str, Any], site: Site) -> Listed | None:
    named = site.video(entry.get("webpage_url")) or site.video(entry.get("url"))
    if named is None:
        return None
    duration_s = entry.get("duration")
    return Listed(
        *named,
        title=_text(entry.get("title")),
        uploader=_text(entry.get("uploader") or entry.get("channel")),
        licence=_text(entry.get("license")),
        published=_date(entry),
        duration_s=float(duration_s) if isinstance(duration_s, int | float) and duration_s > 0 else None,
    )


def _date(entry: Mapping[str, Any]) -> str:
    date, stamp = str(entry.get("upload_date") or ""), entry.get("timestamp")
    if len(date) == 8 and date.isdigit():
        return f"{date[:4]}-{date[4:6]}-{date[6:]}"
    return datetime.fromtimestamp(stamp, UTC).strftime("%Y-%m-%d") if isinstance(stamp, int | float) and 0 < stamp < 1e11 else ""


def _text(told: Any) -> str:
    return " ".join(str(told or "").split())[:LONGEST_TEXT]
