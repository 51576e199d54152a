"""The scale that people score by: the section of the judge's own prompt, so that both read the same words."""

from __future__ import annotations

import re
from dataclasses import dataclass

from codecap.errors import UserError
from codecap.showing import prompts

PROMPT = "retention_judge.md"
SECTION = "criteria"
LEVELS = range(6)
_LEVEL = re.compile(r"([0-9]+): (.+)")


@dataclass(frozen=True)
class Criteria:
    """What is compared, in paragraphs, and what each score means, from 0 to 5."""

    before: tuple[str, ...]
    levels: tuple[str, ...]
    after: tuple[str, ...]


def read_criteria(prompt: prompts.Prompt | None = None) -> Criteria:
    """The criteria of a judge's prompt (the retention judge's by default).

    Raises:
        UserError: the prompt does not say what each of 0 to 5 means, once.
    """
    prompt = prompts.load(PROMPT) if prompt is None else prompt
    before, after, levels = [], [], {}
    told = 0
    for block in re.split(r"\n\s*\n", prompt.sections.get(SECTION, "").strip()):
        lines = [_LEVEL.fullmatch(line.strip()) for line in block.splitlines()]
        if lines and all(lines):
            levels |= {int(line[1]): line[2] for line in lines if line}
            told += len(lines)
        elif block:
            (after if levels else before).append(" ".join(block.split()))
    if sorted(levels) != list(LEVELS) or told != len(LEVELS):
        raise UserError(f"{prompt.name}: section {SECTION!r} must have one block of six lines, `5: ...` to `0: ...`, one a score")
    return Criteria(tuple(before), tuple(levels[score] for score in LEVELS), tuple(after))
