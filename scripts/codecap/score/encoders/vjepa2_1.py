"""V-JEPA 2.1 as an encoder of whole videos: the paper's visual similarity.

Source: CodeCap-Bench, section 3.2 (ViT-Gigantic, 384 px); preprocessing as `vjepa2_preprocessor` of facebookresearch/vjepa2.
**Ours:** the tokens after the last norm, their mean.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Mapping
from typing import Any, Literal

import cv2
import numpy as np
import torch
from pydantic import Field
from torch.nn.attention import SDPBackend, sdpa_kernel

from codecap import weights
from codecap.score.encoding.feeding import batches, normalized
from codecap.score.encoding.running import Hardware, Running
from codecap.score.encoding.vectors import of_length_one
from codecap.weights import Found, vjepa2_1

SIDE_PX = 384
SHORT_SIDE_PX = 438  # int(384 * 256 / 224)
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
TUBELET_FRAMES = 2  # that become one token in time


class Settings(Running):
    """Keys of the config, beside those of every encoder.

    Attributes:
        weights: which release: `vjepa2_1_vitG_384` (the paper's), or the distilled `vjepa2_1_vitl_384`, `vjepa2_1_vitb_384`.
        checkpoint: an encoder file that `codecap weights prepare` has made, instead of the one in the weights' folder.
        code: a checkout of facebookresearch/vjepa2, instead of the one in the weights' folder.
        preprocess: `crop`, the release's: short side to 438, the centre 384 (loses 44 % of a 16:9 frame); `squash`: all to 384x384.
        clips: videos that go through the network together, where several are asked for at once.
        attention: `default` leaves the kernel to torch; `cudnn` prefers cuDNN's (`codecap bench score --gpu` compares).
    """

    weights: Literal["vjepa2_1_vitG_384", "vjepa2_1_vitl_384", "vjepa2_1_vitb_384"] = "vjepa2_1_vitG_384"
    checkpoint: str | None = None
    code: str | None = None
    preprocess: Literal["crop", "squash"] = "crop"
    clips: int = Field(default=1, ge=1)
    attention: Literal["default", "cudnn"] = "default"


def load(settings: Mapping[str, Any]) -> VJEPA21Encoder:
    """The encoder; the same settings give the same object, so that metrics of a lane share one network.

    Raises:
        WeightsMissing: the prepared file or the checkout is not there, or they are not of one network.
        NoDevice: the device is not there.
    """
    return _load(Settings.model_validate(dict(settings)))


@functools.cache
def _load(settings: Settings) -> VJEPA21Encoder:
    hardware = Hardware.of(settings)
    checkout = weights.find(vjepa2_1.CODE, settings.code)
    prepared = weights.find("", settings.checkpoint) if settings.checkpoint else weights.find_prepared(settings.weights)
    network = vjepa2_1.load(prepared, checkout)
    return VJEPA21Encoder(network, settings, hardware, prepared, checkout)


class VJEPA21Encoder:
    """Args: network: float `(n, 3, frames, height, width)` to `(n, tokens, dimensions)`."""

    proxy = False

    def __init__(self, network: torch.nn.Module, settings: Settings, hardware: Hardware, prepared: Found, code: Found) -> None:
        self.settings, self.hardware = settings, hardware
        scaled = f"{settings.preprocess} {SIDE_PX}px {'bilinear' if settings.preprocess == 'crop' else 'area'}"
        self.protocol = f"V-JEPA 2.1 {prepared.revision}, {code.revision}, {scaled}, mean of tokens, {hardware}"
        if settings.attention != "default":
            self.protocol += f", {settings.attention} attention"
        self.network = hardware.place(network, settings.compile)

    def prepare(self, rgb: np.ndarray) -> np.ndarray:
        """uint8 RGB `(height, width, 3)` to uint8 RGB `(384, 384, 3)`; sizes and rounding are the release's."""
        if self.settings.preprocess == "squash":
            return cv2.resize(rgb, (SIDE_PX, SIDE_PX), interpolation=cv2.INTER_AREA)
        height_px, width_px = rgb.shape[:2]
        short_px = min(height_px, width_px)
        if short_px != SHORT_SIDE_PX:
            size = (int(SHORT_SIDE_PX * width_px / short_px), int(SHORT_SIDE_PX * height_px / short_px))
            rgb = cv2.resize(rgb, size, interpolation=cv2.INTER_LINEAR)
        top, left = round((rgb.shape[0] - SIDE_PX) / 2), round((rgb.shape[1] - SIDE_PX) / 2)
        return np.ascontiguousarray(rgb[top : top + SIDE_PX, left : left + SIDE_PX])

    def embed_frames(self, prepared: list[np.ndarray]) -> np.ndarray:
        """float32 `(frames, dimensions)`, rows of length 1: each frame as a still video of one tubelet."""
        return self.embed_videos([[rgb] * TUBELET_FRAMES for rgb in prepared])

    def embed_video(self, prepared: list[np.ndarray]) -> np.ndarray:
        """float32 `(dimensions,)`, of length 1."""
        return self.embed_videos([prepared])[0]

    def embed_videos(self, prepared: list[list[np.ndarray]]) -> np.ndarray:
        """Videos of one length, `clips` at a time: float32 `(videos, dimensions)`, rows of length 1."""
        return of_length_one(torch.cat(list(self._means(prepared))))

    def _attention(self) -> contextlib.AbstractContextManager[None]:
        if self.settings.attention == "default":
            return contextlib.nullcontext()
        order = [SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
        return sdpa_kernel(order, set_priority=True)

    def _means(self, prepared: list[list[np.ndarray]]) -> list[torch.Tensor]:
        means = []
        with self.hardware.computing(), self._attention():
            for videos in batches([np.stack(video) for video in prepared], self.settings.clips, self.hardware.device):
                pixels = normalized(videos.permute(0, 1, 4, 2, 3), MEAN, DEVIATION).transpose(1, 2)
                tokens = self.network(pixels.to(self.hardware.dtype))
                means.append(tokens.float().mean(dim=1))
        return means
