"""The page that a run has left: the one that was asked for and, where that is not complete, the last that was."""

from __future__ import annotations

import codecs
import os
from dataclasses import dataclass
from pathlib import Path

from codecap.generate.extraction import documents
from codecap.generate.sandbox import left_behind

PAGE = "index.html"
LARGEST_PAGE = 20_000_000  # bytes
MOST_LOOKED_AT, MOST_BYTES = 50, 20_000_000  # other pages, and of all of them that are read


@dataclass(frozen=True)
class Left:
    """Attributes:
    page: the bytes of `index.html`; None where there is none that can be read.
    why_not: then the reason.
    other: bytes of the last complete page beside it; None where there is none, or none is needed.
    whence: of that: "rendered", or the file's name.
    """

    page: bytes | None
    why_not: str = ""
    other: bytes | None = None
    whence: str = ""


def left_in(work: Path, rendered: str | None) -> Left:
    """What a run has left in its work folder.

    Args:
        rendered: the last complete page that was drawn without a failure.
    """
    page, why_not = None, ""
    try:
        page = left_behind.read(work, PAGE, LARGEST_PAGE)
    except left_behind.NotReadable as error:
        why_not = str(error)
    if page is not None and is_complete(page):
        return Left(page)
    if rendered is not None:
        return Left(page, why_not, rendered.encode(), "rendered")
    left = MOST_BYTES
    for name in _pages(work):
        try:
            other = left_behind.read(work, name, min(LARGEST_PAGE, left))
        except left_behind.NotReadable:
            continue
        left -= len(other)
        if is_complete(other):
            return Left(page, why_not, other, os.fsencode(name).decode("utf-8", "replace"))
    return Left(page, why_not)


def is_complete(page: bytes) -> bool:
    """It holds a document that is begun and closed; what stands around that, a browser shows or passes over."""
    return bool(documents(text_of(page)))


def text_of(page: bytes) -> str:
    """As the browser reads it: UTF-8, unless it begins as UTF-16 does."""
    utf16 = page.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return page.decode("utf-16" if utf16 else "utf-8", errors="replace")


def _pages(work: Path) -> list[str]:
    """Names of other pages in the work folder, those written last first."""
    found = []
    with os.scandir(work) as entries:
        for entry in entries:
            if entry.name != PAGE and entry.name.lower().endswith((".html", ".htm")) and entry.is_file(follow_symlinks=False):
                found.append((entry.stat(follow_symlinks=False).st_mtime_ns, entry.name))
    return [name for _, name in sorted(found, reverse=True)[:MOST_LOOKED_AT]]
