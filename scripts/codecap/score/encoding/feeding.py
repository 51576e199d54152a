"""Pictures on their way to a network: as bytes, and on a GPU copied while the batch before is computed."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch


def batches(pictures: Sequence[np.ndarray], size: int, device: torch.device) -> Iterator[torch.Tensor]:
    """Stack arrays of one shape and dtype and bring them to a device, in order, `size` at a time.

    On a GPU each batch goes through pinned memory on a stream of its own, one batch ahead of the one that is computed.

    Yields:
        Tensors `(up to size, *shape)` of the pictures' dtype.
    """
    parts = [pictures[first : first + size] for first in range(0, len(pictures), size)]
    if device.type != "cuda":
        for part in parts:
            yield torch.from_numpy(np.stack(part))
        return
    copier = torch.cuda.Stream(device)
    waiting: deque[_Sent] = deque()
    for part in parts:
        waiting.append(_sent(part, device, copier))
        if len(waiting) > 1:
            yield _arrived(waiting.popleft())
    while waiting:
        yield _arrived(waiting.popleft())


@dataclass(frozen=True)
class _Sent:
    pinned: torch.Tensor  # must live until the copy is done
    there: torch.Tensor
    done: torch.cuda.Event


def _sent(part: Sequence[np.ndarray], device: torch.device, copier: torch.cuda.Stream) -> _Sent:
    first = torch.from_numpy(part[0])
    pinned = torch.empty((len(part), *first.shape), dtype=first.dtype, pin_memory=True)
    np.stack(part, out=pinned.numpy())
    with torch.cuda.stream(copier):
        there = pinned.to(device, non_blocking=True)
        return _Sent(pinned, there, copier.record_event())


def _arrived(sent: _Sent) -> torch.Tensor:
    """The batch, for the present stream to use once its own copy is done; the next one's may still be under way."""
    current = torch.cuda.current_stream(sent.there.device)
    current.wait_event(sent.done)
    sent.there.record_stream(current)
    return sent.there


def normalized(pictures: torch.Tensor, mean: Sequence[float], deviation: Sequence[float]) -> torch.Tensor:
    """uint8 `(..., 3, height, width)` to float32, scaled to [0, 1], less the mean and over the deviation of each channel."""
    shape = (3, 1, 1)
    scaled = pictures.to(torch.float32).div_(255)
    middle = torch.tensor(mean, dtype=torch.float32, device=pictures.device).view(shape)
    return scaled.sub_(middle).div_(torch.tensor(deviation, dtype=torch.float32, device=pictures.device).view(shape))
