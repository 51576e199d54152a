"""A multimodal model as judge: the paper's, and any other behind the exchange.

Source: CodeCap-Bench, section 3.2 and appendix C. For each focal point the model gets the segment of the reference, the point's
description and the full rendered video, both sampled on one global grid (2 a second, with both ends of the point's interval), and
gives an integer from 0 to 5 with its evidence. Frames are single pictures or, above the endpoint's limit, time-ordered grids that
keep every frame; times are said in the text, never drawn. A model that takes videos gets the segment and the render as videos, with
single frames at both ends of the interval.

**Ours**: the wording (`resources/prompts/retention_judge.md`); `points_per_request` above 1, where one answer judges several
points; `repeats`, where each question is asked several times and a point's score is the median (of an even number: maybe a half).
An answer that does not say exactly what was asked is asked for again; a point that gets no readable answer is unscored.
"""

from __future__ import annotations

import functools
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from codecap.clips import check_file
from codecap.exchange import Question, Reply, at_once
from codecap.records import Annotation, Clip, FocalPoint, Row
from codecap.score import Description, Task, Unreached, Unscored
from codecap.score.asking.answers import Unreadable, plain, read_answer
from codecap.score.asking.focal import PROMPT, Layout, Material, check_images, lay_out, question
from codecap.score.asking.rounds import MOST_REPEATS, Asking, ask_all, ask_until_read
from codecap.score.asking.segments import Segment, blank_video
from codecap.score.engine.watching import watch
from codecap.score.judges import BEST, Judgement
from codecap.showing import prompts
from codecap.showing.album import Album, BlankAlbum
from codecap.video import VideoError

AT_A_TIME = 25  # layouts whose pictures are in memory, or as many as are asked at once: all of a long clip would take gigabytes
LONGEST_EVIDENCE = 2000  # characters that a table keeps


class Settings(Asking):
    """Keys of the config, beside those of `Showing` and `Asking`.

    Attributes:
        points_per_request: focal points that one answer judges; the paper's 1, more is cheaper and another protocol.
        repeats: how often each question is asked; the median counts. An odd number gives whole points.
    """

    points_per_request: int = Field(default=1, ge=1)
    repeats: int = Field(default=1, ge=1, lt=MOST_REPEATS)


class Mark(Row):
    focal_id: str
    evidence: Annotated[str, Field(min_length=1)]
    score: int = Field(ge=0, le=BEST)


class Marks(Row):
    judgements: list[Mark]


def load(settings: Mapping[str, Any]) -> MllmJudge:
    told = Settings.model_validate(dict(settings))
    check_images(told.endpoint)
    return MllmJudge(told)


class MllmJudge:
    proxy = False

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        shown = "native video" if settings.endpoint.video else "frames"
        asked = f"{settings.points_per_request} {'point' if settings.points_per_request == 1 else 'points'} a request"
        repeated = f", median of {settings.repeats}" if settings.repeats > 1 else ""
        prompt = prompts.load(PROMPT)
        self.protocol = f"mllm judge {settings.told}, {shown}, prompt {prompt.digest}, {asked}{repeated}"

    def watch(self, clip: Clip) -> None:  # noqa: ARG002
        return None

    def judge(
        self,
        points: Sequence[FocalPoint],
        task: Task,
        reference: Description,  # noqa: ARG002
        candidate: Description,  # noqa: ARG002
    ) -> list[Judgement]:
        layouts = self._layouts(points, task.clip)
        size = max(AT_A_TIME, at_once(self.settings.endpoint) + 1)  # the first of a group is asked alone
        groups = [layouts[start : start + size] for start in range(0, len(layouts), size)]
        return [judgement for group in groups for judgement in self._judge(group, task)]

    def _judge(self, layouts: Sequence[Layout], task: Task) -> list[Judgement]:
        try:
            check_file(task.clip)
            material = self._material(layouts, task.clip, task.render.mp4)
        except VideoError as error:
            raise Unreached(str(error)) from error
        asked = [
            functools.partial(self._ask, question(layout, task.clip, self.settings, material), layout, repeat)
            for layout in layouts
            for repeat in range(self.settings.repeats)
        ]
        answers = ask_all(self.settings.endpoint, asked)
        repeats = self.settings.repeats
        per_layout = [answers[start : start + repeats] for start in range(0, len(answers), repeats)]
        return [judgement_of(point, given) for layout, given in zip(layouts, per_layout, strict=True) for point in layout.points]

    def questions_expected(self, clip: Clip, annotation: Annotation) -> list[Question]:
        """The questions about one candidate as they will be asked, with blank pictures, to tell what they cost."""
        blank = Material(
            BlankAlbum(),
            BlankAlbum(),
            lambda span: blank_video(span, self.settings.rate_hz),
            blank_video(range(clip.frames), self.settings.rate_hz),
        )
        layouts = self._layouts(annotation.focal_points, clip)
        return [question(layout, clip, self.settings, blank) for layout in layouts for _ in range(self.settings.repeats)]

    def _layouts(self, points: Sequence[FocalPoint], clip: Clip) -> list[Layout]:
        size = self.settings.points_per_request
        groups = [points[start : start + size] for start in range(0, len(points), size)]
        return [lay_out(group, clip, self.settings) for group in groups]

    def _material(self, layouts: Sequence[Layout], clip: Clip, render_mp4: Path) -> Material:
        """Decode both videos once for all questions about these layouts."""
        reference = Album((sheet for layout in layouts for sheet in layout.of_reference), self.settings.picture)
        render = Album((sheet for layout in layouts for sheet in layout.of_render), self.settings.picture)
        if not self.settings.endpoint.video:
            watch(clip.mp4, clip, [reference])
            watch(render_mp4, clip, [render])
            return Material(reference, render)
        with tempfile.TemporaryDirectory(prefix="codecap-segments-") as folder:

            def segment(frames: range) -> Segment:
                return Segment(frames, clip, Path(folder), self.settings.rate_hz)

            segments = {span: segment(span) for layout in layouts for span in layout.spans}
            whole = segment(range(clip.frames))
            watch(clip.mp4, clip, [reference, *segments.values()])
            watch(render_mp4, clip, [render, whole])
            cut = {span: made.video() for span, made in segments.items()}
            return Material(reference, render, cut.__getitem__, whole.video())

    def _ask(self, asked: Question, layout: Layout, repeat: int) -> dict[str, Mark]:
        ids = [point.focal_id for point in layout.points]
        return ask_until_read(self.settings.endpoint, asked, functools.partial(read_marks, ids=ids), self.settings.asks, repeat)


def read_marks(reply: Reply, ids: Sequence[str]) -> dict[str, Mark]:
    """The marks of exactly these focal points.

    Raises:
        Unreadable: the answer is not as asked, or its points are others, twice or missing.
    """
    marks = read_answer(reply, Marks).judgements
    found = [mark.focal_id for mark in marks]
    unknown = sorted(set(found) - set(ids))
    twice = sorted({name for name in found if found.count(name) > 1})
    missing = [name for name in ids if name not in found]
    if unknown:
        raise Unreadable(f"judges {len(unknown)} focal {'point' if len(unknown) == 1 else 'points'} that nobody asked about")
    if twice:
        raise Unreadable(f"judges {', '.join(twice)} more than once")
    if missing:
        raise Unreadable(f"does not judge {', '.join(missing)}")
    return {mark.focal_id: mark for mark in marks}


def judgement_of(point: FocalPoint, answers: Sequence[dict[str, Mark] | Unscored]) -> Judgement:
    """The median of the repeats; unscored when one of them is, since a median of fewer would be another protocol's number."""
    failed = [str(answer) for answer in answers if isinstance(answer, Unscored)]
    if failed:
        return Judgement(None, "; ".join(dict.fromkeys(failed)))
    marks = [answer[point.focal_id] for answer in answers]
    given = [mark.score for mark in marks]
    middle = statistics.median(given)
    nearest = min(marks, key=lambda mark: abs(mark.score - middle))
    return Judgement(middle, plain(nearest.evidence, LONGEST_EVIDENCE), tuple(given))
