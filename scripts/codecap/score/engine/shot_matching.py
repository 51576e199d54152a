"""Finds the segments of candidates of another length by an encoder's embeddings, once a candidate, and keeps them in the store."""

from __future__ import annotations

import functools
import itertools
from pathlib import Path
from typing import Any

import numpy as np

from codecap import registry
from codecap.clips import check_file
from codecap.records import Clip
from codecap.score import Shots, Task
from codecap.score.appearance import FrameEmbeddings, evenly_spaced
from codecap.score.encoders import Encoder
from codecap.score.engine.alignment import align, cells
from codecap.score.engine.choice import Choice
from codecap.score.engine.descriptions import REFERENCE, load, save
from codecap.score.engine.watching import watch
from codecap.store import Draft, ItemStore

SAMPLES = 8  # of a shot, as AS takes by default


class ShotMatcher:
    """The segments of candidates.

    Args:
        choice: the encoder, `encoder` and its `encoders` settings.
        shots: settings of the shot detector.
        durable, bulk: roots of the store for segments and for embeddings of references.
    """

    def __init__(self, choice: Choice, shots: Choice, durable: Path, bulk: Path) -> None:
        self._settings = choice.settings
        self._references = ItemStore(bulk, stage="describe/shot_matching", salt=[choice.salt, shots.salt])
        self._segments = ItemStore(durable, stage="match_shots", salt=[choice.salt, shots.salt])

    @functools.cached_property
    def encoder(self) -> Encoder:
        name = self._settings["encoder"]
        return registry.make("score.encoders", name, (self._settings.get("encoders") or {}).get(name, {}))

    def key(self, task: Task) -> str:
        """What determines a candidate's segments beside its own and its reference's frames."""
        return self._segments.key(task.clip.sha256, task.render.key)

    def segments(self, task: Task) -> tuple[Shots, str]:
        """For each shot its segment in a candidate of more frames than there are shots; and how well they fit, in words.

        Raises:
            VideoError: one of the two videos cannot be decoded.
        """
        place = (task.render.system, task.clip.clip_id, self.key(task))
        found = self._segments.get_or_make(*place, lambda _: self._matched(task)).value
        return [(start, stop) for start, stop in found["segments"]], f"at cosine {found['cosine']:.3f} by {found['encoder']}"

    def _matched(self, task: Task) -> dict[str, Any]:
        known = self._reference(task.clip, task.shots)
        edges = cells(task.shots, task.frames)
        middles = [(start + stop) // 2 for start, stop in itertools.pairwise(edges)]
        watcher = FrameEmbeddings(self.encoder, [middles])
        watch(task.render.mp4, task.clip, [], own=[watcher], own_frames=task.frames)
        cosines = known["embeddings"].astype(np.float64) @ watcher.result()["embeddings"].astype(np.float64).T
        of_shots = [cosines[known["shot_of"] == number] for number in range(len(task.shots))]
        segments, mean = align(task.shots, edges, of_shots)
        return {"segments": segments, "cosine": mean, "encoder": self.encoder.protocol}

    def _reference(self, clip: Clip, shots: Shots) -> dict[str, np.ndarray]:
        def make(draft: Draft) -> list[str]:
            check_file(clip)
            watcher = FrameEmbeddings(self.encoder, [evenly_spaced(start, stop, SAMPLES) for start, stop in shots])
            watch(clip.mp4, clip, [watcher])
            return save(draft.file("npz"), watcher)

        return load(self._references.get_or_make(REFERENCE, clip.clip_id, self._references.key(clip.sha256), make))
