"""Segmenters follow prompted objects through a video. A module has `load(settings) -> Segmenter`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from codecap.records import ObjectPrompt, ObjectTrack


class Segmenter(Protocol):
    protocol: str
    proxy: bool

    def segment(self, mp4: Path, frames: int, prompts: Sequence[ObjectPrompt]) -> list[ObjectTrack]:
        """Propagate each prompt both ways; one track a prompt, in order, with one box a frame (None outside its visible
        intervals). A prompt that is absent gives an absent track. Memory is bounded: long videos are worked in windows."""
        ...


@dataclass(frozen=True)
class Segmented:
    """Tracks, and the masks that their boxes hold.

    Attributes:
        masks: by object and frame, as COCO's compressed run-length text; frames without a box have none.
        height_px, width_px: of the masks, which is the video's size.
    """

    tracks: list[ObjectTrack]
    masks: Mapping[str, Mapping[int, str]]
    height_px: int
    width_px: int


@runtime_checkable
class MaskSegmenter(Segmenter, Protocol):
    """A segmenter that finds masks, whose boxes are its tracks."""

    def segment_masks(self, mp4: Path, frames: int, prompts: Sequence[ObjectPrompt]) -> Segmented:
        """As `segment`, with the masks."""
        ...
