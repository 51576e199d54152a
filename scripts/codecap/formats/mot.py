"""MOTChallenge: a folder with `gt/gt.txt`, a line a box, `seqinfo.ini` about the video, and `gt/labels.txt` with names of classes.

Counts: frames, tracks and pixels from 1, so that the picture's top left corner is (1, 1); width and height in pixels. A line is
frame, track, left, top, width, height, whether it counts (0 or 1), class, visibility. In MOT15 a place in the world stands for the
last two, so that there are ten. Other tools, CVAT among them, write pixels from 0: `Told.first_pixel` says so. Each object is a
class of its own here, since nothing else in the format holds a name. Visibility is not read: it is a share in MOT17, but CVAT
writes 0 for what is partly hidden.

Source: motchallenge.net, instructions; Leal-Taixé et al., MOTChallenge 2015, arXiv 1504.01942; Milan et al., MOT16: a benchmark for
multi-object tracking, arXiv 1603.00831; `labels.txt` is CVAT's.
"""

from __future__ import annotations

import configparser
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from codecap.boxes import area, as_array
from codecap.clock import FPS
from codecap.formats import UNTOLD, FormatError, Part, Told
from codecap.formats.conversion.files import box_of_corner_and_size, check_count, check_readable, number, read_text, text, whole
from codecap.formats.conversion.objects import annotation_of, check_seen, distinct, object_of
from codecap.formats.conversion.timing import Footage, check_end, check_frame, frames_shown
from codecap.records import AnnotatedObject, Annotation, Box, Clip, write_whole

SUFFIX = ""
HOLDS: frozenset[Part] = frozenset({"boxes", "names"})

LOG = logging.getLogger("codecap")
FIRST_PIXEL = 1
CLASSES = (  # of MOT16 and MOT17, from 1
    "pedestrian",
    "person on vehicle",
    "car",
    "bicycle",
    "motorbike",
    "non motorized vehicle",
    "static person",
    "distractor",
    "occluder",
    "occluder on the ground",
    "occluder full",
    "reflection",
    "crowd",
)


def write(annotation: Annotation, clip: Clip, path: Path) -> None:
    check_seen(annotation.objects, "gt.txt")
    for item in annotation.objects:
        if item.name != " ".join(item.name.splitlines()).strip():
            raise FormatError(f"object {item.name!r}: a name in labels.txt is one line, without blanks at its ends; rename it")
    lines = (line for track, item in enumerate(annotation.objects, start=1) for line in _lines(track, item))
    write_whole(path / "gt" / "gt.txt", lines)
    write_whole(path / "gt" / "labels.txt", (f"{item.name}\n" for item in annotation.objects))
    told = {
        "name": clip.clip_id,
        "imDir": "img1",
        "frameRate": FPS,
        "seqLength": clip.frames,
        "imWidth": clip.width_px,
        "imHeight": clip.height_px,
        "imExt": ".jpg",
    }
    write_whole(path / "seqinfo.ini", ["[Sequence]\n", *(f"{name}={value}\n" for name, value in told.items())])


def names(path: Path) -> list[str]:
    check_readable(_ground_truth(path))
    return [_sequence(path).get("name") or _folder(path).resolve().name]


def read(path: Path, clip: Clip, told: Told = UNTOLD) -> Annotation:
    footage = _footage(path)
    frames = frames_shown(path, footage, clip, told)
    first_pixel = FIRST_PIXEL if told.first_pixel is None else told.first_pixel
    tracks = _tracks(_ground_truth(path), footage.frames, first_pixel)
    if footage.frames is None:
        check_end(max((frame for track in tracks for frame in track.boxes), default=0), frames, path)
    classes = _class_names(path)
    labels = distinct([_label(track, classes) for track in tracks], path)
    objects = [
        object_of(name, "", [track.boxes.get(frame) for frame in frames], clip, path)
        for name, track in zip(labels, tracks, strict=True)
    ]
    return annotation_of(clip, objects, path)


@dataclass
class _Track:
    track: int
    classes: set[int] = field(default_factory=set)
    boxes: dict[int, Box] = field(default_factory=dict)  # by frame, from 0


def _folder(path: Path) -> Path:
    """The sequence's folder; `gt/gt.txt` and its folder are taken for it too."""
    folder = path.parent if path.is_file() else path
    return folder.resolve().parent if folder.resolve().name == "gt" else folder


def _ground_truth(path: Path) -> Path:
    return path if path.is_file() else _folder(path) / "gt" / "gt.txt"


def _sequence(path: Path) -> dict[str, str]:
    info = _folder(path) / "seqinfo.ini"
    if not info.is_file():
        return {}
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(read_text(info))
        return dict(parser["Sequence"])
    except (configparser.Error, KeyError) as error:
        raise FormatError(f"{info}: must have a section [Sequence] with lines such as frameRate=24") from error


def _footage(path: Path) -> Footage:
    told, where = _sequence(path), _folder(path) / "seqinfo.ini"
    frames, width_px, height_px = (
        whole(told[name], f"{where}: {name}") if name in told else None for name in ("seqlength", "imwidth", "imheight")
    )
    return Footage(frames, width_px, height_px, number(told["framerate"], f"{where}: frameRate") if "framerate" in told else None)


def _class_names(path: Path) -> Sequence[str]:
    labels = _ground_truth(path).parent / "labels.txt"
    if not labels.is_file():
        return CLASSES
    return [text(line.strip(), f"{labels}:{place}") for place, line in enumerate(read_text(labels).split("\n"), start=1)]


def _tracks(file: Path, frames: int | None, first_pixel: int) -> list[_Track]:
    """
    Raises:
        FormatError: a line is not of the format; two boxes of a track are on one frame.
    """
    tracks: dict[int, _Track] = {}
    left_out = 0
    for place, line in enumerate(read_text(file).split("\n"), start=1):
        if not line.strip():
            continue
        cells, where = [cell.strip() for cell in line.split(",")], f"{file}:{place}"
        if not 7 <= len(cells) <= 10:
            raise FormatError(
                f"{where}: {len(cells)} values; a line has frame, track, left, top, width, height, counts, class, visibility"
            )
        if not number(cells[6], where):
            left_out += 1
            continue
        frame, track_id = whole(cells[0], where), whole(cells[1], where)
        if track_id < 0:
            raise FormatError(f"{where}: track {track_id}; a file of detections has no tracks, name one with them")
        check_frame(frame - 1, frames, f"{where}: frame {frame} (counted from 1)")
        track = tracks.setdefault(track_id, _Track(track_id))
        check_count(tracks, "tracks", str(file))
        if frame - 1 in track.boxes:
            raise FormatError(f"{where}: track {track_id} has two boxes on frame {frame}")
        left, top = (number(cell, where) - first_pixel for cell in cells[2:4])
        track.boxes[frame - 1] = box_of_corner_and_size([left, top, *cells[4:6]], where)
        if len(cells) in (8, 9) and number(cells[7], where) >= 1:
            track.classes.add(whole(cells[7], where))
    if left_out:
        LOG.warning("%s: %d boxes are marked as not to be considered (seventh value 0) and are left out", file, left_out)
    return [tracks[track_id] for track_id in sorted(tracks)]


def _label(track: _Track, classes: Sequence[str]) -> str:
    named = [classes[number_ - 1] for number_ in sorted(track.classes) if number_ <= len(classes) and classes[number_ - 1]]
    return named[0] if len(named) == 1 else f"track {track.track}"


def _lines(track: int, item: AnnotatedObject) -> Iterator[str]:
    whole_boxes = item.amodal_xyxy or item.boxes_xyxy
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = area(as_array(item.boxes_xyxy)) / area(as_array(whole_boxes))
    for frame, box in enumerate(item.boxes_xyxy):
        if box is None:
            continue
        sides = (box[0] + FIRST_PIXEL, box[1] + FIRST_PIXEL, box[2] - box[0], box[3] - box[1])
        share = min(float(shares[frame]), 1.0) if shares[frame] > 0 else 1.0
        yield f"{frame + 1},{track},{','.join(f'{side:.4f}' for side in sides)},1,{track},{share:.4f}\n"
