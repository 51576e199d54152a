"""Where everything about one clip lies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from codecap import config as configuration
from codecap import plan, store
from codecap.errors import UserError
from codecap.records import Annotation, Answer, Caption, Clip, Render, Row, Score, read_rows


def places(config: Mapping[str, Any], clip_id: str) -> Iterator[tuple[str, str]]:
    """Pairs of what it is and where it lies, stage by stage; what is not made yet is left out.

    Raises:
        UserError: no such clip in the table.
    """
    made = plan.make(config)
    clips = {clip.clip_id: (bucket, clip) for bucket, held in made.buckets.items() for clip in held}
    if clip_id not in clips:
        raise UserError(f"{config['clips']}: no clip {clip_id!r}; there are {', '.join(sorted(clips)[:20]) or 'none'}")
    bucket, clip = clips[clip_id]
    yield "clip", f"{clip.mp4}  {clip.frames} frames, {clip.width_px}x{clip.height_px}"
    yield "bucket", bucket
    yield from _annotations(config, clip, bucket)
    for system in made.captioners:
        caption = _row(plan.RESULTS / "4_generate" / system / f"{bucket}.jsonl", Caption, clip_id)
        if caption is not None:
            made_file = caption.html or caption.text or caption.mp4
            yield f"caption of {system}", f"{_place(made_file) or caption.detail}  {caption.outcome}"
        render = _row(plan.RESULTS / "5_render" / system / f"{bucket}.jsonl", Render, clip_id)
        if render is not None:
            yield f"render of {system}", f"{_place(render.mp4) or render.detail}  {render.outcome}"
        for lane in made.lanes:
            scores = plan.RESULTS / "6_score" / lane / system / f"{bucket}.jsonl"
            if scores.is_file():
                count = sum(row.clip_id == clip_id for row in read_rows(scores, Score))
                yield f"scores of {system} ({lane})", f"{scores}  {count} rows"
    for subject in made.questions.subjects:
        answers = plan.RESULTS / "6_score" / "answers" / subject / f"{bucket}.jsonl"
        count = sum(row.clip_id == clip_id for row in read_rows(answers, Answer)) if answers.is_file() else 0
        if count:
            yield f"answers about {subject.removeprefix('_')}", f"{answers}  {count} rows"
    page = plan.RESULTS / "8_report" / "clips" / f"{clip_id}.html"
    if page.is_file():
        yield "report page", str(page)


def _place(file: Path | None) -> str | None:
    """Where a file of the store lies, and in which pack if it is in one."""
    pack = None if file is None else store.pack_of(file)
    return None if file is None else str(file) if pack is None else f"{file} (packed in {pack.name})"


def _annotations(config: Mapping[str, Any], clip: Clip, bucket: str) -> Iterator[tuple[str, str]]:
    approved = configuration.find(config["annotations_folder"]) / f"{clip.clip_id}.json"
    if approved.is_file():
        yield "approved annotation", str(approved)
    rows = plan.RESULTS / "3_annotate" / config["annotations"] / f"{bucket}.jsonl"
    annotation = _row(rows, Annotation, clip.clip_id)
    if annotation is not None:
        counts = f"{len(annotation.objects)} objects, {len(annotation.focal_points)} focal points"
        yield f"{config['annotations']} annotation", f"{rows}  {counts}"


def _row(path: Path, kind: type[Row], clip_id: str) -> Any:
    if not path.is_file():
        return None
    return next((row for row in read_rows(path, kind) if row.clip_id == clip_id), None)
