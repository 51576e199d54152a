"""Score one lane of metrics: each clip is decoded once for all of them, each metric's items are stored apart."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from codecap import registry, video
from codecap import shots as shot_detection
from codecap.clips import check_file
from codecap.records import Annotation, Clip, ObjectTracks, Outcome, Render, Row, Score
from codecap.score import Description, Measurement, Metric, Shots, Task, Unreached, Unscored, Watcher
from codecap.score.engine.choice import Choice
from codecap.score.engine.watching import watch
from codecap.store import Draft, Item, ItemStore, digest_of

REFERENCE = "reference"  # folder of the reference side's items, in the place of a system
UNSCORED = "unscored"


class Reference(Row):
    """A clip's reference side is made: its shots and the descriptions that the lane's metrics have of it."""

    clip_id: str
    status: str  # ok, or why not
    shots: list[tuple[int, int]] = []
    descriptions: dict[str, str] = {}  # metric -> store key


class Lane:
    """Some metrics as configured, and the store that keeps what they find.

    Args:
        choices: the metrics, in the order of their rows.
        shots: settings of the shot detector.
        durable, bulk: roots of the store for numbers and for descriptions.
    """

    def __init__(self, choices: Sequence[Choice], shots: Choice, durable: Path, bulk: Path) -> None:
        self.choices = {choice.name: choice for choice in choices}
        self._shots = ItemStore(durable, stage="describe/shots", salt=shots.salt)
        self._shot_settings = shots.settings
        self._descriptions = {
            name: ItemStore(bulk, stage=f"describe/{name}", salt=[choice.salt, shots.salt]) for name, choice in self.choices.items()
        }
        self._scores = {
            name: ItemStore(durable, stage=f"score/{name}", salt=[choice.salt, shots.salt]) for name, choice in self.choices.items()
        }

    @functools.cache  # noqa: B019  a lane lives as long as its job
    def metric(self, name: str) -> Metric:
        """The metric, loaded when it is first needed and once a job."""
        return registry.make("score", name, self.choices[name].settings)

    def shots(self, clip: Clip) -> Shots:
        found = self._shots.get_or_make(REFERENCE, clip.clip_id, self._shots.key(clip.sha256), lambda _: self._detected(clip))
        return [(first, stop) for first, stop in found.value]

    def _detected(self, clip: Clip) -> Shots:
        check_file(clip)
        return shot_detection.detect_shots(clip.mp4, self._shot_settings)

    def describe(self, clip: Clip, shots: Shots, names: Iterable[str]) -> dict[str, Item]:
        """The descriptions that these metrics have of a reference, from the store or by one decoding pass for all missing ones.

        A metric that needs no picture of the reference has none.
        """
        items, watchers = {}, {}
        for name in names:
            store = self._descriptions[name]
            found = store.get(REFERENCE, clip.clip_id, store.key(clip.sha256))
            if found is not None:
                items[name] = found
            elif (watcher := self.metric(name).watch_reference(clip, shots)) is not None:
                watchers[name] = watcher
        if watchers:
            check_file(clip)
        watch(clip.mp4, clip, list(watchers.values()))
        for name, watcher in watchers.items():
            store = self._descriptions[name]
            items[name] = store.get_or_make(
                REFERENCE, clip.clip_id, store.key(clip.sha256), lambda draft, watcher=watcher: _save(draft.file("npz"), watcher)
            )
        return items

    def score(self, task: Task) -> list[Score]:
        """All metrics' rows for one candidate whose outcome is ok."""
        rows: dict[str, list[Score]] = {}
        keys = {name: self._score_key(name, task) for name in self.choices}
        for name in self.choices:
            found = self._scores[name].get(task.render.system, task.clip.clip_id, keys[name])
            if found is not None:
                rows[name] = [Score.model_validate(row) for row in found.value]
        missing = [name for name in self.choices if name not in rows]
        if missing:
            rows.update(self._made(task, missing, keys))
        return [row for name in self.choices for row in rows[name]]

    def _made(self, task: Task, names: list[str], keys: Mapping[str, str]) -> dict[str, list[Score]]:
        items = self.describe(task.clip, task.shots, names)
        described = {name: _load(items[name]) if name in items else {} for name in names}
        watchers = {name: self.metric(name).watch_candidate(task.clip, task.shots, described[name]) for name in names}
        try:
            watch(task.render.mp4, task.clip, [watcher for watcher in watchers.values() if watcher is not None])
        except video.VideoError as error:
            row = Measurement(None, detail=str(error))
            return {name: [self._row(name, task, row).model_copy(update={"retry": True})] for name in names}
        made = {}
        for name, watcher in watchers.items():
            candidate = {} if watcher is None else watcher.result()

            def make(_draft: Draft, name: str = name, candidate: Description = candidate) -> list[Any]:
                return [row.model_dump(mode="json") for row in self._compared(name, task, described[name], candidate)]

            try:
                item = self._scores[name].get_or_make(task.render.system, task.clip.clip_id, keys[name], make)
                made[name] = [Score.model_validate(row) for row in item.value]
            except Unreached as why:
                made[name] = [self._row(name, task, Measurement(None, detail=str(why))).model_copy(update={"retry": True})]
        return made

    def _compared(self, name: str, task: Task, reference: Description, candidate: Description) -> list[Score]:
        try:
            measurements = self.metric(name).compare(reference, candidate, task)
        except Unreached:
            raise
        except Unscored as why:
            measurements = [Measurement(None, detail=str(why))]
        return [self._row(name, task, measurement) for measurement in measurements]

    def _row(self, name: str, task: Task, measurement: Measurement) -> Score:
        metric = self.metric(name)
        tracks = task.tracks if "tracks" in self.choices[name].module().NEEDS else None
        return Score(
            metric=measurement.metric or name,
            system=task.render.system,
            clip_id=task.clip.clip_id,
            item=measurement.item,
            kind=measurement.kind,
            value=measurement.value,
            status=UNSCORED if measurement.value is None else Outcome.OK,
            detail=measurement.detail,
            protocol=metric.protocol if tracks is None else f"{metric.protocol} | {tracks.protocol}",
            proxy=metric.proxy or (tracks is not None and tracks.proxy),
        )

    def _score_key(self, name: str, task: Task) -> str:
        needs = self.choices[name].module().NEEDS
        upstream = [task.clip.sha256, task.render.key]
        if "annotation" in needs:
            upstream.append(annotation_digest(task.annotation))
        if "tracks" in needs:
            upstream.append(task.tracks.key if task.tracks is not None else "none")
        return self._scores[name].key(*upstream)

    def failed(self, render: Render, clip_id: str) -> list[Score]:
        """Rows for a candidate that has no video: 0 where more is better and it was the system's fault, else no value."""
        rows = []
        for name in self.choices:
            counts = render.outcome.scores_zero and self.choices[name].module().HIGHER_IS_BETTER
            rows.append(
                Score(
                    metric=name,
                    system=render.system,
                    clip_id=clip_id,
                    value=0.0 if counts else None,
                    status=render.outcome,
                    detail=render.detail,
                )
            )
        return rows


def describe_shard(clips: Sequence[Clip], lane: Lane) -> Iterator[Reference]:
    """The reference side of a shard: done once a clip, before any system is scored."""
    for clip in clips:
        try:
            shots = lane.shots(clip)
            items = lane.describe(clip, shots, lane.choices)
        except video.VideoError as error:
            yield Reference(clip_id=clip.clip_id, status=str(error))
            continue
        yield Reference(
            clip_id=clip.clip_id, status="ok", shots=shots, descriptions={name: item.key for name, item in items.items()}
        )


def score_shard(
    renders: Iterable[Render],
    clips: Mapping[str, Clip],
    references: Mapping[str, Reference],
    annotations: Mapping[str, Annotation],
    tracks: Mapping[str, ObjectTracks],
    pages: Mapping[str, Path | None],
    lane: Lane,
) -> Iterator[Score]:
    """Score a shard, one clip after another; what is in the store is not computed, and a full hit loads nothing."""
    for render in renders:
        reference = references.get(render.clip_id)
        if render.outcome is Outcome.OK and reference is not None and reference.status != "ok":
            render = render.model_copy(update={"outcome": Outcome.INFRA_ERROR, "detail": f"reference: {reference.status}"})
        if render.outcome is not Outcome.OK:
            yield from lane.failed(render, render.clip_id)
            continue
        yield from lane.score(
            Task(
                clip=clips[render.clip_id],
                render=render,
                shots=reference.shots if reference is not None else lane.shots(clips[render.clip_id]),
                annotation=annotations.get(render.clip_id),
                tracks=tracks.get(render.clip_id),
                page=pages.get(render.clip_id),
            )
        )


def annotation_digest(annotation: Annotation | None) -> str:
    """Digest of what an annotation says; who reviewed it, and when, changes no number."""
    return "none" if annotation is None else digest_of(annotation.model_dump(mode="json", exclude={"reviews", "proposer"}))


def _save(npz: Path, watcher: Watcher) -> list[str]:
    description = watcher.result()
    with npz.open("wb") as file:
        np.savez_compressed(file, **description)
    return sorted(description)


def _load(item: Item) -> Description:
    with np.load(item.files["npz"], allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}
