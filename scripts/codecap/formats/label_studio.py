"""Label Studio: a JSON list of tasks, with a region an object and a region a focal point.

Counts: frames from 1, at `framesCount / duration` a second; boxes as left, top, width and height in percent of the picture. A
region is interpolated between the key frames of its `sequence`, and goes on after the last one; one with `enabled: false` is the
last frame of a stretch that is shown. The ranges of a `timelinelabels` region are frames from 1, the last one included.

Name and description of an object, and description, id and objects of a focal point, are texts of the region (`TextArea` with
`perRegion`); the label of a focal point is its kind. Gaps in an object's visible intervals are kept in its region's `meta`.

Source: labelstud.io, tags VideoRectangle and TimelineLabels, and "Label Studio JSON format of annotated tasks".
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from pydantic import ValidationError

from codecap.clock import FPS, frames_between
from codecap.formats import UNTOLD, FormatError, Part, Told
from codecap.formats.conversion.files import (
    as_json,
    box_of_corner_and_size,
    intervals,
    listed,
    mapped,
    number,
    read_json,
    text,
    whole,
)
from codecap.formats.conversion.keys import Knot, boxes_at, key_frames, stretches
from codecap.formats.conversion.objects import annotation_of, check_seen, distinct, gaps_matter, object_of
from codecap.formats.conversion.timing import SAME_RATE, Footage, check_end, check_frame, frames_shown
from codecap.records import AnnotatedObject, Annotation, Box, Clip, FocalPoint, Interval, in_words, write_whole

LOG = logging.getLogger("codecap")

SUFFIX = ".json"
HOLDS: frozenset[Part] = frozenset({"boxes", "names", "descriptions", "visible_s", "focal_points"})

VIDEO = "video"  # the tag's name in the labelling configuration, and the task's field
FOCAL = "focal-"  # begins the region id of a focal point that was written here
UPLOADED = re.compile(r"^[0-9a-f]{8}-")  # Label Studio puts this before the name of an uploaded file


def write(annotation: Annotation, clip: Clip, path: Path) -> None:
    check_seen(annotation.objects, "a region of Label Studio")
    results = [part for place, item in enumerate(annotation.objects) for part in _object_results(place, item, clip)]
    results += [part for point in annotation.focal_points for part in _focal_results(point, clip)]
    data = {VIDEO: clip.mp4.name, "clip_id": clip.clip_id, "frames": clip.frames, "fps": FPS}
    task = {"data": data, "annotations": [{"result": results}]}
    write_whole(path, [as_json([task])])


def names(path: Path) -> list[str]:
    """Of the tasks that somebody annotated: an export has those that were skipped or are still to be done, too."""
    tasks = [(f"{path}: task {place}", task) for place, task in enumerate(_tasks(path))]
    done = [_name(task, where) for where, task in tasks if _that_count(task, where)]
    if len(done) < len(tasks):
        LOG.warning("%s: of %d tasks, %d are not annotated; passed over", path, len(tasks), len(tasks) - len(done))
    return done


def read(path: Path, clip: Clip, told: Told = UNTOLD) -> Annotation:
    where, task = _task_of(path, clip)
    regions = _regions(_results(task, where), where)
    tracks = [region for region in regions if region.sequence is not None]
    points = [region for region in regions if region.ranges is not None]
    footage = _footage(tracks, clip) or _footage_of_task(task["data"], where)
    frames = frames_shown(path, footage, clip, told)
    knots = [region.knots(clip) for region in tracks]
    if footage.frames is None:
        check_end(max((knot.frame for track in knots for knot in track if knot.shown), default=0), frames, path)
    labels = distinct([region.text("name") or region.label for region in tracks], path)
    fps = told.fps or footage.fps or FPS
    objects = [
        object_of(name, region.text("description"), boxes_at(track, frames), clip, path, region.visible_s())
        for name, region, track in zip(labels, tracks, knots, strict=True)
    ]
    return annotation_of(clip, objects, path, [_focal_point(region, fps, footage.frames, clip) for region in points])


@dataclass
class _Region:
    """The results that bear one region's id."""

    where: str
    region_id: str
    label: str = ""
    sequence: list[Any] | None = None
    ranges: list[Any] | None = None
    frames: int | None = None
    duration_s: float | None = None
    texts: dict[str, list[str]] = field(default_factory=dict)
    meta: dict[str, Any] = field(default_factory=dict)

    def text(self, name: str) -> str:
        return "\n".join(self.texts.get(name, []))

    def rate(self) -> float:
        """Frames a second: a whole number, where the frames are its duration rounded up."""
        measured = self.frames / self.duration_s
        whole_ones = (fps for fps in (FPS, round(min(measured, 1e6))) if -0.01 <= self.frames - self.duration_s * fps < 1)
        return next(whole_ones, measured)

    def visible_s(self) -> list[Interval]:
        return intervals(self.meta.get("visible_s", []), f"{self.where}: meta.visible_s")

    def knots(self, clip: Clip) -> list[Knot]:
        found: dict[int, Knot] = {}
        ends: dict[int, Knot] = {}
        for told in self.sequence or []:
            told = mapped(told, f"{self.where}: sequence")
            frame = whole(told.get("frame"), f"{self.where}: frame") - 1
            where = f"{self.where}: frame {frame + 1}"
            check_frame(frame, self.frames, where)
            if number(told.get("rotation", 0), f"{where}, rotation"):
                raise FormatError(f"{where}: the box is rotated; boxes here are upright: set its rotation to 0")
            if frame in found:
                raise FormatError(f"{where}: stands twice in the sequence")
            box = _in_pixels(told, clip, where)
            found[frame] = Knot(frame, box)
            if told.get("enabled", True) is False:
                ends[frame + 1] = Knot(frame + 1, box, shown=False)
        return [knot for _, knot in sorted({**ends, **found}.items())]


def _in_pixels(told: dict[str, Any], clip: Clip, where: str) -> Box:
    sides = [number(told.get(name), f"{where}, {name}") for name in ("x", "y", "width", "height")]
    scales = (clip.width_px, clip.height_px) * 2
    return box_of_corner_and_size([side * scale / 100 for side, scale in zip(sides, scales, strict=True)], where)


def _tasks(path: Path) -> list[dict[str, Any]]:
    told = read_json(path)
    tasks = [mapped(task, f"{path}: task {place}") for place, task in enumerate(told if isinstance(told, list) else [told])]
    if not all("data" in task for task in tasks):
        raise FormatError(f"{path}: its tasks have no `data`; export from Label Studio as JSON (not JSON-MIN)")
    return tasks


def _name(task: dict[str, Any], where: str) -> str:
    data = mapped(task["data"], f"{where}: data")
    if "clip_id" in data:
        return text(data["clip_id"], f"{where}: data.clip_id")
    videos = [value for value in data.values() if isinstance(value, str) and re.search(r"\.(mp4|webm|mov|gif)\b", value)]
    address = data[VIDEO] if isinstance(data.get(VIDEO), str) else videos[0] if videos else ""
    file = unquote(address).split("?d=")[-1].split("?")[0]
    return UPLOADED.sub("", Path(file).stem)


def _task_of(path: Path, clip: Clip) -> tuple[str, dict[str, Any]]:
    tasks = _tasks(path)
    ours = [
        (f"{path}: task {place}", task) for place, task in enumerate(tasks) if _name(task, f"{path}: task {place}") == clip.clip_id
    ]
    if not ours and len(tasks) == 1:
        ours = [(f"{path}: task 0", tasks[0])]
    if len(ours) != 1:
        raise FormatError(
            f"{path}: {len(ours) or 'none'} of its {len(tasks)} tasks are about clip {clip.clip_id}; there must be one"
        )
    return ours[0]


def _that_count(task: dict[str, Any], where: str) -> list[dict[str, Any]]:
    """A task's annotations, without those of people who skipped it."""
    told = [mapped(each, f"{where}: annotation") for each in listed(task.get("annotations") or [], f"{where}: annotations")]
    return [each for each in told if not each.get("was_cancelled")]


def _results(task: dict[str, Any], where: str) -> list[Any]:
    """Of the one annotation of a task that counts: that which is marked as ground truth, or the only one."""
    kept = _that_count(task, where)
    chosen = [each for each in kept if each.get("ground_truth")] or kept
    if len(chosen) != 1:
        raise FormatError(
            f"{where}: has {len(chosen) or 'no'} annotations that count; mark one as ground truth, or remove the others"
        )
    return listed(chosen[0].get("result"), f"{where}: result")


def _regions(results: Sequence[Any], where: str) -> list[_Region]:
    regions: dict[str, _Region] = {}
    for place, told in enumerate(results):
        result = mapped(told, f"{where}: result {place}")
        region_id = text(result.get("id", f"result {place}"), f"{where}: result {place}: id")
        region = regions.setdefault(region_id, _Region(f"{where}: region {region_id}", region_id))
        value = mapped(result.get("value", {}), f"{region.where}: value")
        kind = result.get("type")
        if kind == "videorectangle":
            region.sequence = listed(value.get("sequence"), f"{region.where}: sequence")
            region.frames = whole(value["framesCount"], f"{region.where}: framesCount") if value.get("framesCount") else None
            region.duration_s = number(value["duration"], f"{region.where}: duration") if value.get("duration") else None
            region.meta = mapped(result.get("meta") or {}, f"{region.where}: meta")
        elif kind == "timelinelabels":
            region.ranges = listed(value.get("ranges"), f"{region.where}: ranges")
        elif kind == "textarea":
            texts = value.get("text", [])
            texts = [texts] if isinstance(texts, str) else listed(texts, f"{region.where}: text")
            region.texts[str(result.get("from_name"))] = [text(each, f"{region.where}: text") for each in texts]
        label = next((value[name] for name in ("labels", "timelinelabels") if value.get(name)), [])
        region.label = region.label or " ".join(text(part, f"{region.where}: label") for part in listed(label, region.where))
    return list(regions.values())


def _footage(tracks: Sequence[_Region], clip: Clip) -> Footage | None:
    """Label Studio rounds the number of frames up from the video's length, which a player may tell a little too long."""
    told = next((region for region in tracks if region.frames), None)
    if told is None or not told.duration_s:
        return Footage(frames=told.frames) if told else None
    fps = told.rate()
    if abs(fps - FPS) < SAME_RATE and 0 <= told.frames - clip.frames <= 1:
        return Footage(frames=clip.frames, fps=FPS)
    return Footage(frames=told.frames, fps=fps)


def _footage_of_task(data: dict[str, Any], where: str) -> Footage:
    """Where no object says it: what `write` put into the task, which Label Studio keeps."""
    return Footage(
        frames=whole(data["frames"], f"{where}: data.frames") if "frames" in data else None,
        fps=number(data["fps"], f"{where}: data.fps") if "fps" in data else None,
    )


def _focal_point(region: _Region, fps: float, frames: int | None, clip: Clip) -> FocalPoint:
    if len(region.ranges) != 1:
        raise FormatError(f"{region.where}: has {len(region.ranges)} ranges; a focal point is one: split it")
    told = mapped(region.ranges[0], f"{region.where}: range")
    first, last = (whole(told.get(side), f"{region.where}: {side}") for side in ("start", "end"))
    for frame in (first - 1, last - 1):
        check_frame(frame, None if frames is None else frames + 1, f"{region.where}: range")  # players may count one too many
    kind = region.label.strip().lower()
    if kind not in ("static", "dynamic"):
        raise FormatError(f"{region.where}: its label is {region.label[:40]!r}; a focal point's is static or dynamic")
    if not region.text("description"):
        raise FormatError(f"{region.where}: has no text `description`; say what is to be seen")
    try:
        return FocalPoint(
            focal_id=region.text("focal_id") or region.region_id.removeprefix(FOCAL),
            kind=kind,
            description=region.text("description"),
            start_s=(first - 1) / fps,
            end_s=min(last / fps, clip.frames / FPS),
            objects=region.texts.get("objects", []),
        )
    except ValidationError as error:
        raise FormatError(f"{region.where}: {in_words(error)}") from error


def _object_results(place: int, item: AnnotatedObject, clip: Clip) -> Iterator[dict[str, Any]]:
    region = {"id": f"object-{place}", "to_name": VIDEO}
    sequence = [key for run in stretches(item.boxes_xyxy) for key in _sequence(item.boxes_xyxy, run, clip)]
    value = {"framesCount": clip.frames, "duration": clip.frames / FPS, "sequence": sequence, "labels": ["object"]}
    meta = {"meta": {"visible_s": item.visible_s}} if gaps_matter(item) else {}
    yield {**region, "from_name": "box", "type": "videorectangle", "value": value, **meta}
    yield from _texts(region, name=[item.name], description=[item.description] if item.description else [])


def _sequence(boxes: Sequence[Box | None], run: range, clip: Clip) -> Iterator[dict[str, Any]]:
    for frame in key_frames(boxes, run):
        x0, y0, x1, y1 = boxes[frame]
        yield {
            "frame": frame + 1,
            "enabled": frame != run[-1],
            "rotation": 0,
            "x": 100 * x0 / clip.width_px,
            "y": 100 * y0 / clip.height_px,
            "width": 100 * (x1 - x0) / clip.width_px,
            "height": 100 * (y1 - y0) / clip.height_px,
            "time": (frame + 1) / FPS,  # as Label Studio itself has it
        }


def _focal_results(point: FocalPoint, clip: Clip) -> Iterator[dict[str, Any]]:
    region = {"id": f"{FOCAL}{point.focal_id}", "to_name": VIDEO}
    frames = frames_between(point.start_s, point.end_s, clip.frames)
    value = {"ranges": [{"start": frames[0] + 1, "end": frames[-1] + 1}], "timelinelabels": [point.kind]}
    yield {**region, "from_name": "focal", "type": "timelinelabels", "value": value}
    yield from _texts(region, focal_id=[point.focal_id], description=[point.description], objects=point.objects)


def _texts(region: dict[str, str], **texts: list[str]) -> Iterator[dict[str, Any]]:
    for name, lines in texts.items():
        if lines:
            yield {**region, "from_name": name, "type": "textarea", "value": {"text": lines}}
