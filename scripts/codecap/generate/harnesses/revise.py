"""Revision: a single call, then rounds in which the model sees its page's render beside the clip, comments the difference and
revises.

Source: VCoder (arXiv 2511.02778), "thinking with revision", for pictures; here for videos: clip and render are shown side by side
at the times at which the clip is sampled. The page is rendered by our engine, the one that it is scored with. **Ours**: a worse
revision is not kept. What says which is better is the `criterion`, which looks at no annotation; the next round starts from the
best page. A page of which no video could be made is shown with the reason, to be mended. The first call is that of `direct`, word
for word: with the same model and settings the two share it, and pay for it once.

Settings: those of `codecap.generate.revision.Settings`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from codecap import store
from codecap.exchange import Question, at_once
from codecap.generate import cues
from codecap.generate.calls import outcome_of, summed
from codecap.generate.harnesses import Kind, Made
from codecap.generate.revision import Revision, Round, Settings, page_file, questions_expected
from codecap.generate.side_by_side import CRITERIA
from codecap.records import Clip, Outcome
from codecap.showing import prompts
from codecap.store import Draft, Item

PAID = True
RENDERS = True
BROWSER = True
FIRST_PROMPT = "direct_coder.md"
PROMPT = "reviser.md"


def load(settings: Mapping[str, Any]) -> Revise:
    told = Settings.model_validate(dict(settings))
    if told.endpoint.video:
        raise ValueError("endpoint.video: clip and render are shown side by side, as frames; leave it false")
    cues.check(told.cues)
    return Revise(told)


@dataclass(frozen=True)
class Revise:
    settings: Settings
    kind: Kind = "code"

    @property
    def identity(self) -> dict[str, Any]:
        words = [prompts.load(FIRST_PROMPT).sections, prompts.load(PROMPT).sections]
        return {"harness": "revise", "prompts": words, **self.settings.identity}

    @property
    def protocol(self) -> str:
        told = self.settings
        kinds = [kind for kind in ("objects", "text") if getattr(told.cues, kind)]
        cued = f", cues of {' and '.join(kinds)} in {told.cues.frames} frames" if kinds else ""
        digests = "+".join(prompts.load(name).digest for name in (FIRST_PROMPT, PROMPT))
        return f"revise {told.told}, best of {told.rounds} revisions by {CRITERIA[told.criterion].told}{cued}, prompts {digests}"

    @property
    def at_once(self) -> int:
        return at_once(self.settings.endpoint)

    def version(self) -> str:
        return f"revise 1, prompts {prompts.load(FIRST_PROMPT).digest}+{prompts.load(PROMPT).digest}"

    def questions_expected(self, clip: Clip) -> list[Question]:
        """What a caption takes, with blank pictures."""
        return questions_expected(clip, self.settings, prompts.load(FIRST_PROMPT), prompts.load(PROMPT))

    def run(self, clip: Clip, draft: Draft) -> dict[str, Any]:
        made = Revision(clip, self.settings, prompts.load(FIRST_PROMPT), prompts.load(PROMPT), draft).run()
        return {"rounds": [one.model_dump(mode="json") for one in made]}

    def read(self, item: Item) -> Made:
        rounds = [Round.model_validate(told) for told in item.value["rounds"]]
        took = summed([one for each in rounds for one in each.calls])
        counted = {"usage": took.usage, "cost_usd": took.cost_usd, "rounds": took.rounds, "wall_s": took.wall_s}
        kept = [number for number, one in enumerate(rounds) if one.kept]
        if not kept:
            outcome, detail = outcome_of(rounds[-1].calls[-1], rounds[-1].reason)
            return Made(outcome, detail, **counted)
        best = rounds[kept[-1]]
        page = store.open_at(item.files[page_file(kept[-1])], lambda place: place.read_bytes())
        alike = "no video" if best.likeness is None else f"{best.likeness:.4f}"
        detail = f"the page of round {kept[-1]} of {len(rounds) - 1}, likeness {alike}"
        return Made(Outcome.OK, detail, content=page, **counted)

    def end(self) -> None:
        from codecap.render.cage import end_all_cages

        end_all_cages()
