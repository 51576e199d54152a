"""Prompters say where a reference's objects are in a candidate video. A module has `load(settings) -> Prompter`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from codecap.records import AnnotatedObject, Clip, ObjectPrompt


class Prompter(Protocol):
    protocol: str
    proxy: bool

    def prompt(self, objects: Sequence[AnnotatedObject], clip: Clip, candidate_mp4: Path) -> list[ObjectPrompt]:
        """One prompt for each object, in their order: the visible interval in the candidate, and on some representative
        frames a box with points; or absent; or ambiguous (found, but so are look-alikes). Videos are streamed."""
        ...
