"""Exchanges of a run that are under way or were answered, and which of them a request is answered by.

A client that gives up before its answer is whole, and asks the same again, gets the exchange that it gave up: nothing is asked of
the model a second time as long as the first answer can still be had.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

LOOK_S = 0.5  # between looks at whether a silent client is still there


@dataclass
class Head:
    """How a response begins. `length` is None where it comes as a stream."""

    status: int
    headers: dict[str, str]
    length: int | None = None


class Cut(Exception):
    """The answer broke off; so must the connection, that the client sees it."""


@dataclass
class Passage:
    """One exchange: its response as far as it has come, for whoever listens.

    Attributes:
        before: how often the run was answered the same before.
        gone: whether the client that listens is there no more; None while none listens.
        delivered: whether a client was given all of it.
    """

    before: int
    gone: Callable[[], bool] | None = None
    delivered: bool = False
    head: Head | None = None
    _cut: Callable[[], None] | None = None
    _events: list[bytes] = field(default_factory=list)
    _over: bool = False
    _was_cut: bool = False
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def begin(self, head: Head, cut: Callable[[], None] | None = None) -> None:
        """It begins. `cut` breaks the exchange with the model off."""
        with self._changed:
            self.head, self._cut = head, cut
            self._changed.notify_all()

    def break_off(self) -> None:
        """Break the exchange with the model off, where its answer has begun."""
        with self._changed:
            cut = self._cut
        if cut is not None:
            cut()

    def event(self, event: bytes) -> None:
        with self._changed:
            self._events.append(event)
            self._changed.notify_all()

    def end(self, was_cut: bool = False) -> None:
        """All of it has come; or nothing more comes, though it is not whole."""
        with self._changed:
            self._over, self._was_cut, self._cut = True, was_cut, None
            self._changed.notify_all()

    def forget(self) -> None:
        """Nobody will listen to it any more: a long run would keep all of its answers in memory."""
        with self._changed:
            self._events = []

    @property
    def over(self) -> bool:
        return self._over

    def wait_over(self, seconds: float) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: self._over, timeout=max(seconds, 0.0))

    def wait_head(self, gone: Callable[[], bool]) -> Head | None:
        """How the response begins; None where the client is gone before it does, or it broke off."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self.head is not None or self._over, timeout=LOOK_S)
                if self.head is not None or self._over:
                    return self.head
            if gone():
                return None

    def events(self, gone: Callable[[], bool]) -> Iterator[bytes]:
        """What has come and still comes, to the end.

        Raises:
            Cut: it is not whole, or the client is gone.
        """
        heard = 0
        while True:
            with self._changed:
                if len(self._events) == heard and not self._over:
                    self._changed.wait(LOOK_S)
                new, over = self._events[heard:], self._over and len(self._events) == heard
            yield from new
            heard += len(new)
            if over:
                if self._was_cut:
                    raise Cut
                return
            if not new and gone():
                raise Cut


class Passages:
    """All of a run, by the digest of what is asked."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._all: dict[str, list[Passage | None]] = {}

    def claim(self, digest: str, gone: Callable[[], bool]) -> tuple[Passage, bool]:
        """The exchange that answers a request.

        Args:
            gone: whether the client that asks is there no more.

        Returns:
            And whether it is new, so that whoever claims it must see to it.
        """
        with self._lock:
            numbered = self._all.setdefault(digest, [])
            for number, passage in enumerate(numbered):
                if passage is None:
                    numbered[number] = passage = Passage(number, gone)
                    return passage, True
                if not passage.delivered and (passage.gone is None or passage.gone()):
                    passage.gone = gone
                    return passage, False
            numbered.append(Passage(len(numbered), gone))
            return numbered[-1], True

    def leave(self, passage: Passage, gone: Callable[[], bool], delivered: bool) -> None:
        """A client listens no more; nothing where another one has taken its place."""
        with self._lock:
            passage.delivered = passage.delivered or delivered
            if passage.gone is gone:
                passage.gone = None
                if delivered:
                    passage.forget()

    def fail(self, digest: str, passage: Passage) -> None:
        """It was not answered: the same asked again is a new exchange, by the same number."""
        with self._lock:
            self._all[digest][passage.before] = None

    def under_way(self) -> list[Passage]:
        with self._lock:
            return [passage for numbered in self._all.values() for passage in numbered if passage is not None and not passage.over]
