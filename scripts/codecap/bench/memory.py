"""Peak memory of every stage on one long, large clip: videos are streamed, not held.

The clip is drawn here: shapes that move over a flat ground, with a cut in the middle. Each stage runs in a process of its own, so
that its peak is its own; a browser's processes are not counted with the stage that drives it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np

from codecap import config as configuration
from codecap.clock import FPS
from codecap.records import Annotation, Caption, Clip, ObjectPrompts, Render, read_record, write_record
from codecap.video import CanonicalWriter

DEMO = configuration.PROJECT / "config" / "demo.yaml"


def measure(seconds: int, width_px: int, height_px: int) -> dict[str, float]:
    """Peak resident memory of each stage's process, in MB."""
    with tempfile.TemporaryDirectory(prefix="codecap-bench-") as folder:
        _peak_mb(
            "draw", folder, str(seconds * FPS), str(width_px), str(height_px)
        )  # apart: a child's peak begins at its parent's size
        return {name: _peak_mb(name, folder) for name in STAGES}


def _peak_mb(stage: str, folder: str, *more: str) -> float:
    process = subprocess.Popen([sys.executable, "-m", __name__, stage, folder, *more])
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"stage {stage} ended with {process.returncode}")
    return used.ru_maxrss / 1024


def _draw(mp4: Path, frames: int, width_px: int, height_px: int) -> None:
    unit = height_px // 10
    with CanonicalWriter(mp4, width_px, height_px) as writer:
        for index in range(frames):
            ground = (240, 240, 250) if index < frames // 2 else (30, 40, 60)
            picture = np.full((height_px, width_px, 3), ground, np.uint8)
            way = index / frames
            x, y = round(width_px * (0.1 + 0.7 * way)), round(height_px * (0.3 + 0.4 * way**2))
            cv2.rectangle(picture, (x, y), (x + 2 * unit, y + unit), (220, 60, 40), -1)
            cv2.circle(picture, (width_px - x, height_px // 4), unit, (40, 120, 220), -1)
            place, size = (unit, height_px - unit), unit / 30
            cv2.putText(picture, f"step {index // FPS}", place, cv2.FONT_HERSHEY_SIMPLEX, size, (90, 160, 90), 3)
            writer.add(picture)


def _clip(folder: Path) -> Clip:
    return read_record(folder / "clip.json", Clip)


def _ingest(folder: Path) -> None:
    """The drawn clip as another video, 25 fps, so that it has to be converted."""
    from codecap.collect.ingest import ingest_file
    from codecap.score.engine.single import clip_of

    source = folder / "source.mp4"
    _at_25_fps(folder / "drawn.mp4", source)
    ingest_file(source, folder / "clip.mp4")
    write_record(folder / "clip.json", clip_of(folder / "clip.mp4", "A_001"))


def _at_25_fps(mp4: Path, out: Path) -> None:
    import av

    with av.open(str(mp4)) as source, av.open(str(out), "w") as target:
        stream = source.streams.video[0]
        copy = target.add_stream_from_template(stream)
        for packet in source.demux(stream):
            if packet.pts is not None:
                packet.time_base = packet.time_base * FPS / 25
                packet.stream = copy
                target.mux(packet)


def _filter(folder: Path) -> None:
    from codecap.filtering.verdict import filter_clip

    filter_clip(_clip(folder), {})


def _annotate(folder: Path) -> None:
    from codecap import registry

    config = configuration.load(DEMO)
    name = config["proposer"]
    annotation = registry.make("annotate.proposers", name, config["proposers"].get(name, {})).propose(_clip(folder))
    write_record(folder / "annotation.json", annotation)


def _generate(folder: Path) -> None:
    from codecap.generate.captions import caption_shard

    entry = configuration.load(DEMO)["models"]["vtrace"]
    settings = configuration.harness_settings(entry)
    (caption,) = caption_shard([_clip(folder)], "vtrace", entry["harness"], settings, "bench", folder / "store")
    write_record(folder / "caption.json", caption)


def _render(folder: Path) -> None:
    from codecap.render.renders import render_shard

    caption, clip = read_record(folder / "caption.json", Caption), _clip(folder)
    settings = configuration.load(DEMO)["render"]
    (render,) = render_shard([caption], {clip.clip_id: clip}, settings=settings, code="bench", bulk=folder / "store")
    write_record(folder / "render.json", render)


def _prompt(folder: Path) -> None:
    from codecap.score.engine import choice
    from codecap.score.engine.objects import prompt_shard

    render, clip, annotation = _scored(folder)
    backend = choice.backend(configuration.load(DEMO), "prompter")
    (prompts,) = prompt_shard([render], {clip.clip_id: clip}, {clip.clip_id: annotation}, backend, folder / "store")
    write_record(folder / "prompts.json", prompts)


def _segment(folder: Path) -> None:
    from codecap.score.engine import choice
    from codecap.score.engine.objects import segment_shard

    render, clip, _ = _scored(folder)
    prompts = read_record(folder / "prompts.json", ObjectPrompts)
    backend = choice.backend(configuration.load(DEMO), "segmenter")
    list(segment_shard([prompts], {clip.clip_id: render}, {clip.clip_id: clip}, backend, folder / "store"))


def _describe(folder: Path) -> None:
    from codecap.score.engine.single import Scorer

    lane = Scorer(configuration.load(DEMO), folder / "store").lane
    clip = _clip(folder)
    lane.describe(clip, lane.shots(clip), lane.choices)


def _score(folder: Path) -> None:
    from codecap.score.engine.single import Scorer

    render, clip, annotation = _scored(folder)
    Scorer(configuration.load(DEMO), folder / "store").score(clip, render.mp4, annotation, render=render)


def _scored(folder: Path) -> tuple[Render, Clip, Annotation]:
    return read_record(folder / "render.json", Render), _clip(folder), read_record(folder / "annotation.json", Annotation)


STAGES: dict[str, Callable[[Path], None]] = {
    "ingest": _ingest,
    "filter": _filter,
    "annotate": _annotate,
    "generate": _generate,
    "render": _render,
    "prompt_objects": _prompt,
    "segment_objects": _segment,
    "describe_references": _describe,
    "score_renders": _score,
}

if __name__ == "__main__":
    if sys.argv[1] == "draw":
        _draw(Path(sys.argv[2]) / "drawn.mp4", *map(int, sys.argv[3:]))
    else:
        STAGES[sys.argv[1]](Path(sys.argv[2]))
