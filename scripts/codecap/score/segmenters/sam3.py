"""Segmenter `sam3`: the tracker of SAM 3 by the library `transformers`. Its weights are gated: their owner wants an agreement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from codecap.score.masks import transformers_video
from codecap.score.masks.transformers_video import Kind, TransformersSegmenter, VideoSettings

KIND = Kind("SAM 3", "Sam3TrackerVideoModel", "Sam3TrackerVideoProcessor", ("sam3_video", "sam3_tracker_video"))


class Settings(VideoSettings):
    """Keys of the config: those of `VideoSettings`."""

    weights: str = "sam3"


def load(settings: Mapping[str, Any]) -> TransformersSegmenter:
    """The segmenter; once a shard."""
    return transformers_video.load(KIND, Settings.model_validate(dict(settings)))
