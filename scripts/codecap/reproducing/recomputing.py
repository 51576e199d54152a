"""A video's value again: from the clip, the render, the annotation and the tracks, by the code that is here.

What is found on the way (descriptions, shots, scores) goes into a store of its own: nothing of the run's is taken over, and nothing
is written into it. A hosted judge's answers are replayed from the run's records; a question that is not among them is not asked.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from codecap.compare.comparison import Column, TaskEntry
from codecap.compare.tasks import TaskRows, VideoValue, expected_items, video_value
from codecap.errors import UserError
from codecap.exchange import session
from codecap.records import Outcome, Score
from codecap.reproducing.folder import Folder
from codecap.score.engine import choice
from codecap.score.engine.lane import Lane, score_clips

WITHOUT_NUMBER = ("absent", "unscored", "infra_error")  # states of a video that was published without one


class NotRecomputed(Exception):
    """A value cannot be made again; the message says why."""


class Workbench:
    """Makes values of a run's videos again.

    Args:
        folder: the run.
        scratch: a folder for what is found; references are described there once for all that is asked.
    """

    def __init__(self, folder: Folder, scratch: Path) -> None:
        self._folder, self._scratch = folder, Path(scratch)
        self._lane = functools.cache(self._opened)
        self._scores = functools.lru_cache(maxsize=1024)(self._scored)
        self.protocols: dict[str, set[str]] = {}  # of the numbers made here, by column's metric

    @contextmanager
    def replaying(self) -> Iterator[None]:
        """While it works: questions to hosted models are answered from the run's records alone."""
        exchange = self._folder.config.get("exchange")
        with session(self._folder.durable, exchange, stage="reproduce", replay_only=True):
            yield

    def value(self, column: Column | None, entry: TaskEntry) -> VideoValue:
        """A task's value in a column (None: its success), in which a failed one counts 0 as it did when it was published.

        Raises:
            NotRecomputed: something that it is made of is not there, or cannot be read.
        """
        task = self._rows_of(entry)
        if column is None:
            return success_of(task.outcome)
        if entry.states[column.name] in WITHOUT_NUMBER:
            return VideoValue(None, entry.states[column.name], entry.unscored_items.get(column.name, 0))
        if task.outcome is Outcome.OK:
            try:
                rows = self._scores(self._folder.metric_of(column.metric), entry.system, entry.clip_id)
            except (UserError, OSError) as error:
                raise NotRecomputed(str(error)) from error
            task.scores[column.metric] = [row for row in rows if row.metric == column.metric]
            self.protocols.setdefault(column.metric, set()).update(row.protocol for row in task.scores[column.metric])
        found = video_value(column, task, expected_items(column, self._folder.annotation(entry.clip_id)))
        if found.value is None and entry.values[column.name] is not None:
            raise NotRecomputed(next((row.detail for row in task.scores[column.metric] if row.detail), f"it is {found.state} now"))
        return found

    def _rows_of(self, entry: TaskEntry) -> TaskRows:
        caption = self._folder.caption(entry.system, entry.clip_id)
        render = self._folder.render(entry.system, entry.clip_id)
        if render is None and entry.outcome is not Outcome.INFRA_ERROR:
            raise NotRecomputed("stage 5 has no row of it any more")
        return TaskRows(caption=caption, render=render)

    def _opened(self, metric: str) -> Lane:
        """One metric, by the backends that are here."""
        config = self._folder.config
        matching = choice.matching(config, [metric])
        return Lane([choice.metric(config, metric)], choice.shots(config), self._scratch, self._scratch, matching)

    def _scored(self, metric: str, system: str, clip_id: str) -> list[Score]:
        """All rows of a metric for a task whose outcome is ok."""
        held = self._folder
        clip, render = held.clip(clip_id), held.render(system, clip_id)
        if clip is None or render is None:
            raise NotRecomputed(f"{held.config['clips']}: has no clip {clip_id} any more")
        lane = self._lane(metric)
        needs = lane.choices[metric].module().NEEDS
        annotation = held.annotation(clip_id) if {"objects", "focal_points"} & {*needs} else None
        tracks = held.tracks(system, clip_id) if "tracks" in needs else None
        caption = held.caption(system, clip_id)
        [rows] = score_clips(
            renders=[render],
            clips={clip_id: clip},
            references={},
            annotations={} if annotation is None else {clip_id: annotation},
            tracks={} if tracks is None else {clip_id: tracks},
            pages={} if caption is None else {clip_id: caption.html},
            lane=lane,
        )
        return rows


def success_of(outcome: Outcome) -> VideoValue:
    """As `compare` counts it: 100 or 0, and no number where we failed."""
    if outcome is Outcome.INFRA_ERROR:
        return VideoValue(None, "infra_error")
    return VideoValue(100.0, "ok") if outcome is Outcome.OK else VideoValue(0.0, "failed")
