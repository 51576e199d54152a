"""Visual similarity: cosine between the embeddings of two whole videos.

Source: CodeCap-Bench, section 3.2. Both videos are sampled at `t = (k + 0.5) T / n` and preprocessed alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from pydantic import Field

from codecap import registry
from codecap.clock import midpoints
from codecap.records import Clip, Row
from codecap.score import Description, Measurement, Shots, Task
from codecap.score.encoders import Encoder

NAME = "visual_similarity"
LABEL = "Visual similarity"
UNIT = ""
RANGE = (-1.0, 1.0)
HIGHER_IS_BETTER = True
NEEDS: tuple[str, ...] = ()
CLOCK = "own"


class Settings(Row):
    """Keys of the config.

    Attributes:
        encoder: plugin of `score/encoders`.
        encoders: settings of each encoder, by name.
        samples: frames of each video; a video of fewer frames shows some of them more than once.
    """

    encoder: str
    encoders: dict[str, dict[str, Any]] = {}
    samples: int = Field(default=64, ge=1)


def load(settings: Mapping[str, Any]) -> VisualSimilarity:
    told = Settings.model_validate(dict(settings))
    encoder = registry.make("score.encoders", told.encoder, told.encoders.get(told.encoder, {}))
    return VisualSimilarity(encoder, told.samples)


class VisualSimilarity:
    """Keeps one vector a video.

    >>> round(VisualSimilarity.cosine(np.array([1.0, 0.0]), np.array([0.6, 0.8])), 6)
    0.6
    """

    def __init__(self, encoder: Encoder, samples: int) -> None:
        self.encoder = encoder
        self.samples = samples
        self.proxy = encoder.proxy
        self.protocol = f"cosine of {samples} frames, {encoder.protocol}"

    def watch_reference(self, clip: Clip, shots: Shots) -> VideoEmbedding:  # noqa: ARG002
        return VideoEmbedding(self.encoder, midpoints(self.samples, clip.frames))

    def watch_candidate(self, clip: Clip, shots: Shots, reference: Description) -> VideoEmbedding:  # noqa: ARG002
        return self.watch_reference(clip, shots)

    def compare(self, reference: Description, candidate: Description, task: Task) -> list[Measurement]:  # noqa: ARG002
        return [Measurement(self.cosine(reference["embedding"], candidate["embedding"]))]

    @staticmethod
    def cosine(first: np.ndarray, second: np.ndarray) -> float:
        """Cosine of two vectors `(dimensions,)`, in [-1, 1]."""
        return cosines(first[None], second[None]).item()


class VideoEmbedding:
    """Watcher: embeds the sampled frames as one video, float32 `embedding` `(dimensions,)`."""

    def __init__(self, encoder: Encoder, samples: list[int]) -> None:
        self.encoder = encoder
        self.samples = samples
        self.wanted = set(samples)
        self._prepared: dict[int, np.ndarray] = {}

    def see(self, frame: int, rgb: np.ndarray) -> None:
        self._prepared[frame] = self.encoder.prepare(rgb)

    def result(self) -> Description:
        return {"embedding": self.encoder.embed_video([self._prepared[frame] for frame in self.samples])}


def cosines(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Cosines between the rows of two arrays `(n, dimensions)`: float64 `(n,)` in [-1, 1]; 1 exactly for equal rows.

    >>> cosines(np.array([[3.0, 4.0]]), np.array([[-3.0, -4.0]]))
    array([-1.])
    """
    first, second = first.astype(np.float64), second.astype(np.float64)
    lengths = np.sqrt((first * first).sum(axis=1) * (second * second).sum(axis=1))
    return np.clip((first * second).sum(axis=1) / lengths, -1.0, 1.0)
