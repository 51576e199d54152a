"""DVBench: questions about data videos, `data/DVBench_QA.jsonl` of github.com/BomiaoWang/DVBench.

Its README describes the fields. Of the four kinds of questions only `MCQ_single` has options and one right one; `EM` and
`Open_ended` are answered in words, `MCQ_multiple` has several right options. The answer and up to three distractors are published
apart; the order of the options is made here, from the question's id. The type is DVBench's `dimension`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from codecap.questions.published import LeftOut, Published, Theirs, Told, shuffled
from codecap.questions.sets import same

LABEL = "DVBench"
NO_CHOICE = {
    "EM": "answered in words (EM)",
    "Open_ended": "answered in words (Open_ended)",
    "MCQ_multiple": "several right options (MCQ_multiple)",
}
UNFINISHED = ("to be completed", "to be comleted")  # what the release says where a text is still missing


class Line(Theirs):
    question_id: Told
    question_type: Literal["EM", "MCQ_single", "MCQ_multiple", "Open_ended"]
    video: Told
    dimension: str
    question: Told
    answer: Told
    distractor1: Told = ""
    distractor2: Told = ""
    distractor3: Told = ""


def take(row: Mapping[str, Any]) -> Published:
    line = Line.model_validate(row)
    if line.question_type in NO_CHOICE:
        raise LeftOut(NO_CHOICE[line.question_type])
    wrong = [told.strip() for told in (line.distractor1, line.distractor2, line.distractor3) if told.strip()]
    if not wrong or any(same(told) in ("", *UNFINISHED) for told in (line.question, line.answer, *wrong)):
        raise LeftOut("unfinished in the release")
    options, answer = shuffled(line.question_id, line.answer.strip(), wrong)
    return Published(line.video, line.question_id, line.dimension, line.question.strip(), options, answer)
