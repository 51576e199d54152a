"""An agent's logs as they are kept: without pictures, which the exchange's records have, and without what is said twice."""

from __future__ import annotations

import fnmatch
import gzip
import io
import json
import os
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from codecap.generate.sandbox import left_behind

LARGEST_LOG = 256 << 20  # bytes of a file that are read, into memory; a larger one is passed over
LONGEST_LINE = 32 << 20  # bytes; what is longer comes in parts
MOST_KEPT = 64 << 20  # characters of a log; of a longer one its end is kept too
KEPT_END, LONGEST_END = 200, 100_000  # lines, and characters of each
MOST_LINES, LAST_BYTES = 2_000_000, 100_000  # of a file that are read; of one with more lines, its last bytes too
MOST_FILES = 64
SHORTEST_ENCODED = 2000  # characters of a picture
LONGEST_WORDS = 1000  # bytes
_ENCODED = re.compile(rb"[A-Za-z0-9+/]{%d,}={0,2}" % SHORTEST_ENCODED)


def kept(lines: Iterable[bytes], noise: tuple[bytes, ...], most: int | None = None) -> str:
    """The lines of a log that are kept, as text.

    Args:
        noise: beginnings of lines that are left out.
        most: characters, MOST_KEPT by default; the end of the log is kept beside them.
    """
    most = MOST_KEPT if most is None else most
    begun = bytearray()  # no list: each line of its own takes some fifty bytes more
    end: deque[str] = deque(maxlen=KEPT_END)
    size = 0
    for line in lines:
        if line.startswith(noise):
            continue
        shorter = line if len(line) < SHORTEST_ENCODED else _ENCODED.sub(lambda found: b"<%d characters>" % len(found[0]), line)
        told = shorter.decode("utf-8", "replace")
        if size + len(told) <= most and not end:
            begun += told.encode()
            size += len(told)
        else:
            end.append(told[:LONGEST_END])
    return begun.decode() + "".join(end)


def lines_of(path: Path) -> Iterator[bytes]:
    """The lines of a file of ours that an agent has written to; what is over-long is cut, see `_lines` for very many."""
    try:
        with path.open("rb") as file:
            yield from _lines(file)
    except FileNotFoundError:
        return


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """The first `MOST_LINES` lines; of more, those in the last bytes."""
    for _ in range(MOST_LINES):
        if not (line := file.readline(LONGEST_LINE)):
            return
        yield line
    read = file.tell()
    file.seek(max(read, file.seek(0, os.SEEK_END) - LAST_BYTES))
    if file.tell() > read:
        file.readline(LONGEST_LINE)  # the rest of one
    while line := file.readline(LONGEST_LINE):
        yield line


def last_line(path: Path) -> str:
    """The last line, if it is a short one, of a file of ours that an agent has written to; empty where there is none."""
    try:
        with path.open("rb") as file:
            file.seek(max(path.stat().st_size - LONGEST_WORDS, 0))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return ""
    return lines[-1] if lines else ""


def lines_left(folder: Path, place: str) -> Iterator[bytes]:
    """The lines of a file in a folder that an agent has written; none where it is not to be read."""
    try:
        raw = left_behind.read(folder, place, LARGEST_LOG)
    except left_behind.NotReadable:
        return
    with io.BytesIO(raw) as file:
        yield from _lines(file)


def matching(folder: Path, pattern: str) -> list[str]:
    """Places of files in a folder that an agent has written, by a pattern for each part; no link is followed."""

    def look(inner: Path, parts: tuple[str, ...]) -> Iterator[str]:
        try:
            entries = sorted(os.scandir(inner), key=lambda entry: entry.name)
        except OSError:
            return
        for entry in entries:
            if not fnmatch.fnmatchcase(entry.name, parts[0]):
                continue
            if len(parts) == 1 and entry.is_file(follow_symlinks=False):
                yield entry.name
            elif len(parts) > 1 and entry.is_dir(follow_symlinks=False):
                yield from (f"{entry.name}/{found}" for found in look(inner / entry.name, parts[1:]))

    return [found for _, found in zip(range(MOST_FILES), look(folder, PurePosixPath(pattern).parts), strict=False)]


def left_at_home(work: Path, home: str, patterns: Iterable[str], noise: tuple[bytes, ...]) -> dict[str, str]:
    """Logs in an agent's home folder that are kept, by their places in it.

    Args:
        work: a folder of ours, which the agent could only fill.
        home: place of the home folder there; the agent may have put a link in its stead, which is not followed either.
        patterns: of the logs' places in the home folder.
    """
    told: dict[str, str] = {}
    left = MOST_KEPT  # of all together
    for place in (place for pattern in patterns for place in matching(work, f"{home}/{pattern}")):
        told[place.removeprefix(f"{home}/")] = text = kept(lines_left(work, place), noise, left)
        left -= len(text)
        if left <= 0:
            break
    return told


def write(path: Path, logs: Mapping[str, str]) -> None:
    """Write logs as compressed JSON, the same bytes for the same logs."""
    with path.open("wb") as file, gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0) as packed:
        packed.write(json.dumps(dict(logs), ensure_ascii=False).encode("utf-8", "surrogatepass"))


def read(path: Path) -> dict[str, str]:
    with gzip.open(path, "rb") as packed:
        return json.loads(packed.read().decode("utf-8", "surrogatepass"))
