"""A multimodal model as prompter: the paper's, and any other behind the exchange.

Source: CodeCap-Bench, section 3.2. For each reference object the model says when it is visible in the render, and on representative
frames of the render where: a box with positive and negative points, which a segmenter starts from.

**Ours**: two steps (when, from all sampled frames; then where, on single frames as large as they may be), the wording
(`resources/prompts/object_prompter.md`), places on a scale from 0 to 1000, and intervals that reach up to the sampled frames on
which the object is not seen, as it may come and go between two.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from codecap.exchange import Question
from codecap.records import AnnotatedObject, Annotation, Clip, ObjectPrompt, PromptFrame
from codecap.score import Unscored
from codecap.score.asking.objects import (
    PROMPT,
    Found,
    box_question,
    find_question,
    read_findings,
    read_places,
    reference_frames,
    render_sheets,
    single,
)
from codecap.score.asking.rounds import Asking, ask_all, ask_until_read
from codecap.score.engine.watching import watch
from codecap.showing import prompts
from codecap.showing.album import Album, BlankAlbum
from codecap.showing.sheets import Sheet
from codecap.showing.showing import Pictures
from codecap.video import probe


class Settings(Asking):
    """Keys of the config, beside those of `Showing` and `Asking`.

    Attributes:
        objects_per_request: objects that one answer of the first step finds; more is cheaper and another protocol.
        reference_frames: frames of the reference that show each object.
        most_frames: representative frames of each object, at most.
    """

    objects_per_request: int = Field(default=1, ge=1)
    reference_frames: int = Field(default=3, ge=1)
    most_frames: int = Field(default=4, ge=1)


def load(settings: Mapping[str, Any]) -> MllmPrompter:
    told = Settings.model_validate(dict(settings))
    least = max(told.reference_frames * told.objects_per_request + 1, told.reference_frames + told.most_frames)
    if told.endpoint.images < least:
        raise ValueError(f"endpoint.images is {told.endpoint.images}, these settings show {least} pictures in one question")
    if told.endpoint.video:
        raise ValueError("endpoint.video: a prompter names places on frames and is shown frames; leave it false")
    return MllmPrompter(told)


@dataclass(frozen=True)
class Group:
    """Objects that one question of the first step is about, and the reference's frames that show them."""

    objects: tuple[AnnotatedObject, ...]
    known: tuple[int, ...]


class MllmPrompter:
    proxy = False

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        shown = f"{settings.reference_frames} reference frames, up to {settings.most_frames} frames of the render"
        asked = f"{settings.objects_per_request} {'object' if settings.objects_per_request == 1 else 'objects'} a request"
        self.protocol = f"mllm prompter {settings.told}, {shown}, prompt {prompts.load(PROMPT).digest}, {asked}"

    def prompt(self, objects: Sequence[AnnotatedObject], clip: Clip, candidate_mp4: Path) -> list[ObjectPrompt]:
        """One prompt an object; see the protocol in `prompters`. Boxes and points are in the candidate's own pixels.

        Raises:
            Unscored: no readable answer could be had about one of them; the message names it.
            Unreached: an answer could not be had this time.
            VideoError: a video cannot be decoded.
        """
        groups = self._groups(objects, clip)
        info = probe(candidate_mp4)
        reference = self._reference(groups, clip)
        render = self._album(candidate_mp4, clip, [sheet for group in groups for sheet in self._whole(group, clip)])
        endpoint = self.settings.endpoint
        answers = ask_all(endpoint, [functools.partial(self._find, group, clip, reference, render) for group in groups])
        found = _all_read([", ".join(item.name for item in group.objects) for group in groups], answers)
        by_name = {name: finding for findings in found for name, finding in findings.items()}
        sought = [item for item in objects if by_name[item.name].status == "found"]
        render = self._album(
            candidate_mp4, clip, [single(frame, clip, self.settings) for item in sought for frame in by_name[item.name].frames]
        )
        size_px = (info.width_px, info.height_px)
        asked = [
            functools.partial(self._place, item, by_name[item.name].frames, clip, reference, render, size_px) for item in sought
        ]
        names = [item.name for item in sought]
        places = dict(zip(names, _all_read(names, ask_all(endpoint, asked)), strict=True))
        return [_prompt(item, by_name[item.name], places.get(item.name, [])) for item in objects]

    def questions_expected(self, clip: Clip, annotation: Annotation) -> list[Question]:
        """The questions about one candidate, with blank pictures, to tell what they cost: every object is taken for found on as
        many frames as are asked for."""
        blank = BlankAlbum()
        seen = [item for item in annotation.objects if any(box is not None for box in item.boxes_xyxy)]
        groups = self._groups(seen, clip)
        questions = [self._find_question(group, clip, blank, blank) for group in groups]
        frames = list(range(min(self.settings.most_frames, clip.frames)))
        return questions + [self._box_question(item, frames, clip, blank, blank) for item in seen]

    def _groups(self, objects: Sequence[AnnotatedObject], clip: Clip) -> list[Group]:
        size = self.settings.objects_per_request
        groups = [tuple(objects[start : start + size]) for start in range(0, len(objects), size)]
        return [Group(group, tuple(reference_frames(group, clip.frames, self.settings.reference_frames))) for group in groups]

    def _whole(self, group: Group, clip: Clip) -> list[Sheet]:
        return render_sheets(clip, self.settings, len(group.known))

    def _album(self, mp4: Path, clip: Clip, sheets: Sequence[Sheet]) -> Album:
        album = Album(sheets, self.settings.picture)
        watch(mp4, clip, [album] if sheets else [])
        return album

    def _reference(self, groups: Sequence[Group], clip: Clip) -> Album:
        each = [frame for group in groups for item in group.objects for frame in self._known(item, clip)]
        known = sorted({*each, *(frame for group in groups for frame in group.known)})
        return self._album(clip.mp4, clip, [single(frame, clip, self.settings) for frame in known])

    def _known(self, item: AnnotatedObject, clip: Clip) -> list[int]:
        return reference_frames([item], clip.frames, self.settings.reference_frames)

    def _find_question(self, group: Group, clip: Clip, reference: Pictures, render: Pictures) -> Question:
        return find_question(group.objects, group.known, clip, self.settings, self.settings.most_frames, reference, render)

    def _box_question(
        self, item: AnnotatedObject, frames: Sequence[int], clip: Clip, reference: Pictures, render: Pictures
    ) -> Question:
        return box_question(item, self._known(item, clip), frames, clip, self.settings, reference, render)

    def _find(self, group: Group, clip: Clip, reference: Pictures, render: Pictures) -> dict[str, Found]:
        read = functools.partial(
            read_findings,
            names=[item.name for item in group.objects],
            clip=clip,
            showing=self.settings,
            most_frames=self.settings.most_frames,
        )
        question = self._find_question(group, clip, reference, render)
        return ask_until_read(self.settings.endpoint, question, read, self.settings.asks)

    def _place(
        self,
        item: AnnotatedObject,
        frames: Sequence[int],
        clip: Clip,
        reference: Pictures,
        render: Pictures,
        size_px: tuple[int, int],
    ) -> list[PromptFrame]:
        read = functools.partial(read_places, frames=frames, clip=clip, showing=self.settings, size_px=size_px)
        question = self._box_question(item, frames, clip, reference, render)
        return ask_until_read(self.settings.endpoint, question, read, self.settings.asks)


def _all_read(what: Sequence[str], answers: Sequence[Any]) -> list[Any]:
    """The answers, when all of them could be read.

    Raises:
        Unscored: names the first that could not.
    """
    for name, answer in zip(what, answers, strict=True):
        if isinstance(answer, Unscored):
            raise Unscored(f"{name}: {answer}")
    return list(answers)


def _prompt(item: AnnotatedObject, found: Found, frames: list[PromptFrame]) -> ObjectPrompt:
    return ObjectPrompt(name=item.name, status=found.status, visible_s=found.visible_s, frames=frames)
