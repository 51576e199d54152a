"""What the run's own backends say of damaged clips: the same prompter, segmenter and metrics, their items in the same store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from codecap.records import Annotation, Clip, ObjectPrompts, ObjectTracks, Render, Score
from codecap.score import Task
from codecap.score.engine.choice import Choice
from codecap.score.engine.lane import Lane
from codecap.score.engine.objects import prompt_shard, segment_shard


def fit(choices: Iterable[Choice]) -> list[Choice]:
    """The metrics that compare videos: a damaged clip has no page."""
    return [choice for choice in choices if "page" not in choice.module().NEEDS]


def prompted(
    renders: Iterable[Render], clip: Clip, annotation: Annotation, prompter: Choice, durable: Path
) -> Iterator[ObjectPrompts]:
    """The prompter on each candidate of a clip."""
    return prompt_shard(renders, {clip.clip_id: clip}, {clip.clip_id: annotation}, prompter, durable)


def traced(
    prompts: Iterable[ObjectPrompts], renders: Iterable[Render], clip: Clip, segmenter: Choice, bulk: Path
) -> Iterator[ObjectTracks]:
    """The segmenter on each candidate of a clip, loaded once for all of them.

    `segment_shard` looks up a clip's one render when it has taken a prompt, so the one that the prompt is of is put there then.
    """
    by_system = {render.system: render for render in renders}
    present: dict[str, Render] = {}

    def in_turn() -> Iterator[ObjectPrompts]:
        for asked in prompts:
            present[asked.clip_id] = by_system[asked.system]
            yield asked

    return segment_shard(in_turn(), present, {clip.clip_id: clip}, segmenter, bulk)


def measured(
    renders: Sequence[Render], tracks: Iterable[ObjectTracks], clip: Clip, annotation: Annotation, lane: Lane
) -> Iterator[list[Score]]:
    """A lane's rows of each candidate of a clip, whose reference is described once."""
    shots = lane.shots(clip)
    found = {row.system: row for row in tracks}
    for render in renders:
        yield lane.score(Task(clip, render, shots, annotation=annotation, tracks=found.get(render.system)))
