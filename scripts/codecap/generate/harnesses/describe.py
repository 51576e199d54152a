"""A caption in natural language, by a single call: the other arm of the comparison with code.

Source: CodeCap-Bench, section 4.3.6. The model sees what it sees in `direct`, at 2 frames a second. Its text is the caption: a
model answers questions from it, and a video model makes a video of it. **Ours**: the wording (`resources/prompts/describer.md`).

A text that was cut off at the limit of output tokens, or an empty one, is none: `no_complete_html`, the outcome of a caption that
was not delivered whole.

Settings: those of `codecap.generate.shown.Settings`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from codecap.generate.extraction import without_thinking
from codecap.generate.shown import Settings
from codecap.generate.single_call import Read, SingleCall

PAID = True
TEXT = True
PROMPT = "describer.md"


def load(settings: Mapping[str, Any]) -> SingleCall:
    return SingleCall("describe", "text", PROMPT, Settings.model_validate(dict(settings)), read_text)


def read_text(answer: str, cut_off: bool) -> Read:
    text = without_thinking(answer).strip()
    if cut_off:
        return Read(None, "cut off at the limit of output tokens")
    if not text:
        return Read(None, "the answer is empty")
    return Read(f"{text}\n".encode("utf-8", "replace"))
