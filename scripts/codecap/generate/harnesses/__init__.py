"""Harnesses make captions. A module has `load(settings) -> Harness | PaidHarness`.

`settings` is the system's entry in `config/models.yaml`, without what names and groups it, over the sections of the configuration
that the module shares with others; see `codecap.generate.entries`.

What a module says by constants at its top is read from its source, without importing it:
    NETWORK = False           it reaches none, and runs on any node; the jobs of all others go to nodes that reach hosted models
    VIDEO = True              it makes videos: there is no page for a browser to draw
    TEXT = True               it makes texts: there is no page, and no video
    OTHER_LENGTHS = True      its videos may be longer or shorter than the clip; scoring them takes the network that matches shots
    PAID = True               its runs cost money: it is a `PaidHarness`
    SHARES = "agents"         name of a section of the configuration whose keys lie under those of the entry
    RENDERS = True            its settings have the section `render` of the configuration as `render`
    BROWSER = True            its jobs draw pages, as the model's own tool: they need a browser's memory
    FROM = "captions"         key of the entry that names the system whose captions it starts from; it has `run_from` for `run`

What is free (`Harness`) is keyed in the store by settings and code, and made anew after an edit. What is paid for (`PaidHarness`)
is keyed by what was asked of whom, and never by code: the store keeps the raw run, and the row is read from it in every job. So
an edit of how answers are read reads them anew, and buys none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from codecap.records import Caption, Clip, Outcome, Usage
from codecap.store import Draft, Item

Kind = Literal["code", "text", "video"]
SUFFIX: dict[Kind, str] = {"code": "html", "text": "txt", "video": "mp4"}  # of a caption's file
COLUMN: dict[Kind, str] = {"code": "html", "text": "text", "video": "mp4"}  # of the row that names it


class InfraError(Exception):
    """A run failed by our fault or the network's. Nothing of it is stored, its row is `infra_error`, and the next run tries again.

    What its exchanges with a hosted model have cost is not lost: they are recorded, and replayed when it is tried again.
    """


@dataclass(frozen=True)
class Made:
    """What a harness made of one clip.

    Attributes:
        content: of a paid harness: the caption itself, a page's or a text's bytes, or the path of a file of the run's item (a
            video); None where there is none. A free harness has written it to its `out`.
        wall_s: of a paid harness: how long the run took when it was paid for.
    """

    outcome: Outcome
    detail: str = ""
    kind: Kind = "code"
    salvaged: bool = False
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = None
    rounds: int | None = None
    tool_calls: dict[str, int] = field(default_factory=dict)
    content: bytes | Path | None = None
    wall_s: float | None = None


class Harness(Protocol):
    """A harness that costs nothing but our own computing."""

    kind: Kind
    protocol: str

    def version(self) -> str:
        """Version of what makes the caption, as recorded in every row."""
        ...

    def caption(self, clip: Clip, out: Path) -> Made:
        """Watch the clip, write the caption to `out`. A failure of the system is an outcome, not an exception."""
        ...


class PaidHarness(Protocol):
    """A harness whose runs cost money (`PAID = True`).

    Attributes:
        kind: of its captions.
        protocol: how they are made, readable.
        identity: what was asked of whom, as JSON values: model, API, effort, harness and version, the prompt's text, what is shown
            how, limits that change the result. With the clip's digest it is the run's key in the store. No code, no keys, no
            addresses, and nothing that only says how fast or how patiently it is asked.
        at_once: clips that are worked on at the same time.
    """

    kind: Kind
    protocol: str
    identity: dict[str, Any]
    at_once: int

    def version(self) -> str:
        """Version of what makes the caption, as recorded in every row."""
        ...

    def run(self, clip: Clip, draft: Draft) -> dict[str, Any]:
        """Have the system caption the clip. Called by several threads at once, within an open `codecap.exchange.session`.

        Args:
            draft: where the run's files are written: `draft.file("log.gz")`.

        Returns:
            The raw run, a JSON value: answers, what ended it, usage as it was counted. A failure of the system is a run like any
            other.

        Raises:
            InfraError, codecap.exchange.NotReached: the run failed by our fault.
            codecap.stopping.Stopped: the process is to end.
        """
        ...

    def run_from(self, clip: Clip, draft: Draft, source: Caption) -> dict[str, Any]:
        """The same of a harness that starts from another system's captions; called where there is one (outcome `ok`).

        Args:
            source: the other system's row; its key is part of the run's key.
        """
        ...

    def read(self, item: Item) -> Made:
        """What a run made: a function of the item alone, whose value is what `run` gave. Its files may be packed: open them by
        `codecap.store.open_at`."""
        ...

    def end(self) -> None:
        """Break off the runs under way, after an error of ours or an end from outside; their `run` raises, they are not stored.

        Calls of the exchange are not broken off: they are paid for, and recorded when they come.
        """
        ...
