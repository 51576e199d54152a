"""Checkpoints as Meta publishes them: one file of torch, its tensors under the key `model` or at the top."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from codecap.weights import WeightsMissing


def tensors(path: Path, cure: str) -> dict[str, torch.Tensor]:
    """The tensors of a checkpoint by name; the file is not run, and not read before they are.

    Args:
        cure: what to do when it cannot be used: one clause.

    Raises:
        WeightsMissing: there is no such file, it is damaged, or it holds something else.
    """
    try:
        held = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
    except FileNotFoundError as error:
        raise WeightsMissing(f"{path}: the weights are not there; {cure}") from error
    except (OSError, RuntimeError, ValueError, EOFError, KeyError, pickle.UnpicklingError) as error:
        raise WeightsMissing(f"{path}: is damaged, or no checkpoint of torch; {cure}") from error
    inner = held.get("model", held) if isinstance(held, Mapping) else None
    if not isinstance(inner, Mapping) or not inner or not all(isinstance(value, torch.Tensor) for value in inner.values()):
        raise WeightsMissing(f"{path}: holds no tensors under the key 'model'; {cure}")
    return dict(inner)


def check(
    network: torch.nn.Module,
    held: Mapping[str, torch.Tensor],
    path: Path,
    cure: str,
    computed: Callable[[str], bool] = lambda _: False,
) -> None:
    """Whether a checkpoint has each tensor of a network, in its shape, and no other.

    Args:
        computed: tells which tensors do not matter: those that a network computes by itself.

    Raises:
        WeightsMissing: it is of another network.
    """
    wanted: dict[str, Any] = network.state_dict()
    missing = [key for key in wanted if key not in held and not computed(key)]
    surplus = [key for key in held if key not in wanted and not computed(key)]
    wrong = [key for key in wanted if key in held and held[key].shape != wanted[key].shape]
    for what, keys in (("lacks", missing), ("has no place for", surplus), ("has another shape for", wrong)):
        if keys:
            told = ", ".join(sorted(keys)[:3]) + (f" and {len(keys) - 3} more" if len(keys) > 3 else "")
            raise WeightsMissing(f"{path}: is no checkpoint of this network: {what} {told}; {cure}")


def fill(network: torch.nn.Module, held: Mapping[str, torch.Tensor], path: Path, cure: str) -> None:
    """Put a checkpoint into a network, all of it. Raises as `check`."""
    check(network, held, path, cure)
    network.load_state_dict(held, strict=True)
