"""Segmenter `stand_in`: each object stays in the box of its first prompt. It finds masks, the same on all frames. No settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codecap.bench.stand_ins.labels import label_of
from codecap.bench.stand_ins.requests import Unreachable, item
from codecap.clock import frames_between
from codecap.records import Box, ObjectPrompt, ObjectTrack
from codecap.score import Unreached
from codecap.score.segmenters import Segmented
from codecap.video import probe

MASK = "0"  # run-length text of a mask; nobody draws it


def load(settings: Mapping[str, Any]) -> StandIn:
    return StandIn(**settings)


@dataclass(frozen=True)
class StandIn:
    protocol: str = "stand-in"
    proxy: bool = True

    def segment(self, mp4: Path, frames: int, prompts: Sequence[ObjectPrompt]) -> list[ObjectTrack]:
        return self.segment_masks(mp4, frames, prompts).tracks

    def segment_masks(self, mp4: Path, frames: int, prompts: Sequence[ObjectPrompt]) -> Segmented:
        system, clip_id = label_of(mp4).split()
        try:
            with item("segment", system, clip_id):
                info = probe(mp4)
                tracks = [_track(prompt, frames) for prompt in prompts]
                masks = {track.name: {frame: MASK for frame, box in enumerate(track.boxes_xyxy) if box} for track in tracks}
                return Segmented(tracks, masks, info.height_px, info.width_px)
        except Unreachable as why:
            raise Unreached(str(why)) from why


def _track(prompt: ObjectPrompt, frames: int) -> ObjectTrack:
    boxes: list[Box | None] = [None] * frames
    for start_s, end_s in prompt.visible_s:
        for frame in frames_between(start_s, end_s, frames):
            boxes[frame] = prompt.frames[0].box_xyxy
    return ObjectTrack(name=prompt.name, status="found", boxes_xyxy=boxes)
