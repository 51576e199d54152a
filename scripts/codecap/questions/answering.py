"""One subject's shard of answers: asked once, kept in the store, counted where there is nothing to be shown."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codecap import stopping
from codecap.clips import check_file
from codecap.exchange import at_once
from codecap.exchange.question import Part
from codecap.questions.asking import protocol_of, read_choice, request, shown_text, shown_video
from codecap.questions.planned import PROMPT, AskedQuestion, Medium
from codecap.questions.settings import Answerer, identity_of
from codecap.records import Answer, Caption, Clip, Outcome, Render
from codecap.score import Unreached, Unscored
from codecap.score.asking.rounds import ask_all, ask_until_read
from codecap.showing import prompts
from codecap.store import ItemStore
from codecap.video import VideoError

STAGE = "answer_questions"
CLIPS_AT_ONCE = 4  # the pictures of so many are in memory


@dataclass(frozen=True)
class Source:
    """What a clip's questions are put to.

    Attributes:
        key: digest of all that determines it.
        file: a video or a text; None where there is none, and `outcome` and `detail` say why.
    """

    outcome: Outcome
    key: str
    file: Path | None = None
    detail: str = ""


def of_clips(clips: Iterable[Clip]) -> dict[str, Source]:
    """The clips themselves."""
    return {clip.clip_id: Source(Outcome.OK, clip.sha256, clip.mp4) for clip in clips}


def of_renders(renders: Iterable[Render]) -> dict[str, Source]:
    return {row.clip_id: Source(row.outcome, row.key, row.mp4, row.detail) for row in renders}


def of_texts(captions: Iterable[Caption]) -> dict[str, Source]:
    return {row.clip_id: Source(row.outcome, row.key, row.text, row.detail) for row in captions}


def answer_shard(
    subject: str,
    medium: Medium,
    clips: Iterable[Clip],
    sources: Mapping[str, Source],
    asked: Mapping[str, Sequence[AskedQuestion]],
    settings: Answerer,
    code: str,
    durable: Path,
) -> Iterator[list[Answer]]:
    """The answers to each clip's questions, clip by clip in their order. Within an open session of the exchange.

    What a model has failed to make keeps nothing: its questions are not asked, and none is answered rightly. What we failed at is
    not counted; nothing of it is stored, and its rows say `retry`.

    Args:
        subject: a system's name, or `planned.ORIGINAL`.
        clips: with questions.
        code: digest of the code that asks and reads.

    Raises:
        stopping.Stopped: the process is to end.
    """
    shard = _Shard(subject, medium, sources, asked, settings, code, durable)
    with ThreadPoolExecutor(max_workers=min(CLIPS_AT_ONCE, at_once(settings.endpoint))) as pool:
        rows = [pool.submit(shard.rows, clip) for clip in clips]
        try:
            for made in rows:
                yield made.result()
        finally:
            stopping.wind_up(pool, rows, lambda: None)


class _Shard:
    def __init__(
        self,
        subject: str,
        medium: Medium,
        sources: Mapping[str, Source],
        asked: Mapping[str, Sequence[AskedQuestion]],
        settings: Answerer,
        code: str,
        durable: Path,
    ) -> None:
        self._subject, self._medium, self._sources, self._asked, self._settings = subject, medium, sources, asked, settings
        salt = [identity_of(settings), prompts.load(PROMPT).sections, code]
        self._store = ItemStore(durable, stage=STAGE, salt=salt)

    def rows(self, clip: Clip) -> list[Answer]:
        stopping.check()
        source, asked = self._sources[clip.clip_id], self._asked[clip.clip_id]
        if source.outcome is not Outcome.OK:
            return [self._without(clip, source, one) for one in asked]
        keys = [self._store.key(clip.sha256, source.key, self._medium, str(one.undetermined), one.question.digest) for one in asked]
        values, why = [self._known(clip, key) for key in keys], None
        missing = [place for place, value in enumerate(values) if value is None]
        if missing:
            try:
                material = self._material(clip, source.file)
                wanted = [functools.partial(self._answer, clip, material, asked[place], keys[place]) for place in missing]
                for place, told in zip(missing, ask_all(self._settings.endpoint, wanted), strict=True):
                    values[place] = self._kept(clip, keys[place], {"unscored": str(told)}) if isinstance(told, Unscored) else told
            except (Unreached, VideoError) as error:
                why = error
                values = [self._known(clip, key) for key in keys]  # with those that were answered before it
        return [
            self._unreached(clip, one, why) if value is None else self._row(clip, one, value)
            for one, value in zip(asked, values, strict=True)
        ]

    def _known(self, clip: Clip, key: str) -> Any:
        item = self._store.get(self._subject, clip.clip_id, key)
        return None if item is None else item.value

    def _material(self, clip: Clip, file: Path) -> tuple[Part, ...]:
        if self._medium == "caption":
            return shown_text(file)
        if self._medium == "original":
            check_file(clip)
        return shown_video(clip, file, self._settings)

    def _answer(self, clip: Clip, material: tuple[Part, ...], asked: AskedQuestion, key: str) -> dict[str, Any]:
        """Ask, and keep the answer at once."""
        wanted = request(material, asked, self._settings)
        read = functools.partial(read_choice, options=len(asked.options))
        choice = ask_until_read(self._settings.endpoint, wanted, read, self._settings.asks)
        return self._kept(clip, key, {"place": choice.place, "evidence": choice.evidence})

    def _kept(self, clip: Clip, key: str, value: dict[str, Any]) -> dict[str, Any]:
        return self._store.get_or_make(self._subject, clip.clip_id, key, lambda _draft: value).value

    def _row(self, clip: Clip, asked: AskedQuestion, value: Mapping[str, Any]) -> Answer:
        if "unscored" in value:
            return self._told(clip, asked, status="unscored", detail=value["unscored"])
        place = value["place"]
        return self._told(
            clip,
            asked,
            status="ok",
            option=asked.options[place],
            undetermined=place == len(asked.question.options),
            correct=place == asked.question.answer,
            detail=value["evidence"],
            protocol=protocol_of(self._medium, asked.undetermined, self._settings),
        )

    def _without(self, clip: Clip, source: Source, asked: AskedQuestion) -> Answer:
        """There is nothing to be shown."""
        correct = None if source.outcome is Outcome.INFRA_ERROR else False
        return self._told(clip, asked, status=source.outcome.value, correct=correct, detail=source.detail)

    def _unreached(self, clip: Clip, asked: AskedQuestion, why: Exception | None) -> Answer:
        return self._told(clip, asked, status="unscored", retry=True, detail=str(why))

    def _told(self, clip: Clip, asked: AskedQuestion, **told: Any) -> Answer:
        return Answer(
            question_set=asked.question_set,
            question_id=asked.question.question_id,
            type=asked.question.type,
            system=self._subject,
            clip_id=clip.clip_id,
            medium=self._medium,
            **told,
        )
