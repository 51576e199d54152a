"""Can a question be answered without the clip? Then it tells nothing about captions, and is left out.

Source: CapQuiz, section 3.2.2. Two models get a question with its options in another order in each of three trials, and nothing
else. It counts as solvable blind when every model is right in at least two of its trials. **Ours**: an answer that cannot be read,
or is refused, is not right.
"""

from __future__ import annotations

import functools
import json
import random
from collections import Counter
from collections.abc import Sequence
from statistics import fmean

from codecap.exchange import Question as Request
from codecap.exchange import Text
from codecap.questions.asking import read_choice, schema_of
from codecap.questions.sets import LETTERS, Question
from codecap.questions.settings import Maker
from codecap.records import Row, Words
from codecap.score import Unscored
from codecap.score.asking.rounds import Asking, ask_all, ask_until_read
from codecap.showing import prompts

PROMPT = "question_blind.md"


class Trial(Row):
    """One answer of a model that did not see the clip.

    Attributes:
        asker: place of the model in `questions.maker.blind`, since several may have one name.
        order: places of the question's options as they were shown.
        choice: place of the chosen one in the question; None where no answer could be read.
    """

    question_id: str
    asker: int
    model: str
    trial: int
    order: list[int]
    choice: int | None
    correct: bool
    detail: Words = ""


def try_blind(questions: Sequence[Question], place: int, maker: Maker) -> list[Trial]:
    """All trials of one model, by its place in `maker.blind`. Within an open session of the exchange.

    Raises:
        codecap.score.Unreached: an answer could not be had this time.
    """
    asker = maker.blind[place]
    wanted = [(question, trial) for question in questions for trial in range(maker.trials)]
    answers = ask_all(asker.endpoint, [functools.partial(_ask, question, trial, asker) for question, trial in wanted])
    return [_trial(question, trial, place, asker, answer) for (question, trial), answer in zip(wanted, answers, strict=True)]


def order_of(question: Question, trial: int) -> list[int]:
    """In which order a trial shows the options: places of the question's, the same for all models."""
    order = list(range(len(question.options)))
    random.Random(f"{question.question_id} {question.digest} {trial}").shuffle(order)
    return order


def is_solved(trials: Sequence[Trial], maker: Maker) -> bool:
    """Whether every model is right often enough.

    Args:
        trials: of one question, by all models.
    """
    right = Counter(trial.asker for trial in trials if trial.correct)
    return all(right[place] >= maker.solved_in for place in range(len(maker.blind)))


def accuracy(trials: Sequence[Trial]) -> float:
    """Share of right answers; the lower, the harder the question."""
    return fmean(trial.correct for trial in trials)


def request(question: Question, trial: int, asker: Asking) -> Request:
    prompt = prompts.load(PROMPT)
    letters = LETTERS[: len(question.options)]
    options = {letter: question.options[place] for letter, place in zip(letters, order_of(question, trial), strict=True)}
    told = json.dumps({"question": question.question, "options": options}, ensure_ascii=False, indent=1)
    said = prompt.say("task", question=told, letter=letters[0], letters=", ".join(letters))
    return Request((Text(said),), prompt.sections["system"], schema_of(letters), asker.most_output_tokens)


def _ask(question: Question, trial: int, asker: Asking) -> int:
    """Place of the chosen option in the question."""
    read = functools.partial(read_choice, options=len(question.options))
    chosen = ask_until_read(asker.endpoint, request(question, trial, asker), read, asker.asks, repeat=trial)
    return order_of(question, trial)[chosen.place]


def _trial(question: Question, trial: int, place: int, asker: Asking, answer: int | Unscored) -> Trial:
    unread = isinstance(answer, Unscored)
    return Trial(
        question_id=question.question_id,
        asker=place,
        model=asker.endpoint.model,
        trial=trial,
        order=order_of(question, trial),
        choice=None if unread else answer,
        correct=not unread and answer == question.answer,
        detail=str(answer) if unread else "",
    )
