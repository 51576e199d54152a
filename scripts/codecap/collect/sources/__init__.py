"""Sources offer videos and fetch them. A module has `load(settings) -> Source`; `settings` is its entry in `sources`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from codecap.records import Candidate, Original


class Source(Protocol):
    def discover(self) -> Iterator[Candidate]:
        """Videos that fit the source's queries, each with an id that stays the same from run to run."""
        ...

    def fetch(self, candidate: Candidate, folder: Path) -> Original:
        """Bring one video into `folder` (or name where it already lies). What cannot be had is a row with a reason."""
        ...
