"""How much is asked of an endpoint at once and a minute.

Requests and tokens a minute are shared by all processes: each takes its turn from a small file under a lock. The number of
calls at once is each process's own.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from pydantic import Field

from codecap import stopping
from codecap.exchange.locking import locked
from codecap.records import Row

BURST_S = 10.0  # so much of a minute's allowance may be used at once; providers count in shorter times than a minute


class Limits(Row):
    """Limits of one endpoint.

    Attributes:
        concurrency: calls at once, in each process.
        requests_per_minute, tokens_per_minute: of all processes together; tokens are estimated before the call. None: no limit.
    """

    concurrency: int = Field(default=8, ge=1, le=1000)
    requests_per_minute: float | None = Field(default=None, gt=0)
    tokens_per_minute: float | None = Field(default=None, gt=0)


class Gate:
    """Lets calls to one endpoint through, each at its time.

    Args:
        folder: where processes share the file of turns.
        name: of the endpoint.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        limits: Limits,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = stopping.sleep,
    ) -> None:
        self.limits, self._clock, self._sleep = limits, clock, sleep
        self._file = Path(folder) / f"{hashlib.sha256(name.encode()).hexdigest()[:16]}.turns"
        self._slots = threading.BoundedSemaphore(limits.concurrency)
        self._lock = threading.Lock()
        self._paused_until = 0.0

    @contextlib.contextmanager
    def slot(self) -> Iterator[None]:
        """One of the endpoint's calls at once."""
        with self._slots:
            yield

    def wait(self, tokens: int) -> None:
        """Wait for this request's turn: that of the rate limits, and the end of a pause that the server asked for."""
        turn = self._turn(tokens)
        while (left := max(turn, self._paused_until) - self._clock()) > 0:
            self._sleep(left)

    def pause(self, seconds: float) -> None:
        """Let no call through for a while: the server said so."""
        with self._lock:
            self._paused_until = max(self._paused_until, self._clock() + seconds)

    def _turn(self, tokens: int) -> float:
        """When this request may be sent, on the clock. Each limit is a queue that drains at its rate (the generic cell rate
        algorithm): what is kept is when it will be empty."""
        asked = {"requests": (1, self.limits.requests_per_minute), "tokens": (tokens, self.limits.tokens_per_minute)}
        asked = {name: (amount, rate) for name, (amount, rate) in asked.items() if rate is not None}
        if not asked:
            return 0.0
        with self._lock, self._shared() as (empty_at, keep):
            now = self._clock()
            turn = now
            for name, (amount, rate) in asked.items():
                starts = max(float(empty_at.get(name, now)), now)
                turn = max(turn, starts - BURST_S)
                empty_at[name] = starts + amount * 60.0 / rate
            keep(empty_at)
            return turn

    @contextlib.contextmanager
    def _shared(self) -> Iterator[tuple[dict[str, float], Callable[[dict[str, float]], None]]]:
        with locked(self._file) as descriptor, os.fdopen(descriptor, "r+", closefd=False) as file:
            try:
                told = json.loads(file.read() or "{}")
            except ValueError:  # a writer was killed within it: the turns start anew
                told = {}

            def keep(empty_at: dict[str, float]) -> None:
                file.seek(0)
                file.truncate()
                file.write(json.dumps(empty_at))
                file.flush()

            yield told, keep
