"""yt-dlp with nothing in it but what is said here: no configuration files, no plugins, no programs, http and https alone."""

from __future__ import annotations

import logging
import urllib.parse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from codecap.collect.sites.access import Access, without
from codecap.collect.sites.failures import in_short, refusal
from codecap.collect.sources import NotToBeHad
from codecap.errors import UserError

if TYPE_CHECKING:
    from yt_dlp import YoutubeDL
    from yt_dlp.extractor.common import InfoExtractor

LOG = logging.getLogger("codecap")
LARGEST_PAGE = 25_000_000  # bytes
TRIES = 3  # of one connection, with growing pauses between
PAUSE_S = 0.5  # the first of them


@contextmanager
def session(
    access: Access,
    extractors: Sequence[type[InfoExtractor]] = (),
    allowed: Sequence[str] = (),
    answered: Callable[[Any, Any], None] | None = None,
    **options: Any,
) -> Iterator[YoutubeDL]:
    """An open yt-dlp.

    Args:
        extractors: ours.
        allowed: names of yt-dlp's own extractors, as regular expressions; it looks at no other site.
        answered: is given each request with its answer, whose body is not read yet.
        options: of yt-dlp, over ours.

    Raises:
        NotToBeHad: what is done with it is refused, by the site or by ours.
        UserError: a variable or a file that `access` names is not there, or holds no cookies.
        OSError: a disk of ours is full, or cannot be written.
    """
    from yt_dlp import YoutubeDL, globals
    from yt_dlp.networking import Request
    from yt_dlp.networking.exceptions import HTTPError

    globals.plugin_dirs.value = []  # whatever lies in the user's folders
    _forbid_ffmpeg_to_fetch()
    secrets = access.secrets()
    given = {**_options(secrets), **access.options(), "allowed_extractors": list(allowed) or ["^$"], **options}

    class Watched(YoutubeDL):
        def urlopen(self, request: Any) -> Any:
            refuse_scheme(request if isinstance(request, str) else request.url)
            asked = Request(request) if isinstance(request, str) else request
            try:
                answer = super().urlopen(asked)
            except HTTPError as error:
                if answered is not None:
                    answered(asked, error.response)
                raise
            answer.read = _bounded(answer.read)
            if answered is not None:
                answered(asked, answer)
            return answer

    with Watched(given, auto_init=False) as opened:
        secrets += _cookies(opened)
        for extractor in extractors:
            opened.add_info_extractor(extractor())
        if allowed:
            opened.add_default_info_extractors()
        try:
            yield opened
        except Exception as error:
            found = refusal(error)
            raise NotToBeHad(found.cause, without(secrets, found.reason), found.wait_s) from None


def _cookies(opened: YoutubeDL) -> list[str]:
    """The values of the cookies that were given.

    Raises:
        UserError: they cannot be read.
    """
    from yt_dlp.utils import YoutubeDLError

    try:
        return [cookie.value for cookie in opened.cookiejar if cookie.value]
    except YoutubeDLError as error:
        why = in_short(str(error.__context__ or error))
        raise UserError(f"cookies_file, cookies_env or cookies_from_browser: they cannot be read as cookies: {why}") from None


def _options(secrets: Sequence[str]) -> dict[str, Any]:
    import imageio_ffmpeg

    return {
        "quiet": True, "noprogress": True, "logger": _Log(secrets), "color": "no_color",
        "cachedir": False, "usenetrc": False, "enable_file_urls": False, "geo_bypass": False,
        "ignoreerrors": False, "noplaylist": True, "updatetime": False, "fixup": "never", "check_formats": None,
        "ffmpeg_location": imageio_ffmpeg.get_ffmpeg_exe(), "external_downloader": {"default": "native"},
        "retries": TRIES, "fragment_retries": TRIES, "extractor_retries": 1, "file_access_retries": 0,
        "retry_sleep_functions": dict.fromkeys(("http", "fragment", "extractor"), _growing),
        "skip_unavailable_fragments": False, "js_runtimes": {},
    }  # fmt: skip


def _forbid_ffmpeg_to_fetch() -> None:
    """yt-dlp hands playlists that it cannot read to an FFmpeg, which would follow any address, with cookies on its command line."""
    from yt_dlp.downloader.external import FFmpegFD

    def refuse(*_: Any) -> bool:
        raise NotToBeHad("no_video", "its playlist is encrypted in a way, or has a form, that is not read here")

    FFmpegFD.available = classmethod(lambda *_: False)
    FFmpegFD.real_download = refuse


def _bounded(read: Callable[..., bytes]) -> Callable[..., bytes]:
    """A page is read as a whole, unpacked; a file in pieces, whose sum others watch."""

    def bounded(amount: int | None = None) -> bytes:
        if amount is not None and amount >= 0:
            return read(amount)
        page = read(LARGEST_PAGE + 1)
        if len(page) > LARGEST_PAGE:
            raise NotToBeHad("no_video", f"answers with a page of more than {LARGEST_PAGE / 1e6:g} MB")
        return page

    return bounded


def _growing(n: int) -> float:
    return min(PAUSE_S * 2.0**n, 30.0)


def refuse_scheme(address: str) -> None:
    """Only http and https are followed.

    Raises:
        NotToBeHad: another scheme.
    """
    scheme = urllib.parse.urlsplit(address).scheme
    if scheme not in ("http", "https"):
        raise NotToBeHad("no_video", f"its address begins with {scheme or 'no scheme'}:, and only http and https are followed")


class _Log:
    """What yt-dlp says, into the job's log where it is asked for; its errors are told by whoever catches them."""

    def __init__(self, secrets: Sequence[str]) -> None:
        self._secrets = secrets

    def debug(self, words: str) -> None:
        LOG.debug("%s", without(self._secrets, words))

    info = error = debug

    def warning(self, words: str) -> None:
        LOG.info("yt-dlp: %s", without(self._secrets, words))
