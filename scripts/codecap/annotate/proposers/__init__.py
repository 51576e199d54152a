"""Proposers draft annotations. A module has `load(settings) -> Proposer`."""

from __future__ import annotations

from typing import Protocol

from codecap.records import Annotation, Clip


class Proposer(Protocol):
    protocol: str

    def propose(self, clip: Clip) -> Annotation:
        """Objects with their boxes in every frame, and focal points with their intervals. The video is streamed."""
        ...
