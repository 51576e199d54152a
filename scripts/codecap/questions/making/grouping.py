"""Questions about one clip that ask for the same, of which only the hardest is kept.

Source: CapQuiz, section 3.2.2: a model puts questions of one meaning into groups; of each the one with the lowest accuracy in the
blind trials stays. **Ours**: of equally hard ones the first by its id.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence

from codecap.exchange import Question as Request
from codecap.exchange import Reply, Text
from codecap.questions.sets import Question
from codecap.records import Row
from codecap.score.asking.answers import Unreadable, read_answer
from codecap.score.asking.rounds import Asking, ask_until_read
from codecap.showing import prompts

PROMPT = "question_grouper.md"
SCHEMA = {
    "type": "object",
    "properties": {"groups": {"type": "array", "items": {"type": "array", "items": {"type": "string"}}}},
    "required": ["groups"],
    "additionalProperties": False,
}


class SaidGroups(Row):
    groups: list[list[str]]


def group(questions: Sequence[Question], asker: Asking) -> list[list[Question]]:
    """The questions about one clip, those that ask for the same together. Within an open session of the exchange.

    Raises:
        codecap.score.Unscored: no readable answer came.
        codecap.score.Unreached: it could not be had this time.
    """
    if len(questions) < 2:
        return [list(questions)] if questions else []
    names = {f"q{number}": question for number, question in enumerate(questions, start=1)}
    read = functools.partial(read_groups, names=list(names))
    groups = ask_until_read(asker.endpoint, request(names, asker), read, asker.asks)
    return [[names[name] for name in held] for held in groups]


def request(names: Mapping[str, Question], asker: Asking) -> Request:
    prompt = prompts.load(PROMPT)
    told = [
        {"id": name, "question": question.question, "right": question.options[question.answer]} for name, question in names.items()
    ]
    said = prompt.say("task", questions=json.dumps(told, ensure_ascii=False, indent=1), count=len(names))
    return Request((Text(said),), prompt.sections["system"], SCHEMA, asker.most_output_tokens)


def read_groups(reply: Reply, names: Sequence[str]) -> list[list[str]]:
    """Groups that hold each of the names once.

    Raises:
        Unreadable: they do not.
    """
    groups = [held for held in read_answer(reply, SaidGroups).groups if held]
    said = [name for held in groups for name in held]
    if sorted(said) != sorted(names):
        raise Unreadable("does not put exactly the questions that it was given into groups, each once")
    return groups


def hardest(groups: Sequence[Sequence[Question]], accuracies: Mapping[str, float]) -> list[Question]:
    """The hardest of each group.

    Args:
        accuracies: of the blind trials, by question_id.
    """
    return [min(held, key=lambda question: (accuracies[question.question_id], question.question_id)) for held in groups]
