"""Asks until an answer can be read, and many questions at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import TypeVar

from pydantic import Field

from codecap.exchange import Endpoint, Filtered, NotReached, Question, QuestionRejected, Reply, ask, at_once
from codecap.score import Unreached, Unscored
from codecap.score.asking.answers import Unreadable
from codecap.showing.showing import Showing

T = TypeVar("T")
MOST_REPEATS = 100  # the nonce of a re-ask is this much above that of the ask before


class Asking(Showing):
    """Keys of the config, beside those of `Showing`.

    Attributes:
        asks: how often a question is asked until its answer can be read.
    """

    asks: int = Field(default=3, ge=1)


def ask_until_read(endpoint: Endpoint, question: Question, read: Callable[[Reply], T], asks: int, repeat: int = 0) -> T:
    """The answer to a question, asked again under a new nonce while it cannot be read or a filter keeps it back.

    Args:
        read: raises Unreadable.
        asks: how often it is asked at most.
        repeat: number of this asking of the same question, under `MOST_REPEATS`; each is a request of its own.

    Raises:
        Unscored: no ask gave a readable answer, or the provider does not take this question; the message has the reasons.
        Unreached: no answer could be had this time.
    """
    reasons: list[str] = []
    for again in range(asks):
        try:
            return read(ask(endpoint, replace(question, nonce=repeat + MOST_REPEATS * again)))
        except Unreadable as why:
            reasons.append(str(why))
        except Filtered as why:
            reasons.append(f"refused: {why}")
        except QuestionRejected as why:
            raise Unscored(str(why)) from why
        except NotReached as why:
            raise Unreached(str(why)) from why
    told = [why if times == 1 else f"{why} ({times} times)" for why, times in Counter(reasons).items()]
    raise Unscored(f"no readable answer in {asks} {'ask' if asks == 1 else 'asks'}: {'; '.join(told)}")


def ask_all(endpoint: Endpoint, questions: Sequence[Callable[[], T]]) -> list[T | Unscored]:
    """Ask as many questions at once as the exchange is set to.

    Each is a function that asks; its place in the result does not depend on the others.

    The first one goes ahead alone: providers keep the part that it shares with the others, and charge them less for it.

    Returns:
        The answers in order; Unscored in the place of one that could not be read.

    Raises:
        Unreached: one could not be reached; those under way are waited for, as they are recorded, the others are not asked.
    """
    if not questions:
        return []
    first = _settled(questions[0])
    with ThreadPoolExecutor(max_workers=at_once(endpoint)) as pool:
        asked = [pool.submit(_settled, question) for question in questions[1:]]
        try:
            wait(asked, return_when=FIRST_EXCEPTION)
        finally:
            for later in asked:
                later.cancel()
    failed = next((one.exception() for one in asked if not one.cancelled() and one.exception()), None)
    if failed is not None:
        raise failed
    return [first, *(one.result() for one in asked)]


def _settled(question: Callable[[], T]) -> T | Unscored:
    try:
        return question()
    except Unreached:
        raise
    except Unscored as why:
        return why
