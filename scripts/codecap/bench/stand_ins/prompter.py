"""Prompter `stand_in`: finds each object where the reference has it, on three frames. Settings: `endpoint`, of a model to ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from codecap.bench.stand_ins.asking import Asking
from codecap.bench.stand_ins.labels import label_of
from codecap.bench.stand_ins.requests import Unreachable, item
from codecap.records import AnnotatedObject, Clip, ObjectPrompt, PromptFrame
from codecap.score import Unreached


def load(settings: Mapping[str, Any]) -> StandIn:
    return StandIn(**settings)


class StandIn(Asking):
    def prompt(self, objects: Sequence[AnnotatedObject], clip: Clip, candidate_mp4: Path) -> list[ObjectPrompt]:
        system, _ = label_of(candidate_mp4).split()
        try:
            with item("prompt", system, clip.clip_id):
                self.ask_about("objects", system, clip.clip_id)
                return [_prompt(thing) for thing in objects]
        except Unreachable as why:
            raise Unreached(str(why)) from why


def _prompt(thing: AnnotatedObject) -> ObjectPrompt:
    there = [(frame, box) for frame, box in enumerate(thing.boxes_xyxy) if box is not None]
    chosen = (there[0], there[len(there) // 2], there[-1])
    frames = [PromptFrame(frame=frame, box_xyxy=box) for frame, box in dict(chosen).items()]
    return ObjectPrompt(name=thing.name, status="found", visible_s=thing.visible_s, frames=frames)
