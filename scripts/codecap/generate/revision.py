"""The loop of revision: render the page, have the model comment the difference, have it revise, keep the better page."""

from __future__ import annotations

import dataclasses
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from codecap import stopping
from codecap.exchange import Question, Text
from codecap.exchange.question import Part
from codecap.generate import cues as visual_cues
from codecap.generate.calls import Call, call
from codecap.generate.cues import Cues
from codecap.generate.extraction import Found, page_in
from codecap.generate.harnesses import InfraError
from codecap.generate.shown import Settings as Shown
from codecap.generate.shown import facts_of, frames_of, single_question
from codecap.generate.side_by_side import CRITERIA, Criterion, pair_sheets, pairs
from codecap.records import Clip, Outcome, Row
from codecap.render import render_page
from codecap.render.failures import BrowserMissing
from codecap.render.failures import InfraError as RenderInfraError
from codecap.showing.album import BlankAlbum
from codecap.showing.prompts import Prompt
from codecap.showing.showing import shown
from codecap.store import Draft

MOST_DIFFERENCES = 12  # that a comment names
USUAL_PAGE, USUAL_COMMENT = 12_000, 2000  # characters, in an estimate of what revision costs
_ONE_BROWSER = threading.Semaphore()  # a job that waits for hosted models has one core


class Settings(Shown):
    """Keys of an entry in `models`, beside those of `shown.Settings`.

    Attributes:
        rounds: revisions after the first page, each of two calls.
        criterion: what says whether a revision is better: "ssim" (mean SSIM of frames) or "frame_similarity" (the embedded
            encoder's). Neither looks at an annotation.
        cues: what detectors measure in the clip and tell the model, see `codecap.generate.cues.Cues`; off by default.
        render: the section `render` of the configuration.
    """

    rounds: int = Field(default=3, ge=1, le=20)
    criterion: Criterion = "ssim"
    cues: Cues = Cues()
    render: dict[str, Any] = {}

    @property
    def identity(self) -> dict[str, Any]:
        """How pages are rendered is no part of it: an engine that was mended buys nothing again."""
        return {name: value for name, value in super().identity.items() if name != "render"}


class Round(Row):
    """What became of one round.

    Attributes:
        calls: in order: the first page's or, of a revision, the comment and the revised page.
        reason: why its answer has no page.
        rendered: what became of its page; None without one.
        likeness: by the criterion; None where there is no video.
        kept: it is the best page so far.
    """

    calls: list[Call]
    reason: str = ""
    rendered: Outcome | None = None
    detail: str = ""
    likeness: float | None = None
    kept: bool = False


@dataclass(frozen=True)
class _Version:
    """A page, what became of it, and what is shown of it: pairs with the clip, or why there are none."""

    page: str
    rendered: Outcome
    detail: str
    likeness: float | None
    parts: tuple[Part, ...]

    def is_better_than(self, other: _Version | None) -> bool:
        """A page that gives a video is better than one that gives none; of two that give none, the later."""
        if other is None or other.likeness is None:
            return True
        return self.likeness is not None and self.likeness > other.likeness


def questions_expected(clip: Clip, settings: Settings, first: Prompt, prompt: Prompt) -> list[Question]:
    """What a caption takes where each call gives a page of usual length and all rounds are gone through, with blank pictures."""
    facts = facts_of(clip, settings)
    sheets = pair_sheets(clip, frames_of(clip, settings), settings)
    shared = (
        Text(first.say("task", **facts)),
        Text(prompt.say("pairs", **facts)),
        *shown("Video and page", sheets, BlankAlbum()),
        Text(prompt.say("code", page="x" * USUAL_PAGE)),
    )

    def question(*task: str) -> Question:
        parts = (*shared, *map(Text, task))
        return Question(parts, system=first.say("system"), most_output_tokens=settings.most_output_tokens)

    comment = question(prompt.say("comment", most=MOST_DIFFERENCES))
    revised = question(prompt.say("revise", comment="x" * USUAL_COMMENT), prompt.say("answer"))
    return [single_question(clip, settings, first, blank=True), *[comment, revised] * settings.rounds]


def page_file(number: int) -> str:
    """Suffix of the file that holds a round's page."""
    return f"round{number}.html"


class Revision:
    """One run.

    Args:
        first, prompt: words of the first call and of the others.
        draft: where the pages are kept.
    """

    def __init__(self, clip: Clip, settings: Settings, first: Prompt, prompt: Prompt, draft: Draft) -> None:
        self._clip, self._settings, self._draft = clip, settings, draft
        self._first_prompt, self._prompt = first, prompt
        self._facts = facts_of(clip, settings)
        told = visual_cues.measured(clip, settings.cues) if settings.cues.wanted else ""
        self._cues = (Text(prompt.say("cues", cues=told)),) if told else ()
        self._first = self._with_cues(single_question(clip, settings, first))

    def run(self) -> list[Round]:
        """Raises as `PaidHarness.run`."""
        best: _Version | None = None
        rounds: list[Round] = []
        for number in range(self._settings.rounds + 1):
            stopping.check()
            calls = self._asked(best, number)
            found = page_in(calls[-1].text, calls[-1].cut_off)
            if calls[-1].refusal is not None:
                rounds.append(Round(calls=calls, reason=calls[-1].refusal))
                break  # what it refuses once counts
            if found.page is None:
                rounds.append(Round(calls=calls, reason=found.reason))
                continue
            version = self._version(found, number)
            kept = version.is_better_than(best)
            best = version if kept else best
            rounds.append(
                Round(calls=calls, rendered=version.rendered, detail=version.detail, likeness=version.likeness, kept=kept)
            )
        return rounds

    def _asked(self, best: _Version | None, number: int) -> list[Call]:
        """The calls of a round. A nonce tells it from others that show the same, as after a revision that was not kept."""
        endpoint = self._settings.endpoint
        if best is None:
            return [call(endpoint, dataclasses.replace(self._first, nonce=number))]
        if best.likeness is None:
            task = Text(self._prompt.say("mend"))
            return [call(endpoint, self._question(best, number, task, Text(self._prompt.say("answer"))))]
        asked = self._prompt.say("comment", most=MOST_DIFFERENCES)
        comment = call(endpoint, self._question(best, number, Text(asked)))
        if comment.refusal is not None:
            return [comment]
        task = Text(self._prompt.say("revise", comment=comment.text.strip() or "none were named"))
        return [comment, call(endpoint, self._question(best, number, task, Text(self._prompt.say("answer"))))]

    def _question(self, best: _Version, number: int, *task: Text) -> Question:
        """What both calls of a round share comes first, so that a provider that keeps a prompt's beginning charges it once.

        Of a page of which there is no video there are no pairs: the clip itself is shown.
        """
        requirements = Text(self._first_prompt.say("task", **self._facts))
        code = Text(self._prompt.say("code", page=best.page.strip()))
        return Question(
            (requirements, *(self._cues if best.likeness is not None else self._first.parts[:-1]), *best.parts, code, *task),
            system=self._first_prompt.say("system"),
            most_output_tokens=self._settings.most_output_tokens,
            nonce=number,
        )

    def _with_cues(self, question: Question) -> Question:
        *parts, task = question.parts
        return dataclasses.replace(question, parts=(*parts, *self._cues, task))

    def _version(self, found: Found, number: int) -> _Version:
        file = self._draft.file(page_file(number))
        file.write_text(found.page, encoding="utf-8", errors="replace")
        with tempfile.TemporaryDirectory(prefix="codecap-revision-") as folder:
            mp4 = Path(folder) / "page.mp4"
            outcome, detail = self._rendered(file, mp4)
            if outcome is not Outcome.OK:
                reason = f"{outcome}: {detail}" if detail else str(outcome)
                return _Version(found.page, outcome, detail, None, (Text(self._prompt.say("failed", reason=reason)),))
            sheets = pair_sheets(self._clip, frames_of(self._clip, self._settings), self._settings)
            likeness = CRITERIA[self._settings.criterion]()
            album = pairs(self._clip, mp4, sheets, self._settings, likeness)
        parts = (Text(self._prompt.say("pairs", **self._facts)), *shown("Video and page", sheets, album))
        return _Version(found.page, outcome, detail, round(likeness.value(), 6), parts)

    def _rendered(self, page: Path, mp4: Path) -> tuple[Outcome, str]:
        """By the engine that the page is scored with."""
        clip = self._clip
        try:
            with _ONE_BROWSER:
                stopping.check()
                made = render_page(page, clip.frames, clip.width_px, clip.height_px, mp4, self._settings.render)
        except BrowserMissing:
            raise
        except RenderInfraError as error:
            raise InfraError(str(error)) from error
        if made.outcome is not Outcome.OK and stopping.reached_others(within_s=stopping.AT_ONCE_S):
            raise InfraError(f"stopped: the browser may have been told to end as well ({made.detail})")
        return made.outcome, made.detail
