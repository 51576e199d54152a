"""Room for what clients send: so many bytes at once and no more, however many connections they open."""

from __future__ import annotations

import threading

NO_ROOM = "requests that are under way fill the memory that there is for them; ask again later"


class Room:
    """Used by many threads at once.

    Args:
        size: bytes.
    """

    def __init__(self, size: int) -> None:
        self._left = size
        self._lock = threading.Lock()

    def take(self, size: int) -> bool:
        """Whether there was room for so many bytes more; they are taken then."""
        with self._lock:
            if size > self._left:
                return False
            self._left -= size
            return True

    def give_back(self, size: int) -> None:
        with self._lock:
            self._left += size
