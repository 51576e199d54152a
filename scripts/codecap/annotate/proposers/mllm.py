"""A multimodal model as proposer, in two passes: it proposes, then it criticises its proposal and completes it.

The model is shown the whole clip, frames of one global grid or the video where its endpoint takes videos, and says which objects
and focal points there are, and when. Shown the same clip again with its own proposal, it says what is wrong and missing, and gives
all anew. Last it marks each object on its representative frames, single pictures as large as they may be: a box, and signed points.
Times are brought to the change points that were measured in the clip where the objects are.

What comes out has no boxes in every frame yet: a segmenter follows the marks (`codecap.annotate.tracking`), in a job of its own.

Source: CodeCap-Bench, section 3.3, for what annotations hold. **Ours**: the passes and the wording
(`resources/prompts/proposer.md`). An answer with faults is asked for again with the faults told; after the last ask the parts
without faults are taken, and what is left out is told in the log. A clip of which nothing can be used gets no proposal.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import Field

from codecap.annotate.changes import Cells, Changes, ChangeWatcher
from codecap.annotate.proposing.outlines import Bounds, Outline, OutlinedObject, OutlinedPoint, Seen, read_outline
from codecap.annotate.proposing.places import Places, read_places
from codecap.annotate.proposing.questions import (
    Viewing,
    criticise_question,
    groups,
    places_question,
    propose_question,
    single,
    whole,
)
from codecap.annotate.proposing.rounds import PROMPT, Reading, ask_until_right
from codecap.annotate.snapping import appears, snapped, vanishes
from codecap.clock import FPS, grid, time_of
from codecap.exchange import Question, Video
from codecap.records import Clip, FocalPoint, Interval, ObjectPrompt, Proposal, ProposedObject
from codecap.score import Unscored
from codecap.score.asking.rounds import Asking, ask_all
from codecap.score.engine.watching import watch
from codecap.showing import prompts
from codecap.showing.album import Album, BlankAlbum
from codecap.showing.sheets import Sheet

LOG = logging.getLogger("codecap")
ASKS = True  # a hosted model, and it gives a `Proposal`
TYPICAL_OBJECTS, TYPICAL_POINTS, TYPICAL_WORDS = 17, 9, 20  # of a clip, for an estimate of cost; the paper's means, and a guess


class Settings(Asking):
    """Keys of `proposers.mllm`, beside those of `Showing` and `Asking`.

    Attributes:
        most_objects, most_points: of a clip, at most.
        most_frames: representative frames of each object, at most.
        objects_per_request: objects that one answer marks.
    """

    most_output_tokens: int = Field(default=16384, ge=256)
    most_objects: int = Field(default=24, ge=1, le=100)
    most_points: int = Field(default=12, ge=2, le=50)
    most_frames: int = Field(default=3, ge=1, le=20)
    objects_per_request: int = Field(default=8, ge=1)


def load(settings: Mapping[str, Any]) -> MllmProposer:
    told = Settings.model_validate(dict(settings))
    if told.endpoint.images < told.most_frames:
        raise ValueError(
            f"endpoint.images is {told.endpoint.images}, and most_frames is {told.most_frames}: an object is marked on more"
        )
    return MllmProposer(told)


class MllmProposer:
    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        shown = "native video" if settings.endpoint.video else "frames"
        asked = f"at most {settings.most_objects} objects on {settings.most_frames} frames, {settings.most_points} points"
        prompt = f"prompt {prompts.load(PROMPT).digest}, {settings.objects_per_request} objects a request"
        self.protocol = f"mllm proposer {settings.told}, {shown}, {asked}, {prompt}"

    def propose(self, clip: Clip) -> Proposal:
        """A clip's objects with prompts for a segmenter, and its focal points. Within an open session of the exchange.

        Raises:
            Unscored: no usable answer could be had; the message says why.
            Unreached: an answer could not be had this time.
            VideoError: the clip cannot be read.
        """
        bounds = self._bounds(clip)
        viewing, changes = self._look(clip)
        first = self._ask(propose_question(viewing, bounds), bounds).value
        outline = _told(clip, self._ask(criticise_question(viewing, bounds, first), bounds))
        places = self._places(clip, outline)
        objects = [proposed(item, places[item.name], changes) for item in outline.objects if places.get(item.name)]
        for item in outline.objects:
            if not places.get(item.name):
                LOG.warning("%s: left out of the proposal: object %s is marked on none of its frames", clip.clip_id, item.name)
        if not objects:
            raise Unscored("no object could be marked on any frame")
        return Proposal(
            clip_id=clip.clip_id,
            status="ok",
            objects=objects,
            focal_points=focal_points(outline.points, objects, changes),
            protocol=self.protocol,
        )

    def questions_expected(self, clip: Clip) -> list[Question]:
        """The questions about a clip with blank pictures, to tell what they cost, for a typical number of objects."""
        blank, bounds = BlankAlbum(), self._bounds(clip)
        viewing = Viewing(clip, self.settings, blank, self._video(clip, blank=True))
        outline = _typical(bounds)
        asked = {item.name: item.frames for item in outline.objects}
        descriptions = {item.name: item.description for item in outline.objects}
        marks = [places_question(group, descriptions, clip, self.settings, blank) for group in self._groups(asked)]
        return [propose_question(viewing, bounds), criticise_question(viewing, bounds, outline), *marks]

    def _bounds(self, clip: Clip) -> Bounds:
        told = self.settings
        return Bounds(clip, grid(told.rate_hz, clip.frames), told.most_objects, told.most_points, told.most_frames)

    def _look(self, clip: Clip) -> tuple[Viewing, Changes]:
        """The clip as the model sees it, and its changes, from one decoding."""
        album = Album(whole(clip, self.settings), self.settings.picture)
        watcher = ChangeWatcher(clip.width_px, clip.height_px)
        watch(clip.mp4, clip, [album, watcher])
        return Viewing(clip, self.settings, album, self._video(clip)), watcher.changes()

    def _video(self, clip: Clip, blank: bool = False) -> Video | None:
        if not self.settings.endpoint.video:
            return None
        told = {"rate_hz": self.settings.rate_hz, "seconds": clip.frames / FPS}
        return Video(b"", **told) if blank else Video.of(clip.mp4, **told)

    def _ask(self, question: Question, bounds: Bounds) -> Reading[Outline]:
        read = functools.partial(read_outline, bounds=bounds)
        return ask_until_right(self.settings.endpoint, question, read, self.settings.asks)

    def _groups(self, asked: Mapping[str, Sequence[int]]) -> list[dict[str, Sequence[int]]]:
        return groups(asked, self.settings.objects_per_request, self.settings.endpoint.images)

    def _places(self, clip: Clip, outline: Outline) -> Places:
        """Where each object is on its representative frames.

        Objects about which no answer can be used are not in it, and named in the log.

        Raises:
            Unscored: there is no answer that can be used.
        """
        settings = self.settings
        frames = sorted({frame for item in outline.objects for frame in item.frames})
        sheets: list[Sheet] = [single(frame, clip, settings) for frame in frames]
        album = Album(sheets, settings.picture)
        watch(clip.mp4, clip, [album])
        descriptions = {item.name: item.description for item in outline.objects}

        def mark(group: Mapping[str, Sequence[int]]) -> Reading[Places]:
            read = functools.partial(read_places, asked=group, clip=clip, apart_s=0.5 / settings.rate_hz)
            question = places_question(group, descriptions, clip, settings, album)
            return ask_until_right(settings.endpoint, question, read, settings.asks)

        asked = self._groups({item.name: item.frames for item in outline.objects})
        answers = ask_all(settings.endpoint, [functools.partial(mark, group) for group in asked])
        places: Places = {}
        for group, answer in zip(asked, answers, strict=True):
            if isinstance(answer, Unscored):
                LOG.warning("%s: %s: %s", clip.clip_id, ", ".join(group), answer)
            else:
                places |= _told(clip, answer)
        if all(isinstance(answer, Unscored) for answer in answers):
            raise answers[-1]
        return places


def proposed(item: OutlinedObject, places: Sequence[Any], changes: Changes) -> ProposedObject:
    """An object with its marks, its intervals brought to the change points at its places."""
    cells = changes.cells(place.box_xyxy for place in places)
    visible_s = [_visible(seen, changes, cells) for seen in item.seen]
    prompt = ObjectPrompt(name=item.name, status="found", visible_s=visible_s, frames=list(places))
    return ProposedObject(description=item.description, prompt=prompt)


def _visible(seen: Seen, changes: Changes, cells: Cells) -> Interval:
    start = appears(seen.before, seen.first, changes, cells)
    return time_of(start), time_of(vanishes(seen.last, seen.after, changes, cells))


def focal_points(points: Iterable[OutlinedPoint], objects: Sequence[ProposedObject], changes: Changes) -> list[FocalPoint]:
    """The focal points in order of time, with those of their objects that are proposed, and intervals brought to change points."""
    marked = {item.prompt.name: item.prompt for item in objects}
    made = []
    for point in points:
        names = [name for name in point.objects if name in marked]
        boxes = [place.box_xyxy for name in names for place in marked[name].frames]
        start_s, end_s = snapped(point.kind, point.told_s, changes, changes.cells(boxes) if boxes else None)
        told = {"kind": point.kind, "description": point.description, "start_s": start_s, "end_s": end_s, "objects": names}
        made.append(FocalPoint(focal_id="f", **told))
    made.sort(key=lambda point: (point.start_s, point.end_s))
    return [point.model_copy(update={"focal_id": f"f{number}"}) for number, point in enumerate(made, start=1)]


def _told(clip: Clip, reading: Reading[Any]) -> Any:
    """What was read; what was not is told in the log."""
    for fault in reading.faults:
        LOG.warning("%s: left out of the proposal: %s", clip.clip_id, fault)
    return reading.value


def _typical(bounds: Bounds) -> Outline:
    """As much as a clip holds in the mean, in no words that mean anything."""
    words = " ".join(["word"] * TYPICAL_WORDS)
    shown = bounds.shown
    every = max(len(shown) // bounds.frames_each, 1)
    seen = (Seen(-1, shown[0], shown[-1], bounds.clip.frames),)
    objects = [
        OutlinedObject(f"object_{number}", words, seen, tuple(shown[number % every :: every][: bounds.frames_each]))
        for number in range(min(TYPICAL_OBJECTS, bounds.objects))
    ]
    whole_s = (0.0, time_of(bounds.clip.frames))
    points = [OutlinedPoint("dynamic", words, whole_s, ()) for _ in range(min(TYPICAL_POINTS, bounds.points))]
    return Outline(tuple(objects), tuple(points))
