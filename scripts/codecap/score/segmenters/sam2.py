"""Segmenter `sam2`: SAM 2.1 by the library `transformers`. Open weights; the default where SAM 3 may not be had."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from codecap.score.masks import transformers_video
from codecap.score.masks.transformers_video import Kind, TransformersSegmenter, VideoSettings

KIND = Kind("SAM 2.1", "Sam2VideoModel", "Sam2VideoProcessor", ("sam2_video",))


class Settings(VideoSettings):
    """Keys of the config: those of `VideoSettings`."""

    weights: str = "sam2_1_hiera_large"


def load(settings: Mapping[str, Any]) -> TransformersSegmenter:
    """The segmenter; once a shard."""
    return transformers_video.load(KIND, Settings.model_validate(dict(settings)))
