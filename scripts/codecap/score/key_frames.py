"""Key-frame similarity: how alike the middle frames of a shot and of its match are in what they show.

Beside the paper. Source: VCode, section 3: the cosine of SigLIP 2's image embeddings. **Ours:** one key frame a shot, its middle
one, as in KSS; the mean over shots.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from codecap import registry
from codecap.clock import midpoint
from codecap.records import Clip, Row
from codecap.score import Description, Measurement, Shots, Task
from codecap.score.appearance import FrameEmbeddings
from codecap.score.encoders import Encoder
from codecap.score.visual_similarity import cosines

NAME = "key_frames"
LABEL = "Key frames"
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
    """

    encoder: str
    encoders: dict[str, dict[str, Any]] = {}


def load(settings: Mapping[str, Any]) -> KeyFrames:
    told = Settings.model_validate(dict(settings))
    return KeyFrames(registry.make("score.encoders", told.encoder, told.encoders.get(told.encoder, {})))


class KeyFrames:
    """Keeps one vector a shot."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self.proxy = encoder.proxy
        self.protocol = f"cosine of shot midpoints, {encoder.protocol}"

    def watch_reference(self, clip: Clip, shots: Shots) -> FrameEmbeddings:  # noqa: ARG002
        return FrameEmbeddings(self.encoder, [[midpoint(start, stop)] for start, stop in shots])

    def watch_candidate(self, clip: Clip, shots: Shots, reference: Description) -> FrameEmbeddings:  # noqa: ARG002
        return self.watch_reference(clip, shots)

    def compare(self, reference: Description, candidate: Description, task: Task) -> list[Measurement]:  # noqa: ARG002
        return [Measurement(float(cosines(reference["embeddings"], candidate["embeddings"]).mean()))]
