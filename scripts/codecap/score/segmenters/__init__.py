"""Segmenters follow prompted objects through a video. A module has `load(settings) -> Segmenter`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from codecap.records import ObjectPrompt, ObjectTrack


class Segmenter(Protocol):
    protocol: str
    proxy: bool

    def segment(self, mp4: Path, frames: int, prompts: Sequence[ObjectPrompt]) -> list[ObjectTrack]:
        """Propagate each prompt both ways; one track a prompt, in order, with one box a frame (None outside its visible
        intervals). A prompt that is absent gives an absent track. Memory is bounded: long videos are worked in windows."""
        ...
