"""Judges give a focal point an integer from 0 to 5. A module has `load(settings) -> Judge`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from codecap.records import Box, Clip, FocalPoint
from codecap.score import Description, Watcher


class Judge(Protocol):
    protocol: str
    proxy: bool

    def watch(self, clip: Clip) -> Watcher:
        """A watcher for either video; what it keeps must not depend on the annotation."""
        ...

    def judge(
        self,
        point: FocalPoint,
        boxes: Sequence[Sequence[Box | None]],
        clip: Clip,
        reference: Description,
        candidate: Description,
    ) -> tuple[int, str]:
        """A score in 0..5 and the evidence for it, in words. `boxes` are those of the objects that the point speaks of, for
        each one box a frame of the reference. Raises Unscored when no judgement can be had."""
        ...
