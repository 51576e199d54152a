"""Code size: bytes of the page. The paper counts no such thing; it stands beside the scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from codecap.records import Clip, Row
from codecap.score import Description, Measurement, Shots, Task, Unscored

NAME = "code_size"
LABEL = "Code size"
UNIT = "bytes"
RANGE = (0.0, float("inf"))
HIGHER_IS_BETTER = False
NEEDS: tuple[str, ...] = ("page",)


class Settings(Row):
    """Has no keys."""


def load(settings: Mapping[str, Any]) -> CodeSize:
    Settings.model_validate(dict(settings))
    return CodeSize()


class CodeSize:
    proxy = False
    protocol = "bytes of the HTML file"

    def watch_reference(self, clip: Clip, shots: Shots) -> None:  # noqa: ARG002
        return None

    def watch_candidate(self, clip: Clip, shots: Shots, reference: Description) -> None:  # noqa: ARG002
        return None

    def compare(self, reference: Description, candidate: Description, task: Task) -> list[Measurement]:  # noqa: ARG002
        if task.page is None:
            raise Unscored("not a code caption: there is no page")
        return [Measurement(float(task.page.stat().st_size))]
