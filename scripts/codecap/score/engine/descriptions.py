"""How descriptions lie in the store: the arrays of one in a compressed file of NumPy's."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from codecap.score import Description, Watcher
from codecap.store import Item

REFERENCE = "reference"  # folder of the reference side's items, in the place of a system


def save(npz: Path, watcher: Watcher) -> list[str]:
    """Write what a watcher has kept; the names of its arrays."""
    description = watcher.result()
    with npz.open("wb") as file:
        np.savez_compressed(file, **description)
    return sorted(description)


def load(item: Item) -> Description:
    with np.load(item.files["npz"], allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}
