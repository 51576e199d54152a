"""Asks until an answer is right in all its parts; each further ask says what was wrong with the answer before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from codecap.exchange import Endpoint, Filtered, NotReached, Question, QuestionRejected, Reply, Text, ask
from codecap.score import Unreached, Unscored
from codecap.score.asking.answers import Unreadable, plain
from codecap.showing import prompts

PROMPT = "proposer.md"
MOST_FAULTS = 20  # that are told to the model
LONGEST_FAULT = 300  # characters

T = TypeVar("T")


@dataclass(frozen=True)
class Reading(Generic[T]):
    """What could be read of an answer.

    Attributes:
        value: the right parts of it.
        faults: what is wrong with the others, in words; they are not in the value.
    """

    value: T
    faults: tuple[str, ...] = ()


def ask_until_right(endpoint: Endpoint, question: Question, read: Callable[[Reply], Reading[T]], asks: int) -> Reading[T]:
    """The first answer without faults; after the last ask, the one with the fewest.

    Args:
        read: raises Unreadable where nothing of an answer can be used.
        asks: how often it is asked at most.

    Raises:
        Unscored: no ask gave an answer of which anything can be used, or the provider does not take this question.
        Unreached: no answer could be had this time.
    """
    best: Reading[T] | None = None
    faults: Sequence[str] = ()
    last = ""
    for again in range(asks):
        try:
            reading = read(ask(endpoint, replace(_with_faults(question, faults), nonce=again)))
        except Unreadable as why:
            faults, last = (str(why),), str(why)
        except Filtered as why:
            faults, last = (), f"refused: {why}"  # which is no fault of an answer
        except QuestionRejected as why:
            raise Unscored(str(why)) from why
        except NotReached as why:
            raise Unreached(str(why)) from why
        else:
            if not reading.faults:
                return reading
            faults = reading.faults
            if best is None or len(faults) < len(best.faults):
                best = reading
    if best is None:
        raise Unscored(f"no usable answer in {asks} {'ask' if asks == 1 else 'asks'}, at last: {plain(last, LONGEST_FAULT)}")
    return best


def _with_faults(question: Question, faults: Sequence[str]) -> Question:
    if not faults:
        return question
    told = prompts.load(PROMPT).say("again", faults=_listed(faults))
    return replace(question, parts=(*question.parts, Text(told)))


def _listed(faults: Sequence[str]) -> str:
    told = [plain(" ".join(fault.split()), LONGEST_FAULT) for fault in faults[:MOST_FAULTS]]
    more = [f"and {len(faults) - MOST_FAULTS} more"] if len(faults) > MOST_FAULTS else []
    return "\n".join(f"- {line}" for line in [*told, *more])
