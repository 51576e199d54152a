"""Reading what agents log: lines of JSON that nobody vouches for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

LONGEST_LINE = 32 << 20  # characters; a line may hold a picture
_LINE = re.compile(r"^\{[^\n]*", re.MULTILINE)  # not to other signs that end lines: they may stand within JSON's texts


def records_in(text: str) -> Iterator[dict[str, Any]]:
    """The objects in a text of JSON lines; what is none, as the last line of a process that was killed, is passed over."""
    for found in _LINE.finditer(text):
        line = found[0]
        if len(line) > LONGEST_LINE:
            continue
        try:
            told = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(told, dict):
            yield told


def part(told: Any, *names: str) -> Any:
    """What lies under some names, one in the other; None where it is not there."""
    for name in names:
        told = told.get(name) if isinstance(told, Mapping) else None
    return told


def items(told: Any, *names: str) -> list[dict[str, Any]]:
    """The objects of a list under some names; empty where there is no list."""
    found = part(told, *names)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def text(told: Any, *names: str) -> str:
    """The text under some names; empty where there is none."""
    found = part(told, *names)
    return found if isinstance(found, str) else ""
