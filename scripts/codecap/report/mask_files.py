"""Masks for a clip's page: one script a system, which the page takes in only when it shows that system's masks.

A page that is opened from the disk may run a script beside it, but not read a file: so the masks come as a call.
"""

from __future__ import annotations

import json
from pathlib import Path

from codecap import store
from codecap.records import ObjectTracks
from codecap.score.masks import kept


def place_masks(tracks: ObjectTracks | None, script: Path) -> bool:
    """Write the script of a system's masks; false when it has none (its segmenter finds none, or the store was purged)."""
    if tracks is None or tracks.masks is None or not store.there(tracks.masks):
        return False
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(f"takeMasks({json.dumps(tracks.system)}, {kept.read_text(tracks.masks)});\n", encoding="utf-8")
    return True
