"""Score one lane of metrics: each clip is decoded once for all of them, each metric's items are stored apart.

A candidate (and a reference) is taken in two halves: it is looked at, which decodes, and then measured, which computes. In a shard
the next one is looked at while the present one is measured.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from codecap import registry, store, video
from codecap import shots as shot_detection
from codecap.clips import check_file
from codecap.records import Annotation, Clip, ObjectTracks, Outcome, Render, Row, Score
from codecap.score import Description, Measurement, Metric, Shots, Task, Unreached, Unscored, Watcher
from codecap.score.engine.ahead import ahead
from codecap.score.engine.alignment import given, is_given
from codecap.score.engine.choice import Choice
from codecap.score.engine.descriptions import REFERENCE, is_made_by, load, save
from codecap.score.engine.memory import guarded, within_memory
from codecap.score.engine.shot_matching import ShotMatcher
from codecap.score.engine.watching import watch
from codecap.store import Draft, Item, ItemStore, digest_of

UNSCORED = "unscored"
NO_MATCHING = "a video of another length has its shots matched by the encoder of AS: configure the metric appearance"


class Reference(Row):
    """A clip's reference side is made: its shots and the descriptions that the lane's metrics have of it."""

    clip_id: str
    status: str  # ok, or why not
    shots: list[tuple[int, int]] = []
    descriptions: dict[str, str] = {}  # metric -> store key


@dataclass(frozen=True)
class SeenReference:
    """A reference that was looked at: what of it is in the store, and the watchers that saw the rest."""

    clip: Clip
    shots: Shots
    items: dict[str, Item]
    watchers: dict[str, Watcher]


@dataclass(frozen=True)
class DescribedReference:
    """A reference's descriptions in the store, and why those of other metrics could not be made this time."""

    items: dict[str, Item]
    unreached: dict[str, str]


@dataclass(frozen=True)
class Seen:
    """A candidate that was looked at: rows that were there, and for each other metric what its numbers are made of."""

    task: Task
    rows: dict[str, list[Score]]
    keys: dict[str, str] = field(default_factory=dict)
    references: dict[str, Description] = field(default_factory=dict)
    watchers: dict[str, Watcher | None] = field(default_factory=dict)
    unscored: dict[str, str] = field(default_factory=dict)  # metrics that cannot be computed, and why
    unreached: dict[str, str] = field(default_factory=dict)  # metrics that could not be had this time, and why
    told: dict[str, str] = field(default_factory=dict)  # metrics whose rows say how a video of another length was taken


class Lane:
    """Some metrics as configured, and the store that keeps what they find.

    Args:
        choices: the metrics, in the order of their rows.
        shots: settings of the shot detector.
        durable, bulk: roots of the store for numbers and for descriptions.
        matching: the encoder by which shots are matched to videos of another length (see `choice.matching`), if there is one.
    """

    def __init__(self, choices: Sequence[Choice], shots: Choice, durable: Path, bulk: Path, matching: Choice | None = None) -> None:
        self.choices = {choice.name: choice for choice in choices}
        self._shots = ItemStore(durable, stage="describe/shots", salt=shots.salt)
        self._shot_settings = shots.settings
        self._descriptions = {
            name: ItemStore(bulk, stage=f"describe/{name}", salt=[choice.salt, shots.salt]) for name, choice in self.choices.items()
        }
        self._scores = {
            name: ItemStore(durable, stage=f"score/{name}", salt=[choice.salt, shots.salt]) for name, choice in self.choices.items()
        }
        self._matcher = None if matching is None else ShotMatcher(matching, shots, durable, bulk)
        self._loaded: dict[str, Metric] = {}
        self._loading = threading.Lock()

    def metric(self, name: str) -> Metric:
        """The metric, loaded when it is first needed and once a job, whichever half of the work needs it first."""
        with self._loading:
            if name not in self._loaded:
                choice = self.choices[name]
                self._loaded[name] = registry.make("score", choice.plugin or name, choice.settings)
            return self._loaded[name]

    def shots(self, clip: Clip) -> Shots:
        found = self._shots.get_or_make(REFERENCE, clip.clip_id, self._shots.key(clip.sha256), lambda _: self._detected(clip))
        return [(first, stop) for first, stop in found.value]

    def _detected(self, clip: Clip) -> Shots:
        check_file(clip)
        return shot_detection.detect_shots(clip.mp4, self._shot_settings)

    def describe(self, clip: Clip, shots: Shots, names: Iterable[str]) -> DescribedReference:
        """The descriptions that these metrics have of a reference, from the store or by one decoding pass for all missing ones.

        A metric that needs no picture of the reference has none.
        """
        return self.described(self.look_at_reference(clip, shots, names))

    def look_at_reference(self, clip: Clip, shots: Shots, names: Iterable[str]) -> SeenReference:
        """First half of `describe`: decodes, where something is missing."""
        items, watchers = {}, {}
        for name in names:
            if (found := self._kept(name, clip)) is not None:
                items[name] = found
                continue
            if (watcher := guarded(partial(self.metric(name).watch_reference, clip, shots))) is not None:
                watchers[name] = watcher
        if watchers:
            check_file(clip)
        watch(clip.mp4, clip, list(watchers.values()))
        return SeenReference(clip, shots, items, watchers)

    def _kept(self, name: str, clip: Clip) -> Item | None:
        """A metric's description in the store. One that is loaded takes none of another protocol; none is loaded to ask it."""
        loaded = self._loaded.get(name)
        for key in self._description_keys(name, clip, "" if loaded is None else loaded.protocol):
            found = self._descriptions[name].get(REFERENCE, clip.clip_id, key)
            if found is not None and (loaded is None or is_made_by(found, loaded.protocol)):
                return found
        return None

    def _description_keys(self, name: str, clip: Clip, protocol: str) -> list[str]:
        """Where a description may lie: in the place of the first that was made, or in that of its protocol."""
        key = self._descriptions[name].key
        return [key(clip.sha256), key(clip.sha256, protocol)]

    def described(self, seen: SeenReference) -> DescribedReference:
        """Second half of `describe`: computes, and stores."""
        items, unreached = dict(seen.items), {}
        for name, watcher in seen.watchers.items():
            try:
                items[name] = self._stored(name, seen.clip, watcher)
            except Unreached as why:
                unreached[name] = str(why)
        return DescribedReference(items, unreached)

    def _stored(self, name: str, clip: Clip, watcher: Watcher) -> Item:
        protocol = self.metric(name).protocol
        first, own = self._description_keys(name, clip, protocol)

        def place(key: str) -> Item:
            return self._descriptions[name].get_or_make(
                REFERENCE, clip.clip_id, key, lambda draft: save(draft.file("npz"), watcher, protocol)
            )

        item = place(first)
        return item if is_made_by(item, protocol) else place(own)

    def files(self, reference: Reference) -> list[Path]:
        """Where the descriptions of a reference lie."""
        kept = [self._descriptions[name].get(REFERENCE, reference.clip_id, key) for name, key in reference.descriptions.items()]
        return [path for item in kept if item is not None for path in item.files.values()]

    def score(self, task: Task) -> list[Score]:
        """All metrics' rows for one candidate whose outcome is ok."""
        return self.measured(self.look(task))

    def look(self, task: Task) -> Seen:
        """First half of `score`: what is in the store is taken from there; for the rest the candidate is decoded."""
        task = replace(task, frames=_frames_of(task))
        keys = {name: self._score_key(name, task) for name in self.choices}
        rows: dict[str, list[Score]] = {}
        for name in self.choices:
            found = self._scores[name].get(task.render.system, task.clip.clip_id, keys[name])
            if found is not None:
                rows[name] = [Score.model_validate(row) for row in found.value]
        missing = [name for name in self.choices if name not in rows]
        if not missing:
            return Seen(task, rows)
        for name in missing:
            self.metric(name)  # it computes in any case; and so it tells which descriptions are its own
        known = self.describe(task.clip, task.shots, missing)
        references = {name: load(known.items[name]) if name in known.items else {} for name in missing}
        seen = Seen(task, rows, keys, references, unreached=known.unreached)
        try:
            return within_memory(lambda: self._seen(task, seen))
        except (video.VideoError, Unreached) as why:
            return Seen(task, rows | {name: [self._again(name, task, why)] for name in missing})

    def _seen(self, task: Task, seen: Seen) -> Seen:
        """Let each metric look at the candidate, on the clock that it keeps (see `codecap.score`)."""
        clocks = dict.fromkeys(seen.references, "reference")
        if task.frames != task.clip.frames:
            clocks = {name: self._clock(name) for name in seen.references}
        unscored, unreached, told = {}, dict(seen.unreached), {}
        clip, whole = task.clip.model_copy(update={"frames": task.frames}), [(0, task.frames)]
        by_shots = [name for name, clock in clocks.items() if clock == "shots"]
        if by_shots and self._matcher is None and not is_given(task.shots, task.frames):
            unscored = dict.fromkeys(by_shots, NO_MATCHING)
        elif by_shots:
            try:
                task, how = within_memory(lambda: self._matched(seen.task))
                told = dict.fromkeys(by_shots, f"shots matched {how}")
            except Unreached as why:
                unreached |= dict.fromkeys(by_shots, str(why))
        watchers: dict[str, Watcher | None] = {}
        for name, reference in seen.references.items():
            if name in unscored or name in unreached:
                continue
            seen_as, shots = task.clip, task.shots
            if clocks[name] != "reference":
                seen_as, shots = clip, task.segments if clocks[name] == "shots" else whole
            watchers[name] = guarded(partial(self.metric(name).watch_candidate, seen_as, shots, reference))
        there = {name: watcher for name, watcher in watchers.items() if watcher is not None}
        watch(
            task.render.mp4,
            task.clip,
            [watcher for name, watcher in there.items() if clocks[name] == "reference"],
            own=[watcher for name, watcher in there.items() if clocks[name] != "reference"],
            own_frames=task.frames,
        )
        return replace(seen, task=task, watchers=watchers, unscored=unscored, unreached=unreached, told=told)

    def measured(self, seen: Seen) -> list[Score]:
        """Second half of `score`: computes, and stores."""
        rows, task = dict(seen.rows), seen.task
        for name, reference in seen.references.items():

            def make(_draft: Draft, name: str = name, reference: Description = reference) -> list[Any]:
                return [row.model_dump(mode="json") for row in self._compared(name, seen, reference)]

            try:
                item = self._scores[name].get_or_make(task.render.system, task.clip.clip_id, seen.keys[name], make)
                rows[name] = [Score.model_validate(row) for row in item.value]
            except (Unreached, video.VideoError) as why:
                rows[name] = [self._again(name, task, why)]
        return [row for name in self.choices for row in rows[name]]

    def _matched(self, task: Task) -> tuple[Task, str]:
        """The task with its segments, and in words how they were found."""
        if self._matcher is None or is_given(task.shots, task.frames):
            return replace(task, segments=given(task.shots, task.frames)), "by their order"
        segments, how = self._matcher.segments(task)
        return replace(task, segments=segments), how

    def _clock(self, name: str) -> str:
        return getattr(self.choices[name].module(), "CLOCK", "reference")

    def _compared(self, name: str, seen: Seen, reference: Description) -> list[Score]:
        try:
            if name in seen.unreached:
                raise Unreached(seen.unreached[name])
            if name in seen.unscored:
                raise Unscored(seen.unscored[name])
            metric, watcher = self.metric(name), seen.watchers[name]
            candidate = {} if watcher is None else watcher.result()
            task = seen.task if seen.task.page is None else replace(seen.task, page=store.at(seen.task.page))
            measurements = within_memory(lambda: metric.compare(reference, candidate, task))
        except Unreached:
            raise
        except Unscored as why:
            measurements = [Measurement(None, detail=str(why))]
        rows = [self._row(name, seen.task, measurement) for measurement in measurements]
        if name not in seen.told:
            return rows
        return [row.model_copy(update={"detail": "; ".join(filter(None, [row.detail, seen.told[name]]))}) for row in rows]

    def _again(self, name: str, task: Task, why: Exception) -> Score:
        """The row of a metric that could not be had this time: it is not stored, and tried again at the next run."""
        return self._row(name, task, Measurement(None, detail=str(why))).model_copy(update={"retry": True})

    def _row(self, name: str, task: Task, measurement: Measurement) -> Score:
        metric = self.metric(name)
        tracks = task.tracks if "tracks" in self.choices[name].module().NEEDS else None
        return Score(
            metric=name + measurement.metric.removeprefix(self.choices[name].plugin or name),
            system=task.render.system,
            clip_id=task.clip.clip_id,
            item=measurement.item,
            kind=measurement.kind,
            value=measurement.value,
            status=UNSCORED if measurement.value is None else Outcome.OK,
            detail=measurement.detail,
            given=list(measurement.given),
            protocol=metric.protocol if tracks is None else f"{metric.protocol} | {tracks.protocol}",
            proxy=metric.proxy or (tracks is not None and tracks.proxy),
        )

    def _score_key(self, name: str, task: Task) -> str:
        needs = self.choices[name].module().NEEDS
        upstream = [task.clip.sha256, task.render.key]
        upstream += [annotation_digest(task.annotation, need) for need in ("objects", "focal_points") if need in needs]
        if "tracks" in needs:
            upstream.append(_digest_of_tracks(task.tracks))
        if task.frames != task.clip.frames and not is_given(task.shots, task.frames) and self._clock(name) == "shots":
            upstream.append(self._matcher.key(task) if self._matcher is not None else "no matching")
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

    def look(clip: Clip) -> SeenReference | str:
        try:
            return lane.look_at_reference(clip, lane.shots(clip), lane.choices)
        except video.VideoError as error:
            return str(error)

    for clip, seen in zip(clips, ahead(clips, look), strict=True):
        if isinstance(seen, str):
            yield Reference(clip_id=clip.clip_id, status=seen)
            continue
        descriptions = {name: item.key for name, item in lane.described(seen).items.items()}
        yield Reference(clip_id=clip.clip_id, status="ok", shots=seen.shots, descriptions=descriptions)


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
    for rows in score_clips(renders, clips, references, annotations, tracks, pages, lane):
        yield from rows


def score_clips(
    renders: Iterable[Render],
    clips: Mapping[str, Clip],
    references: Mapping[str, Reference],
    annotations: Mapping[str, Annotation],
    tracks: Mapping[str, ObjectTracks],
    pages: Mapping[str, Path | None],
    lane: Lane,
) -> Iterator[list[Score]]:
    """As `score_shard`, the rows of each clip together as soon as it is scored."""

    def look(render: Render) -> Seen | list[Score]:
        reference = references.get(render.clip_id)
        if render.outcome is Outcome.OK and reference is not None and reference.status != "ok":
            render = render.model_copy(update={"outcome": Outcome.INFRA_ERROR, "detail": f"reference: {reference.status}"})
        if render.outcome is not Outcome.OK:
            return lane.failed(render, render.clip_id)
        return lane.look(
            Task(
                clip=clips[render.clip_id],
                render=render,
                shots=reference.shots if reference is not None else lane.shots(clips[render.clip_id]),
                annotation=annotations.get(render.clip_id),
                tracks=tracks.get(render.clip_id),
                page=pages.get(render.clip_id),
            )
        )

    for seen in ahead(renders, look):
        yield lane.measured(seen) if isinstance(seen, Seen) else seen


def annotation_digest(annotation: Annotation | None, need: str) -> str:
    """Digest of what a need of a metric takes from an annotation, so that a correction elsewhere in it re-scores nothing."""
    if annotation is None:
        return "none"
    if need == "objects":
        return digest_of([item.model_dump(mode="json") for item in annotation.objects])
    named = {name for point in annotation.focal_points for name in point.objects}
    boxes = {item.name: item.boxes_xyxy for item in annotation.objects if item.name in named}
    return digest_of([[point.model_dump(mode="json") for point in annotation.focal_points], boxes])


def _digest_of_tracks(tracks: ObjectTracks | None) -> str:
    """The key of tracks, or why there are none: another reason makes another row."""
    if tracks is None:
        return "none"
    return tracks.key if tracks.status == "ok" else digest_of(tracks.status)


def _frames_of(task: Task) -> int:
    """How many frames the candidate has; as many as its reference where it cannot be read: whoever decodes it will say why."""
    certificate = task.render.certificate
    if certificate is not None and certificate.frames:
        return certificate.frames
    try:
        return video.probe(task.render.mp4).frames
    except video.VideoError:
        return task.clip.frames
