"""From rows to tables: means over videos with intervals, by system, by category, by cause of failure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from codecap import stats
from codecap.compare import answer_csv, csv_files, printed, published, statistics_csv
from codecap.compare.agreement import Subject, agree
from codecap.compare.answers import summarise
from codecap.compare.causes import causes_of
from codecap.compare.columns import MetricInfo, columns_of, table_sets
from codecap.compare.comparison import (
    ClipEntry,
    Column,
    Comparison,
    ComparisonError,
    FailureCount,
    Group,
    System,
    SystemRow,
    TaskEntry,
)
from codecap.compare.correlations import correlations_of
from codecap.compare.effort import series_of
from codecap.compare.means import by_category, differences, system_row
from codecap.compare.pairs import Values, detectable_of, pairs_of, ranks_of
from codecap.compare.reconstruction import reconstruction_of
from codecap.compare.spending import spent
from codecap.compare.stability import stability_of
from codecap.compare.tasks import TaskRows, VideoValue, check_items, collect, entry_of, expected_items, video_value
from codecap.records import Annotation, Answer, Caption, Clip, HumanScore, Outcome, Render, Score, write_record

FEW_CLIPS = 20  # below it a percentile bootstrap covers clearly less than it says


def tabulate(
    *,
    title: str,
    models: Mapping[str, Mapping[str, Any]],
    metrics: Sequence[MetricInfo],
    clips: Sequence[Clip],
    annotations: Iterable[Annotation],
    captions: Iterable[Caption],
    renders: Iterable[Render],
    scores: Iterable[Score],
    out_dir: Path,
    humans: Iterable[HumanScore] = (),
    problems: Sequence[str] = (),
    texts: Mapping[str, Mapping[str, Any]] | None = None,
    answers: Iterable[Answer] = (),
    config: Mapping[str, Any] | None = None,
    resamples: int = stats.RESAMPLES,
    seed: int = stats.SEED,
) -> Comparison:
    """Compare systems and write `out_dir/tables/*.csv`, some of them as LaTeX and Markdown too, and `out_dir/comparison.json`.

    Args:
        title: of the run, for the report's head.
        models: the config's systems; of each entry `label`, `harness`, `role` (system, floor, ceiling), `agentic`, `series` and
            the endpoint's `thinking` are used, all optional.
        metrics: what the configured metrics are; see `columns.describe`.
        clips: all clips of the benchmark; every (system, clip) pair is a task, also one without any row.
        annotations: say which objects and focal points a video has, so that a failed one counts 0 in the right columns.
        captions, renders, scores: rows of all shards, in any order.
        out_dir: the folder to write.
        humans: what people gave focal points; compared with the judges, in no other table.
        problems: of the configuration, for the reader: what is left out of this run, and why.
        texts: entries that make captions in words, from which systems of `models` may have made videos.
        answers: to questions about the clips, from what these systems and `texts` made of them.
        config: the whole configuration, to set the run beside the paper's tables; without it they are left out.
        resamples, seed: of the bootstrap.

    Returns:
        What was written to `comparison.json`. Same rows, same bytes, in whatever order the rows come.

    Raises:
        ComparisonError: rows contradict each other, are of unknown systems or clips, or mix protocols of a metric.
    """
    scores = list(scores)
    columns = columns_of(metrics, scores)
    annotated = _by_clip(annotations, {clip.clip_id for clip in clips})
    clips = sorted(clips, key=lambda clip: clip.clip_id)
    tasks = collect(list(models), clips, captions, renders, scores)
    values = _values(columns, annotated, tasks)
    headings = headings_of(models)
    systems = [_system(name, entry, headings[name], tasks) for name, entry in models.items()]
    _leave_out_unmeasured(systems, columns, values)
    entries = [entry_of(*place, task, values[place]) for place, task in tasks.items()]
    main = [system_row(system, entries, columns, resamples, seed) for system in systems]
    categories = {clip.clip_id: clip.category for clip in clips}
    agreement, left_out = agree(Subject.of(clips, annotated.values(), tasks, systems), metrics, humans, resamples, seed)
    series, odd = series_of(models)
    listed = [_clip_entry(clip, annotated) for clip in clips]
    reconstruction = reconstruction_of(models, texts or {})
    answers = list(answers)
    answered = summarise(answers, models, texts or {}, resamples, seed)
    run = None if config is None else published.Run(config, models, systems, columns, main, listed, reconstruction, answered)
    comparison = Comparison(
        title=title,
        systems=systems,
        columns=columns,
        clips=listed,
        main=main,
        by_category=by_category(systems, entries, columns, categories, resamples, seed),
        differences=differences(systems, main, entries, columns, resamples, seed),
        failures=_failures(systems, entries),
        tasks=entries,
        spent=[spent(name, (task.caption for (of, _), task in tasks.items() if of == name and task.caption)) for name in models],
        causes=causes_of(systems, entries),
        series=series,
        agreement=agreement,
        **_certainty(Values(systems, columns, entries), main, entries, resamples, seed),
        stability=stability_of(scores, list(models)),
        reconstruction=reconstruction,
        published=None if run is None else published.published(run),
        answered=answered,
        resamples=resamples,
        problems=list(problems),
        notes=[*_notes(clips, columns, main, annotated), *left_out, *odd],
    )
    _write(out_dir, comparison, scores, answers)
    return comparison


def _write(out_dir: Path, comparison: Comparison, scores: Iterable[Score], answers: Iterable[Answer]) -> None:
    tables = out_dir / "tables"
    csv_files.write_tables(tables, comparison, table_sets(comparison.columns), scores)
    if comparison.answered is not None:
        answer_csv.write_tables(tables, comparison.answered, answers)
    statistics_csv.write_tables(tables, comparison)
    printed.write_tables(tables, comparison)
    write_record(out_dir / "comparison.json", comparison)


def _values(
    columns: Sequence[Column], annotated: Mapping[str, Annotation], tasks: Mapping[tuple[str, str], TaskRows]
) -> dict[tuple[str, str], dict[str, VideoValue]]:
    """Each task's value in each column."""
    values = {}
    for (system, clip_id), task in tasks.items():
        annotation = annotated.get(clip_id)
        check_items(columns, annotation, task)
        values[system, clip_id] = {column.name: video_value(column, task, expected_items(column, annotation)) for column in columns}
    return values


def _certainty(
    values: Values, main: Sequence[SystemRow], entries: Sequence[TaskEntry], resamples: int, seed: int
) -> dict[str, Any]:
    """How sure the order of the systems is, by the comparison's own names."""
    pairs = pairs_of(values, resamples, seed)
    return {
        "pairs": pairs,
        "ranks": ranks_of(values, main, resamples, seed),
        "detectable": detectable_of(pairs),
        "correlations": correlations_of(values, entries, resamples, seed),
    }


def _by_clip(annotations: Iterable[Annotation], known: set[str]) -> dict[str, Annotation]:
    by_clip: dict[str, Annotation] = {}
    for annotation in annotations:
        if annotation.clip_id not in known:
            raise ComparisonError(f"there is an annotation of clip {annotation.clip_id!r}, which the clips table lacks")
        if annotation.clip_id in by_clip:
            raise ComparisonError(f"clip {annotation.clip_id!r} has two annotations")
        by_clip[annotation.clip_id] = annotation
    return by_clip


def headings_of(models: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """How tables head each system: by its label; where several have one, with the harness; where even that is one, by its name.

    >>> headings_of({"a": {"label": "X", "harness": "pi"}, "b": {"label": "X", "harness": "codex"}, "c": {}})
    {'a': 'X (pi)', 'b': 'X (codex)', 'c': 'c'}
    """
    labels = {name: str(entry.get("label") or name) for name, entry in models.items()}
    longer = {name: f"{labels[name]} ({entry.get('harness', '')})" for name, entry in models.items()}

    def heading(name: str) -> str:
        if list(labels.values()).count(labels[name]) == 1:
            return labels[name]
        return longer[name] if list(longer.values()).count(longer[name]) == 1 else f"{labels[name]} ({name})"

    return {name: heading(name) for name in models}


def _system(name: str, entry: Mapping[str, Any], heading: str, tasks: Mapping[tuple[str, str], TaskRows]) -> System:
    role = entry.get("role", "system")
    group: Group = role if role in ("floor", "ceiling") else "agentic" if entry.get("agentic") else "non_agentic"
    mine = [task for (system, _), task in tasks.items() if system == name]
    return System(
        name=name,
        label=str(entry.get("label") or name),
        heading=heading,
        group=group,
        harness=str(entry.get("harness", "")),
        versions=sorted({task.caption.harness_version for task in mine if task.caption and task.caption.harness_version}),
        render_protocols=sorted({task.render.protocol for task in mine if task.render and task.render.protocol}),
    )


def _leave_out_unmeasured(
    systems: Sequence[System], columns: Sequence[Column], values: dict[tuple[str, str], dict[str, VideoValue]]
) -> None:
    """A ceiling need not be measured by every metric: where it has no number at all, the column does not concern it."""
    for system in systems:
        if system.group != "ceiling":
            continue
        mine = [of_task for (name, _), of_task in values.items() if name == system.name]
        for column in columns:
            if all(of_task[column.name].state in ("unscored", "absent") for of_task in mine):
                for of_task in mine:
                    of_task[column.name] = VideoValue(None, "absent")


def _clip_entry(clip: Clip, annotated: Mapping[str, Annotation]) -> ClipEntry:
    return ClipEntry(
        clip_id=clip.clip_id,
        category=clip.category,
        mp4=clip.mp4,
        frames=clip.frames,
        width_px=clip.width_px,
        height_px=clip.height_px,
        source=clip.source,
        licence=clip.licence,
        annotated=clip.clip_id in annotated,
    )


def _failures(systems: Sequence[System], entries: Sequence[TaskEntry]) -> list[FailureCount]:
    clips: dict[tuple[str, Outcome], list[str]] = defaultdict(list)
    for entry in entries:
        if entry.outcome is not Outcome.OK:
            clips[entry.system, entry.outcome].append(entry.clip_id)
    return [
        FailureCount(system=system.name, outcome=outcome, count=len(found), clips=sorted(found))
        for system in systems
        for outcome in Outcome
        if (found := clips.get((system.name, outcome)))
    ]


def _notes(
    clips: Sequence[Clip], columns: Sequence[Column], main: Sequence[SystemRow], annotated: Mapping[str, Annotation]
) -> list[str]:
    notes = []
    if any(column.proxy for column in columns):
        notes.append(
            "Numbers of stand-in backends (marked) are made without the paper's models. They show that the course works and "
            "rank these systems among themselves; they are not comparable with published ones."
        )
    if any(row.incomplete(columns) for row in main):
        notes.append("Some rows are incomplete: tasks that we failed at, or videos, objects or points without a number.")
    if len(clips) < FEW_CLIPS:
        notes.append(
            f"{len(clips)} clips: a bootstrap interval over so few videos is too narrow, and small differences mean nothing."
        )
    without = [clip.clip_id for clip in clips if clip.clip_id not in annotated]
    if without:
        notes.append(
            f"{len(without)} of {len(clips)} clips have no annotation and are left out of the metrics that need one: "
            f"{', '.join(without[:10])}{', ...' if len(without) > 10 else ''}."
        )
    return notes
