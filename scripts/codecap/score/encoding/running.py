"""Where a network runs and how precisely: told in the protocol, and never another device than the one asked for."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import torch
from pydantic import Field

from codecap.errors import UserError
from codecap.records import Row

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}


class Running(Row):
    """Keys that every encoder has.

    Attributes:
        device: `cpu`, `cuda` (an error where there is none), or `auto`: cuda where there is one; the protocol tells which it was.
        dtype: `fp32`, `bf16`, or `auto`: bf16 on cuda, fp32 on the CPU.
        threads: CPU threads of torch; numbers are compared across machines only with the same count.
        compile: whether torch.compile builds kernels for the network first; pays only for many clips.
    """

    device: Literal["auto", "cpu", "cuda"] = "auto"
    dtype: Literal["auto", "fp32", "bf16"] = "auto"
    threads: int = Field(default=1, ge=1)
    compile: bool = False


class NoDevice(UserError):
    """The device that the configuration asks for is not there."""

    may_pass = True


@dataclass(frozen=True)
class Hardware:
    """A device and a precision, resolved."""

    device: torch.device
    dtype: torch.dtype
    threads: int

    @staticmethod
    def of(settings: Running) -> Hardware:
        """Raises NoDevice: cuda is asked for and torch sees none."""
        there = torch.cuda.is_available()
        if settings.device == "cuda" and not there:
            raise NoDevice(
                "device: cuda is asked for, but torch sees no GPU here; set device to cpu or auto, or use a node with a GPU"
            )
        on_cuda = there and settings.device != "cpu"
        dtype = ("bf16" if on_cuda else "fp32") if settings.dtype == "auto" else settings.dtype
        return Hardware(torch.device("cuda" if on_cuda else "cpu"), DTYPES[dtype], settings.threads)

    def __str__(self) -> str:
        """For a protocol: `fp32 on cpu`."""
        return f"{next(name for name, dtype in DTYPES.items() if dtype is self.dtype)} on {self.device.type}"

    @contextlib.contextmanager
    def computing(self) -> Iterator[None]:
        """Without gradients, with this many threads; in bf16 with torch's autocast, as the released code of the models runs."""
        torch.set_num_threads(self.threads)
        with torch.inference_mode(), torch.autocast(self.device.type, self.dtype, enabled=self.dtype is not torch.float32):
            yield

    def place(self, network: torch.nn.Module, compiled: bool = False) -> torch.nn.Module:
        """The network there, for inference."""
        network = network.eval().requires_grad_(False).to(self.device, self.dtype)
        return torch.compile(network, dynamic=False) if compiled else network
