"""Frame similarity over time: how alike two videos look at each instant, and at the worst of them.

Beside the paper, **ours**: where AS takes a few frames of each shot, this takes instants all over the video, so that a stretch
that went wrong shows. The second column, `frame_similarity_worst`, is the lowest value that lasts for a second: the least mean over
a second's instants.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from pydantic import Field

from codecap import registry
from codecap.clock import FPS, midpoints
from codecap.records import Clip, Row
from codecap.score import Description, Measurement, Shots, Task
from codecap.score.appearance import FrameEmbeddings
from codecap.score.encoders import Encoder
from codecap.score.visual_similarity import cosines

NAME = "frame_similarity"
LABEL = "Frames over time"
UNIT = ""
RANGE = (-1.0, 1.0)
HIGHER_IS_BETTER = True
NEEDS: tuple[str, ...] = ()
CLOCK = "own"

WORST = "frame_similarity_worst"
WORST_LASTS_S = 1.0


class Settings(Row):
    """Keys of the config.

    Attributes:
        encoder: plugin of `score/encoders`.
        encoders: settings of each encoder, by name.
        rate_hz: instants a second of the reference; each stands for the middle of its part.
    """

    encoder: str
    encoders: dict[str, dict[str, Any]] = {}
    rate_hz: float = Field(default=2.0, gt=0, le=FPS)


def load(settings: Mapping[str, Any]) -> FrameSimilarity:
    told = Settings.model_validate(dict(settings))
    encoder = registry.make("score.encoders", told.encoder, told.encoders.get(told.encoder, {}))
    return FrameSimilarity(encoder, told.rate_hz)


class FrameSimilarity:
    """Keeps one vector an instant."""

    def __init__(self, encoder: Encoder, rate_hz: float) -> None:
        self.encoder = encoder
        self.rate_hz = rate_hz
        self.proxy = encoder.proxy
        self.protocol = f"cosine of frames, {rate_hz:g} a second, {encoder.protocol}"

    def watch_reference(self, clip: Clip, shots: Shots) -> FrameEmbeddings:  # noqa: ARG002
        instants = max(math.ceil(clip.frames / FPS * self.rate_hz - 1e-9), 1)
        return FrameEmbeddings(self.encoder, [midpoints(instants, clip.frames)])

    def watch_candidate(self, clip: Clip, shots: Shots, reference: Description) -> FrameEmbeddings:  # noqa: ARG002
        """As many instants as the reference has; in a video of another length they are as far apart in proportion."""
        return FrameEmbeddings(self.encoder, [midpoints(len(reference["embeddings"]), clip.frames)])

    def compare(self, reference: Description, candidate: Description, task: Task) -> list[Measurement]:
        alike = cosines(reference["embeddings"], candidate["embeddings"])
        worst, first = lowest_that_lasts(alike, max(round(WORST_LASTS_S * self.rate_hz), 1))
        at_s = first / len(alike) * task.clip.frames / FPS
        return [Measurement(float(alike.mean())), Measurement(worst, metric=WORST, detail=f"at {at_s:.2f} s")]


def lowest_that_lasts(values: np.ndarray, count: int) -> tuple[float, int]:
    """The least mean over `count` neighbours, and the first of these; over all where there are fewer.

    >>> lowest_that_lasts(np.array([1.0, 0.0, 1.0, 0.5, 0.4]), 2)
    (0.45, 3)
    """
    means = np.convolve(values, np.full(min(count, len(values)), 1 / min(count, len(values))), mode="valid")
    first = int(means.argmin())
    return float(means[first]), first
