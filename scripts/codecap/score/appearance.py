"""Appearance similarity (AS): how alike the frames of a shot and of its match look to an encoder, pair by pair.

Source: CodeCap-Bench, section 4.3.6. **Ours:** up to 8 evenly spaced pairs a shot, their mean; then the mean over shots.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from pydantic import Field

from codecap import registry
from codecap.records import Clip, Row
from codecap.score import Description, Measurement, Shots, Task
from codecap.score.encoders import Encoder
from codecap.score.visual_similarity import cosines

NAME = "appearance"
LABEL = "AS"
UNIT = ""
RANGE = (-1.0, 1.0)
HIGHER_IS_BETTER = True
NEEDS: tuple[str, ...] = ()
CLOCK = "shots"


class Settings(Row):
    """Keys of the config.

    Attributes:
        encoder: plugin of `score/encoders`.
        encoders: settings of each encoder, by name.
        frames_per_shot: most frame pairs a shot; a shot of fewer frames gives each of its frames.
    """

    encoder: str
    encoders: dict[str, dict[str, Any]] = {}
    frames_per_shot: int = Field(default=8, ge=1)


def load(settings: Mapping[str, Any]) -> Appearance:
    told = Settings.model_validate(dict(settings))
    encoder = registry.make("score.encoders", told.encoder, told.encoders.get(told.encoder, {}))
    return Appearance(encoder, told.frames_per_shot)


class Appearance:
    def __init__(self, encoder: Encoder, frames_per_shot: int) -> None:
        self.encoder = encoder
        self.frames_per_shot = frames_per_shot
        self.proxy = encoder.proxy
        self.protocol = f"cosine of up to {frames_per_shot} frame pairs a shot, {encoder.protocol}"

    def watch_reference(self, clip: Clip, shots: Shots) -> FrameEmbeddings:  # noqa: ARG002
        return FrameEmbeddings(self.encoder, [evenly_spaced(start, stop, self.frames_per_shot) for start, stop in shots])

    def watch_candidate(self, clip: Clip, shots: Shots, reference: Description) -> FrameEmbeddings:  # noqa: ARG002
        """As many frames of each segment as its shot has given."""
        counts = np.bincount(reference["shot_of"], minlength=len(shots))
        pairs = zip(shots, counts, strict=True)
        return FrameEmbeddings(self.encoder, [spread(start, stop, int(count)) for (start, stop), count in pairs])

    def compare(self, reference: Description, candidate: Description, task: Task) -> list[Measurement]:  # noqa: ARG002
        alike = cosines(reference["embeddings"], candidate["embeddings"])
        shot_of = reference["shot_of"]
        return [Measurement(float(np.mean([alike[shot_of == shot].mean() for shot in np.unique(shot_of)])))]


class FrameEmbeddings:
    """Watcher: float32 `embeddings` `(frames, dimensions)` of each shot's samples, and int32 `shot_of` `(frames,)`."""

    def __init__(self, encoder: Encoder, samples: list[list[int]]) -> None:
        self.encoder = encoder
        self.samples = samples
        self.wanted = {frame for shot in samples for frame in shot}
        self._prepared: dict[int, np.ndarray] = {}

    def see(self, frame: int, rgb: np.ndarray) -> None:
        self._prepared[frame] = self.encoder.prepare(rgb)

    def result(self) -> Description:
        frames = [frame for shot in self.samples for frame in shot]
        return {
            "embeddings": self.encoder.embed_frames([self._prepared[frame] for frame in frames]),
            "shot_of": np.repeat(np.arange(len(self.samples)), [len(shot) for shot in self.samples]).astype(np.int32),
        }


def evenly_spaced(start: int, stop: int, count: int) -> list[int]:
    """The middle frames of up to `count` equal parts of `[start, stop)`, each frame once.

    >>> evenly_spaced(10, 18, 4), evenly_spaced(0, 3, 8), evenly_spaced(5, 6, 8)
    ([11, 13, 15, 17], [0, 1, 2], [5])
    """
    return spread(start, stop, min(count, stop - start))


def spread(start: int, stop: int, count: int) -> list[int]:
    """The middle frames of exactly `count` equal parts of `[start, stop)`; some more than once where there are fewer frames.

    >>> spread(10, 12, 4)
    [10, 10, 11, 11]
    """
    return [start + int((k + 0.5) * (stop - start) / count) for k in range(count)]
