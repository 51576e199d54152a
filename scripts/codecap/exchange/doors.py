"""What a process knows of an endpoint: whether anything more is asked of it, and how much at once."""

from __future__ import annotations

import logging

from codecap.exchange.failures import Filtered, NotReached, QuestionRejected, Rejected
from codecap.exchange.limits import Gate

LOG = logging.getLogger("codecap")

MISREAD = 2  # answers in a row that were paid for in vain, after which no more is asked in a session
REJECTIONS: dict[str, type[NotReached]] = {  # by what a refusal that does not pass concerns, see `patience.Refusal`
    "endpoint": Rejected,
    "question": QuestionRejected,
    "content": Filtered,
    "answer": NotReached,
    "form": NotReached,
}


class Door:
    """What this process knows of an endpoint."""

    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        self.closed: NotReached | None = None  # why nothing more is asked of it in this session
        self.answered = False  # something was answered in this session
        self.missed = 0  # questions in a row that ran out of tries
        self.misread = 0  # answers in a row that were paid for and are in no form that its API has
        self._told: set[str] = set()

    def must_be_open(self) -> None:
        if self.closed is not None:
            raise type(self.closed)(str(self.closed))

    @property
    def tired(self) -> bool:
        """As many questions in a row as can be under way ran out of tries: the next ones have one each, until one is answered."""
        return self.missed >= self.gate.limits.concurrency

    def miss(self, why: NotReached) -> None:
        """A question ran out of tries; after twice as many in a row as can be under way, no more is asked in this session."""
        self.missed += 1
        if self.missed >= 2 * self.gate.limits.concurrency:
            self.closed = why

    def rejects(self, concerns: str, words: str) -> NotReached:
        """A question has no answer and no next try; where that is likely to concern all others, no more is asked in this session.

        Args:
            concerns: see `patience.Refusal`.
        """
        why = REJECTIONS[concerns](words)
        if concerns == "answer":
            self.miss(why)
        self.misread += concerns == "form"
        if concerns == "endpoint" or self.misread >= MISREAD:
            self.closed = why
        return why

    def tell_once(self, message: str) -> None:
        if message not in self._told:
            self._told.add(message)
            LOG.warning(message)
