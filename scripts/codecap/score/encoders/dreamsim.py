"""DreamSim as an encoder of pictures: cosines of its embeddings are 1 less its distance (Fu et al. 2023).

The networks are built and loaded by the package `dreamsim` itself, from local files: it downloads what it does not find, so all
that it will look for is checked first.
"""

from __future__ import annotations

import contextlib
import functools
import os
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from PIL import Image
from pydantic import Field

from codecap import weights
from codecap.score.encoding.feeding import batches
from codecap.score.encoding.pretrained import opening
from codecap.score.encoding.running import Hardware, Running
from codecap.score.encoding.vectors import mean_of, of_length_one
from codecap.weights import Found, WeightsMissing

SIDE_PX = 224
DINO = ("facebookresearch_dino_main/hubconf.py", "checkpoints/dino_vitbase16_pretrain.pth")  # the package builds DINO by torch.hub
NEEDED = {  # by type, what the package reads from its folder
    "ensemble": (
        "dino_vitb16_pretrain.pth",
        "open_clip_vitb16_pretrain.pth.tar",
        "clip_vitb16_pretrain.pth.tar",
        "ensemble_lora/adapter_config.json",
        *DINO,
    ),
    "open_clip_vitb32": ("open_clip_vitb32_pretrain.pth.tar", "open_clip_vitb32_single_lora/adapter_config.json"),
}
WEIGHTS = {"ensemble": "dreamsim_ensemble", "open_clip_vitb32": "dreamsim_open_clip_vitb32"}


class Settings(Running):
    """Keys of the config, beside those of every encoder.

    Attributes:
        weights: `dreamsim_ensemble` (the paper's DreamSim) or `dreamsim_open_clip_vitb32` (a quarter of the work).
        folder: a folder in the layout of the package's `cache_dir`, instead of the fetched one.
        batch: pictures that go through the network together.
    """

    weights: Literal["dreamsim_ensemble", "dreamsim_open_clip_vitb32"] = "dreamsim_ensemble"
    folder: str | None = None
    batch: int = Field(default=8, ge=1)


def load(settings: Mapping[str, Any]) -> DreamSimEncoder:
    """The encoder; the same settings give the same object, so that metrics of a lane share one network.

    Raises:
        WeightsMissing: a file that the package would look for is not there, or is damaged.
        NoDevice: the device is not there.
    """
    return _load(Settings.model_validate(dict(settings)))


@functools.cache
def _load(settings: Settings) -> DreamSimEncoder:
    hardware = Hardware.of(settings)
    kind = next(kind for kind, name in WEIGHTS.items() if name == settings.weights)
    found = weights.find(settings.weights, settings.folder)
    return DreamSimEncoder(build(found, kind, weights.cure(settings.weights, settings.folder)), settings, hardware, found, kind)


def build(found: Found, kind: str, cure: str, merged: bool = True) -> torch.nn.Module:
    """DreamSim's model of one type, on the CPU, in float32.

    Args:
        merged: whether the adapters' products are added to the weights once, and not in every pass.

    Raises:
        WeightsMissing: a file is not there or is damaged.
    """
    from dreamsim import dreamsim

    for inner in NEEDED[kind]:
        if not (found.path / inner).is_file():
            raise WeightsMissing(f"{found.path / inner}: DreamSim's {kind} needs it; {cure}")
    with opening(found.path, cure), _cache_of(found.path) as cache, _quietly(), _safely():
        model, _ = dreamsim(pretrained=True, device="cpu", cache_dir=str(cache), dreamsim_type=kind)
    return (model.merge_and_unload() if merged else model.base_model.model).eval()


@contextlib.contextmanager
def _cache_of(there: Path) -> Iterator[Path]:
    """A folder of links to the weights, because torch.hub writes into its own; and torch.hub's folder as it was, afterwards."""
    before = torch.hub.get_dir()
    with tempfile.TemporaryDirectory(prefix="codecap-dreamsim-") as links:
        for file in there.iterdir():
            (Path(links) / file.name).symlink_to(file.absolute())
        try:
            yield Path(links)
        finally:
            torch.hub.set_dir(before)


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """The package prints where it finds its files, and sets its adapter up twice, of which peft warns."""
    with contextlib.redirect_stdout(None), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Already found a `peft_config`")
        warnings.filterwarnings("ignore", category=FutureWarning)
        yield


@contextlib.contextmanager
def _safely() -> Iterator[None]:
    """DINO's hubconf.py loads its file without `weights_only`: have torch take no other objects than tensors all the same."""
    before = os.environ.get("TORCH_FORCE_WEIGHTS_ONLY_LOAD")
    os.environ["TORCH_FORCE_WEIGHTS_ONLY_LOAD"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["TORCH_FORCE_WEIGHTS_ONLY_LOAD"]
        else:
            os.environ["TORCH_FORCE_WEIGHTS_ONLY_LOAD"] = before


class DreamSimEncoder:
    """Args: network: DreamSim's `PerceptualModel`, whose `embed` takes float `(n, 3, 224, 224)` in [0, 1]."""

    proxy = False

    def __init__(self, network: torch.nn.Module, settings: Settings, hardware: Hardware, found: Found, kind: str) -> None:
        self.settings, self.hardware = settings, hardware
        self.protocol = f"DreamSim {kind} {found.revision}, {SIDE_PX}px squash bicubic, {hardware}"
        network.device = hardware.device
        for extractor in network.extractor_list:
            extractor.device = hardware.device  # where it brings its last projection, which is no module
        self._network = hardware.place(network)
        self._embed = torch.compile(self._network.embed, dynamic=False) if settings.compile else self._network.embed

    def prepare(self, rgb: np.ndarray) -> np.ndarray:
        """uint8 RGB `(height, width, 3)` to uint8 RGB `(3, 224, 224)`, as the package's own preprocessing resizes."""
        small = Image.fromarray(rgb).resize((SIDE_PX, SIDE_PX), Image.Resampling.BICUBIC)
        return np.ascontiguousarray(np.asarray(small).transpose(2, 0, 1))

    def embed_frames(self, prepared: list[np.ndarray]) -> np.ndarray:
        """float32 `(frames, dimensions)`, rows of length 1."""
        vectors = []
        with self.hardware.computing():
            for pictures in batches(prepared, self.settings.batch, self.hardware.device):
                pixels = pictures.to(torch.float32).div_(255).to(self.hardware.dtype)
                vectors.append(self._embed(pixels).reshape(len(pictures), -1).float())
        return of_length_one(torch.cat(vectors))

    def embed_video(self, prepared: list[np.ndarray]) -> np.ndarray:
        """float32 `(dimensions,)`, of length 1: the mean of the frames' vectors."""
        return mean_of(self.embed_frames(prepared))
