"""How fast a site is asked for videos: one turn a video, shared by all jobs and runs that use one store."""

from __future__ import annotations

import time
from pathlib import Path

from codecap import stopping
from codecap.collect.sources import Source
from codecap.exchange.limits import Gate, Limits

REFUSALS = 3  # one after another; then a site is left alone for the rest of the job


class Pace:
    """The turns of one site.

    Args:
        site: its name; "" for what is no site.
        per_minute: videos a minute; None: no limit.
        folder: where processes share their turns; None: this one is alone.
    """

    def __init__(self, site: str, per_minute: float | None, folder: Path | None) -> None:
        self._gate: Gate | None = None
        self._alone_s = 0.0 if per_minute is None else 60.0 / per_minute
        self._last = 0.0
        self.refusals = 0
        if per_minute is not None and folder is not None:
            Path(folder).mkdir(parents=True, exist_ok=True)
            self._gate = Gate(folder, site, Limits(requests_per_minute=per_minute))

    @classmethod
    def of(cls, source: Source, folder: Path | None) -> Pace:
        return cls(source.site, source.per_minute, folder)

    @property
    def is_closed(self) -> bool:
        """Whether the site has refused so often that it is not asked any more."""
        return self.refusals >= REFUSALS

    def wait(self) -> None:
        """Wait for the next turn."""
        if self._gate is not None:
            self._gate.wait(0)
        elif self._alone_s:
            stopping.sleep(max(self._last + self._alone_s - time.monotonic(), 0.0))
            self._last = time.monotonic()

    def answered(self, refused: bool) -> None:
        self.refusals = self.refusals + 1 if refused else 0
