"""How fast the paper's encoder of videos is on this GPU, and how much of what the GPU can do: for speed, random weights will do.

The network is the gigantic one of the checkout where that was fetched, and otherwise a plain transformer of the same sizes (which
lacks the rotary positions); which one it was is told. Each variant says whether it pays.
"""

from __future__ import annotations

import contextlib
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from codecap import weights
from codecap.score.encoders import vjepa2_1 as encoder_module
from codecap.score.encoding.running import Hardware, Running
from codecap.weights import Found, WeightsMissing, vjepa2_1

WIDTH, DEPTH, HEADS, HIDDEN = 1664, 48, 26, 8192  # ViT-Gigantic
PATCH_PX, TUBELET = 16, 2
GOAL_S, GOAL_SHARE = 0.5, 0.5  # a clip of 64 frames at 384 px, and of the matrix rate, on an H200
SKIPPED = "no GPU that torch can use: skipped"


@dataclass(frozen=True)
class Speed:
    """One variant.

    Attributes:
        clip_s: seconds a clip, median; `whole` from arrays to the vector, else the network alone; None where it does not run.
        tflops: achieved; 0 for `whole`, which is not only the network.
        share: of the rate that the GPU reaches in multiplying two large matrices.
    """

    variant: str
    clip_s: float | None
    tflops: float
    share: float
    peak_gb: float
    told: str = ""


def measure(frames: int = 64, side_px: int = 384, tries: int = 5, hardware: Hardware | None = None) -> tuple[str, list[Speed]]:
    """What was measured on, and one row a variant; no rows without a GPU, and then the reason.

    Args:
        hardware: where; by default the GPU, in bf16.
    """
    if hardware is None:
        if not torch.cuda.is_available():
            return SKIPPED, []
        hardware = Hardware.of(Running(device="cuda", dtype="bf16"))
    rate = matrix_tflops(hardware.device)
    network, which = gigantic(hardware)
    work = clip_tflop(frames, side_px)
    device = torch.cuda.get_device_name() if hardware.device.type == "cuda" else "CPU"
    about = f"{device}, torch {torch.__version__}, matrices {rate:.3g} TFLOP/s; {which}; {work:.3g} TFLOP a clip"
    rows = []
    for name, batch, context, compiled in VARIANTS:
        shape = (batch, 3, frames, side_px, side_px)
        rows.append(_variant(name, network, hardware, shape, context, compiled, tries, work, rate))
    rows.append(_whole(network, hardware, frames, tries))
    return about, rows


def as_table(about: str, rows: list[Speed]) -> str:
    lines = [about]
    for row in rows:
        taken = "" if row.clip_s is None else f"{row.clip_s:.3f} s a clip"
        rate = f"{row.tflops:7.0f} TFLOP/s {row.share:5.0%}" if row.tflops else " " * 21
        lines.append(f"{row.variant:24} {taken:>16} {rate} {row.peak_gb:6.1f} GB  {row.told}".rstrip())
    ran = [row for row in rows if row.tflops]
    if ran:
        best = min(ran, key=lambda row: row.clip_s)
        met = "met" if best.clip_s <= GOAL_S and best.share >= GOAL_SHARE else "missed"
        lines.append(f"goal {GOAL_S} s a clip at {GOAL_SHARE:.0%} of the matrix rate (H200): {met} by {best.variant!r}")
    return "\n".join(lines)


def clip_tflop(frames: int, side_px: int) -> float:
    """Multiplications and additions of the gigantic network for one clip, in 10^12.

    >>> round(clip_tflop(64, 384))
    176
    """
    tokens = frames // TUBELET * (side_px // PATCH_PX) ** 2
    block = 8 * tokens * WIDTH**2 + 4 * tokens**2 * WIDTH + 4 * tokens * WIDTH * HIDDEN
    patches = 2 * tokens * WIDTH * 3 * TUBELET * PATCH_PX**2
    return (DEPTH * block + patches) / 1e12


def matrix_tflops(device: torch.device, side: int = 8192, seconds: float = 1.0) -> float:
    """What this GPU reaches in multiplying two square bf16 matrices."""
    left, right = (torch.randn(side, side, device=device, dtype=torch.bfloat16) for _ in range(2))
    once = _seconds(lambda: left @ right, 3)
    count = max(int(seconds / once), 1)

    def many() -> None:
        for _ in range(count):
            left @ right

    return 2 * side**3 * count / _seconds(many, 3) / 1e12


def gigantic(hardware: Hardware) -> tuple[nn.Module, str]:
    """The network with random weights in bf16, and which one it is."""
    try:
        checkout = weights.find(vjepa2_1.CODE)
        network = vjepa2_1.build(checkout.path, "vjepa2_1_vit_gigantic_384")
        which = f"V-JEPA 2.1 of {checkout.revision}"
    except WeightsMissing:
        with torch.device("meta"):
            network = Transformer()
        which = "a plain transformer of the same sizes (the checkout is not here)"
    network = network.to(torch.bfloat16).to_empty(device=hardware.device)
    torch.manual_seed(0)
    for parameter in network.parameters():
        nn.init.normal_(parameter, std=0.02) if parameter.dim() > 1 else nn.init.ones_(parameter)
    return network.eval().requires_grad_(False), which


class Transformer(nn.Module):
    """A vision transformer of the gigantic one's sizes: `(n, 3, frames, height, width)` to `(n, tokens, 1664)`."""

    def __init__(self) -> None:
        super().__init__()
        size = (TUBELET, PATCH_PX, PATCH_PX)
        self.patches = nn.Conv3d(3, WIDTH, kernel_size=size, stride=size)
        self.blocks = nn.ModuleList(Block() for _ in range(DEPTH))
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        tokens = self.patches(pixels).flatten(2).transpose(1, 2)
        for block in self.blocks:
            tokens = block(tokens)
        return self.norm(tokens)


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.before, self.between = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, HIDDEN), nn.GELU(), nn.Linear(HIDDEN, WIDTH))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        query, key, value = self.qkv(self.before(tokens)).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        seen = nn.functional.scaled_dot_product_attention(query, key, value)
        tokens = tokens + self.out(seen.transpose(1, 2).flatten(2))
        return tokens + self.mlp(self.between(tokens))


def _cudnn() -> contextlib.AbstractContextManager[None]:
    order = [SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
    return sdpa_kernel(order, set_priority=True)


VARIANTS: tuple[tuple[str, int, Callable[[], contextlib.AbstractContextManager[None]], bool], ...] = (
    ("as configured", 1, contextlib.nullcontext, False),
    ("attention: cudnn", 1, _cudnn, False),
    ("clips: 2", 2, contextlib.nullcontext, False),
    ("compile", 1, contextlib.nullcontext, True),
    ("compile, cudnn", 1, _cudnn, True),
)


def _variant(
    name: str,
    network: nn.Module,
    hardware: Hardware,
    shape: tuple[int, ...],
    context: Callable[[], contextlib.AbstractContextManager[None]],
    compiled: bool,
    tries: int,
    work: float,
    rate: float,
) -> Speed:
    """The network alone on clips that are there; what does not run here is told and does not stop the others."""
    _forget_peak()
    pixels = torch.randn(shape, device=hardware.device, dtype=hardware.dtype)
    try:
        run = torch.compile(network, dynamic=False) if compiled else network
        with hardware.computing(), context():
            first = time.perf_counter()
            _seconds(lambda: run(pixels), 1)
            warm_s = time.perf_counter() - first
            clip_s = _seconds(lambda: run(pixels), tries) / shape[0]
    except (RuntimeError, torch.OutOfMemoryError) as error:
        return Speed(name, None, 0.0, 0.0, 0.0, f"does not run here: {' '.join(str(error).split())[:120]}")
    tflops = work / clip_s
    told = f"first pass {warm_s:.0f} s" if compiled else ""
    return Speed(name, clip_s, tflops, tflops / rate, _peak_gb(), told)


def _whole(network: nn.Module, hardware: Hardware, frames: int, tries: int) -> Speed:
    """The encoder as a metric calls it: uint8 arrays in, a vector out."""
    _forget_peak()
    settings = encoder_module.Settings(dtype="bf16")
    nowhere = Found(weights.folder(), "random")
    encoder = encoder_module.VJEPA21Encoder(network, settings, hardware, nowhere, nowhere)
    side = encoder_module.SIDE_PX
    pictures = list(np.random.default_rng(0).integers(0, 256, (frames, side, side, 3), np.uint8))
    encoder.embed_video(pictures)
    clip_s = _seconds(lambda: encoder.embed_video(pictures), tries)
    return Speed("whole, arrays to vector", clip_s, 0.0, 0.0, _peak_gb())


def _seconds(work: Callable[[], object], tries: int) -> float:
    """Median seconds of a piece of work, waited for."""
    taken = []
    for _ in range(tries):
        _wait()
        started = time.perf_counter()
        work()
        _wait()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)


def _wait() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def _forget_peak() -> None:
    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()


def _peak_gb() -> float:
    return torch.cuda.max_memory_allocated() / 1e9 if torch.cuda.is_available() else 0.0
