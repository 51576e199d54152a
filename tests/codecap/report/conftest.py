"""A small run of the benchmark, made up whole: videos that carry their frame number as a code, and rows of every stage.

All numbers are drawn from one seeded generator, so that a run looks like one: better systems are better nearly everywhere.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from codecap.clock import FPS
from codecap.compare.columns import MetricInfo
from codecap.compare.comparison import Comparison
from codecap.compare.tables import tabulate
from codecap.records import (
    AnnotatedObject,
    Annotation,
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
from codecap.render.browser import find_browser
from codecap.report.site import build_report
from codecap.video import CanonicalWriter

WIDTH_PX, HEIGHT_PX = 320, 180
CODE_BITS, CODE_PX = 8, 20  # blocks along the lower edge, the lowest bit first: white is 1
HOSTILE = '<img src=x onerror="document.title=1">'
JUDGE_SAYS = 'give 5 </script><script>document.title="taken"</script>'

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
MODELS = {
    "atlas_agent": {"label": "Atlas 2", "harness": "pi", "agentic": True},
    "borea_agent": {"label": "Borea", "harness": "codex", "agentic": True},
    "atlas": {"label": "Atlas 2", "harness": "single"},
    "vtrace": {"label": "Vector trace", "harness": "vtrace"},
    "hostile": {"label": HOSTILE, "harness": "single"},
    "still": {"label": "First frame, traced", "role": "floor", "harness": "vtrace"},
    "blank": {"label": "Empty page", "role": "floor", "harness": "vtrace"},
    "reference": {"label": "Reference itself", "role": "ceiling", "harness": "reference"},
}
SKILL = dict(zip(MODELS, (0.92, 0.78, 0.85, 0.7, 0.45, 0.35, 0.05, 1.0), strict=True))


@dataclass
class Run:
    """What a report is built from."""

    comparison: Comparison
    annotations: list[Annotation]
    tracks: list[Path]
    tables: Path


def draw(width_px: int, height_px: int, frame: int, boxes: list[tuple | None], ground: int) -> np.ndarray:
    """uint8 RGB `(height, width, 3)`: filled boxes on flat ground, the frame's number as a code of blocks below."""
    rgb = np.full((height_px, width_px, 3), ground, np.uint8)
    colours = [(30, 120, 200), (220, 120, 40), (40, 170, 120), (190, 60, 140)]
    for box, colour in zip(boxes, colours, strict=False):
        if box is not None:
            x0, y0, x1, y1 = (round(side) for side in box)
            rgb[max(y0, 0) : y1, max(x0, 0) : x1] = colour
    for bit in range(CODE_BITS):
        left = bit * CODE_PX
        rgb[-CODE_PX:, left : left + CODE_PX] = 255 if frame >> bit & 1 else 0
    return rgb


def objects_of(frames: int, number: int) -> list[AnnotatedObject]:
    """Three objects: one that moves, one that rests, one that comes late."""
    moving = [
        (20 + 2.0 * i, 40 + 20 * np.sin(i / 9 + number), 70 + 2.0 * i, 80 + 20 * np.sin(i / 9 + number)) for i in range(frames)
    ]
    resting = [(230.0, 20.0, 300.0, 60.0)] * frames
    late = [None if i < frames // 2 else (120.0, 100.0, 170.0, 140.0) for i in range(frames)]
    made = []
    for name, words, boxes in (
        ("slider", "the blue bar that swings from left to right", moving),
        ("panel", "the orange panel at the top right", resting),
        ("toast", "the green message that appears half-way", late),
    ):
        seen = [i for i, box in enumerate(boxes) if box is not None]
        made.append(
            AnnotatedObject(
                name=name,
                description=words,
                visible_s=[(seen[0] / FPS, (seen[-1] + 1) / FPS)],
                boxes_xyxy=[tuple(map(float, b)) if b else None for b in boxes],
            )
        )
    return made


def points_of(frames: int) -> list[FocalPoint]:
    end_s = frames / FPS
    told = [
        ("static", "The panel at the top right is orange and has sharp corners", 0.0, end_s),
        ("static", "The ground is one flat light grey", 0.0, end_s / 2),
        ("dynamic", "The bar swings up and down while it moves to the right at a steady pace", 0.2, end_s - 0.2),
        ("dynamic", "The message appears at once, without a fade", end_s / 2 - 0.2, end_s / 2 + 0.4),
    ]
    return [
        FocalPoint(focal_id=f"f{i}", kind=kind, description=words, start_s=start_s, end_s=stop_s, objects=["slider"])
        for i, (kind, words, start_s, stop_s) in enumerate(told, start=1)
    ]


def write_video(mp4: Path, frames: int, boxes: list[list[tuple | None]], ground: int = 235) -> None:
    mp4.parent.mkdir(parents=True, exist_ok=True)
    with CanonicalWriter(mp4, WIDTH_PX, HEIGHT_PX) as writer:
        for frame in range(frames):
            writer.add(draw(WIDTH_PX, HEIGHT_PX, frame, [of[frame] for of in boxes], ground))


def outcome_of(system: str, number: int) -> Outcome:
    planned = {
        ("hostile", 0): Outcome.RUNTIME_ERROR,
        ("hostile", 2): Outcome.MISSING_SEEK,
        ("borea_agent", 1): Outcome.GENERATION_TIMEOUT,
    }
    planned |= {("atlas", 3): Outcome.INFRA_ERROR}
    return planned.get((system, number), Outcome.OK)


def make_run(folder: Path, clips_count: int = 5, models: dict | None = None, frames: int = 60) -> Run:
    """Write videos, pages and rows of a run under `folder`, and its comparison."""
    models = MODELS if models is None else models
    random = np.random.default_rng(7)
    clips, annotations, captions, renders, scores, tracks = [], [], [], [], [], []
    for number in range(clips_count):
        clip_id = f"{'ABCEF'[number % 5]}_{number:03d}"
        objects = objects_of(frames, number)
        mp4 = folder / "clips" / f"{clip_id}.mp4"
        write_video(mp4, frames, [item.boxes_xyxy for item in objects])
        clip = Clip(
            clip_id=clip_id,
            category=clip_id[0],
            mp4=mp4,
            sha256="0",
            frames=frames,
            width_px=WIDTH_PX,
            height_px=HEIGHT_PX,
            source="made by the test <b>itself</b>",
            licence="CC0",
        )
        clips.append(clip)
        annotations.append(Annotation(clip_id=clip_id, objects=objects, focal_points=points_of(frames)))
        for system, entry in models.items():
            rows = make_task(folder, system, entry, clip, objects, number, random)
            captions.append(rows[0])
            renders.append(rows[1])
            tracks += rows[2]
            scores += rows[3]
    shards = [folder / "tracks" / f"{bucket}.jsonl" for bucket in (0, 1)]
    for bucket, shard in enumerate(shards):
        write_rows(shard, ObjectTracks, tracks[bucket::2])
    comparison = tabulate(
        title="A made-up run", models=models, metrics=METRICS, clips=clips, annotations=annotations, captions=captions,
        renders=renders, scores=scores, out_dir=folder / "7_compare", resamples=500,
    )  # fmt: skip
    return Run(comparison, annotations, shards, folder / "7_compare" / "tables")


def make_task(folder: Path, system: str, entry: dict, clip: Clip, objects: list[AnnotatedObject], number: int, random) -> tuple:
    """Rows of one task: caption, render, tracks, scores."""
    outcome, skill = outcome_of(system, number), SKILL.get(system, 0.6)
    place = {"system": system, "clip_id": clip.clip_id}
    page = folder / "captions" / system / f"{clip.clip_id}.html"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(f"<script>alert('{system}')</script>\n<p>ä → €</p>\n", encoding="utf-8")
    caption = Caption(
        **place, key="k", outcome=outcome if outcome in (Outcome.GENERATION_TIMEOUT, Outcome.INFRA_ERROR) else Outcome.OK,
        detail="the limit of 900 s passed" if outcome is Outcome.GENERATION_TIMEOUT else "", html=page,
        usage=Usage(input_uncached=12_000, output=8_400), cost_usd=0.12 if entry.get("agentic") else None,
        rounds=7 if entry.get("agentic") else None, wall_s=31.5, harness_version=f"{entry['harness']} 1.0",
    )  # fmt: skip
    if outcome is not Outcome.OK:
        detail = "ReferenceError: gsap is not defined </script>" if outcome is Outcome.RUNTIME_ERROR else outcome.value
        certificate = Certificate(outcome=outcome, console_errors=[detail, JUDGE_SAYS], engine="chromium 156")
        return caption, Render(**place, key="k", outcome=outcome, detail=detail, certificate=certificate), [], []
    shift = (1 - skill) * 30
    found = [
        [None if box is None or system == "blank" else (box[0] + shift, box[1], box[2] + shift, box[3]) for box in item.boxes_xyxy]
        for item in objects
    ]
    if system == "still":
        found = [[boxes[0]] * len(boxes) for boxes in found]
    mp4 = folder / "renders" / system / f"{clip.clip_id}.mp4"
    write_video(mp4, clip.frames, found, ground=255 if system == "blank" else 235)
    certificate = Certificate(
        outcome=Outcome.OK, frames=clip.frames, width_px=WIDTH_PX, height_px=HEIGHT_PX, mp4_sha256="ab" * 32,
        seek_repeatable=True, unique_frame_ratio=1.0 if system != "still" else 1 / clip.frames, engine="chromium 156",
        purity=["line 3: data URI of 4,211 bytes"] if system == "hostile" else [],
    )  # fmt: skip
    render = Render(
        **place, key="k", outcome=Outcome.OK, mp4=mp4, certificate=certificate, wall_s=2.0, protocol="chromium 156, 24 fps"
    )
    told = [
        ObjectTrack(name=item.name, status="found" if any(boxes) else "absent", boxes_xyxy=boxes)
        for item, boxes in zip(objects, found, strict=True)
    ]
    tracks = ObjectTracks(**place, key="k", status="ok", tracks=told)
    return caption, render, [tracks], make_scores(system, clip, objects, found, skill, random)


def make_scores(system: str, clip: Clip, objects: list[AnnotatedObject], found: list, skill: float, random) -> list[Score]:
    def row(metric: str, value: float | None, **more: object) -> Score:
        status = "unscored" if value is None else "ok"
        return Score(
            metric=metric, system=system, clip_id=clip.clip_id, value=value, status=status, protocol=f"{metric} by a stand-in",
            proxy=metric not in ("lag", "unique_frames", "code_size"), **more,
        )  # fmt: skip

    noise = lambda: float(random.normal(0, 0.04))  # noqa: E731
    rows = [row(name, min(max(skill + noise(), 0.0), 1.0)) for name in ("visual_similarity", "appearance", "kss", "unique_frames")]
    rows.append(row("mps", None, detail="no point moves") if system in ("still", "blank") else row("mps", min(skill, 1.0)))
    rows.append(row("lag", None, detail="the reference repeats itself") if clip.category == "F" else row("lag", round(noise(), 3)))
    if system != "reference":
        rows.append(row("code_size", float(random.integers(2_000, 90_000))))
    for item, boxes in zip(objects, found, strict=True):
        rows.append(row("object_iou", 100 * mean_iou(item.boxes_xyxy, boxes), item=item.name, kind="found"))
    for point in points_of(clip.frames):
        grade = int(np.clip(round(5 * (skill + noise() - (0.25 if point.kind == "dynamic" and system == "still" else 0))), 0, 5))
        unscored = system == "vtrace" and clip.category == "C" and point.focal_id == "f2"
        value = None if unscored else 20.0 * grade
        rows.append(
            row(
                "retention",
                value,
                item=point.focal_id,
                kind=point.kind,
                detail=JUDGE_SAYS if system == "hostile" else f"{grade} of 5: seen in the render",
            )
        )
    return rows


def mean_iou(first: list, second: list) -> float:
    """The definition, written out: mean over frames where either is visible, 0 where one is missing."""
    values = []
    for a, b in zip(first, second, strict=True):
        if a is None and b is None:
            continue
        if a is None or b is None:
            values.append(0.0)
            continue
        width = max(0.0, min(a[2], b[2]) - max(a[0], b[0]))
        height = max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
        area = lambda box: (box[2] - box[0]) * (box[3] - box[1])  # noqa: E731
        values.append(width * height / (area(a) + area(b) - width * height))
    return float(np.mean(values)) if values else 0.0


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return make_run(tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="session")
def make() -> Callable[..., Run]:
    return make_run


@pytest.fixture
def page_data() -> Callable[[str, str], object]:
    """Reads a data block of a page back as a browser would: the text up to the next end tag, as JSON."""

    def read(html: str, element_id: str) -> object:
        start = html.index(">", html.index(f'id="{element_id}"')) + 1
        return json.loads(html[start : html.index("</script>", start)])

    return read


@pytest.fixture(scope="module")
def report(run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run's report as it is published."""
    folder = tmp_path_factory.mktemp("site") / "8_report"
    build_report(run.comparison, annotations=run.annotations, tracks=run.tracks, out_dir=folder, tables=run.tables)
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator:
    """Of a module: who drives another browser in the same thread is refused."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=str(find_browser()))
        yield found
        found.close()
