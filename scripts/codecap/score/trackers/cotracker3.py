"""CoTracker3, offline: a network that follows points through a shot, all frames and all points at once.

Source: Karaev et al. 2024, arXiv 2410.11831. It is under CC-BY-NC and on no package index: it is loaded from a checkout of its
repository by its own entry point, `cotracker3_offline` of hubconf.py, and from its file of weights, and needs no network.
"""

from __future__ import annotations

import functools
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from pydantic import Field
from torch.nn import functional

from codecap import weights
from codecap.records import Row
from codecap.registry import Unavailable

CODE = "cotracker3_code"  # the checkout's entry in the table of weights
ENTRY = "cotracker3_offline"


class Settings(Row):
    """Keys of the config.

    Attributes:
        weights: entry of the table of weights.
        folder: a checkout of facebookresearch/co-tracker to take instead of the table's.
        checkpoint: a file of weights to take instead of the table's.
        grid: points along each side of the grid that is followed.
        least_frames: a shorter span is continued by its last frame and cut again after it was tracked: the network gives no motion
            at all on the very shortest.
        device: `cuda` where there is none is an error.
    """

    weights: str = "cotracker3_offline"
    folder: Path | None = None
    checkpoint: Path | None = None
    grid: int = Field(default=20, ge=1, le=100)
    least_frames: int = Field(default=8, ge=1)
    device: Literal["auto", "cpu", "cuda"] = "auto"


def load(settings: Mapping[str, Any]) -> CoTracker3:
    """The tracker; the same settings give the same object.

    Raises:
        weights.WeightsMissing: the checkout or the weights are not there, or are not CoTracker3's.
        Unavailable: there is no GPU, but one is asked for.
    """
    return _load(Settings.model_validate(dict(settings)))


@functools.cache
def _load(settings: Settings) -> CoTracker3:
    return CoTracker3(settings)


class CoTracker3:
    """Positions are in units of the frame in which 0 and 1 are the centres of the outermost pixels, as the network counts them.

    Always float32 (its convolutions on a GPU as torch chooses them, which may be TF32): the rounding of bfloat16, two pixels at the
    far side of a frame, is larger than the motion that is looked for.
    """

    proxy = False

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        code, tensors = weights.find(CODE, settings.folder), weights.find(settings.weights, settings.checkpoint)
        self._device = torch.device(_device(settings.device))
        self._predictor = predictor(code.path, tensors.path).to(self._device)
        self._size_px: tuple[int, int] = tuple(self._predictor.interp_shape)  # height, width
        self.protocol = (
            f"cotracker3 offline {tensors.revision}, code {code.revision}, grid {settings.grid}x{settings.grid} at "
            f"{self._size_px[1]}x{self._size_px[0]} px, {settings.least_frames} frames or more, fp32 on {self._device.type}"
        )

    def prepare(self, rgb: np.ndarray) -> np.ndarray:
        """uint8 RGB `(height, width, 3)` to float32 `(3, 384, 512)` in 0-255: scaled as the network itself would scale it, without
        the rounding that leaves that range."""
        picture = torch.from_numpy(rgb).permute(2, 0, 1)[None].float()
        scaled = functional.interpolate(picture, self._size_px, mode="bilinear", align_corners=True)
        return scaled[0].clamp_(0, 255).numpy()

    def seed(self, prepared: np.ndarray) -> np.ndarray:  # noqa: ARG002
        """The grid, row by row: float32 `(grid * grid, 2)`, xy; each point in the middle of its cell."""
        side = (np.arange(self.settings.grid, dtype=np.float32) + 0.5) / self.settings.grid
        x, y = np.meshgrid(side, side)
        return np.stack([x.ravel(), y.ravel()], axis=1)

    def track(self, prepared: list[np.ndarray], points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Follow points from the first of some consecutive frames.

        Returns:
            float32 `(frames, points, 2)` in the units of `seed`, and bool `(frames, points)`, true where the network is sure (0.9)
            that the point is visible.
        """
        frames = len(prepared)
        if frames == 1 or not len(points):
            return np.repeat(points[None], frames, axis=0).astype(np.float32), np.ones((frames, len(points)), bool)
        continued = [*prepared, *[prepared[-1]] * (self.settings.least_frames - frames)]
        video = torch.from_numpy(np.stack(continued))[None].to(self._device)
        far = torch.tensor([self._size_px[1] - 1, self._size_px[0] - 1], dtype=torch.float32, device=self._device)
        at = torch.from_numpy(points.astype(np.float32)).to(self._device) * far
        queries = torch.cat([torch.zeros_like(at[:, :1]), at], dim=1)[None]
        with torch.inference_mode():
            tracks, visible = self._predictor(video, queries=queries)
        return (tracks[0, :frames] / far).cpu().numpy(), visible[0, :frames].cpu().numpy().astype(bool)


def predictor(code: Path, checkpoint: Path) -> torch.nn.Module:
    """Meta's predictor with its weights, in evaluation mode: `(1, frames, 3, height, width)` and queries `(1, points, 3)` of frame,
    x and y to tracks `(1, frames, points, 2)` and visibility `(1, frames, points)`, in pixels of the video.

    Raises:
        weights.WeightsMissing: the folder is no checkout of CoTracker3, or the file holds other weights.
    """
    if not (code / "hubconf.py").is_file():
        raise weights.WeightsMissing(
            f"{code}: no hubconf.py there, so this is no checkout of CoTracker; `codecap weights fetch {CODE}`"
        )
    try:
        with torch.random.fork_rng(devices=range(torch.cuda.device_count())):  # the repository seeds torch
            made = torch.hub.load(str(code), ENTRY, source="local", pretrained=False)
    except (RuntimeError, ImportError) as error:
        raise weights.WeightsMissing(f"{code}: this checkout gives no {ENTRY}: {error}") from error
    try:
        tensors = torch.load(checkpoint, map_location="cpu", weights_only=True)
        made.model.load_state_dict(tensors.get("model", tensors), strict=True)
    except (RuntimeError, pickle.UnpicklingError, AttributeError, EOFError, TypeError) as error:
        told = " ".join(str(error).split())[:300]
        raise weights.WeightsMissing(f"{checkpoint}: not the weights of {ENTRY}: {told}") from error
    return made.eval().requires_grad_(False)


def _device(asked: str) -> str:
    if asked == "cuda" and not torch.cuda.is_available():
        raise Unavailable("score.trackers cotracker3: device cuda is asked for, but torch finds no GPU; choose auto or cpu")
    return asked if asked != "auto" else ("cuda" if torch.cuda.is_available() else "cpu")
