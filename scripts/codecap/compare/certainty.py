"""How sure a comparison is, as records: pairs of systems, ranks, what can be found at all, metrics and judges among themselves."""

from __future__ import annotations

from typing import Literal

from codecap.compare.estimates import Group, Interval
from codecap.records import Row


class Pair(Row):
    """Two systems on the videos that both have a value for: mean of (first - second), paired bootstrap."""

    column: str  # or success_rate
    first: str
    second: str
    family: Group | Literal[""]  # the group of both, whose comparisons in this column are corrected together; "" of two groups
    mean: float
    low: float | None  # None: of one video
    high: float | None
    p_value: float | None  # of this comparison alone
    p_holm: float | None  # by Holm's procedure within the family; None without one
    n: int
    first_better: int  # videos; the rest are equal
    second_better: int
    sd: float | None  # of the differences
    detectable: float | None  # the least difference that so many videos find with 80 % power

    @property
    def separated(self) -> bool:
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


class Rank(Row):
    """A system's place in its group, and the ends between which it lies in 95 % of draws of the videos; 1 is the best."""

    column: str  # or success_rate
    group: Group
    system: str
    rank: int
    low: int | None  # None: of one video
    high: int | None
    incomplete: bool


class Detectable(Row):
    """The least difference of two systems of a group that a paired comparison finds with 80 % power, at 5 %."""

    column: str
    group: Group
    pairs: int
    sd: float  # of the differences of a pair; the median over pairs
    n: int  # videos of this run that a pair shares; the median over pairs
    difference: float
    planned: dict[int, float]  # the same for other numbers of videos


class MetricCorrelation(Row):
    """Two columns over the videos that have a number in both, of all but floors and ceilings."""

    first: str
    second: str
    n: int  # videos, of all systems
    clips: int  # that these are of
    pearson: Interval
    spearman: Interval


class Stability(Row):
    """A judge that was asked the same several times: how far its answers lie apart, in its own points."""

    metric: str
    system: str | None  # None: all systems together
    points: int
    repeats: int
    unanimous_percent: float
    mean_spread: float
    largest_spread: float
    sd: float  # within a point, pooled
    reliability: float | None  # ICC(1,1)
