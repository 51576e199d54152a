"""The same engine for one pair of videos, without a workflow: `codecap score`, and the self-test."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from codecap.exchange import session
from codecap.records import Annotation, Clip, ObjectTracks, Outcome, Render, Score
from codecap.score import Task
from codecap.score.engine import choice
from codecap.score.engine.lane import Lane
from codecap.score.engine.objects import prompt_shard, segment_shard
from codecap.video import file_sha256, probe

CANDIDATE = "candidate"


class Scorer:
    """All configured metrics in one process; references are described once for all their candidates.

    Args:
        config: a checked configuration.
        store: folder for what is found; a temporary one forgets it. Paid answers are kept in the configuration's own store.
    """

    def __init__(self, config: Mapping[str, Any], store: Path) -> None:
        choice.check(config)
        self.config, self.store = config, store
        self.lane = Lane(
            [choice.metric(config, name) for name in config["metrics"]],
            choice.shots(config),
            store,
            store,
            choice.matching(config, config["metrics"]),
        )

    def score(
        self,
        clip: Clip,
        candidate_mp4: Path,
        annotation: Annotation | None = None,
        tracks: ObjectTracks | None = None,
        render: Render | None = None,
        page: Path | None = None,
    ) -> list[Score]:
        """Score a candidate video against a reference.

        Args:
            annotation: without it the metrics that need one are unscored.
            tracks: boxes of the reference's objects in the candidate; found by the configured backends when None.
            render: the candidate's record, when there is one.
        """
        sha256 = file_sha256(candidate_mp4)
        render = render or Render(system=CANDIDATE, clip_id=clip.clip_id, key=sha256, outcome=Outcome.OK, mp4=candidate_mp4)
        if tracks is None and annotation is not None and choice.OBJECTS_METRIC in self.config["metrics"]:
            tracks = self.tracks(clip, render, annotation)
        task = Task(clip, render, self.lane.shots(clip), annotation=annotation, tracks=tracks, page=page)
        with session(Path(self.config["store"]["durable"]), self.config.get("exchange"), stage="score", system=render.system):
            return self.lane.score(task)

    def tracks(self, clip: Clip, render: Render, annotation: Annotation) -> ObjectTracks:
        """The reference's objects in the candidate, found by the configured prompter and segmenter."""
        clips, annotations, renders = {clip.clip_id: clip}, {clip.clip_id: annotation}, {clip.clip_id: render}
        with session(Path(self.config["store"]["durable"]), self.config.get("exchange"), stage="score", system=render.system):
            prompts = list(prompt_shard([render], clips, annotations, choice.backend(self.config, "prompter"), self.store))
        return next(segment_shard(prompts, renders, clips, choice.backend(self.config, "segmenter"), self.store))


def clip_of(mp4: Path, clip_id: str = "reference") -> Clip:
    """A clip's record for a canonical video that is in no table."""
    info = probe(mp4)
    return Clip(
        clip_id=clip_id,
        category="U",
        mp4=mp4,
        sha256=file_sha256(mp4),
        frames=info.frames,
        width_px=info.width_px,
        height_px=info.height_px,
    )
