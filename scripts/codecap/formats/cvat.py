"""CVAT for video 1.1: one XML file, with a track an object and a box a frame.

Counts: frames from 0; corners `xtl`, `ytl`, `xbr`, `ybr` in pixels from 0 at the picture's top left corner, the far ones exclusive.
A box with `outside="1"` hides the object from its frame on. CVAT interpolates between key frames, and draws the last box out to the
video's end. The format states no frames a second; what is written here has `<fps>` beside the task, which CVAT passes over.

Source: docs.cvat.ai, XML annotation format, version 1.1, "Interpolation".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError
from xml.sax.saxutils import escape, quoteattr

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import iterparse

from codecap.clock import FPS
from codecap.formats import UNTOLD, FormatError, Part, Told
from codecap.formats.conversion.files import box_of_corners, check_count, keeping_last, number, text, whole
from codecap.formats.conversion.keys import Knot, boxes_at, key_frames, stretches
from codecap.formats.conversion.objects import annotation_of, check_seen, distinct, gaps_matter, object_of
from codecap.formats.conversion.timing import Footage, check_end, check_frame, frames_shown
from codecap.records import AnnotatedObject, Annotation, Box, Clip, Interval, write_whole

SUFFIX = ".xml"
HOLDS: frozenset[Part] = frozenset({"boxes", "names", "descriptions", "visible_s"})

LABEL = "object"  # of all our tracks: which object it is stands in its attributes
TOLD = ("name", "size", "start_frame", "stop_frame", "frame_filter", "source", "original_size/width", "original_size/height")
ATTRIBUTES = ("name", "description", "visible_s")
NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
EACH_NTH = re.compile(r"step\s*=\s*0*([2-9]|1\d)")
SHAPES = ("box", "polygon", "polyline", "points", "cuboid", "ellipse", "mask", "skeleton")


def write(annotation: Annotation, clip: Clip, path: Path) -> None:
    check_seen(annotation.objects, "a track of CVAT")
    write_whole(path, _document(annotation, clip))


def names(path: Path) -> list[str]:
    task = _read(path).task
    return [Path(task.get("name") or task.get("source") or path.stem).stem]


def read(path: Path, clip: Clip, told: Told = UNTOLD) -> Annotation:
    document = _read(path)
    footage = document.footage(path)
    frames = frames_shown(path, footage, clip, told)
    start = whole(document.task.get("start_frame") or 0, f"{path}: start_frame")
    if footage.frames is None:
        shown = (frame - start for track in document.tracks for frame, (_, seen) in track.boxes.items() if seen)
        check_end(max(shown, default=0), frames, path)
    labels = distinct([track.attributes.get("name") or track.label for track in document.tracks], path)
    objects = []
    for name, track in zip(labels, document.tracks, strict=True):
        knots = track.knots(path, start, footage.frames)
        objects.append(
            object_of(
                name,
                track.attributes.get("description", ""),
                boxes_at(knots, frames),
                clip,
                path,
                _intervals(track.attributes.get("visible_s", ""), f"{path}: object {name!r}"),
            )
        )
    return annotation_of(clip, objects, path)


@dataclass
class _Track:
    label: str
    place: str
    attributes: dict[str, str] = field(default_factory=dict)
    boxes: dict[int, tuple[Box, bool]] = field(default_factory=dict)  # by CVAT's frame: the box, and whether it is shown

    def knots(self, path: Path, start: int, frames: int | None) -> list[Knot]:
        return [
            Knot(check_frame(frame - start, frames if shown else None, f"{path}: {self.place}, frame {frame}"), box, shown)
            for frame, (box, shown) in sorted(self.boxes.items())
        ]


@dataclass
class _Document:
    task: dict[str, str] = field(default_factory=dict)  # of its meta data: what is told of the task, by name
    tracks: list[_Track] = field(default_factory=list)

    def footage(self, path: Path) -> Footage:
        sizes = {name: self.task.get(name) for name in ("size", "original_size/width", "original_size/height")}
        frames, width_px, height_px = (None if not value else whole(value, f"{path}: {name}") for name, value in sizes.items())
        first, last = self.task.get("start_frame"), self.task.get("stop_frame")
        if first and last:
            frames = whole(last, f"{path}: stop_frame") - whole(first, f"{path}: start_frame") + 1
        if EACH_NTH.search(self.task.get("frame_filter", "")):
            frames = None  # size counts the frames that are kept, and after the last of them there may be more
        fps = self.task.get("fps")
        return Footage(frames, width_px, height_px, number(fps, f"{path}: fps") if fps else None)


@keeping_last
def _read(path: Path) -> _Document:
    """
    Raises:
        FormatError: not XML, or not of this format; a document type is refused, as it can name other files.
    """
    document = _Document()
    try:
        for what in _elements(path):
            if isinstance(what, _Track):
                document.tracks.append(what)
                check_count(document.tracks, "tracks", str(path))
            else:
                document.task.update(what)
    except DefusedXmlException as error:
        raise FormatError(f"{path}: declares a document type or entities; CVAT writes none, and they are not read") from error
    except (ParseError, LookupError, UnicodeError) as error:
        raise FormatError(f"{path}: not XML: {error}") from error
    return document


def _elements(path: Path) -> Iterator[_Track | dict[str, str]]:
    """Tracks, and what the meta data says, one after the other, so that a large file is never in memory as a whole."""
    depth, root = 0, None
    for event, element in iterparse(path, events=("start", "end"), forbid_dtd=True):
        if event == "start":
            depth += 1
            root = element if root is None else root
            if depth == 1 and element.tag != "annotations":
                raise FormatError(f"{path}: begins with <{element.tag}>, not <annotations>; export as CVAT for video 1.1")
            if depth == 2 and element.tag == "image":
                raise FormatError(f"{path}: is in the format CVAT for images; export as CVAT for video 1.1")
            continue
        depth -= 1
        if depth != 1:
            continue
        if element.tag == "track":
            yield _track(element, path)
        elif element.tag == "meta":
            yield _meta(element, path)
        root.clear()


def _meta(meta: Element, path: Path) -> dict[str, str]:
    if meta.find("project") is not None:
        raise FormatError(f"{path}: is the export of a project; export each task by itself")
    told = {"fps": meta.findtext("fps") or ""}
    for task in (meta.find("task"), meta.find("job")):
        if task is not None:
            for name in TOLD:
                told[name] = (task.findtext(name) or meta.findtext(name) or "").strip()
    return told


def _track(element: Element, path: Path) -> _Track:
    place = f"track {element.get('id', '?')}"
    track = _Track(text(element.get("label", LABEL), f"{path}: {place}"), place)
    for shape in element:
        where = f"{path}: {place}, frame {shape.get('frame')}"
        if shape.tag != "box":
            if shape.tag in SHAPES:
                raise FormatError(f"{where}: is drawn as {shape.tag}; only boxes can be read: draw it as a rectangle, or remove it")
            continue
        if number(shape.get("rotation", 0), f"{where}, rotation"):
            raise FormatError(f"{where}: the box is rotated; boxes here are upright: set its rotation to 0")
        frame = whole(shape.get("frame"), where)
        if frame in track.boxes:
            raise FormatError(f"{where}: has two boxes")
        sides = tuple(number(shape.get(side), f"{where}, {side}") for side in ("xtl", "ytl", "xbr", "ybr"))
        shown = shape.get("outside", "0") != "1"
        track.boxes[frame] = (box_of_corners(sides, where) if shown else sides, shown)
        for attribute in shape.findall("attribute"):
            name, value = attribute.get("name", ""), text(attribute.text or "", where)
            if name in ATTRIBUTES and value:
                track.attributes.setdefault(name, value)
    return track


def _intervals(told: str, where: str) -> list[Interval]:
    """
    >>> _intervals("0 to 1.5; 2 to 3", "")
    [(0.0, 1.5), (2.0, 3.0)]
    """
    pairs = [part.split(" to ") for part in told.split(";") if part.strip()]
    if any(len(pair) != 2 for pair in pairs):
        raise FormatError(f"{where}: visible_s is {told[:60]!r}; seconds are written as 0 to 1.5; 2 to 3")
    return [(number(start, where), number(end, where)) for start, end in pairs]


def _document(annotation: Annotation, clip: Clip) -> Iterator[str]:
    clip_id, source = _text(clip.clip_id, clip.clip_id), _text(clip.mp4.name, clip.clip_id)
    attributes = "".join(
        f"<attribute><name>{name}</name><mutable>False</mutable><input_type>text</input_type><default_value></default_value>"
        "<values></values></attribute>"
        for name in ATTRIBUTES
    )
    yield f"""<?xml version="1.0" encoding="utf-8"?>
<annotations>
  <version>1.1</version>
  <meta>
    <task>
      <name>{clip_id}</name>
      <size>{clip.frames}</size>
      <mode>interpolation</mode>
      <overlap>0</overlap>
      <start_frame>0</start_frame>
      <stop_frame>{clip.frames - 1}</stop_frame>
      <labels><label><name>{LABEL}</name><type>rectangle</type><attributes>{attributes}</attributes></label></labels>
      <original_size><width>{clip.width_px}</width><height>{clip.height_px}</height></original_size>
      <source>{source}</source>
    </task>
    <fps>{FPS}</fps>
  </meta>
"""
    for number_, item in enumerate(annotation.objects):
        yield f'  <track id="{number_}" label="{LABEL}" source="manual">\n'
        yield from _boxes(item, clip)
        yield "  </track>\n"
    yield "</annotations>\n"


def _boxes(item: AnnotatedObject, clip: Clip) -> Iterator[str]:
    attributes = _attributes(item)
    for run in stretches(item.boxes_xyxy):
        keys = set(key_frames(item.boxes_xyxy, run))
        for frame in run:
            yield _box(frame, item.boxes_xyxy[frame], frame in keys, False, attributes)
        if run.stop < clip.frames:
            yield _box(run.stop, item.boxes_xyxy[run.stop - 1], True, True, attributes)


def _box(frame: int, box: Box, key: bool, outside: bool, attributes: str) -> str:
    """Each key frame bears the attributes: of those that never change, CVAT takes what the last key frame of a track says."""
    sides = " ".join(f'{name}="{side:.4f}"' for name, side in zip(("xtl", "ytl", "xbr", "ybr"), box, strict=True))
    head = f'<box frame="{frame}" keyframe="{key:d}" outside="{outside:d}" occluded="0" {sides} z_order="0"'
    return f"    {head}>{attributes}</box>\n" if key else f"    {head}/>\n"


def _attributes(item: AnnotatedObject) -> str:
    told = {"name": item.name, "description": item.description}
    if gaps_matter(item):
        told["visible_s"] = "; ".join(f"{start!r} to {end!r}" for start, end in item.visible_s)
    return "".join(
        f"<attribute name={quoteattr(name)}>{_text(value, f'object {item.name!r}')}</attribute>" for name, value in told.items()
    )


def _text(value: str, where: str) -> str:
    found = NOT_IN_XML.search(value)
    if found:
        raise FormatError(f"{where}: holds the character U+{ord(found[0]):04X}, which XML cannot; remove it")
    return escape(value, {"\r": "&#13;"})
