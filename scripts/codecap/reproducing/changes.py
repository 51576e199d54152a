"""What is not as it was when a number was published: the cause, where it comes out otherwise now.

Two kinds are told apart. Changed *artefacts* (videos, annotations, tracks, rows) are no longer what was published, whatever the
number. A changed *making* (settings, code, prompts, weights, libraries) matters only where the number differs.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path

from codecap import config as configuration
from codecap import registry, store
from codecap.annotate.approved import content_digest
from codecap.compare.comparison import Column, TaskEntry
from codecap.compare.tasks import TaskRows, expected_items, video_value
from codecap.errors import UserError
from codecap.records import Annotation, Outcome, RecordError, read_record
from codecap.reproducing.folder import Folder
from codecap.reproducing.sealing import MATCHING, NONE, SHOTS, Making, makings
from codecap.score.engine import choice
from codecap.store import layout
from codecap.video import file_sha256

PROMPT = ".md"
MOST = 6  # parts of one kind that are named


class Changes:
    """Compares a run's folder, and the code that is here, with what was noted when its numbers were published."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._sealed = {making.name: making for making in folder.artefacts.makings}
        self._here = functools.cache(lambda: {making.name: making for making in makings(folder.config)})
        self._sha256 = functools.cache(_sha256)

    def of_making(self, column: Column) -> list[str]:
        """What makes this column's numbers otherwise than when they were published."""
        metric = self._folder.metric_of(column.metric)
        module = choice.module_of(metric, self._folder.config["metrics"][metric])
        by_shots = registry.said("score", module, "CLOCK", default="reference") == "shots"
        found = []
        for name in (metric, SHOTS, *([MATCHING] if by_shots else [])):
            before, now = self._sealed.get(name), self._here().get(name)
            if before is not None and now is not None:
                found += [f"{name}: {told}" for told in differences(before, now)]
            elif (before is None) != (now is None):
                found.append(f"{name}: {'is new' if before is None else 'is not configured any more'}")
        return found

    def of_artefacts(self, column: Column | None, entry: TaskEntry) -> list[str]:
        """What of a task is not as it was published; of a column None, only what became of it."""
        found = list(self._outcome(entry))
        if column is not None and entry.outcome is Outcome.OK:
            found += self._of_number(column, entry)
        return [f"{entry.system}/{entry.clip_id}: {told}" for told in found]

    def _of_number(self, column: Column, entry: TaskEntry) -> Iterator[str]:
        metric = self._folder.metric_of(column.metric)
        needs = registry.load("score", choice.module_of(metric, self._folder.config["metrics"][metric])).NEEDS
        yield from self._reference(entry.clip_id)
        yield from self._file("render", entry.mp4, _render_sha256(entry))
        if "page" in needs:
            yield from self._file("page", entry.html, _mark(entry.html))
        if {"objects", "focal_points"} & {*needs} or column.items:
            yield from self._annotation(entry.clip_id)
        if "tracks" in needs:
            yield from self._tracks(entry.system, entry.clip_id)
        yield from self._rows(metric, column, entry)

    def _outcome(self, entry: TaskEntry) -> Iterator[str]:
        now = self._task(entry).outcome
        if now is not entry.outcome:
            yield f"its outcome was {entry.outcome.value}, the rows of stages 4 and 5 say {now.value}"

    def _reference(self, clip_id: str) -> Iterator[str]:
        clip, sealed = self._folder.clip(clip_id), self._folder.sealed(clip_id)
        if clip is None or sealed is None:
            yield f"the clips table {self._folder.config['clips']} has no such clip any more"
            return
        if clip.sha256 != sealed.sha256:
            yield f"reference: the clips table names another video: sha256 {clip.sha256[:12]}, it was {sealed.sha256[:12]}"
        yield from self._file("reference", clip.mp4, sealed.sha256)

    def _file(self, what: str, path: Path | None, expected: str | None) -> Iterator[str]:
        """Whether a file is there, and what its digest begins with."""
        if path is None:
            return
        found = self._sha256(path)
        if found is None:
            yield f"{what}: {path} is gone"
        elif expected and not found.startswith(expected):
            yield f"{what}: {path} has changed: sha256 {found[:12]}, it was {expected[:12]}"

    def _annotation(self, clip_id: str) -> Iterator[str]:
        sealed = self._folder.sealed(clip_id)
        if sealed is None:
            return
        row, path = self._folder.annotation(clip_id), self._folder.annotations_file(clip_id)
        if (NONE if row is None else content_digest(row)) != sealed.annotation:
            yield f"annotation: {path} says something else than when the number was made"
        if self._folder.config["annotations"] != "approved" or sealed.annotation == NONE:
            return
        file = configuration.find(self._folder.config["annotations_folder"]) / f"{clip_id}.json"
        try:
            if content_digest(read_record(file, Annotation)) != sealed.annotation:
                yield f"annotation: {file} says something else than when the number was made"
        except FileNotFoundError:
            yield f"annotation: {file} is gone"
        except RecordError as error:
            yield f"annotation: {error}"

    def _tracks(self, system: str, clip_id: str) -> Iterator[str]:
        path, before = self._folder.tracks_file(system, clip_id), self._folder.sealed_tracks(system, clip_id)
        now = self._folder.track_digests(path).get(clip_id)
        if now is None and before is not None:
            yield f"tracks: {path} has none of it any more"
        elif now != before:
            yield f"tracks: the row of it in {path} has changed"

    def _rows(self, metric: str, column: Column, entry: TaskEntry) -> Iterator[str]:
        """Whether stage 6 still says what was published; of a ceiling, only where the column concerns it."""
        task, published = self._task(entry), entry.values[column.name]
        if task.outcome is not entry.outcome or entry.states[column.name] == "absent":
            return
        try:
            rows = self._folder.scores(metric, entry.system, entry.clip_id)
            task.scores[column.metric] = [row for row in rows if row.metric == column.metric]
            value = video_value(column, task, expected_items(column, self._folder.annotation(entry.clip_id))).value
        except UserError as error:
            yield f"scores: {error}"
            return
        if value != published:
            yield f"scores: stage 6 has {_told(value)}, published is {_told(published)}"

    def _task(self, entry: TaskEntry) -> TaskRows:
        return TaskRows(
            caption=self._folder.caption(entry.system, entry.clip_id), render=self._folder.render(entry.system, entry.clip_id)
        )


def differences(before: Making, now: Making) -> Iterator[str]:
    """In words, what differs between two ways of making a metric's numbers."""
    for key in sorted({*before.settings, *now.settings}):
        old, new = before.settings.get(key), now.settings.get(key)
        if old != new:
            yield f"setting {key} is {new!r}, it was {old!r}"
    if before.weights != now.weights:
        yield f"weights are {', '.join(now.weights) or NONE}, they were {', '.join(before.weights) or NONE}"
    changed: dict[str, list[str]] = {"prompt": [], "code": [], "library": []}
    for part in sorted({*before.parts, *now.parts}):
        old, new = before.parts.get(part, NONE), now.parts.get(part, NONE)
        if old != new and "/" not in part:
            changed["library"].append(f"{part} {new}, it was {old}")
        elif old != new:
            how = "is new" if old == NONE else "is gone" if new == NONE else "has changed"
            changed["prompt" if part.endswith(PROMPT) else "code"].append(f"{part} {how}")
    for kind, parts in changed.items():
        if parts:
            more = f"; and {len(parts) - MOST} more" if len(parts) > MOST else ""
            yield f"{kind}: {'; '.join(parts[:MOST])}{more}"


def _sha256(path: Path) -> str | None:
    """Digest of a file, loose or packed; None where it is gone."""
    try:
        return file_sha256(path) if store.there(path) else None
    except OSError:
        return None


def _render_sha256(entry: TaskEntry) -> str | None:
    """Of a render's video, as its certificate says, or the beginning, as its name does."""
    return (entry.certificate.mp4_sha256 if entry.certificate else "") or _mark(entry.mp4)


def _mark(path: Path | None) -> str | None:
    return None if path is None else layout.mark_in(path)


def _told(value: float | None) -> str:
    return "no number" if value is None else f"{value:.6g}"
