"""VideoMathQA: `videomathqa_mcq_test.parquet` of huggingface.co/datasets/MBZUAI/VideoMathQA, or its rows as JSON.

Fields as the data set's page and its task in lmms-eval have them: `videoID`, `question_id`, `category`, `question`, `options`
(five, each after its letter), `answer` (a letter). The type is the category. The file `mbin` asks each question once for every
wrong option, under one id: it is another task, and its repeated ids are refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from codecap.questions.published import Published, Theirs, Told, lettered

LABEL = "VideoMathQA"


class Line(Theirs):
    videoID: Told
    question_id: Told
    category: str
    question: str
    options: list[str]
    answer: str


def take(row: Mapping[str, Any]) -> Published:
    line = Line.model_validate(row)
    options, answer = lettered(line.options, line.answer)
    return Published(line.videoID, line.question_id, line.category, line.question.strip(), options, answer)
