"""The file of a job that is done. Its address is the service's word: it is given no key, and no more room and time than is said."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from codecap import stopping
from codecap.exchange import NotReached, patience
from codecap.exchange.failures import Broken, Unreadable
from codecap.exchange.transport import Transport
from codecap.generate.harnesses import InfraError
from codecap.generate.jobs.api import JobApi, text_at

REDIRECTS = 5
TRIES = 4
LIMIT_S = 900.0  # for one try
SILENCE_S = 60.0  # longest time without a byte
SPARE = 1 << 20  # bytes, so that what is too large is told here
LONGEST_ADDRESS = 8000  # characters


class Gone(Exception):
    """The address holds no more."""


def fetch(transport: Transport, api: JobApi, key: str | None, job: str, answer: Any, out: Path) -> None:
    """Download the video of a job.

    Raises:
        Gone: its address has expired.
        InfraError, NotReached: it cannot be had this time; the next run tries again, nothing is paid twice.
        stopping.Stopped: the process is to end.
    """
    try:
        url = api.url(api.download, job) if api.download else text_at(answer, api.video)
    except Unreadable as error:
        raise InfraError(f"{api.name}, job {job}: it is done, but {error}; correct videos.http_jobs.video") from error
    failed = 0
    while True:
        stopping.check()
        try:
            status = _fetched(transport, api, key, job, url, out)
        except Broken as error:
            status, why = 0, str(error)
        else:
            why = f"HTTP {status}"
        if status == 200:
            return
        if status in (401, 403, 404, 410):
            raise Gone(why)
        failed += 1
        if (status and status not in patience.PASSING) or failed >= TRIES:
            raise NotReached(f"{api.name}, job {job}: the video cannot be downloaded: {why}; run again later")
        stopping.sleep(patience.step_s(failed))


def _fetched(transport: Transport, api: JobApi, key: str | None, job: str, url: str, out: Path) -> int:
    """Status of the last response on the way; with 200, the file is whole."""
    for _ in range(REDIRECTS + 1):
        _must_be_safe(api, job, url)
        headers = api.headers(key) if _same_place(url, api.base_url) else {}
        ends = time.monotonic() + LIMIT_S
        largest = round(api.largest_mb * 1e6)
        with transport.open(url, headers, None, SILENCE_S, ends, largest + SPARE) as opened:
            if opened.status == 200:
                with Path(out).open("wb") as file:
                    for part in opened.parts():
                        stopping.check()
                        if file.tell() + len(part) > largest:
                            told = f"its video is larger than {api.largest_mb:g} MB; raise videos.http_jobs.largest_mb"
                            raise InfraError(f"{api.name}, job {job}: {told}")
                        file.write(part)
                return 200
            if not 300 <= opened.status < 400 or "location" not in opened.headers:
                return opened.status
            url = urljoin(url, opened.headers["location"])
    raise NotReached(f"{api.name}, job {job}: the video's address leads on and on")


def _must_be_safe(api: JobApi, job: str, url: str) -> None:
    """Raises InfraError: the address is none of the web; without encryption it may be only where the service itself is."""
    allowed = ("https",) if api.base_url.startswith("https:") else ("https", "http")
    if not _is_usable(url, allowed):
        raise InfraError(f"{api.name}, job {job}: the address of its video is none that can be used ({url[:100]!r})")


def _is_usable(url: str, allowed: tuple[str, ...]) -> bool:
    if len(url) > LONGEST_ADDRESS or not url.isascii() or not url.isprintable() or " " in url:
        return False
    try:
        parts = urlsplit(url)
        return parts.scheme in allowed and bool(parts.hostname) and parts.username is None and (parts.port or 1) > 0
    except ValueError:  # brackets, or a port that is no number
        return False


def _same_place(url: str, other: str) -> bool:
    one, two = urlsplit(url), urlsplit(other)
    return (one.scheme, one.netloc) == (two.scheme, two.netloc)
