"""V-JEPA 2 (2.0) by transformers: a second, openly packaged encoder of whole videos beside the paper's V-JEPA 2.1.

Preprocessing is the checkpoint's own (short side to 256/224 of the crop, bilinear, centre crop). **Ours:** the mean of the tokens.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from pydantic import Field
from transformers import AutoVideoProcessor, VJEPA2Model

from codecap import weights
from codecap.score.encoding.feeding import batches, normalized
from codecap.score.encoding.pretrained import load_pretrained, opening
from codecap.score.encoding.running import Hardware, Running
from codecap.score.encoding.vectors import of_length_one
from codecap.weights import Found


class Settings(Running):
    """Keys of the config, beside those of every encoder.

    Attributes:
        weights: name of the checkpoint in the table of weights.
        folder: a folder with config.json, video_preprocessor_config.json and model.safetensors, instead of the fetched one.
        clips: videos that go through the network together, where several are asked for at once.
    """

    weights: str = "vjepa2_vitg_384"
    folder: str | None = None
    clips: int = Field(default=1, ge=1)


def load(settings: Mapping[str, Any]) -> VJEPA2Encoder:
    """The encoder; the same settings give the same object, so that metrics of a lane share one network.

    Raises:
        WeightsMissing: the checkpoint is not there, or is not one of V-JEPA 2.
        NoDevice: the device is not there.
    """
    return _load(Settings.model_validate(dict(settings)))


@functools.cache
def _load(settings: Settings) -> VJEPA2Encoder:
    hardware = Hardware.of(settings)
    found = weights.find(settings.weights, settings.folder)
    cure = weights.cure(settings.weights, settings.folder)
    with opening(found.path, cure):
        processor = AutoVideoProcessor.from_pretrained(found.path, local_files_only=True)
    return VJEPA2Encoder(load_pretrained(VJEPA2Model, found, cure), processor, settings, hardware, found)


class VJEPA2Encoder:
    """Args: network: the whole model; its predictor is not run. processor: transformers' `VJEPA2VideoProcessor`."""

    proxy = False

    def __init__(self, network: torch.nn.Module, processor: Any, settings: Settings, hardware: Hardware, found: Found) -> None:
        self.settings, self.hardware, self._processor = settings, hardware, processor
        side_px = processor.crop_size["height"]
        self.protocol = f"V-JEPA 2 {found.revision}, crop {side_px}px bilinear, mean of tokens, {hardware}"
        self._network = hardware.place(network, settings.compile)

    def prepare(self, rgb: np.ndarray) -> np.ndarray:
        """uint8 RGB `(height, width, 3)` to uint8 RGB `(3, side, side)`, as the checkpoint's processor resizes and crops."""
        video = torch.from_numpy(rgb).permute(2, 0, 1)[None]
        shown = self._processor(video, do_rescale=False, do_normalize=False, do_sample_frames=False, return_tensors="pt")
        return shown["pixel_values_videos"][0, 0].numpy()

    def embed_frames(self, prepared: list[np.ndarray]) -> np.ndarray:
        """float32 `(frames, dimensions)`, rows of length 1: each frame as a still video of one tubelet."""
        tubelet_frames = self._network.config.tubelet_size
        return self.embed_videos([[rgb] * tubelet_frames for rgb in prepared])

    def embed_video(self, prepared: list[np.ndarray]) -> np.ndarray:
        """float32 `(dimensions,)`, of length 1."""
        return self.embed_videos([prepared])[0]

    def embed_videos(self, prepared: list[list[np.ndarray]]) -> np.ndarray:
        """Videos of one length, `clips` at a time: float32 `(videos, dimensions)`, rows of length 1."""
        means = []
        with self.hardware.computing():
            for videos in batches([np.stack(video) for video in prepared], self.settings.clips, self.hardware.device):
                pixels = normalized(videos, self._processor.image_mean, self._processor.image_std)
                tokens = self._network(pixels.to(self.hardware.dtype), skip_predictor=True).last_hidden_state
                means.append(tokens.float().mean(dim=1))
        return of_length_one(torch.cat(means))
