"""A finished run of any size, made up without running a stage: rows as the stages write them, over a few drawn videos and pages.

Clips share eight videos by hard links, and systems their pages, so that a run of 16 x 323 takes some megabytes; rows, boxes and the
judge's words are of each task's own, and as long as those of a real run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from codecap.clock import FPS
from codecap.compare.columns import MetricInfo
from codecap.compare.comparison import Comparison
from codecap.compare.tables import tabulate
from codecap.records import (
    AnnotatedObject,
    Annotation,
    Box,
    Caption,
    Certificate,
    Clip,
    FocalPoint,
    ObjectTrack,
    ObjectTracks,
    Outcome,
    Render,
    Score,
    Usage,
    write_rows,
)
from codecap.video import CanonicalWriter, file_sha256

FRAMES = 240
WIDTH_PX, HEIGHT_PX = 160, 90
VIDEOS = 8
OBJECTS, POINTS = 6, 10
PAGE_CHARACTERS = 20_000
RESAMPLES = 200
METRICS = [
    MetricInfo("visual_similarity", "Visual similarity", "", -1, 1, True),
    MetricInfo("object_iou", "Object IoU", "%", 0, 100, True, "objects"),
    MetricInfo("retention", "Retention", "", 0, 100, True, "focal_points"),
    MetricInfo("appearance", "AS", "", -1, 1, True),
    MetricInfo("mps", "MPS", "", 0, 1, True),
    MetricInfo("kss", "KSS", "", -1, 1, True),
    MetricInfo("lag", "Lag", "s", -2, 2, None),
    MetricInfo("unique_frames", "Unique frames", "", 0, 1, True),
    MetricInfo("code_size", "Code size", "bytes", 0, None, False),
]
WHOLE = ("visual_similarity", "appearance", "mps", "kss", "unique_frames")
WORDS = "The bar is there and has the right colour, but it reaches its end a little late, and it stops there without slowing down. "
FAILURES = (Outcome.GENERATION_TIMEOUT, Outcome.RUNTIME_ERROR, Outcome.MISSING_SEEK, Outcome.RENDER_TIMEOUT)
CLASSES = {"watch": 9, "write": 4, "check": 6, "think": 2}


def lay(folder: Path, systems: int, clips: int) -> Comparison:
    """Write a run's videos, pages and tracks, and what stage 7 makes of its rows.

    Leaves `comparison.json` and `tables/` in `folder/7_compare`, annotations as `folder/annotations.jsonl`, and tracks of each
    system as `folder/tracks/SYSTEM.jsonl`.
    """
    random = np.random.default_rng(24)
    videos = [folder / "drawn" / f"{number}.mp4" for number in range(VIDEOS)]
    for number, mp4 in enumerate(videos):
        draw(mp4, number)
    told = [clip_of(folder, number, videos[number % VIDEOS]) for number in range(clips)]
    annotations = [annotation_of(clip.clip_id, number) for number, clip in enumerate(told)]
    write_rows(folder / "annotations.jsonl", Annotation, annotations)
    models = {f"system_{number:02d}": model(number, systems) for number in range(systems)}
    captions, renders, scores = [], [], []
    for place, system in enumerate(models):
        skill = 0.9 - 0.6 * place / systems
        rows = [task(folder, system, clip, annotation, skill, random) for clip, annotation in zip(told, annotations, strict=True)]
        captions += [row["caption"] for row in rows]
        renders += [row["render"] for row in rows]
        scores += [score for row in rows for score in row["scores"]]
        write_rows(folder / "tracks" / f"{system}.jsonl", ObjectTracks, [row["tracks"] for row in rows if row["tracks"]])
    return tabulate(
        title="A drawn run", models=models, metrics=METRICS, clips=told, annotations=annotations, captions=captions,
        renders=renders, scores=scores, out_dir=folder / "7_compare", resamples=RESAMPLES,
    )  # fmt: skip


def model(number: int, systems: int) -> dict[str, Any]:
    """Most systems are agentic or not by turns; the last two are a floor and a ceiling."""
    role = {systems - 1: "ceiling", systems - 2: "floor"}.get(number, "system") if systems > 3 else "system"
    return {"label": f"Drawn model {number + 1}", "harness": ("pi", "single")[number % 2], "agentic": number % 2 == 0, "role": role}


def boxes_of(number: int, offset_px: float = 0.0) -> list[list[Box]]:
    """Boxes of a clip's objects, frame by frame: each second one moves, each in a lane of its own."""
    moving = np.abs((np.arange(FRAMES) + 17 * number) % (2 * (WIDTH_PX - 24)) - (WIDTH_PX - 24)) + offset_px
    tracks = []
    for lane in range(OBJECTS):
        y = 2.0 + lane * 14
        xs = moving if lane % 2 == 0 else np.full(FRAMES, 8.0 + 22 * lane + offset_px)
        tracks.append([(float(x), y, float(x) + 20, y + 11) for x in xs])
    return tracks


def draw(mp4: Path, number: int) -> None:
    mp4.parent.mkdir(parents=True, exist_ok=True)
    tracks = boxes_of(number)
    with CanonicalWriter(mp4, WIDTH_PX, HEIGHT_PX) as writer:
        for frame in range(FRAMES):
            rgb = np.full((HEIGHT_PX, WIDTH_PX, 3), 240, np.uint8)
            for lane, track in enumerate(tracks):
                x0, y0, x1, y1 = (int(side) for side in track[frame])
                rgb[y0:y1, x0:x1] = (37 * (lane + number) % 200, 91 * lane % 200, 151 * (lane + 1) % 200)
            writer.add(rgb)


def clip_of(folder: Path, number: int, video: Path) -> Clip:
    category = "ABCEF"[number % 5]
    mp4 = folder / "clips" / f"{category}_{number:03d}.mp4"
    mp4.parent.mkdir(parents=True, exist_ok=True)
    os.link(video, mp4)
    size = {"frames": FRAMES, "width_px": WIDTH_PX, "height_px": HEIGHT_PX}
    return Clip(clip_id=mp4.stem, category=category, mp4=mp4, sha256=file_sha256(mp4), source="drawn", licence="CC0", **size)


def annotation_of(clip_id: str, number: int) -> Annotation:
    whole_s = (0.0, FRAMES / FPS)
    return Annotation(
        clip_id=clip_id,
        objects=[
            AnnotatedObject(name=f"bar_{lane}", description=f"bar {lane}, in its own lane", visible_s=[whole_s], boxes_xyxy=boxes)
            for lane, boxes in enumerate(boxes_of(number), start=1)
        ],
        focal_points=[
            FocalPoint(
                focal_id=f"f{point + 1}",
                kind="dynamic" if point % 2 else "static",
                description=f"Bar {point % OBJECTS + 1} keeps its colour while it goes from one side of its lane to the other",
                start_s=0.8 * point,
                end_s=0.8 * point + 1.6,
            )
            for point in range(POINTS)
        ],
    )  # fmt: skip


def page(folder: Path, number: int) -> Path:
    """A page of a caption's usual length, with a style and a script."""
    path = folder / "pages" / f"{number}.html"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        line = "  bars[{0}].style.transform = `translate(${{ease(t, {0}) * 120}}px, {0}px)`; // lane {0} of " + str(number) + "\n"
        body = "".join(line.format(place) for place in range(PAGE_CHARACTERS // len(line)))
        path.write_text(
            f"<!doctype html>\n<style>.bar {{ width: 20px }}</style>\n<script>\nwindow.seek = (t) => {{\n{body}}};\n</script>\n"
        )
    return path


def task(
    folder: Path, system: str, clip: Clip, annotation: Annotation, skill: float, random: np.random.Generator
) -> dict[str, Any]:
    """Rows of one task; one in twenty-five failed."""
    place = {"system": system, "clip_id": clip.clip_id}
    failed = FAILURES[int(random.integers(len(FAILURES)))] if random.random() < 0.04 else None
    caption = Caption(
        **place, key="k", outcome=failed if failed is Outcome.GENERATION_TIMEOUT else Outcome.OK, detail=failed or "",
        html=page(folder, int(random.integers(VIDEOS))), usage=Usage(input_uncached=12_000, input_cache_read=90_000, output=8_400),
        cost_usd=round(float(random.gamma(2, 0.1)), 4), rounds=int(random.integers(2, 12)),
        wall_s=round(float(random.gamma(3, 60)), 1), tool_calls=CLASSES, harness_version="drawn 1.0",
    )  # fmt: skip
    if failed:
        certificate = Certificate(outcome=failed, console_errors=["ReferenceError: ease is not defined"], engine="none")
        render = Render(**place, key="k", outcome=failed, detail=failed, certificate=certificate)
        return {"caption": caption, "render": render, "scores": [], "tracks": None}
    certificate = Certificate(
        outcome=Outcome.OK, frames=FRAMES, width_px=WIDTH_PX, height_px=HEIGHT_PX, frames_sha256="ab" * 32, seek_repeatable=True,
        unique_frame_ratio=1.0, engine="none", flags=["--drawn"],
    )  # fmt: skip
    render = Render(
        **place, key="k", outcome=Outcome.OK, mp4=clip.mp4, certificate=certificate, wall_s=2.0, protocol="drawn, 24 fps"
    )
    shift_px = round(float(random.uniform(0, 20 * (1 - skill))), 1)
    boxes = boxes_of(int(clip.clip_id[2:]), shift_px)
    found = [
        ObjectTrack(name=item.name, status="found", boxes_xyxy=track) for item, track in zip(annotation.objects, boxes, strict=True)
    ]
    tracks = ObjectTracks(**place, key="k", status="ok", tracks=found, protocol="drawn")
    scores = list(scores_of(place, annotation, skill, shift_px, random))
    return {"caption": caption, "render": render, "scores": scores, "tracks": tracks}


def scores_of(
    place: dict[str, str], annotation: Annotation, skill: float, shift_px: float, random: np.random.Generator
) -> Iterator[Score]:
    def row(metric: str, value: float, **more: Any) -> Score:
        return Score(**place, metric=metric, value=value, status="ok", protocol=f"{metric}, drawn", **more)

    for metric in WHOLE:
        yield row(metric, round(float(np.clip(skill + random.normal(0, 0.08), 0, 1)), 4))
    yield row("lag", round(float(random.normal(0, 0.1)), 3))
    yield row("code_size", float(random.integers(4_000, 40_000)))
    iou = 100 * (20 - shift_px) / (20 + shift_px)
    for item in annotation.objects:
        yield row("object_iou", iou, item=item.name, kind="found")
    for point in annotation.focal_points:
        grade = int(np.clip(round(5 * (skill + random.normal(0, 0.15))), 0, 5))
        yield row("retention", 20.0 * grade, item=point.focal_id, kind=point.kind, detail=f"{grade} of 5. {WORDS}")
