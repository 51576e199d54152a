"""Code tokens: how many tokens of cl100k_base a page is, as VCode counts code. It stands beside the scores."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from codecap import weights
from codecap.records import Clip, Row
from codecap.score import Description, Measurement, Shots, Task, Unscored

NAME = "code_tokens"
LABEL = "Code tokens"
UNIT = "tokens"
RANGE = (0.0, float("inf"))
HIGHER_IS_BETTER = False
NEEDS: tuple[str, ...] = ("page",)
TABLE = "cl100k_base"


class Settings(Row):
    """Has no keys."""


def load(settings: Mapping[str, Any]) -> CodeTokens:
    """Raises WeightsMissing: the table of tokens was not fetched."""
    Settings.model_validate(dict(settings))
    return CodeTokens()


class CodeTokens:
    """Counts what the page says; a text that looks like one of the table's special tokens is text."""

    proxy = False
    protocol = f"{TABLE} tokens of the HTML file"

    def __init__(self) -> None:
        table = weights.place(TABLE)
        os.environ["TIKTOKEN_CACHE_DIR"] = str(table.parent)  # where the library looks before it would download
        import tiktoken

        self._encoding = tiktoken.get_encoding(TABLE)

    def watch_reference(self, clip: Clip, shots: Shots) -> None:  # noqa: ARG002
        return None

    def watch_candidate(self, clip: Clip, shots: Shots, reference: Description) -> None:  # noqa: ARG002
        return None

    def compare(self, reference: Description, candidate: Description, task: Task) -> list[Measurement]:  # noqa: ARG002
        if task.page is None:
            raise Unscored("not a code caption: there is no page")
        text = task.page.read_bytes().decode("utf-8", errors="replace")
        return [Measurement(float(len(self._encoding.encode_ordinary(text))))]
