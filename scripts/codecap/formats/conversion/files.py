"""Reading what others wrote: files of bounded size, values of a known kind, each error with its place."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable, Sequence, Sized
from pathlib import Path
from typing import Any, TypeVar

from codecap.formats import FormatError
from codecap.records import Box, Interval, writable

T = TypeVar("T")

LARGEST_BYTES = 200_000_000
LONGEST_TEXT = 10_000
LONGEST_NAME = 200
MOST_OBJECTS = 500  # of one clip, also of focal points: the validator compares each with each
LARGEST_NUMBER = 1e9  # of pixels, frames, seconds: what is larger is no measure of a clip, and overflows what is made of it


def check_readable(path: Path) -> None:
    """
    Raises:
        FormatError: it is no file, too large, or an archive.
    """
    if not path.is_file():
        raise FormatError(f"{path}: {'is a folder' if path.is_dir() else 'no such file'}; name the file that was exported")
    if path.stat().st_size > LARGEST_BYTES:
        raise FormatError(f"{path}: is larger than {LARGEST_BYTES / 1e6:.0f} MB; export fewer clips into one file")
    with path.open("rb") as file:
        if file.read(4) == b"PK\x03\x04":
            raise FormatError(f"{path}: is a zip archive; unpack it, and name what is in it")


def read_text(path: Path) -> str:
    check_readable(path)
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}: not a text file in UTF-8") from error


def keeping_last(read: Callable[[Path], T]) -> Callable[[Path], T]:
    """For a reader of files that are asked for clip after clip: what it read last is kept, not to be changed."""

    @functools.lru_cache(maxsize=1)
    def kept(path: Path, _changed_ns: int, _size: int) -> T:
        return read(path)

    @functools.wraps(read)
    def asked(path: Path) -> T:
        check_readable(path)
        status = path.stat()
        return kept(path, status.st_mtime_ns, status.st_size)

    return asked


@keeping_last
def read_json(path: Path) -> Any:
    """What a JSON file says."""

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is no number")

    try:
        return json.loads(read_text(path), parse_constant=refuse)
    except RecursionError as error:
        raise FormatError(f"{path}: is nested too deeply") from error
    except ValueError as error:
        raise FormatError(f"{path}: not JSON: {error}") from error


def listed(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise FormatError(f"{where}: must be a list")
    return value


def mapped(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise FormatError(f"{where}: must be an object, with names and values")
    return value


def text(value: Any, where: str) -> str:
    """A text of bounded length that UTF-8 can hold."""
    if not isinstance(value, str):
        raise FormatError(f"{where}: must be a text")
    if len(value) > LONGEST_TEXT:
        raise FormatError(f"{where}: is longer than {LONGEST_TEXT} characters")
    return str(writable(value))


def as_json(told: Any) -> str:
    """
    Raises:
        FormatError: it holds a number that JSON has no place for.
    """
    try:
        return json.dumps(told, ensure_ascii=False, allow_nan=False) + "\n"
    except ValueError as error:
        raise FormatError("holds a number that is not finite; correct it") from error


def number(value: Any, where: str) -> float:
    """A finite number, also one that is written as a text."""
    try:
        found = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if not math.isfinite(found):
        raise FormatError(f"{where}: {str(value)[:40]!r} is no finite number")
    if abs(found) > LARGEST_NUMBER:
        raise FormatError(f"{where}: {found:g} is too large for pixels, frames or seconds of a clip")
    return found


def whole(value: Any, where: str) -> int:
    """A whole number, also written as a text or as 3.0."""
    found = number(value, where)
    if found != int(found):
        raise FormatError(f"{where}: {value} is no whole number")
    return int(found)


def identity(value: Any, where: str) -> int | str:
    """What things are told apart by: a number or a text."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise FormatError(f"{where}: an id is a whole number or a text, not {type(value).__name__}")
    return value


def check_count(items: Sized, what: str, where: str) -> None:
    """
    Raises:
        FormatError: there are more than a clip can have: what is done with each pair of them would never end.
    """
    if len(items) > MOST_OBJECTS:
        raise FormatError(f"{where}: {len(items)} {what} in one clip; at most {MOST_OBJECTS} are read")


def intervals(value: Any, where: str) -> list[Interval]:
    """Pairs of seconds."""
    check_count(listed(value, where), "intervals", where)
    pairs = [listed(pair, where) for pair in value]
    if any(len(pair) != 2 for pair in pairs):
        raise FormatError(f"{where}: each interval is its start and its end in seconds")
    return [(number(start, where), number(end, where)) for start, end in pairs]


def box_of_corner_and_size(told: Any, where: str) -> Box:
    """`xyxy` of `[left, top, width, height]`, with the far sides exclusive."""
    if not isinstance(told, Sequence) or isinstance(told, str) or len(told) != 4:
        raise FormatError(f"{where}: a box is a list of left, top, width and height")
    left, top, width, height = (number(value, where) for value in told)
    return box_of_corners((left, top, left + width, top + height), where)


def box_of_corners(box_xyxy: Box, where: str) -> Box:
    """
    Raises:
        FormatError: the box is empty or turned round.
    """
    x0, y0, x1, y1 = box_xyxy
    if not (x0 < x1 and y0 < y1):
        raise FormatError(f"{where}: the box {x0:g}, {y0:g} to {x1:g}, {y1:g} is empty or turned round")
    return box_xyxy
