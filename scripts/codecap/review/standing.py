"""How far each reviewer has come with a clip, from their journals: for the queue, and for clips that two review for themselves."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codecap.review import journal
from codecap.review.edits import STATUSES
from codecap.review.journal import Entry
from codecap.review.state import Status

FINISHED: tuple[Status, ...] = ("approved", "rejected")


@dataclass(frozen=True)
class Standing:
    """Of one reviewer and clip.

    Attributes:
        status: of the own version; "open" where there is none, because the reviewer has only settled which of two others' holds.
        revision: of the last edit.
        when: of the last edit; of the last own one, where a version was finished.
        settled: whose version the last edit let hold.
        settled_as: how that version ends the review.
    """

    who: str
    status: Status
    revision: int
    when: str
    settled: str | None = None
    settled_as: Status = "open"

    @property
    def has_finished(self) -> bool:
        return self.status in FINISHED


def standing_of(entries: Sequence[Entry]) -> Standing | None:
    """Where a journal has led; None where it is empty."""
    if not entries:
        return None
    own = [entry for entry in entries if not settles(entry)]
    last = entries[-1]
    status: Status = "open"
    if own:
        status = STATUSES[own[-1].value["decision"]] if own[-1].path == "status" else "started"
    of = settles(last)
    settled_as = "open" if of is None else STATUSES[last.value["decision"]]
    return Standing(last.who, status, last.revision, (own or entries)[-1].when, of, settled_as)


def settles(entry: Entry) -> str | None:
    """Whose version of two an edit lets hold; None for any other edit."""
    return entry.value.get("of") if entry.path == "status" else None


class Standings:
    """Reads journals, and reads each again only when it has changed."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[tuple[int, int], Standing | None]] = {}

    def of(self, folder: Path) -> dict[str, Standing]:
        """By reviewer.

        Raises:
            RecordError: a journal cannot be read.
        """
        found = {path.name.removesuffix(journal.SUFFIX): self._of(path) for path in journals_in(folder)}
        return {who: standing for who, standing in found.items() if standing is not None}

    def _of(self, path: Path) -> Standing | None:
        told = path.stat()
        stamp = told.st_size, told.st_mtime_ns
        known = self._known.get(path)
        if known is None or known[0] != stamp:
            known = self._known[path] = stamp, standing_of(journal.read(path).entries)
        return known[1]


def journals_in(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"[!.]*{journal.SUFFIX}"))


def is_reviewed_twice(clip_id: str, share: float) -> bool:
    """Whether a clip is one of the share of clips that two people review, by a hash of its id.

    >>> [is_reviewed_twice("A_001", share) for share in (0.0, 1.0)]
    [False, True]
    """
    return int(hashlib.sha256(f"twice {clip_id}".encode()).hexdigest()[:8], 16) < share * 2**32


def both_finished(standings: Mapping[str, Standing]) -> bool:
    """Two people have finished a clip for themselves, so that each may see what the other did."""
    return sum(standing.has_finished for standing in standings.values()) >= 2


def settled(standings: Mapping[str, Standing]) -> Standing | None:
    """Of who said last which of two versions holds; None as long as nobody has said so."""
    said = [standing for standing in standings.values() if standing.settled is not None]
    return max(said, key=lambda standing: standing.when) if said else None
