"""The signals of doubt about the objects under review, measured anew only when one of them has changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codecap.annotate.quality import Signal, signals
from codecap.records import AnnotatedObject, Clip

Found = Mapping[str, Sequence[Signal]]


class Doubts:
    """Of one clip. Objects are told apart by identity: who changes one makes a new one."""

    def __init__(self, clip: Clip) -> None:
        self._clip = clip
        self._of: tuple[list[AnnotatedObject], list[int]] | None = None
        self._found: Found = {}

    def about(self, objects: Sequence[AnnotatedObject], cuts: Sequence[int]) -> Found:
        """The signals by object, see `codecap.annotate.quality.signals`."""
        if self._of is None or not _same(self._of[0], objects) or self._of[1] != list(cuts):
            self._found = signals(objects, self._clip, cuts=cuts)
            self._of = list(objects), list(cuts)
        return self._found


def _same(some: Sequence[AnnotatedObject], others: Sequence[AnnotatedObject]) -> bool:
    return len(some) == len(others) and all(one is other for one, other in zip(some, others, strict=True))
