"""What is slow to load is converted once: which entries have a faster form, and who makes it."""

from __future__ import annotations

from pathlib import Path

from codecap import weights
from codecap.weights import WeightsMissing


def prepare(name: str, checkpoint: Path | None = None, code: Path | None = None) -> Path:
    """Make an entry's prepared form, unless it is there. Returns its file.

    Args:
        checkpoint: a file of the user's to make it from; by default the one that was fetched.
        code: a checkout of the user's; by default the one that was fetched.

    Raises:
        WeightsMissing: there is nothing to prepare, or what it is made from is missing or wrong.
    """
    told = weights.entry(name)
    if told.prepare == "vjepa2_1":
        from codecap.weights import vjepa2_1

        return vjepa2_1.prepare(name, checkpoint, code)
    prepared = ", ".join(other for other, entry in weights.table().items() if entry.prepare)
    raise WeightsMissing(f"{name}: is used as it was fetched, there is nothing to prepare; prepared are {prepared}")
