"""What a process knows of an endpoint: whether anything more is asked of it, and how much at once."""

from __future__ import annotations

import logging

from codecap.exchange.failures import NotReached
from codecap.exchange.limits import Gate

LOG = logging.getLogger("codecap")


class Door:
    """What this process knows of an endpoint."""

    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        self.closed: NotReached | None = None  # why nothing more is asked of it in this session
        self.missed = 0  # questions in a row that ran out of tries
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

    def tell_once(self, message: str) -> None:
        if message not in self._told:
            self._told.add(message)
            LOG.warning(message)
