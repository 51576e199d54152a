"""One video from an address into a folder, whole or not at all; what came of a try that broke off is gone on with."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from codecap import stopping
from codecap.collect.sites.access import Access
from codecap.collect.sites.addresses import is_playlist
from codecap.collect.sites.direct import PAGES, PLAYLISTS, PREFIX, PlaylistIE, file_info
from codecap.collect.sites.session import refuse_scheme, session
from codecap.collect.sources import NotToBeHad
from codecap.records import Row, write_whole

if TYPE_CHECKING:
    from yt_dlp.networking.common import Request, Response

MARK = "draft.json"  # what a draft is of: another file is never added to it
PROTOCOLS = ("http", "https", "m3u8", "m3u8_native", "http_dash_segments")


class Limits(Row):
    """Which videos are wanted, and in which form.

    Attributes:
        tallest_px: the rendition of at most so many lines is taken, where a site has several.
        audio: whether sound that lies apart is fetched too. Clips have none.
        shortest_s, longest_s: others are not fetched.
        most_mb: of one file, in MB (1e6 bytes).
        licences: only videos whose licence, as the site states it, has one of these words; empty: any.
    """

    tallest_px: int = Field(default=1080, ge=100)
    audio: bool = False
    shortest_s: float = Field(default=0.0, ge=0)
    longest_s: float = Field(default=3600.0, gt=0)
    most_mb: float = Field(default=2000.0, gt=0)
    licences: list[str] = []


@dataclass(frozen=True)
class Got:
    """A file in its draft's folder, and what the site says of it."""

    path: Path
    title: str = ""
    uploader: str = ""
    licence: str = ""
    published: str = ""
    duration_s: float | None = None


class Download:
    """One try to fetch an address.

    Args:
        folder: of the draft, this candidate's own. It stays where a try breaks off.
        extractors, allowed: see `session`; without them the address is that of a file or a playlist.
        options: of yt-dlp, over ours.
    """

    def __init__(
        self,
        address: str,
        folder: Path,
        access: Access,
        limits: Limits,
        extractors: Sequence[type] = (),
        allowed: Sequence[str] = (),
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.address, self.folder, self.access, self.limits = address, Path(folder), access, limits
        self._extractors, self._allowed, self._options = extractors, allowed, dict(options or {})
        self._is_file = not extractors and not allowed and not is_playlist(address)
        self._media: set[str] = set()  # addresses of the file itself

    def get(self) -> Got:
        """Fetch it.

        Raises:
            NotToBeHad: with the cause.
            UserError: a file or a variable that `access` names is missing.
            OSError: the disk is full, or cannot be written.
        """
        refuse_scheme(self.address.removeprefix(PREFIX))
        try:
            return self._get()
        except _IsPlaylist:
            self._is_file = False
            self._media.clear()
            return self._get()
        except _HasChanged:
            return self._get()
        except OSError as error:
            raise OSError(error.errno, error.strerror, error.filename or str(self.folder)) from error

    def _get(self) -> Got:
        self.folder.mkdir(parents=True, exist_ok=True)
        ours = [*self._extractors, PlaylistIE]
        with session(self.access, ours, self._allowed, answered=self._answered, **self._all()) as ydl:
            if self._is_file:
                info = file_info(self.address)
                info["http_headers"] = self._only_if_the_same()
                self._media.add(self.address)
                info = ydl.process_ie_result(info, download=True)
            elif self._extractors or self._allowed:
                info = ydl.extract_info(self.address, download=True)
            else:
                info = ydl.extract_info(PREFIX + self.address, download=True)
        return self._result(info)

    def _all(self) -> dict[str, Any]:
        tallest = self.limits.tallest_px
        return {
            "outtmpl": {"default": str(self.folder.absolute()).replace("%", "%%") + "/video.%(ext)s"},
            "format": "bv*+ba/b" if self.limits.audio else "bv*/b",
            "format_sort": [f"res:{tallest}", "fps", "vbr"],
            "merge_output_format": "mkv",
            "match_filter": self._look_at,
            "progress_hooks": [self._watch],
            **self._options,
        }

    def _look_at(self, info: Mapping[str, Any], incomplete: bool = False) -> None:
        """Refuse what is not wanted before it is fetched; throw away a draft of another file."""
        limits, length_s = self.limits, info.get("duration")
        if info.get("is_live") or info.get("live_status") in ("is_live", "is_upcoming", "post_live"):
            raise NotToBeHad("no_video", "is a live stream")
        if length_s and not limits.shortest_s <= length_s <= limits.longest_s:
            raise NotToBeHad(
                "unwanted", f"lasts {length_s:.0f} s; the source's limits are {limits.shortest_s:g} to {limits.longest_s:g} s"
            )
        licence = str(info.get("license") or "")
        if limits.licences and not incomplete and not any(word.lower() in licence.lower() for word in limits.licences):
            raise NotToBeHad("unwanted", f"its licence is stated as {licence!r}; the source wants {' or '.join(limits.licences)}")
        if incomplete or "format_id" not in info:
            return
        parts = info.get("requested_formats") or [info]
        for part in parts:
            if part.get("protocol") not in (None, *PROTOCOLS):
                raise NotToBeHad("no_video", f"comes by {part['protocol']}, and only http and https are followed")
        self._refuse_size(sum(part.get("filesize") or part.get("filesize_approx") or 0 for part in parts))
        if not self._is_file:
            sizes = [part.get("filesize") for part in parts]
            self._begin([self.address, info.get("extractor"), info.get("id"), info["format_id"], sizes])

    def _watch(self, told: Mapping[str, Any]) -> None:
        stopping.check()  # the draft stays, and the next try goes on with it
        self._refuse_size(max(told.get("downloaded_bytes") or 0, told.get("total_bytes") or 0))

    def _refuse_size(self, size_bytes: float) -> None:
        if size_bytes > self.limits.most_mb * 1e6:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise NotToBeHad("unwanted", f"has {size_bytes / 1e6:.0f} MB; the source's limit is {self.limits.most_mb:g} MB")

    def _answered(self, request: Request, answer: Response) -> None:
        """Look at the head of an answer before its body is read."""
        if request.url not in self._media:
            return
        if answer.status == 416:  # there is no rest: the draft is complete, or of another file
            self._clear()
            raise _HasChanged
        if answer.status not in (200, 206):
            return
        kind = _kind(answer)
        if kind in PLAYLISTS + PAGES:
            answer.close()
            _refuse_page(self.address, kind)
            raise _IsPlaylist
        now = {"etag": answer.headers.get("ETag") or "", "modified": answer.headers.get("Last-Modified") or ""}
        if answer.status == 206:  # which need not repeat all of them
            before = self._mark()
            changed = any(now[name] and before.get(name) and now[name] != before[name] for name in now)
        else:
            changed = self._begin([self.address], **now)
        if changed:
            self._clear()
            answer.close()
            raise _HasChanged  # a server may send the rest of another file, whatever it was asked

    def _only_if_the_same(self) -> dict[str, str]:
        """Headers by which a server sends the rest of a draft, or the whole of what has changed since."""
        mark = self._mark()
        ours = mark.get("identity") == [self.address]
        etag, modified = (mark.get(name, "") if ours else "" for name in ("etag", "modified"))
        if etag.startswith('"'):  # a weak one says nothing of bytes
            return {"If-Range": etag}
        if modified:
            return {"If-Range": modified}
        self._clear()
        return {}

    def _mark(self) -> dict[str, Any]:
        """What the draft is of; empty where there is none."""
        try:
            return dict(json.loads((self.folder / MARK).read_bytes()))
        except (FileNotFoundError, ValueError, TypeError):
            return {}

    def _begin(self, identity: Any, etag: str = "", modified: str = "") -> bool:
        """Say what the draft is of; whether there was one of something else, which is thrown away then."""
        told = json.dumps({"identity": identity, "etag": etag, "modified": modified})
        place = self.folder / MARK
        there = place.is_file()
        if there and place.read_text(encoding="utf-8") == told:
            return False
        self._clear()
        write_whole(place, [told])
        return there

    def _clear(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True, exist_ok=True)

    def _result(self, info: Mapping[str, Any] | None) -> Got:
        downloads = (info or {}).get("requested_downloads") or []
        path = Path(downloads[0]["filepath"]) if downloads else None
        if info is None or path is None or not path.is_file():
            raise NotToBeHad("no_video", f"{self.address}: no video came")
        if path.resolve().parent != self.folder.resolve():
            raise ValueError(f"{path} is not in {self.folder}")
        date = str(info.get("upload_date") or "")
        return Got(
            path=path,
            title=_text(info.get("title")),
            uploader=_text(info.get("uploader") or info.get("channel")),
            licence=_text(info.get("license")),
            published=f"{date[:4]}-{date[4:6]}-{date[6:8]}" if len(date) == 8 and date.isdigit() else "",
            duration_s=float(info["duration"]) if isinstance(info.get("duration"), int | float) and info["duration"] > 0 else None,
        )


def look(
    address: str,
    access: Access,
    extractors: Sequence[type] = (),
    allowed: Sequence[str] = (),
    options: Mapping[str, Any] | None = None,
) -> None:
    """Ask whether a video is there: of a file its head is read, of a site's video what its page says.

    Args:
        extractors, allowed, options: see `Download`.

    Raises:
        NotToBeHad: with the cause.
        UserError: a file or a variable that `access` names is missing.
    """
    refuse_scheme(address)
    with session(access, [*extractors, PlaylistIE], allowed, **(options or {})) as ydl:
        if extractors or allowed:
            ydl.extract_info(address, download=False)
        elif is_playlist(address):
            ydl.extract_info(PREFIX + address, download=False)
        else:
            with ydl.urlopen(address) as answer:
                _refuse_page(address, _kind(answer))


def _kind(answer: Response) -> str:
    return answer.headers.get("Content-Type", "").partition(";")[0].strip().lower()


def _refuse_page(address: str, kind: str) -> None:
    if kind in PAGES:
        raise NotToBeHad("not_a_video", f"{address}: what came is a page ({kind}), no video")


class _HasChanged(Exception):
    """The file behind the address is not the one that the draft is of."""


class _IsPlaylist(Exception):
    """The address of a file answers with an HLS playlist."""


def _text(told: Any) -> str:
    """One line of a site's words, at most 500 characters."""
    return " ".join(str(told or "").split())[:500]
