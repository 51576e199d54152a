"""What the rows measure with: candidates made once, scored by the run's own engine, only by the metrics that a row asks for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from codecap import spoiled
from codecap.clock import FPS
from codecap.records import Annotation, Clip, ObjectTrack, ObjectTracks, Render, Score
from codecap.score.engine import choice
from codecap.score.engine.single import Scorer, clip_of
from codecap.video import read_frames


class Bench:
    """Clips with their annotations, and scores of what was made of them.

    Args:
        clips: canonical clips.
        annotations: by clip id; a clip without one takes no part in rows that need objects or focal points.
        config: a checked configuration, whose backends are tested.
        scratch: folder for candidates and scores.
    """

    def __init__(
        self, clips: Sequence[Clip], annotations: Mapping[str, Annotation], config: Mapping[str, Any], scratch: Path
    ) -> None:
        self.clips = list(clips)
        self.annotations = dict(annotations)
        self.metrics = list(config["metrics"])
        self._config = config
        self._scratch = Path(scratch)
        self._made: dict[tuple[str, str], Render] = {}
        self._scorers: dict[tuple[str, ...], Scorer] = {}

    def candidate(self, name: str, clip: Clip, *how: Any) -> Render:
        """The clip spoiled by a maker of `spoiled`, encoded once."""
        label = "-".join([name, *(f"{part:g}" for part in how)])
        return self._keep(label, clip, lambda: getattr(spoiled, name)(clip, *how))

    def removed(self, clip: Clip, name: str) -> Render:
        """The clip without one of its annotated objects."""
        thing = next(item for item in self.annotations[clip.clip_id].objects if item.name == name)
        return self._keep("without", clip, lambda: spoiled.without(clip, thing.boxes_xyxy))

    def plugin(self, metric: str) -> str:
        """The module of codecap/score that a configured metric is measured by."""
        return choice.module_of(metric, self._config["metrics"][metric])

    def opening(self, clip: Clip, duration_s: float) -> Clip:
        """The first part of the clip as a clip of its own, for rows that need many candidates; its annotation is cut as well."""
        frames = min(round(duration_s * FPS), clip.frames)
        name = f"{clip.clip_id}-to-{frames}"
        annotation = self.annotations[clip.clip_id]
        cut = [item.model_copy(update={"boxes_xyxy": item.boxes_xyxy[:frames]}) for item in annotation.objects]
        seen = [item for item in cut if any(box is not None for box in item.boxes_xyxy)]
        self.annotations[name] = Annotation(clip_id=name, objects=seen)
        mp4 = self._scratch / f"{name}.mp4"
        if not mp4.exists():
            first = (rgb for _, rgb in read_frames(clip.mp4, 0, frames))
            spoiled.write("opening", clip, first, mp4)
        return clip_of(mp4, name)

    def same(self, clip: Clip) -> Render:
        """The reference's own file."""
        return spoiled.as_render("same", clip, clip.mp4)

    def other(self, clip: Clip) -> Render | None:
        """The video of the next clip that has another picture; None when there is no other."""
        place = self.clips.index(clip)
        following = [other for other in (*self.clips[place + 1 :], *self.clips[:place]) if other.sha256 != clip.sha256]
        return spoiled.as_render("other", clip, following[0].mp4) if following else None

    def scores(self, clip: Clip, render: Render, metrics: Iterable[str], true_boxes: bool = False) -> list[Score]:
        """Rows of some metrics, those of the configuration that have them."""
        wanted = tuple(name for name in self.metrics if name in set(metrics))
        if wanted not in self._scorers:
            chosen = {name: self._config["metrics"][name] for name in wanted}
            self._scorers[wanted] = Scorer({**self._config, "metrics": chosen}, self._scratch / "store")
        annotation = self.annotations.get(clip.clip_id)
        tracks = true_tracks(clip, annotation) if true_boxes and annotation is not None else None
        return self._scorers[wanted].score(clip, render.mp4, annotation, tracks=tracks, render=render)

    def tracks(self, clip: Clip, render: Render) -> list[ObjectTrack]:
        """The objects as the configured backends find them in a candidate."""
        scorer = Scorer({**self._config, "metrics": {"object_iou": self._config["metrics"]["object_iou"]}}, self._scratch / "store")
        return list(scorer.tracks(clip, render, self.annotations[clip.clip_id]).tracks)

    def _keep(self, label: str, clip: Clip, make: Any) -> Render:
        key = (label, clip.clip_id)
        if key not in self._made:
            folder = self._scratch / "candidates"
            folder.mkdir(parents=True, exist_ok=True)
            self._made[key] = spoiled.write(label, clip, make(), folder / f"{clip.clip_id}-{label}.mp4")
        return self._made[key]


def true_tracks(clip: Clip, annotation: Annotation) -> ObjectTracks:
    """The annotated boxes as if a segmenter had found them."""
    tracks = [ObjectTrack(name=item.name, status="found", boxes_xyxy=item.boxes_xyxy) for item in annotation.objects]
    return ObjectTracks(system="true boxes", clip_id=clip.clip_id, key="true boxes", status="ok", tracks=tracks)


def mean(scores: Iterable[Score], metric: str, kind: str | None = None, items: Iterable[str] | None = None) -> float | None:
    """Mean of a metric's values, of one kind and of some items if these are told; None when there are none."""
    kept = None if items is None else set(items)
    values = [
        score.value
        for score in scores
        if score.metric == metric
        and score.value is not None
        and kind in (None, score.kind)
        and (kept is None or score.item in kept)
    ]
    return float(np.mean(values)) if values else None
