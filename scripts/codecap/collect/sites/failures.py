"""What a site's refusal means: yt-dlp's errors, and its words for what sites say, as one of a few causes."""

from __future__ import annotations

import email.utils
import errno
import re
import time
import traceback
from collections.abc import Iterator, Mapping

from codecap.collect.sources import NotToBeHad
from codecap.records import FetchCause

STATUSES: Mapping[int, FetchCause] = {
    401: "private",
    403: "private",
    404: "gone",
    408: "network",
    410: "gone",
    412: "refused",
    425: "network",
    429: "refused",
    451: "country",
}
OUR_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EFBIG, errno.EMFILE, errno.ENFILE)
EXTRACTORS = ("yt_dlp.extractor.", "codecap.collect.sites.behance", "codecap.collect.sites.direct")
LONGEST_REASON = 300  # characters
LONGEST_WAIT_S = 24 * 3600.0

# In this order: "sign in to confirm you are not a bot" is no private video.
WORDS: dict[FetchCause, tuple[str, ...]] = {
    "refused": ("not a bot", "captcha", "too many requests", "rate.?limit", "try again later", "risk control"),
    "age": (r"\bage\b", "age.?restricted", "inappropriate for some users", "mature content"),
    "country": ("geo.?restrict", "(your|this|certain) (country|location|region)", r"\bcountries\b", "only available (in|from)"),
    "private": (
        "private", "sign in", r"log ?in\b", "logged.in", "members?.only", "join this channel", "password", "subscri", "purchase",
        "rental", "premium", "cookies",
    ),
    "gone": (
        "removed", "no longer available", "terminated", "does ?n[o']t exist", "not found", "deleted", "unavailable",
        "closed (his|her|their|the) account",
    ),
    "no_video": (r"\blive\b", "premiere", "will begin in", "offline", "no video", "unsupported url", "drm"),
    "cut_short": ("more expected", "bytes, expected", "content too short", "did not get any data", "incomplete"),
    "network": (
        "timed? ?out", "connect", "resolve", "resolution", "reset", "refused", "ssl", "certificate", "giving up after",
        "unreachable", "proxy",
    ),
}  # fmt: skip


def not_to_be_had(error: BaseException) -> NotToBeHad:
    """What an error of yt-dlp says of a video.

    The status of an answer comes before its words: of 404 nobody need read the page.
    """
    from yt_dlp.networking.exceptions import HTTPError, TransportError
    from yt_dlp.utils import ContentTooShortError, GeoRestrictedError

    chain = list(_chain(error))
    words = in_short(str(error))
    for one in chain:
        if isinstance(one, NotToBeHad):
            return one
        if isinstance(one, HTTPError):
            return NotToBeHad(of_status(one.status), words, wait_s(one.response.headers.get("Retry-After")))
        if isinstance(one, GeoRestrictedError):
            return NotToBeHad("country", words)
        if isinstance(one, ContentTooShortError):
            return NotToBeHad("cut_short", words)
    if found := re.search(r"HTTP Error (\d{3})", words):
        return NotToBeHad(of_status(int(found[1])), words)
    cause = of_words(words)
    if cause is None:
        cause = "network" if any(isinstance(one, TransportError | OSError) for one in chain) else "no_video"
    return NotToBeHad(cause, words)


def of_status(status: int) -> FetchCause:
    """
    >>> of_status(410), of_status(429), of_status(503), of_status(400)
    ('gone', 'refused', 'network', 'no_video')
    """
    return STATUSES.get(status, "network" if status >= 500 else "no_video")


def of_words(words: str) -> FetchCause | None:
    """The cause that a site's words name; None where they name none that is known.

    >>> of_words("Sign in to confirm you're not a bot"), of_words("Sign in to confirm your age"), of_words("Private video. Sign in")
    ('refused', 'age', 'private')
    """
    return next((cause for cause, patterns in WORDS.items() if re.search("|".join(patterns), words, re.IGNORECASE)), None)


def wait_s(told: str | None, now: float | None = None) -> float | None:
    """How long a `Retry-After` asks to wait, in seconds or until a date; None where it says nothing that can be read.

    >>> wait_s("120"), wait_s("soon"), wait_s("Mon, 30 Nov 2026 12:00:30 GMT", now=1796040000.0)
    (120.0, None, 30.0)
    """
    if told is None:
        return None
    try:
        seconds = float(told)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(told).timestamp() - (time.time() if now is None else now)
        except (ValueError, OverflowError):
            return None
    return min(max(seconds, 0.0), LONGEST_WAIT_S) if seconds == seconds else None


def in_short(words: str) -> str:
    """One line of what yt-dlp says, without its marks, its advice to report bugs, and what an address holds after its path.

    >>> in_short("ERROR: [youtube] abc: Private video; please report this issue on  https://x (caused by <HTTPError 403: no>)")
    '[youtube] abc: Private video'
    """
    words = re.sub(r"\x1b\[[0-9;]*m", "", words)
    words = re.sub(r"^ERROR:\s*(\[download\] Got error:\s*)?", "", " ".join(words.split()))
    words = re.split(r"; please report this issue on|\. ?Use --|\(caused by| See +https?://|\. Also see", words)[0]
    words = re.sub(r"(https?://)[^\s/@]*@", r"\1", words)
    words = re.sub(r"(https?://[^\s?#'\"]*)[?#][^\s'\"]*", r"\1", words)
    return words.strip()[:LONGEST_REASON]


def refusal(error: Exception) -> NotToBeHad:
    """What an exception that came out of yt-dlp says of a video.

    Raises:
        OSError: a disk of ours is full, or cannot be written.
        Exception: the same one, if it is neither yt-dlp's nor an extractor's that stumbled over what a site answered.
    """
    from yt_dlp.utils import YoutubeDLError

    full = next((one for one in _chain(error) if isinstance(one, OSError) and one.errno in OUR_DISK), None)
    if full is not None:
        raise OSError(full.errno, full.strerror, full.filename) from error
    if isinstance(error, NotToBeHad | YoutubeDLError) or (isinstance(error, OSError) and error.filename is None):
        return not_to_be_had(error)
    if _stumbled(error):
        return NotToBeHad("no_video", f"its page cannot be read ({type(error).__name__}); a newer yt-dlp may know it")
    raise error


def _stumbled(error: Exception) -> bool:
    names = (frame.f_globals.get("__name__", "") for frame, _ in traceback.walk_tb(error.__traceback__))
    return any(name.startswith(EXTRACTORS) for name in names)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error, and those that it was raised from, as yt-dlp keeps them."""
    seen: set[int] = set()
    waiting = [error]
    while waiting:
        one = waiting.pop(0)
        if not isinstance(one, BaseException) or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        info = getattr(one, "exc_info", None)
        waiting += [info[1] if info else None, getattr(one, "cause", None), one.__cause__]
