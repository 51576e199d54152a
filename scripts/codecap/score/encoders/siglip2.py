"""SigLIP 2 as an encoder of pictures: how alike two key frames are in what they show.

Source: VCode, section 3 (siglip2-so400m-patch14-384, cosine of the image embeddings). Preprocessing is the checkpoint's own.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from pydantic import Field
from transformers import AutoImageProcessor, SiglipVisionModel

from codecap import weights
from codecap.score.encoding.feeding import batches, normalized
from codecap.score.encoding.pretrained import load_pretrained, opening
from codecap.score.encoding.running import Hardware, Running
from codecap.score.encoding.vectors import mean_of, of_length_one
from codecap.weights import Found

OTHER_SIDE = ("text_model.", "logit_scale", "logit_bias")  # of a checkpoint of both sides: not needed for pictures


class Settings(Running):
    """Keys of the config, beside those of every encoder.

    Attributes:
        weights: name of the checkpoint in the table of weights; one of fixed resolution.
        folder: a folder with config.json, preprocessor_config.json and model.safetensors, instead of the fetched one.
        batch: pictures that go through the network together.
    """

    weights: str = "siglip2_so400m_384"
    folder: str | None = None
    batch: int = Field(default=8, ge=1)


def load(settings: Mapping[str, Any]) -> SigLIP2Encoder:
    """The encoder; the same settings give the same object, so that metrics of a lane share one network.

    Raises:
        WeightsMissing: the checkpoint is not there, or is not one of SigLIP of fixed resolution.
        NoDevice: the device is not there.
    """
    return _load(Settings.model_validate(dict(settings)))


@functools.cache
def _load(settings: Settings) -> SigLIP2Encoder:
    hardware = Hardware.of(settings)
    found = weights.find(settings.weights, settings.folder)
    cure = weights.cure(settings.weights, settings.folder)
    with opening(found.path, cure):
        processor = AutoImageProcessor.from_pretrained(found.path, local_files_only=True)
    network = load_pretrained(SiglipVisionModel, found, cure, unused=lambda key: key.startswith(OTHER_SIDE))
    return SigLIP2Encoder(network, processor, settings, hardware, found)


class SigLIP2Encoder:
    """Args: network: `SiglipVisionModel`. processor: transformers' image processor of the checkpoint."""

    proxy = False

    def __init__(self, network: torch.nn.Module, processor: Any, settings: Settings, hardware: Hardware, found: Found) -> None:
        self.settings, self.hardware, self._processor = settings, hardware, processor
        self.protocol = f"SigLIP 2 {found.revision}, {processor.size['height']}px squash bilinear, {hardware}"
        self._network = hardware.place(network, settings.compile)

    def prepare(self, rgb: np.ndarray) -> np.ndarray:
        """uint8 RGB `(height, width, 3)` to uint8 RGB `(3, side, side)`, as the checkpoint's processor resizes."""
        picture = torch.from_numpy(rgb).permute(2, 0, 1)
        shown = self._processor(picture, do_rescale=False, do_normalize=False, return_tensors="pt")
        return shown["pixel_values"][0].numpy()

    def embed_frames(self, prepared: list[np.ndarray]) -> np.ndarray:
        """float32 `(frames, dimensions)`, rows of length 1: the attention-pooled output of the vision tower."""
        vectors = []
        with self.hardware.computing():
            for pictures in batches(prepared, self.settings.batch, self.hardware.device):
                pixels = normalized(pictures, self._processor.image_mean, self._processor.image_std)
                vectors.append(self._network(pixels.to(self.hardware.dtype)).pooler_output.float())
        return of_length_one(torch.cat(vectors))

    def embed_video(self, prepared: list[np.ndarray]) -> np.ndarray:
        """float32 `(dimensions,)`, of length 1: the mean of the frames' vectors."""
        return mean_of(self.embed_frames(prepared))
