"""When a run must be over, and how long it has taken: a run begun again goes on from where its replayed answers end."""

from __future__ import annotations

import threading
import time


class Deadline:
    """Counts the time since it was made and, for answers that are replayed, the time that they took when they were paid for.

    Args:
        seconds: most that the run may take.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._began = time.monotonic()
        self._spans: list[tuple[float, float]] = []  # of replayed answers, apart from each other, in order
        self._lock = threading.Lock()

    def replayed(self, ended: float, took_s: float) -> None:
        """An answer is replayed. What several took at the same time counts once.

        Args:
            ended: when it was whole, seconds since the epoch.
        """
        begin, end = ended - took_s, ended
        with self._lock:
            apart = [span for span in self._spans if span[1] < begin or span[0] > end]
            joined = [span for span in self._spans if span not in apart]
            begin = min([begin, *(span[0] for span in joined)])
            end = max([end, *(span[1] for span in joined)])
            self._spans = sorted([*apart, (begin, end)])

    @property
    def taken_s(self) -> float:
        return time.monotonic() - self._began + self._replayed_s

    @property
    def moment(self) -> float:
        """The moment of `time.monotonic()`; each replayed answer brings it nearer."""
        return self._began + self.seconds - self._replayed_s

    @property
    def _replayed_s(self) -> float:
        with self._lock:
            return sum(end - begin for begin, end in self._spans)
