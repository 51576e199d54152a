"""Harnesses make captions. A module has `load(settings) -> Harness`; `settings` is the system's entry in `config/models.yaml`.

What the jobs of its systems need on a cluster, a module says by constants at its top, which are read from its source:
    NETWORK = False           it reaches none, and runs on any node; the jobs of all others go to nodes that reach hosted models
    VIDEO = True              it makes videos: there is no page for a browser to draw
    OTHER_LENGTHS = True      its videos may be longer or shorter than the clip; scoring them takes the network that matches shots
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from codecap.records import Clip, Outcome, Usage


@dataclass(frozen=True)
class Made:
    """What a harness made of one clip. The file named by `kind` is at `out` (code: HTML, text: text, video: mp4)."""

    outcome: Outcome
    detail: str = ""
    kind: Literal["code", "text", "video"] = "code"
    salvaged: bool = False
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = None
    rounds: int | None = None
    tool_calls: dict[str, int] = field(default_factory=dict)


class Harness(Protocol):
    kind: Literal["code", "text", "video"]
    protocol: str

    def version(self) -> str:
        """Version of what makes the caption, as recorded in every row."""
        ...

    def caption(self, clip: Clip, out: Path) -> Made:
        """Watch the clip, write the caption to `out`. A failure of the system is an outcome, not an exception."""
        ...
