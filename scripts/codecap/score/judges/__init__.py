"""Judges give focal points an integer from 0 to 5. A module has `load(settings) -> Judge`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from codecap.records import Clip, FocalPoint
from codecap.score import Description, Task, Watcher

BEST = 5


@dataclass(frozen=True)
class Judgement:
    """What a judge says of one focal point.

    Attributes:
        points: 0 to 5; None when no judgement could be had, `evidence` says why.
        evidence: in words.
        given: the points of each repeat, where a judge was asked several times; `points` is their median.
    """

    points: float | None
    evidence: str
    given: tuple[int, ...] = ()


class Judge(Protocol):
    protocol: str
    proxy: bool

    def watch(self, clip: Clip) -> Watcher | None:
        """A watcher for either video, None for a judge that needs none; what it keeps must not depend on the annotation."""
        ...

    def judge(self, points: Sequence[FocalPoint], task: Task, reference: Description, candidate: Description) -> list[Judgement]:
        """One judgement a point, in their order; `task.annotation` is there. It may open the videos of `task` itself.

        Args:
            reference, candidate: what the watchers have kept; empty without watchers.

        Raises:
            Unreached: some judgement could not be had this time.
        """
        ...
