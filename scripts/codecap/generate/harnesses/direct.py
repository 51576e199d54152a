"""A single call: the model sees the whole clip, sampled at 2 frames a second, and answers with a page.

Source: CodeCap-Bench, section 4.1, the non-agentic setting: a single pass, no tools, no rendering. Frames are single pictures or,
above the endpoint's limit, time-ordered grids that hold every frame; a model that takes videos gets the clip itself, where the
entry says so (`endpoint.video`). **Ours**: the wording (`resources/prompts/direct_coder.md`), since the paper's is not published.

What the model says counts at once, a refusal too. How the page is found in the answer: `codecap.generate.extraction`.

Settings: those of `codecap.generate.shown.Settings`. The effort is `endpoint.thinking`; another effort is another entry.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from codecap.generate.extraction import page_in
from codecap.generate.shown import Settings
from codecap.generate.single_call import Read, SingleCall

PAID = True
PROMPT = "direct_coder.md"


def load(settings: Mapping[str, Any]) -> SingleCall:
    return SingleCall("direct", "code", PROMPT, Settings.model_validate(dict(settings)), read_page)


def read_page(answer: str, cut_off: bool) -> Read:
    found = page_in(answer, cut_off)
    return Read(None if found.page is None else found.page.encode("utf-8", "replace"), found.reason)
