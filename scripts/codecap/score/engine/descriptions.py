"""How descriptions lie in the store: the arrays of one in a compressed file of NumPy's, and by which protocol they were made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from codecap.score import Description, Watcher
from codecap.store import Item, open_at

REFERENCE = "reference"  # folder of the reference side's items, in the place of a system


def save(npz: Path, watcher: Watcher, protocol: str = "") -> dict[str, Any]:
    """Write what a watcher has kept; the item's value: names of its arrays, and the protocol of what made them."""
    description = watcher.result()
    with npz.open("wb") as file:
        np.savez_compressed(file, **description)
    return {"arrays": sorted(description), "protocol": protocol}


def load(item: Item) -> Description:
    with open_at(item.files["npz"], lambda npz: np.load(npz, allow_pickle=False)) as arrays:
        return {name: arrays[name] for name in arrays.files}


def is_made_by(item: Item, protocol: str) -> bool:
    """Whether an item was made by this protocol: which device and precision `auto` has chosen is in no key of the store."""
    return isinstance(item.value, dict) and item.value["protocol"] == protocol
