"""Sources offer videos and fetch them. A module has `load(settings) -> Source`; `settings` is its entry in `sources`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from codecap.records import Candidate, FetchCause, Original


@dataclass(frozen=True)
class Query:
    """One thing that a source is asked for.

    Attributes:
        words: as the config has it: "search: bar chart race"; "" where a source has but one.
        category: of all that it finds; "" where each video says its own.
        quota: how many videos are wanted of it; None: all that there are.
        asks: whether its site is asked; else the config names the videos.
    """

    words: str = ""
    category: str = ""
    quota: int | None = None
    asks: bool = True


class NotToBeHad(Exception):
    """A site does not give what it was asked for.

    Attributes:
        cause: one of a few, by which it is decided whether to ask again.
        reason: in words, without secrets.
        wait_s: how long the site asks to wait before the next request; None where it does not say.
    """

    def __init__(self, cause: FetchCause, reason: str, wait_s: float | None = None) -> None:
        super().__init__(reason)
        self.cause, self.reason, self.wait_s = cause, reason, wait_s


class Source(Protocol):
    """
    Attributes:
        site: who is asked; sources of one site share its turns. "" where nobody is.
        per_minute: how many videos and queries a minute it is asked for at most; None: no limit.
    """

    site: str
    per_minute: float | None

    def queries(self) -> list[Query]:
        """What it is asked for."""
        ...

    def discover(self, query: Query) -> Iterator[Candidate]:
        """Videos that fit one of its queries, each with an id that stays the same from run to run.

        Raises:
            NotToBeHad: the site does not answer the query.
        """
        ...

    def video_of(self, candidate: Candidate) -> str:
        """What is the same for one video whichever query or entry finds it: the site's own id, or its address."""
        ...

    def determines(self, candidate: Candidate) -> list[Any] | None:
        """JSON values that determine the fetched file: with the same ones it is not fetched again. None: it is not kept."""
        ...

    def look(self, candidate: Candidate) -> None:
        """Ask whether a video is there still. Nothing is fetched.

        Raises:
            NotToBeHad: it is not, or its site does not answer.
        """
        ...

    def fetch(self, candidate: Candidate, folder: Path) -> Original:
        """Bring one video into `folder` (or name where it already lies). What cannot be had is a row with a reason."""
        ...
