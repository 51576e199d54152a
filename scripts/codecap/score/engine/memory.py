"""Memory that does not suffice is no fault of the code: the metric of that clip is tried again, all others go on."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Container
from typing import TypeVar

import numpy as np

from codecap.score import Description, Unreached, Watcher

SIGNS = (  # in torch's other errors: its class OutOfMemoryError is for its own allocator on a GPU only
    "DefaultCPUAllocator: can't allocate memory",
    "CUDA error: out of memory",
    "CUBLAS_STATUS_ALLOC_FAILED",
)

T = TypeVar("T")


def within_memory(work: Callable[[], T]) -> T:
    """`work()`; what it held is given back where memory does not suffice, the GPU's or the machine's.

    Raises:
        Unreached: it does not suffice.
    """
    try:
        return work()
    except (MemoryError, RuntimeError) as error:
        if not _is_of_memory(error):
            raise
        told = " ".join(str(error).split())[:200]
    gc.collect()  # here the error is gone, and with it the frames that held the arrays
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.empty_cache()
    raise Unreached(f"out of memory: {told}" if told else "out of memory")


def _is_of_memory(error: Exception) -> bool:
    torch = sys.modules.get("torch")
    if isinstance(error, MemoryError) or (torch is not None and isinstance(error, torch.OutOfMemoryError)):
        return True
    return any(sign in str(error) for sign in SIGNS)


def guarded(make: Callable[[], Watcher | None]) -> Guarded | None:
    """The watcher that `make` gives, if it gives one."""
    try:
        watcher = within_memory(make)
    except Unreached as why:
        return Guarded(None, str(why))
    return None if watcher is None else Guarded(watcher)


class Guarded:
    """A watcher that spares those beside it: once memory does not suffice for it, it sees nothing more, and `result` says why."""

    def __init__(self, watcher: Watcher | None, why: str = "") -> None:
        self._watcher, self._why = watcher, why

    @property
    def wanted(self) -> Container[int] | None:
        return () if self._watcher is None else self._watcher.wanted

    def see(self, frame: int, rgb: np.ndarray) -> None:
        watcher = self._watcher
        if watcher is None:
            return
        try:
            within_memory(lambda: watcher.see(frame, rgb))
        except Unreached as why:
            self._watcher, self._why = None, str(why)

    def result(self) -> Description:
        """Raises Unreached where memory did not suffice."""
        if self._watcher is None:
            raise Unreached(self._why)
        return within_memory(self._watcher.result)
