"""Makers of videos from texts, for the harness `caption_to_video`. A module has `load(settings) -> Maker`.

What the jobs of its systems need on a cluster, a module says by a constant at its top, which is read from its source:
    NETWORK = False           it makes them here, on a GPU where it is given one; the jobs of all others ask a hosted model
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol


@dataclass(frozen=True)
class Order:
    """A video that is wanted.

    Attributes:
        prompt: what it is to show.
        seconds, width_px, height_px: of the clip; a maker comes as near as it can.
    """

    prompt: str
    seconds: float
    width_px: int
    height_px: int


class Refused(Exception):
    """The maker will make no video of this text: a filter, or its own judgement; its words. That is the system's failure."""


class Maker(Protocol):
    """Attributes:
    protocol: how videos are made, readable.
    identity: what was asked of whom, as JSON values, but the order itself; see `harnesses.PaidHarness`.
    at_once: orders that are worked on at the same time.
    """

    protocol: str
    identity: dict[str, Any]
    at_once: int

    def version(self) -> str: ...

    def make(self, order: Order, out: Path) -> dict[str, Any]:
        """Have a video made, and write it to `out` as it comes: any length, size and format.

        Returns:
            A JSON value: `cost_usd` (None where it is not known), `wall_s`, `usage` (tokens, where it has any), and what else is
            worth keeping.

        Raises:
            Refused: there will be none.
            harnesses.InfraError, codecap.exchange.NotReached: it failed by our fault, or the maker's.
            codecap.stopping.Stopped: the process is to end.
        """
        ...

    def spoilt(self, order: Order) -> str:
        """What `make` has just written for an order cannot be read as a video. Returns what can be done, in words."""
        ...
