"""Masks in a file: those of one candidate, by object and frame, as text that a page can draw without a library.

The file is gzipped JSON: `height_px` and `width_px` of the masks, and in `objects`, by name, runs `[count, mask or null]` of
consecutive frames that have the same mask, from frame 0 on; a mask is COCO's compressed run-length text (see `rle`).
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from codecap import store
from codecap.errors import UserError
from codecap.score.segmenters import Segmented

SUFFIX = "masks.json.gz"  # of the file beside an item of the store


def write(path: Path, found: Segmented) -> None:
    """Write the masks of all objects that have any; the same masks give the same bytes."""
    objects = {name: runs_of(masks, max(masks) + 1) for name, masks in found.masks.items()}
    told = {"height_px": found.height_px, "width_px": found.width_px, "objects": objects}
    with path.open("wb") as file, gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
        packed.write(json.dumps(told, separators=(",", ":"), sort_keys=True).encode())


def runs_of(masks: Mapping[int, str], frames: int) -> list[list[Any]]:
    """Runs of frames that have the same mask.

    >>> runs_of({1: "13", 2: "13"}, 4)
    [[1, None], [2, '13'], [1, None]]
    """
    runs: list[list[Any]] = []
    for frame in range(frames):
        mask = masks.get(frame)
        if runs and runs[-1][1] == mask:
            runs[-1][0] += 1
        else:
            runs.append([1, mask])
    return runs


def read_text(path: Path) -> str:
    """The JSON of a file, whole: it is handed on, not taken apart.

    Raises:
        UserError: it cannot be read; the message names it.
    """
    try:
        text = gzip.decompress(store.open_at(path, Path.read_bytes)).decode("utf-8")
        json.loads(text)
    except (OSError, EOFError, ValueError) as error:
        raise UserError(f"{path}: no file of masks: {error}; delete it, and it is made again with its tracks") from error
    return text
