"""Which clips wait for a person, the doubtful ones first."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from codecap.annotate.quality import Signal, doubt, signals, why
from codecap.annotate.validate import Problem, problems
from codecap.errors import UserError
from codecap.records import Annotation
from codecap.review.drafts import Drafts

LOG = logging.getLogger("codecap")
PATIENCE_S = 2.0  # for drafts that are still being looked at
MOST_REASONS = 5


@dataclass(frozen=True)
class Look:
    """What a draft is like.

    Attributes:
        doubt: how likely it is wrong, 0-1.
        why: in words, the worst first.
        reviewed: a person has approved it before any review of ours.
    """

    objects: int | None = None
    focal_points: int | None = None
    doubt: float = 0.0
    why: list[str] = field(default_factory=list)
    reviewed: bool = False


def look_at(annotation: Annotation, found: Mapping[str, Sequence[Signal]], told: Sequence[Problem], reviewed: bool = False) -> Look:
    """
    Args:
        found: signals by object.
        told: problems of the annotation; errors come before all signals.
        reviewed: as of the `Look`.
    """
    empty = [] if annotation.objects else ["no objects: nothing was drafted, or nothing found"]
    errors = [problem for problem in told if problem.severity == "error"]
    wrong = {problem.about.removeprefix("objects/") for problem in errors if problem.about.startswith("objects/")}
    return Look(
        objects=len(annotation.objects),
        focal_points=len(annotation.focal_points),
        doubt=1.0 if empty else round(doubt(found, len(annotation.objects), wrong), 3),
        why=[*empty, *_in_words(errors), *why(found)][:MOST_REASONS],
        reviewed=reviewed,
    )


def _in_words(errors: Sequence[Problem]) -> list[str]:
    """The first error, and how many more there are: all of them would leave no room for doubts."""
    more = f" (and {len(errors) - 1} more {'error' if len(errors) == 2 else 'errors'})" if len(errors) > 1 else ""
    return [f"{problem.place}: {problem.message}{more}" for problem in errors[:1]]


class Looks:
    """Looks at all drafts, one after another in a thread of its own, since it takes some milliseconds each."""

    def __init__(self, drafts: Drafts) -> None:
        self._drafts = drafts
        self._found: dict[str, Look] = {}
        self._closed = False
        self._all = threading.Event()
        threading.Thread(target=self._work, name="drafts", daemon=True).start()

    def now(self, patience_s: float = PATIENCE_S) -> tuple[dict[str, Look], int]:
        """What is known of each clip by now, and how many are still to be looked at."""
        self._all.wait(patience_s)
        return dict(self._found), len(self._drafts.clips) - len(self._found)

    def renew(self, clip_id: str, look: Look) -> None:
        """A draft that a person has changed."""
        self._found[clip_id] = look

    def close(self) -> None:
        self._closed = True

    def _work(self) -> None:
        for clip_id, drafted in self._drafts.clips.items():
            if self._closed:
                return
            try:
                annotation = drafted.draft()
                reviewed = self._drafts.approved_first and bool(annotation.reviews)
                found = signals(annotation.objects, drafted.clip)
                look = look_at(annotation, found, problems(annotation, drafted.clip), reviewed)
            except (UserError, OSError) as error:
                LOG.error("%s: %s", clip_id, error)
                look = Look(doubt=1.0, why=[str(error)])
            self._found.setdefault(clip_id, look)
        self._all.set()


def in_order(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those that are to be done first, of these the most doubtful ones, then by clip id."""
    return sorted(rows, key=lambda row: (row["status"] in ("approved", "rejected"), -row["doubt"], row["clip_id"]))
