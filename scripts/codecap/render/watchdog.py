"""A limit on calls that may never return: when it passes, the browser is killed, and the call fails at once."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator

GRACE_S = 10.0


class Watchdog:
    """Calls `kill` when a limit passes, and `kill_harder` when the guarded call has not returned `GRACE_S` later.

    Attributes:
        expired: what took too long, in words; None as long as nothing did.
    """

    def __init__(self, kill: Callable[[], object], kill_harder: Callable[[], object]) -> None:
        self.expired: str | None = None
        self._kill, self._kill_harder = kill, kill_harder

    @contextlib.contextmanager
    def limit(self, seconds: float, complaint: str) -> Iterator[None]:
        """Bound the time spent in the block; `complaint` becomes `expired`."""
        returned = threading.Event()

        def expire() -> None:
            self.expired = complaint
            self._kill()
            if not returned.wait(GRACE_S):
                self._kill_harder()

        timer = threading.Timer(max(seconds, 0.001), expire)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            returned.set()
