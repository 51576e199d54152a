"""What the rules fetch_weights and prepare_weights leave in the results, so that they run again when the weights are lost.

The output is the manifest that lay in the weights' folder then. Beside it lies for which state (see `state`) the rule ran: in a
file of its own, because Snakemake removes an output and then asks for the params once more, when the job begins.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from codecap.weights import SHOWN, WeightsMissing, manifest
from codecap.weights.manifest import Manifest


def state(output: Path, name: str) -> str:
    """For the rule's params: the same while all is there, another one when it is lost or is something else.

    So the rule runs once after a loss, or when CODECAP_WEIGHTS names another folder, and then no more.

    Args:
        name: an entry, or its prepared form.
    """
    try:
        data = _beside(output).read_bytes()
    except FileNotFoundError:
        return "first"
    try:
        told = json.loads(data)
    except ValueError:  # a job was killed while it wrote it
        told = {}
    kept = _manifest(name)
    if kept and told.get("manifest") == kept.model_dump(mode="json") and manifest.is_whole(name, kept):
        return told["state"]
    return hashlib.sha256(data).hexdigest()[:SHOWN]


def write(output: Path, name: str, state: str) -> None:
    """After the rule's work; `state` is that of its params."""
    kept = manifest.read(name).model_dump(mode="json")
    _beside(output).write_text(json.dumps({"state": state, "manifest": kept}), encoding="utf-8")
    output.write_text(json.dumps(kept, indent=1), encoding="utf-8")


def _beside(output: Path) -> Path:
    return output.with_name(output.name + ".state")


def _manifest(name: str) -> Manifest | None:
    """None where there is none that can be read."""
    try:
        return manifest.read(name)
    except WeightsMissing:
        return None
