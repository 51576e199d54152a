"""Server-sent events: a stream cut into its events as they come, each with its bytes as they are."""

from __future__ import annotations

import re

_BLANK_LINE = re.compile(rb"\r?\n\r?\n")
_LINE_END = re.compile(rb"\n")
_LINES = re.compile(r"\r\n|\n|\r")


class Cutter:
    """Cuts at blank lines; or at the end of each line, for streams that are one JSON text.

    >>> cutter = Cutter()
    >>> cutter.feed(b"data: 1\\n\\ndata:"), cutter.feed(b" 2\\n"), cutter.feed(b"\\n"), cutter.rest()
    ([b'data: 1\\n\\n'], [], [b'data: 2\\n\\n'], b'')
    """

    def __init__(self, by_lines: bool = False) -> None:
        self._end = _LINE_END if by_lines else _BLANK_LINE
        self._held = bytearray()

    def feed(self, part: bytes) -> list[bytes]:
        """The events that are whole now."""
        looked = max(len(self._held) - 3, 0)  # where the end of an event may begin that `part` completes
        self._held += part
        events, start = [], 0
        for end in self._end.finditer(self._held, looked):
            events.append(bytes(self._held[start : end.end()]))
            start = end.end()
        del self._held[:start]
        return events

    def rest(self) -> bytes:
        """What came after the last whole event."""
        held = bytes(self._held)
        self._held.clear()
        return held


def data(event: str) -> str:
    """The data of an event; "" where it has none, as comments that keep a connection alive.

    >>> data("event: a\\ndata: {\\ndata: }\\n\\n"), data(": ping\\n\\n")
    ('{\\n}', '')
    """
    lines = [line[5:] for line in _LINES.split(event) if line.startswith("data:")]
    return "\n".join(line[1:] if line.startswith(" ") else line for line in lines)
