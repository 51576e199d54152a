"""Checkpoints in the layout of transformers: opened offline, whole and strictly."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from safetensors import SafetensorError
from transformers.utils import logging as their_logging

from codecap.weights import Found, WeightsMissing


def load_pretrained(model: Any, found: Found, cure: str, unused: Callable[[str], bool] = lambda _: False) -> torch.nn.Module:
    """A model of transformers from a folder, float32, in evaluation mode.

    Args:
        model: its class.
        cure: what to do when the folder does not hold it: one clause.
        unused: tells which of the checkpoint's tensors the class does not need; any other surplus is an error.

    Raises:
        WeightsMissing: a file is missing, damaged, or not of this model; the message names the folder.
    """
    with opening(found.path, cure):
        loaded, report = model.from_pretrained(
            found.path,
            local_files_only=True,
            use_safetensors=True,
            dtype=torch.float32,
            ignore_mismatched_sizes=True,  # they are reported, and told below with their names
            output_loading_info=True,
        )
    missing = sorted(report["missing_keys"])
    surplus = sorted(key for key in report["unexpected_keys"] if not unused(key))
    wrong = sorted(str(key[0] if isinstance(key, tuple) else key) for key in report["mismatched_keys"])
    for what, keys in (("lacks", missing), ("has no place for", surplus), ("has another shape for", wrong)):
        if keys:
            told = ", ".join(keys[:3]) + (f" and {len(keys) - 3} more" if len(keys) > 3 else "")
            raise WeightsMissing(f"{found.path}: is no checkpoint of {model.__name__}: {what} {told}; {cure}")
    return loaded.eval().requires_grad_(False)


@contextlib.contextmanager
def opening(path: Path, cure: str) -> Iterator[None]:
    """Turn what libraries raise at a missing or damaged file into one message; keep their own reports out of the log."""
    if not path.exists():
        raise WeightsMissing(f"{path}: the weights are not there; {cure}")
    noise = logging.getLogger("transformers")
    level, bars = noise.level, their_logging.is_progress_bar_enabled()
    noise.setLevel(logging.ERROR)
    their_logging.disable_progress_bar()
    try:
        yield
    except (OSError, SafetensorError, RuntimeError, ValueError, KeyError, EOFError, UnpicklingError) as error:
        why = " ".join(str(error).split())[:300]
        raise WeightsMissing(f"{path}: cannot be loaded ({type(error).__name__}: {why}); {cure}") from error
    finally:
        noise.setLevel(level)
        if bars:
            their_logging.enable_progress_bar()
