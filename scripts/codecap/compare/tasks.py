"""One (system, clip) task: what became of it, and its value in each column (outcome first, score second)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import TypeVar

from codecap.compare.comparison import Column, ComparisonError, ItemScore, State, TaskEntry
from codecap.records import Annotation, Caption, Clip, Outcome, Render, Score, Usage

NOT_RUN = "not run: there is neither a caption nor a render of it"
R = TypeVar("R", Caption, Render)


@dataclass(frozen=True)
class VideoValue:
    """A video's number in a column."""

    value: float | None
    state: State
    unscored_items: int = 0


@dataclass
class TaskRows:
    """All rows of one task."""

    caption: Caption | None = None
    render: Render | None = None
    scores: dict[str, list[Score]] = field(default_factory=lambda: defaultdict(list))  # by metric

    @property
    def outcome(self) -> Outcome:
        """The caption's when it failed (a salvaged page is rendered too, beside the table), else the render's."""
        if self.caption is not None and self.caption.outcome is not Outcome.OK:
            return self.caption.outcome
        return self.render.outcome if self.render is not None else Outcome.INFRA_ERROR

    @property
    def detail(self) -> str:
        if self.caption is not None and self.caption.outcome is not Outcome.OK:
            return self.caption.detail
        return self.render.detail if self.render is not None else NOT_RUN


def collect(
    systems: Sequence[str],
    clips: Sequence[Clip],
    captions: Iterable[Caption],
    renders: Iterable[Render],
    scores: Iterable[Score],
) -> dict[tuple[str, str], TaskRows]:
    """Bring the rows of each task together, systems and clips in the order given; a task without rows is there too.

    Raises:
        ComparisonError: a row of an unknown system or clip, a task with two captions or renders, an item scored twice.
    """
    tasks = {(system, clip.clip_id): TaskRows() for system in systems for clip in clips}

    def task_of(row: Caption | Render | Score) -> TaskRows:
        found = tasks.get((row.system, row.clip_id))
        if found is None:
            raise ComparisonError(
                f"a {type(row).__name__} row is of system {row.system!r} and clip {row.clip_id!r}, "
                "which the config and the clips table do not both have; run the stages again with this config"
            )
        return found

    for caption in captions:
        task = task_of(caption)
        task.caption = _only(task.caption, caption)
    for render in renders:
        task = task_of(render)
        task.render = _only(task.render, render)
    twice = set()
    for score in scores:
        place = (score.metric, score.system, score.clip_id, score.item)
        if place in twice:
            raise ComparisonError(f"two scores for one place (metric, system, clip, item): {place}")
        twice.add(place)
        task_of(score).scores[score.metric].append(score)
    return tasks


def video_value(column: Column, task: TaskRows, expected: Mapping[str, str] | None) -> VideoValue:
    """A video's value in a column, by METRICS: a failure is 0, what we failed at is not scored, items are averaged first.

    Args:
        column: says metric and part; `dynamic` and `static` take that kind's points, `overall` all of them.
        task: its rows.
        expected: the items that the clip's annotation has for this column, name to kind; None for a metric without items.

    Returns:
        `absent` where the clip has no such item; a video with some items unscored has the mean of the others, and their count.

    Raises:
        ComparisonError: scores that contradict the outcome, or of items that the annotation does not have.
    """
    if expected is not None and column.part in ("dynamic", "static"):
        expected = {name: kind for name, kind in expected.items() if kind == column.part}
    if expected is not None and not expected:
        return VideoValue(None, "absent")
    if task.outcome is Outcome.INFRA_ERROR:
        return VideoValue(None, "infra_error")
    if task.outcome.scores_zero:
        return VideoValue(0.0 if column.zero_when_failed else None, "failed")
    rows = task.scores.get(column.metric, [])
    for row in rows:
        _check_status(row, task)
    whole = [row for row in rows if row.item is None]
    if any(row.value is None for row in whole) or not rows:
        state: State = "infra_error" if any(row.status == Outcome.INFRA_ERROR for row in whole) else "unscored"
        return VideoValue(None, state)
    if expected is None:
        values = [row.value for row in rows if row.value is not None]
        missing = len(rows) - len(values)
    else:
        by_item = {row.item: row for row in rows}
        values = [by_item[name].value for name in expected if name in by_item and by_item[name].value is not None]
        missing = len(expected) - len(values)
    if not values:
        state = "infra_error" if any(row.status == Outcome.INFRA_ERROR for row in rows) else "unscored"
        return VideoValue(None, state)
    return VideoValue(fmean(values), "ok", missing)


def expected_items(column: Column, annotation: Annotation | None) -> dict[str, str] | None:
    """The items that an annotation has for a column, name to kind; None for a metric without items."""
    if not column.items:
        return None
    if annotation is None:
        return {}
    if column.items == "objects":
        return {item.name: "" for item in annotation.objects}
    return {point.focal_id: point.kind for point in annotation.focal_points}


def check_items(columns: Sequence[Column], annotation: Annotation | None, task: TaskRows) -> None:
    """Raises ComparisonError when a score speaks of an item that the clip's annotation does not have."""
    for column in columns:
        expected = expected_items(column, annotation)
        if expected is None:
            continue
        for row in task.scores.get(column.metric, []):
            if row.item is not None and row.item not in expected:
                raise ComparisonError(
                    f"metric {row.metric!r} scored {row.item!r} of clip {row.clip_id!r} for system {row.system!r}, which the "
                    "clip's annotation does not have: it was scored with another annotation; run the scoring again"
                )


def entry_of(system: str, clip_id: str, task: TaskRows, values: Mapping[str, VideoValue]) -> TaskEntry:
    """The task as the report shows it."""
    caption, render = task.caption, task.render
    return TaskEntry(
        system=system,
        clip_id=clip_id,
        outcome=task.outcome,
        detail=task.detail,
        salvaged=bool((caption and caption.salvaged) or (render and render.salvaged)),
        values={name: value.value for name, value in values.items()},
        states={name: value.state for name, value in values.items()},
        unscored_items={name: value.unscored_items for name, value in values.items() if value.unscored_items},
        items=[
            ItemScore(metric=row.metric, item=row.item, kind=row.kind, value=row.value, status=row.status, detail=row.detail)
            for metric in sorted(task.scores)
            for row in sorted(task.scores[metric], key=lambda row: row.item or "")
            if row.item is not None or row.detail
        ],
        mp4=render.mp4 if render else None,
        html=caption.html if caption else None,
        certificate=render.certificate if render else None,
        cost_usd=caption.cost_usd if caption else None,
        rounds=caption.rounds if caption else None,
        caption_wall_s=caption.wall_s if caption else None,
        render_wall_s=render.wall_s if render else None,
        usage=caption.usage if caption else Usage(),
        tool_calls=caption.tool_calls if caption else {},
    )


def _only(before: R | None, row: R) -> R:
    if before is not None:
        raise ComparisonError(
            f"system {row.system!r} has two {type(row).__name__} rows for clip {row.clip_id!r} (keys {before.key}, {row.key})"
        )
    return row


def _check_status(row: Score, task: TaskRows) -> None:
    if row.status in ("ok", "unscored", Outcome.INFRA_ERROR):
        return
    raise ComparisonError(
        f"metric {row.metric!r} takes system {row.system!r} on clip {row.clip_id!r} for {row.status!r}, but its outcome is "
        f"{task.outcome.value!r}: captions, renders and scores are of different runs; run the scoring again"
    )
