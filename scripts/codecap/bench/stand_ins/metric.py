"""Metric `stand_in`: a value by a digest of what is scored. It looks at one frame of the reference, and at none of a candidate."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from codecap.bench.stand_ins.requests import Unreachable, item
from codecap.records import Clip, Row
from codecap.score import Description, Measurement, Shots, Task, Unreached

NAME = "stand_in"
LABEL = "Stand-in"
UNIT = ""
RANGE = (0.0, 100.0)
HIGHER_IS_BETTER = True
NEEDS: tuple[str, ...] = ()


class Settings(Row):
    """Keys of the config.

    Attributes:
        describes: whether a description of the reference is kept, as by metrics that look at pictures.
    """

    describes: bool = True


def load(settings: Mapping[str, Any]) -> StandIn:
    return StandIn(Settings.model_validate(dict(settings)))


class StandIn:
    proxy = True
    protocol = "stand-in"

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def watch_reference(self, clip: Clip, shots: Shots) -> FirstFrame | None:  # noqa: ARG002
        if not self._settings.describes:
            return None
        try:
            with item("describe", "reference", clip.clip_id):
                return FirstFrame()
        except Unreachable as why:
            raise Unreached(str(why)) from why

    def watch_candidate(self, clip: Clip, shots: Shots, reference: Description) -> None:  # noqa: ARG002
        return None

    def compare(self, reference: Description, candidate: Description, task: Task) -> list[Measurement]:  # noqa: ARG002
        system, clip_id = task.render.system, task.clip.clip_id
        try:
            with item("score", system, clip_id):
                return [Measurement(100.0 * share_of(system, clip_id))]
        except Unreachable as why:
            raise Unreached(str(why)) from why


class FirstFrame:
    """Watcher: float32 `mean_rgb` `(3,)` of the first frame, 0 to 255."""

    wanted = (0,)

    def __init__(self) -> None:
        self._mean_rgb = np.zeros(3, np.float32)

    def see(self, frame: int, rgb: np.ndarray) -> None:  # noqa: ARG002
        self._mean_rgb = rgb.mean(axis=(0, 1), dtype=np.float32)

    def result(self) -> Description:
        return {"mean_rgb": self._mean_rgb}


def share_of(*names: str) -> float:
    """A number from 0 to 1, always the same for the same names."""
    return hashlib.sha256("\0".join(names).encode()).digest()[0] / 255
