"""What the records of a comparison have in common: groups of systems, and numbers with their intervals."""

from __future__ import annotations

from typing import Literal

from codecap.records import Row

Group = Literal["agentic", "non_agentic", "floor", "ceiling"]


class Estimate(Row):
    """A mean over videos with its 95 % bootstrap interval, and what is not in it."""

    mean: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0  # videos in the mean, failed ones that count 0 among them
    failed: int = 0  # videos that count 0 (or are left out, where 0 would be no bad value)
    unscored: int = 0  # videos without a number though there is a render
    infra_error: int = 0  # videos that we failed to produce or to score
    unscored_items: int = 0  # objects or focal points missing in videos that have a number

    @property
    def incomplete(self) -> bool:
        return bool(self.unscored or self.infra_error or self.unscored_items)


class Interval(Row):
    """A number and its 95 % bootstrap interval over clips; None where there is none."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
