"""One call with the whole clip, whose answer is the caption: what the harnesses `direct` and `describe` have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from codecap.exchange import Question, at_once
from codecap.generate.calls import Call, call
from codecap.generate.harnesses import Kind, Made
from codecap.generate.shown import Settings, as_shown, single_question
from codecap.records import Clip, Outcome
from codecap.showing import prompts
from codecap.store import Draft, Item


@dataclass(frozen=True)
class Read:
    """What an answer holds: the caption's bytes, or why there is none."""

    content: bytes | None
    reason: str = ""


@dataclass(frozen=True)
class SingleCall:
    """Args:
    harness: its name.
    prompt: file name of its prompt.
    reader: reads an answer that was not refused; its second argument says whether it was cut off.
    """

    harness: str
    kind: Kind
    prompt: str
    settings: Settings
    reader: Callable[[str, bool], Read]

    @property
    def identity(self) -> dict[str, Any]:
        return {"harness": self.harness, "prompt": prompts.load(self.prompt).sections, **self.settings.identity}

    @property
    def protocol(self) -> str:
        shown = as_shown(self.settings.endpoint)
        return f"{self.harness} {self.settings.told}, {shown}, prompt {prompts.load(self.prompt).digest}"

    @property
    def at_once(self) -> int:
        return at_once(self.settings.endpoint)

    def version(self) -> str:
        return f"{self.harness} 1, prompt {prompts.load(self.prompt).digest}"

    def questions_expected(self, clip: Clip) -> list[Question]:
        """What a caption takes, with blank pictures."""
        return [single_question(clip, self.settings, prompts.load(self.prompt), blank=True)]

    def run(self, clip: Clip, draft: Draft) -> dict[str, Any]:  # noqa: ARG002 (it has no files)
        question = single_question(clip, self.settings, prompts.load(self.prompt))
        return call(self.settings.endpoint, question).model_dump(mode="json")

    def read(self, item: Item) -> Made:
        told = Call.model_validate(item.value)
        counted = {"kind": self.kind, "usage": told.usage, "cost_usd": told.cost_usd, "rounds": 1, "wall_s": told.wall_s}
        if told.refusal is not None:
            return Made(Outcome.REFUSED, told.refusal, **counted)
        found = self.reader(told.text, told.cut_off)
        if found.content is None:
            return Made(Outcome.NO_COMPLETE_HTML, told.why(found.reason), **counted)
        return Made(Outcome.OK, content=found.content, **counted)

    def end(self) -> None:
        """A call under way comes to its end: it is paid for."""
