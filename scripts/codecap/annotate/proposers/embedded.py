"""A proposer that needs no model: it follows coloured regions and figures, and tells what it measured of them.

Each frame's small copy is cut into regions (`annotate.regions`), these are followed through each shot (`annotate.tracks`), the most
salient tracks become objects (`annotate.things`), and their rests and changes become focal points (`annotate.events`). What it says
is true of the pixels, and it names nothing: its drafts are for people to correct, or a stand-in where nobody has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from codecap import clock, video
from codecap.annotate.events import Event, changes, longest_rest
from codecap.annotate.regions import FAMILIES, Region, regions_of
from codecap.annotate.things import Thing, select, thing_of
from codecap.annotate.tracks import Tracker, stitched
from codecap.annotate.wording import colour_name, place_name, size_name, time_name, with_article
from codecap.records import AnnotatedObject, Annotation, Clip, FocalPoint
from codecap.shots import detect_shots

VERSION = 3
SAME_LEVELS = 6  # a frame that differs from the one before by no more anywhere has the same regions
AGAIN = 0.5  # what a further focal point of the same object counts


class Settings(BaseModel):
    """The configuration's section `proposers.embedded`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    width_px: int = Field(default=480, ge=64, description="Pictures are looked at in this width; smaller ones as they are.")
    most_objects: int = Field(default=16, ge=1, description="Objects of a clip at most.")
    most_static: int = Field(default=4, ge=1, description="Static focal points of a clip at most.")
    most_dynamic: int = Field(default=6, ge=0, description="Dynamic focal points of a clip at most.")


def load(settings: Mapping[str, Any]) -> EmbeddedProposer:
    return EmbeddedProposer(Settings.model_validate(dict(settings)))


@dataclass(frozen=True)
class _Named:
    """An object with its name and the shot that it is in."""

    name: str
    thing: Thing
    shot: tuple[int, int]
    description: str


class EmbeddedProposer:
    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.protocol = f"embedded {VERSION}, {settings.width_px} px wide"

    def propose(self, clip: Clip) -> Annotation:
        """Draft a clip's annotation: at least one object and one static focal point.

        Raises:
            VideoError: the clip cannot be read.
        """
        shots = detect_shots(clip.mp4)
        things, ground = self._things(clip, shots)
        named = [self._named(thing, number, clip, shots) for number, thing in enumerate(things, start=1)]
        objects = [_as_object(item, clip) for item in named] or [_whole_picture(clip)]
        focal = [_composition(clip, named, ground, shots), *self._static(clip, named), *self._dynamic(clip, named, shots)]
        focal.sort(key=lambda point: (point.kind == "dynamic", point.start_s, point.end_s))
        numbered = [point.model_copy(update={"focal_id": f"f{number}"}) for number, point in enumerate(focal, start=1)]
        return Annotation(clip_id=clip.clip_id, objects=objects, focal_points=numbered, proposer=self.protocol)

    def _things(self, clip: Clip, shots: list[tuple[int, int]]) -> tuple[list[Thing], tuple[float, ...]]:
        """Salient tracks of all shots, and the most frequent colour of the first picture."""
        scale = max(1.0, clip.width_px / self.settings.width_px)
        starts = {start for start, _ in shots}
        trackers: list[Tracker] = []
        ground: tuple[float, ...] = (0.0, 0.0, 0.0)
        for frame, small, regions in self._looked_at(clip):
            if frame == 0:
                ground = _most_frequent(small)
            if frame in starts or not trackers:
                now = {family: Tracker() for family in FAMILIES}
                trackers += now.values()
            for family, tracker in now.items():
                tracker.add(frame, [region for region in regions if region.family == family])
        tracks = (track for tracker in trackers for track in stitched(tracker.tracks))
        found = (thing_of(track, scale, clip.width_px, clip.height_px, _shot_of(track.first, shots)) for track in tracks)
        lengths = [stop - start for start, stop in shots]
        return select(found, self.settings.most_objects, lengths, clip.width_px, clip.height_px), ground

    def _looked_at(self, clip: Clip) -> Iterator[tuple[int, np.ndarray, list[Region]]]:
        """Frame number, small copy and regions of each frame; regions are kept where nothing changes."""
        before, regions = None, []
        for frame, rgb in video.read_frames(clip.mp4):
            small = rgb
            if rgb.shape[1] > self.settings.width_px:
                height_px = max(2, round(self.settings.width_px * rgb.shape[0] / rgb.shape[1]))
                small = cv2.resize(rgb, (self.settings.width_px, height_px), interpolation=cv2.INTER_AREA)
            if before is None or cv2.absdiff(small, before).max() > SAME_LEVELS:
                before, regions = small, regions_of(small)
            yield frame, small, regions

    def _named(self, thing: Thing, number: int, clip: Clip, shots: list[tuple[int, int]]) -> _Named:
        shot = _shot_of(thing.first, shots)
        colour = colour_name(np.median(thing.rgb, axis=0))
        shape = f"{with_article(colour)} shape of about {size_name(np.median(thing.boxes_xyxy, axis=0))}"
        where = place_name(thing.boxes_xyxy[0], clip.width_px, clip.height_px)
        return _Named(f"{colour.replace(' ', '_')}_{number}", thing, shot, f"{shape}, first at the {where}")

    def _static(self, clip: Clip, named: list[_Named]) -> list[FocalPoint]:
        """How the most salient objects look while they rest; those that never do come last, as they look at first."""
        points = []
        rests = {item.name: longest_rest(item.thing, clip.width_px, clip.height_px) for item in named}
        for item in sorted(named, key=lambda item: (not rests[item.name], -item.thing.score))[: self.settings.most_static - 1]:
            rest = rests[item.name]
            start, stop = rest or (item.thing.first, min(item.thing.stop, item.thing.first + clock.FPS))
            box = item.thing.boxes_xyxy[start - item.thing.first]
            where = place_name(box, clip.width_px, clip.height_px)
            stays = f"stands at the {where} (left {box[0]:.0f} px, top {box[1]:.0f} px)" if rest else f"is first at the {where}"
            colour = colour_name(item.thing.rgb[start - item.thing.first])
            what = f"{item.name}: {with_article(colour)} shape of {size_name(box)} {stays}"
            points.append(_focal("static", what, start, stop, clip, [item.name]))
        return points

    def _dynamic(self, clip: Clip, named: list[_Named], shots: list[tuple[int, int]]) -> list[FocalPoint]:
        """The largest changes, spread over objects and kinds of change."""
        left = [(event.weight * item.thing.score, event, item) for item in named for event in _changes(item, clip)]
        points = [
            _focal("dynamic", "the whole picture changes at a cut", start - 6, start + 6, clip, [])
            for start, _ in shots[1 : 1 + self.settings.most_dynamic // 2]
        ]
        while left and len(points) < self.settings.most_dynamic:
            left.sort(key=lambda told: (-told[0], told[1].start, told[2].name))
            _, event, item = left.pop(0)
            what = f"{item.name}, {item.description}, {event.what}"
            what += f" between {time_name(clock.time_of(event.start))} and {time_name(clock.time_of(event.stop))}"
            points.append(_focal("dynamic", what, event.start, event.stop, clip, [item.name]))
            left = [(weight * (AGAIN if other is item else 1.0), change, other) for weight, change, other in left]
        return points


def _shot_of(frame: int, shots: list[tuple[int, int]]) -> tuple[int, int]:
    return next(shot for shot in shots if shot[0] <= frame < shot[1])


def _changes(item: _Named, clip: Clip) -> list[Event]:
    return changes(item.thing, clip.width_px, clip.height_px, item.shot)


def _as_object(item: _Named, clip: Clip) -> AnnotatedObject:
    thing = item.thing
    told = [tuple(round(float(value), 1) for value in box) for box in thing.boxes_xyxy]
    boxes = [None] * thing.first + told + [None] * (clip.frames - thing.stop)
    events = _changes(item, clip)
    told_of = [item.description] + [
        f"{event.what} between {time_name(clock.time_of(event.start))} and {time_name(clock.time_of(event.stop))}"
        for event in events[:3]
    ]
    visible = (clock.time_of(thing.first), clock.time_of(thing.stop))
    return AnnotatedObject(name=item.name, description="; ".join(told_of), visible_s=[visible], boxes_xyxy=boxes)


def _whole_picture(clip: Clip) -> AnnotatedObject:
    box = (0.0, 0.0, float(clip.width_px), float(clip.height_px))
    visible = [(0.0, clock.time_of(clip.frames))]
    return AnnotatedObject(name="picture", description="the whole picture", visible_s=visible, boxes_xyxy=[box] * clip.frames)


def _composition(clip: Clip, named: list[_Named], ground: tuple[float, ...], shots: list[tuple[int, int]]) -> FocalPoint:
    """What stands where at the first shot's beginning."""
    there = [item for item in named if item.thing.first <= shots[0][0] + 1]
    shown = sorted(there, key=lambda item: -item.thing.score)[:5]
    parts = [f"{item.name} at the {place_name(item.thing.boxes_xyxy[0], clip.width_px, clip.height_px)}" for item in shown]
    what = f"at the beginning the picture is mostly {colour_name(ground)}" + (f", with {', '.join(parts)}" if parts else "")
    stop = min(shots[0][1], clock.FPS)
    return _focal("static", what, 0, stop, clip, [item.name for item in shown])


def _focal(kind: str, what: str, start: int, stop: int, clip: Clip, names: list[str]) -> FocalPoint:
    start, stop = max(0, start), min(max(stop, start + 1), clip.frames)
    begin_s, end_s = clock.time_of(start), clock.time_of(stop)
    return FocalPoint(focal_id="f", kind=kind, description=what, start_s=begin_s, end_s=end_s, objects=names)


def _most_frequent(rgb: np.ndarray) -> tuple[float, ...]:
    """Centre of the most frequent 3-bit colour's pixels."""
    three = (rgb >> 5).astype(np.int32)
    codes = (three[..., 0] << 6) | (three[..., 1] << 3) | three[..., 2]
    most = np.bincount(codes.ravel()).argmax()
    return tuple(float(value) for value in rgb[codes == most].mean(axis=0))
