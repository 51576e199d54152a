"""How many values a text of JSON holds, before they are made: in memory each takes many times its bytes."""

from __future__ import annotations

import json
import re

_TEXT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)


def more_than(most: int, raw: bytes) -> bool:
    """Whether it may hold more values than so many; commas and brackets in its texts do not count, but where it is no UTF-8.

    >>> more_than(3, b'{"a": [1, 2, 3]}'), more_than(3, b'{"a": ",,,,,,"}')
    (True, False)
    """
    if _count(raw) <= most:
        return False
    return not json.detect_encoding(raw).startswith("utf-8") or _count(_TEXT.sub(b"", raw)) > most


def _count(raw: bytes) -> int:
    return raw.count(b",") + raw.count(b"[") + raw.count(b"{")
