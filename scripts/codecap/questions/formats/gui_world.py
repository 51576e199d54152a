"""GUI-World: `Annotation/benchmark/*.jsonl` of huggingface.co/datasets/shuaishuaicdp/GUI-World.

Each line is a recording with its `video_path` and, among much else, one multiple-choice question `MCQA`: `Question`, `Options`
(each after its letter) and `Correct Answer` ("[[B]]"). The other questions of a recording are answered in words, and passed over.
The type is the environment, the first folder of the video's path ("software", "website").
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from pydantic import Field

from codecap.questions.published import LeftOut, Published, Theirs, lettered

LABEL = "GUI-World"


class Mcqa(Theirs):
    question: str = Field(alias="Question")
    options: list[str] = Field(alias="Options")
    answer: str = Field(alias="Correct Answer")


class Line(Theirs):
    video_path: str = Field(min_length=1)
    mcqa: Mcqa | None = Field(default=None, alias="MCQA")


def take(row: Mapping[str, Any]) -> Published:
    line = Line.model_validate(row)
    if line.mcqa is None:
        raise LeftOut("a recording without a multiple-choice question")
    place = PurePosixPath(line.video_path)
    options, answer = lettered(line.mcqa.options, line.mcqa.answer)
    kind = place.parts[0] if len(place.parts) > 1 else "recording"
    return Published(line.video_path, str(place.with_suffix("")), kind, line.mcqa.question.strip(), options, answer)
