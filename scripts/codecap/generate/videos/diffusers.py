"""Videos made here, by a Wan text-to-video network of the library `diffusers`, which the user installs.

Wan makes 4k + 1 frames at 16 a second, 81 at most as it was trained: a longer clip gets a video of its first five seconds' length.
"""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from codecap import stopping, weights
from codecap.clock import FPS
from codecap.generate.videos import Order
from codecap.records import Row
from codecap.registry import Unavailable
from codecap.weights import WeightsMissing, needs

if TYPE_CHECKING:
    import numpy as np

NETWORK = False

PLUGIN = "generate.videos.diffusers"
PACKAGE = "diffusers"
VERSION = "0.42.1"
INSTALL = f"pip install {PACKAGE}=={VERSION}"
PIPELINE = "WanPipeline"
MULTIPLE_PX = 16  # of width and height: the VAE's 8 times the transformer's patches of 2
STEP_FRAMES = 4  # of the VAE in time


class Settings(Row):
    """Keys of `videos.diffusers`.

    Attributes:
        weights: entry of the table of weights.
        folder: a folder of your own instead, as the library's `save_pretrained` writes it.
        device: `cpu`, `cuda` (an error where there is none), or `auto`: cuda where there is one.
        dtype: `fp32`, `bf16`, or `auto`: bf16 on cuda, fp32 on the CPU. The VAE is always fp32, as its authors advise.
        threads: CPU threads of torch.
        steps, guidance, negative: of the sampler: steps, strength of the prompt, what is not to be shown.
        area_px: pixels of a frame; width and height have the clip's proportions.
        rate_hz: frames a second that the network was trained on. longest_frames: most that it makes.
        seed: of the noise, the same for all clips.
    """

    weights: str = "wan2_1_t2v_1_3b"
    folder: Path | None = None
    device: Literal["auto", "cpu", "cuda"] = "auto"
    dtype: Literal["auto", "fp32", "bf16"] = "auto"
    threads: int = Field(default=1, ge=1)
    steps: int = Field(default=50, ge=1)
    guidance: float = Field(default=5.0, ge=1)
    negative: str = ""
    area_px: int = Field(default=832 * 480, ge=32 * 32)
    rate_hz: int = Field(default=16, ge=1, le=60)
    longest_frames: int = Field(default=81, ge=5)
    seed: int = Field(default=0, ge=0)

    def frames(self, seconds: float) -> int:
        """The number of frames that the network can make and that is nearest to a length."""
        wanted = round((seconds * self.rate_hz - 1) / STEP_FRAMES)
        return min(max(wanted, 1), (self.longest_frames - 1) // STEP_FRAMES) * STEP_FRAMES + 1

    def size(self, width_px: int, height_px: int) -> tuple[int, int]:
        """Width and height of about `area_px` in a clip's proportions."""
        scale = math.sqrt(self.area_px / (width_px * height_px)) / MULTIPLE_PX
        return max(round(width_px * scale), 1) * MULTIPLE_PX, max(round(height_px * scale), 1) * MULTIPLE_PX


def load(settings: Mapping[str, Any]) -> Diffusers:
    return Diffusers(Settings.model_validate(dict(settings)))


class Diffusers:
    """Nothing is loaded before the first video is wanted."""

    at_once = 1

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.protocol = f"Wan (diffusers), {settings.weights}, {settings.steps} steps, guidance {settings.guidance:g}"
        told = settings.model_dump(mode="json", exclude={"weights", "folder", "device", "threads"})
        revisions = needs.revisions(PLUGIN, settings.model_dump(exclude_none=True))
        self.identity = {"video": "diffusers", **told, "weights": revisions}
        self._pipeline: Any = None
        self._lock = threading.Lock()

    def version(self) -> str:
        return f"{PACKAGE} {VERSION}"

    def make(self, order: Order, out: Path) -> dict[str, Any]:
        """The video is written on the clips' clock: each frame is the one of the network's that is on screen then."""
        began = time.monotonic()
        with self._lock:
            frames = self._drawn(order)
        write(frames, self.settings.rate_hz, out)
        return {"frames_made": len(frames), "cost_usd": 0.0, "wall_s": round(time.monotonic() - began, 3)}

    def spoilt(self, order: Order) -> str:  # noqa: ARG002 (nothing of it is kept)
        return "the next run makes it anew"

    def _drawn(self, order: Order) -> np.ndarray:
        """uint8 RGB `(frames, height, width, 3)`."""
        import torch

        stopping.check()
        if self._pipeline is None:
            self._pipeline = open_pipeline(self.settings)
        width_px, height_px = self.settings.size(order.width_px, order.height_px)
        with torch.inference_mode():
            made = self._pipeline(
                prompt=order.prompt,
                negative_prompt=self.settings.negative,
                width=width_px,
                height=height_px,
                num_frames=self.settings.frames(order.seconds),
                num_inference_steps=self.settings.steps,
                guidance_scale=self.settings.guidance,
                generator=torch.Generator().manual_seed(self.settings.seed),
                callback_on_step_end=_unless_broken_off,
                output_type="np",
            ).frames[0]
        return (made.clip(0, 1) * 255).round().astype("uint8")


def _unless_broken_off(_pipeline: Any, _step: int, _time: Any, tensors: dict[str, Any]) -> dict[str, Any]:
    """After each step: go on, unless the job's grace time is over."""
    if stopping.broken_off():
        raise stopping.Stopped(stopping.reason() or "")
    return tensors


def open_pipeline(settings: Settings) -> Any:
    """The library's pipeline, every tensor of it from the checkpoint.

    Raises:
        Unavailable: the library is not installed.
        WeightsMissing: there is no checkpoint, or it is none of a Wan text-to-video pipeline, or not whole.
        score.encoding.running.NoDevice: cuda is asked for, and there is none.
    """
    try:
        import diffusers
    except ModuleNotFoundError as error:
        raise Unavailable(f"video maker diffusers needs the package {error.name!r}: {INSTALL}") from error
    import torch

    from codecap.score.encoding.pretrained import opening
    from codecap.score.encoding.running import Hardware, Running

    hardware = Hardware.of(Running(device=settings.device, dtype=settings.dtype, threads=settings.threads))
    torch.set_num_threads(settings.threads)
    found = weights.find(settings.weights, settings.folder)
    cure = weights.cure(settings.weights, settings.folder)
    diffusers.utils.logging.disable_progress_bar()
    with opening(found.path, cure):
        parts = {name: _part(found.path, name, cure) for name in _networks(found.path, cure)}
        pipeline = diffusers.WanPipeline.from_pretrained(found.path, local_files_only=True, **parts)
    for name, part in parts.items():
        part.eval().requires_grad_(False).to(hardware.device, torch.float32 if name == "vae" else hardware.dtype)
    pipeline.set_progress_bar_config(disable=True)
    return pipeline


def _networks(folder: Path, cure: str) -> dict[str, list[str]]:
    """The pipeline's networks by name, each with its library and class."""
    path = folder / "model_index.json"
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        kind = told["_class_name"]
        parts = {name: part for name, part in told.items() if isinstance(part, list) and len(part) == 2 and part[0]}
    except FileNotFoundError as error:
        raise WeightsMissing(f"{path}: the file is missing; {cure}") from error
    except (OSError, ValueError, KeyError, AttributeError) as error:
        raise WeightsMissing(f"{path}: is no index of a pipeline; {cure}") from error
    if kind != PIPELINE:
        raise WeightsMissing(f"{path}: is of a {kind}, not of a {PIPELINE}; {cure}")
    networks = {"vae", "text_encoder", "transformer", "transformer_2"}
    return {name: part for name, part in parts.items() if name in networks}


def _part(folder: Path, name: str, cure: str) -> Any:
    """A network of the pipeline in float32. Tensors that a checkpoint lacks would be random ones, with no more than a warning."""
    import diffusers
    import torch
    import transformers

    library, kind = _networks(folder, cure)[name]
    cls = getattr({"diffusers": diffusers, "transformers": transformers}[library], kind)
    network, report = cls.from_pretrained(
        folder, subfolder=name, dtype=torch.float32, use_safetensors=True, local_files_only=True, output_loading_info=True
    )
    missing = sorted(map(str, report["missing_keys"]))
    if missing:
        raise WeightsMissing(f"{folder / name}: lacks {', '.join(missing[:3])} of {kind}; {cure}")
    return network


def write(frames: np.ndarray, rate_hz: int, out: Path) -> None:
    """Write frames on the clips' clock.

    Args:
        frames: uint8 RGB `(frames, height, width, 3)`, at `rate_hz`.
    """
    from codecap.video import CanonicalWriter

    with CanonicalWriter(out, frames.shape[2], frames.shape[1]) as writer:
        for index in range(math.ceil(len(frames) * FPS / rate_hz)):
            writer.add(frames[index * rate_hz // FPS])
