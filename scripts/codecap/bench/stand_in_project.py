"""A copy of the project whose plugins are stand-ins: the real rules, scripts, records and store, with nothing to compute.

    project = lay(folder, systems=16, clips=323, buckets=10)
    snakemake --directory project --snakefile project/Snakefile --cores 2

Used to measure what the workflow itself costs, and to test what it does when jobs die (see `codecap.bench.stand_ins.requests`).
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from codecap.bench.stand_ins import NAME, labels
from codecap.clips_table import read_clips, write_clips
from codecap.clock import FPS
from codecap.config import PROJECT
from codecap.records import CATEGORIES, Clip, write_whole
from codecap.video import CanonicalWriter

PARTS = ("Snakefile", "rules", "scripts", "profiles", "slurm", "config", "envs", "resources")
LEFT_OUT = ("__pycache__", "*.egg-info", "annotations", "demo", "bench")  # `bench`: the pages of `codecap bench render`
PLACES = {  # of each stand-in below scripts/codecap
    "harness": f"generate/harnesses/{NAME}.py",
    "rendering": "render/rendering.py",
    "prompter": f"score/prompters/{NAME}.py",
    "segmenter": f"score/segmenters/{NAME}.py",
    "judge": f"score/judges/{NAME}.py",
    "metric": f"score/{NAME}.py",
}
REPLACED = {"render/rendering.py": "render/browser_rendering.py"}  # what is no plugin is kept under another name
CLIPS = "clips"  # folder of their files
METRICS = {"cpu": 5, "gpu": 5}  # as in the paper's protocol, beside object IoU (cpu) and retention (judge)
OBJECTS = (12, 15, 17, 19, 21)  # annotated objects of the clips, in turns: 16.8 on average, as in the benchmark
FOCAL_POINTS = (6, 8, 9, 9, 11)  # likewise 8.6
FRAMES = 456  # 19 s
WIDTH_PX, HEIGHT_PX = 96, 64
BOX_PX = 12
WAYS = 40  # different ways that objects go


def lay(
    folder: Path,
    *,
    systems: int,
    clips: int,
    buckets: int,
    frames: int = FRAMES,
    metrics: Mapping[str, int] = METRICS,
    endpoint: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Path:
    """Make a project that can be run as it is, in a folder that is new or empty.

    Args:
        systems, clips, buckets: how many; systems are called system_00, clips A_0000, B_0001 and so on.
        frames: of each clip.
        metrics: stand-ins in each lane, beside object IoU in `cpu` and retention in `judge`, which are the real ones.
        endpoint: a hosted model that prompter and judge ask one question an item (see `Endpoint`); none by default.
        settings: keys of config/config.yaml that are other than the project's.

    Returns:
        The folder, absolute.
    """
    project = Path(folder).absolute()
    project.mkdir(parents=True, exist_ok=True)
    for part in PARTS:
        _copy(PROJECT / part, project / part)
    _lay_plugins(project / "scripts" / "codecap")
    told = yaml.safe_load((project / "config" / "config.yaml").read_text(encoding="utf-8"))
    told |= {"clips": "config/clips.tsv", "clips_folder": CLIPS, "annotations": "approved", "buckets": buckets, "systems": "all"}
    _write(project / "config" / "config.yaml", told | {"annotations_folder": "config/annotations"} | dict(settings or {}))
    _write(project / "config" / "metrics.yaml", {"metrics": _metrics(metrics, endpoint)})
    _write(project / "config" / "models.yaml", {"models": dict(map(_system, range(systems)))})
    with CanonicalWriter(project / "clip.mp4", WIDTH_PX, HEIGHT_PX) as writer:
        writer.add(np.full((HEIGHT_PX, WIDTH_PX, 3), 128, np.uint8))
        for _ in range(frames - 1):
            writer.repeat()
    write_clips(project / "config" / "clips.tsv", _make_clips(project, range(clips), frames), project / CLIPS)
    return project


def add_system(project: Path) -> str:
    """One more entry in config/models.yaml; its name."""
    path = project / "config" / "models.yaml"
    models = yaml.safe_load(path.read_text(encoding="utf-8"))["models"]
    name, entry = _system(len(models))
    _write(path, {"models": models | {name: entry}})
    return name


def add_clip(project: Path) -> str:
    """One more clip with its annotation; its id."""
    table = project / "config" / "clips.tsv"
    clips = read_clips(table, project / CLIPS)
    (added,) = _make_clips(project, [len(clips)], clips[0].frames)
    write_clips(table, [*clips, added], project / CLIPS)
    return added.clip_id


def environment(project: Path) -> dict[str, str]:
    """Variables of this process for one that works in the project: its own library is imported, wherever another is installed."""
    return {**os.environ, "PYTHONPATH": str(project / "scripts")}


def _copy(source: Path, target: Path) -> None:
    if source.is_symlink():
        target.symlink_to(source.readlink())
    elif source.is_dir():
        left_out = shutil.ignore_patterns(*(LEFT_OUT if source.name in ("config", "resources") else LEFT_OUT[:2]))
        shutil.copytree(source, target, ignore=left_out)
    else:
        shutil.copy2(source, target)


def _lay_plugins(package: Path) -> None:
    for place, other in REPLACED.items():
        (package / place).rename(package / other)
    for name, place in PLACES.items():
        shutil.copy2(package / "bench" / "stand_ins" / f"{name}.py", package / place)


def _metrics(metrics: Mapping[str, int], endpoint: Mapping[str, Any] | None) -> dict[str, Any]:
    asked = {NAME: {} if endpoint is None else {"endpoint": dict(endpoint)}}
    told: dict[str, Any] = {
        "object_iou": {"lane": "cpu", "prompter": NAME, "prompters": asked, "segmenter": NAME, "segmenters": {NAME: {}}},
        "retention": {"lane": "judge", "judge": NAME, "judges": asked},
    }
    for lane, count in metrics.items():
        for number in range(count):
            describes = lane == "gpu" or number < count / 2  # sizes and counts need no picture
            told[f"{NAME}_{lane}_{number}"] = {"lane": lane, "module": NAME, "describes": describes}
    return told


def _system(number: int) -> tuple[str, dict[str, Any]]:
    name = f"system_{number:02d}"
    return name, {"label": f"System {number}", "harness": NAME, "name": name}


def _make_clips(project: Path, numbers: Sequence[int], frames: int) -> list[Clip]:
    """Clips of the same frames in files that differ, with their annotations."""
    letters = [letter for letter in CATEGORIES if letter != "U"]
    picture, ways = (project / "clip.mp4").read_bytes(), [_way(number, frames) for number in range(WAYS)]
    rows = []
    for number in numbers:
        letter = letters[number % len(letters)]
        clip_id = f"{letter}_{number:04d}"
        mp4 = labels.labelled(picture, clip_id)
        path = project / CLIPS / f"{clip_id}.mp4"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(mp4)
        size = {"frames": frames, "width_px": WIDTH_PX, "height_px": HEIGHT_PX}
        rows.append(Clip(clip_id=clip_id, category=letter, mp4=path, sha256=hashlib.sha256(mp4).hexdigest(), **size))
        write_whole(project / "config" / "annotations" / f"{clip_id}.json", [_annotation(clip_id, number, frames, ways)])
    return rows


def _annotation(clip_id: str, number: int, frames: int, ways: Sequence[str]) -> str:
    """An `Annotation` as JSON; put together from text, since hundreds with thousands of boxes each are made."""
    things = [
        f'{{"name":"object_{place}","description":"object {place} of {clip_id}","visible_s":[[0,{frames / FPS}]],'
        f'"boxes_xyxy":{ways[(number * 7 + place) % len(ways)]}}}'
        for place in range(OBJECTS[number % len(OBJECTS)])
    ]
    points = [
        {
            "focal_id": f"f{place}",
            "kind": ("static", "dynamic")[place % 2],
            "description": f"focal point {place} of {clip_id}",
            "start_s": 0.0,
            "end_s": frames / FPS,
            "objects": [f"object_{place}"],
        }
        for place in range(FOCAL_POINTS[number % len(FOCAL_POINTS)])
    ]
    return f'{{"clip_id":"{clip_id}","objects":[{",".join(things)}],"focal_points":{json.dumps(points)}}}\n'


def _way(number: int, frames: int) -> str:
    """Boxes of an object that goes to and fro, absent in the last frames: JSON."""
    last = max(frames - number % 5 * frames // 10, 1)
    boxes: list[list[float] | None] = []
    for frame in range(frames):
        x, y = (number * 3 + frame) % (WIDTH_PX - BOX_PX) + 0.5, (number * 5 + frame // 2) % (HEIGHT_PX - BOX_PX) + 0.25
        boxes.append([x, y, x + BOX_PX - 1, y + BOX_PX - 1] if frame < last else None)
    return json.dumps(boxes, separators=(",", ":"))


def _write(path: Path, told: Mapping[str, Any]) -> None:
    path.write_text(yaml.safe_dump(dict(told), sort_keys=False), encoding="utf-8")
