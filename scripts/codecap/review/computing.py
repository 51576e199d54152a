"""What is computed about a clip under review beside the server: what changes in it, and where an object is."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from codecap import store, weights
from codecap.annotate import changes
from codecap.annotate.tracking import ChosenSegmenter, SignedPoint, follow, prompt_of
from codecap.records import Box, Clip, Interval
from codecap.score.segmenters import Segmenter


def measure(clip: Clip, section: Mapping[str, Any]) -> None:
    """Have the clip's changes in the store.

    Args:
        section: the configuration's section `store`.
    """
    store.use(section)
    changes.kept(clip, Path(section["bulk"]))


def boxes_of(
    clip: Clip,
    chosen: ChosenSegmenter,
    name: str,
    boxes: Mapping[int, Box],
    visible_s: Sequence[Interval],
    points: Mapping[int, Sequence[SignedPoint]],
) -> list[Box | None]:
    """One box or None a frame of an object that is shown by boxes, and points, on some frames.

    Raises:
        UserError: the segmenter cannot run here, or cannot follow it; the message says why.
    """
    weights.work_offline()
    prompt = prompt_of(name, boxes, visible_s, points)
    (tracked,) = follow(clip, [prompt], _segmenter(chosen.name, json.dumps(chosen.settings, sort_keys=True)))
    return list(tracked.track.boxes_xyxy)


@functools.cache
def _segmenter(name: str, settings: str) -> Segmenter:
    """Loaded once a process."""
    return ChosenSegmenter(name, json.loads(settings)).load()
