"""A run's folder: what was published there, and the rows of all stages that it was made from."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from codecap import plan
from codecap import store as kept
from codecap.compare.comparison import Comparison, TaskEntry
from codecap.errors import UserError
from codecap.plan import RESULTS
from codecap.records import Annotation, Caption, Clip, ObjectTracks, Render, Row, Score, read_record, read_rows
from codecap.report.track_files import TrackFiles
from codecap.reproducing.sealing import Artefacts, SealedClip, track_digests

COMPARISON = RESULTS / "7_compare" / "comparison.json"
ARTEFACTS = RESULTS / "7_compare" / "artefacts.json"
R = TypeVar("R", bound=Row)


class Folder:
    """The run in the working folder.

    Args:
        config: its configuration.

    Raises:
        UserError: nothing was published here, or by a version that noted no artefacts.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.config = config
        kept.use(config["store"])
        self.comparison = _published(COMPARISON, Comparison)
        self.artefacts = _published(ARTEFACTS, Artefacts)
        self.durable = Path(config["store"]["durable"])
        self.clips = {clip.clip_id: clip for clip in plan.all_clips(config)}
        self._sealed = {clip.clip_id: clip for clip in self.artefacts.clips}
        self._tasks = {(task.system, task.clip_id): task for task in self.comparison.tasks}

    def task(self, system: str, clip_id: str) -> TaskEntry:
        """A task as it was published."""
        return self._tasks[system, clip_id]

    def tasks(self, system: str) -> list[TaskEntry]:
        """A system's, in the order in which they were published, which is that of the mean."""
        return [task for task in self.comparison.tasks if task.system == system]

    def sealed(self, clip_id: str) -> SealedClip | None:
        return self._sealed.get(clip_id)

    def sealed_tracks(self, system: str, clip_id: str) -> str | None:
        return self.artefacts.tracks.get(system, {}).get(clip_id)

    def clip(self, clip_id: str) -> Clip | None:
        """The clip as the table has it now."""
        return self.clips.get(clip_id)

    def caption(self, system: str, clip_id: str) -> Caption | None:
        return self._by_clip(RESULTS / "4_generate" / system / self._shard(clip_id), Caption).get(clip_id)

    def render(self, system: str, clip_id: str) -> Render | None:
        return self._by_clip(RESULTS / "5_render" / system / self._shard(clip_id), Render).get(clip_id)

    def annotation(self, clip_id: str) -> Annotation | None:
        return self._by_clip(self.annotations_file(clip_id), Annotation).get(clip_id)

    def annotations_file(self, clip_id: str) -> Path:
        return RESULTS / "3_annotate" / self.config["annotations"] / self._shard(clip_id)

    def tracks_file(self, system: str, clip_id: str) -> Path:
        return RESULTS / "6_score" / "tracks" / system / self._shard(clip_id)

    def tracks(self, system: str, clip_id: str) -> ObjectTracks | None:
        """Read anew each time: boxes of many clips would not fit in memory."""
        return self._places(self.tracks_file(system, clip_id)).of_clip(clip_id).get(system)

    @functools.lru_cache(maxsize=64)  # noqa: B019 (one folder a command)
    def track_digests(self, path: Path) -> dict[str, str]:
        """Of a shard of tracks, by clip; empty where it is gone."""
        return {head.clip_id: digest for head, digest in track_digests(path)} if path.is_file() else {}

    def scores(self, metric: str, system: str, clip_id: str) -> list[Score]:
        """The rows of a configured metric (its second columns too) as stage 6 has them."""
        lane = self.config["metrics"][metric]["lane"]
        rows = self._all(RESULTS / "6_score" / lane / system / self._shard(clip_id), Score)
        return [row for row in rows if row.clip_id == clip_id and self._configured(row.metric) == metric]

    def metric_of(self, name: str) -> str:
        """The configured metric that gives a column: `mps` of `mps_strict`.

        Raises:
            UserError: the configuration has none.
        """
        found = self._configured(name)
        if found is None:
            raise UserError(
                f"{name}: the configuration of the run in this folder has no such metric any more; run the workflow again"
            )
        return found

    def _configured(self, name: str) -> str | None:
        """As `metric_of`; None where the configuration has none."""
        names = [metric for metric in self.config["metrics"] if name == metric or name.startswith(f"{metric}_")]
        return max(names, key=len, default=None)

    def _shard(self, clip_id: str) -> str:
        return f"{plan.bucket_of(clip_id, self.config['buckets'])}.jsonl"

    def _by_clip(self, path: Path, kind: type[R]) -> dict[str, R]:
        return {row.clip_id: row for row in self._all(path, kind)}

    @functools.lru_cache(maxsize=64)  # noqa: B019 (one folder a command)
    def _places(self, path: Path) -> TrackFiles:
        """In which line of a shard each clip's tracks are; of no clip where it is gone."""
        return TrackFiles([path] if path.is_file() else [])

    @functools.lru_cache(maxsize=64)  # noqa: B019 (one folder a command)
    def _all(self, path: Path, kind: type[R]) -> list[R]:
        return list(read_rows(path, kind)) if path.is_file() else []


def _published(path: Path, kind: type[R]) -> R:
    if not path.is_file():
        raise UserError(
            f"{path.absolute()}: no such file; go to the folder that the run works in, or run the workflow there again, "
            "which makes the comparison and what it is checked by"
        )
    return read_record(path, kind)
