"""A stage whose frames somebody waits for."""

from __future__ import annotations

from collections.abc import Callable

from codecap.render.engines import Picture, Stage

Attend = Callable[[], None]  # raises where nobody waits any more


class Attended:
    """A stage that asks before the load, and before each frame, whether anybody waits; see `codecap.render.engines.Stage`.

    Args:
        attend: raises what ends the work where nobody does.
    """

    def __init__(self, stage: Stage, attend: Attend) -> None:
        self._stage, self._attend = stage, attend
        self.console_errors, self.requests_blocked, self.flags = stage.console_errors, stage.requests_blocked, stage.flags

    def load(self) -> None:
        self._attend()
        self._stage.load()

    def frame(self, index: int) -> Picture:
        self._attend()
        return self._stage.frame(index)

    def observed(self) -> list[str]:
        return self._stage.observed()

    def close(self) -> None:
        self._stage.close()
