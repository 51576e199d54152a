"""A clip under review: its draft, the journals of changes that count, and the one way to add to them."""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codecap import store
from codecap.errors import UserError
from codecap.records import Annotation, Clip, RecordError
from codecap.review import journal
from codecap.review.beginning import BEGUN, Begun, begin, read_begun, read_draft
from codecap.review.doubts import Doubts
from codecap.review.edits import Unfit, applied
from codecap.review.journal import Entry, Read
from codecap.review.standing import journals_in
from codecap.review.state import Converter, State
from codecap.store.leases import lease

Stamp = tuple[tuple[str, int, int], ...]


class Stale(UserError):
    """An edit that is based on another revision than the present one, or on another draft.

    Attributes:
        revision: the present one.
    """

    def __init__(self, revision: int, of: str = "") -> None:
        super().__init__(f"the annotation is at revision {revision}{of} by now; load it again, nothing was overwritten")
        self.revision = revision


class OtherCut(UserError):
    """The clip is another one than the review was begun on."""


@dataclass(frozen=True)
class Places:
    """Where a clip's review is kept.

    Attributes:
        folder: of the draft that it began from, and of one journal a reviewer.
        drafted: gives the draft, as long as no review has begun.
        twice: two people review the clip, each for himself, if no review has begun.
    """

    folder: Path
    drafted: Callable[[], Annotation]
    twice: bool


class ClipReview:
    """One clip, as one reviewer sees it: with the edits of all, or of this reviewer alone where two review the clip.

    Other servers may add to the journals: `now` reads what they did. It may be used by several threads.

    Args:
        who: whose edits count, where two review the clip.

    Attributes:
        draft_id: tells the draft from others, so that nobody edits what he does not see.
    """

    def __init__(self, clip: Clip, places: Places, who: str) -> None:
        self.clip, self.who, self._places = clip, who, places
        self.begun: Begun | None = None
        self.draft = Annotation(clip_id=clip.clip_id)
        self.draft_id = ""
        self.state = State.of(self.draft)
        self.entries: list[Entry] = []
        self._sizes: dict[str, int] = {}
        self._stamp: Stamp | None = None
        self._lock = threading.RLock()
        self._converter = Converter(clip.frames, (clip.width_px, clip.height_px))
        self.doubts = Doubts(clip)

    @property
    def revision(self) -> int:
        return self.entries[-1].revision if self.entries else 0

    @property
    def twice(self) -> bool:
        return self._places.twice if self.begun is None else self.begun.twice

    def annotation(self) -> Annotation:
        """What would be approved now."""
        return self.converted(self.state)

    def converted(self, state: State) -> Annotation:
        """What would be approved in a state of this review."""
        with self._lock:
            return self._converter.annotation(state, self.draft)

    @contextlib.contextmanager
    def now(self) -> Iterator[ClipReview]:
        """Hold still what is read within, after a look at what others have done.

        Raises:
            OtherCut: see there.
            RecordError: the draft or a journal cannot be read.
        """
        with self._lock:
            self._refresh()
            yield self

    @property
    def batch(self) -> str:
        """The name of the last edits."""
        return self.entries[-1].batch if self.entries else ""

    def change(
        self,
        edits: Sequence[tuple[str, Any]],
        based_on: int,
        first: Callable[[ClipReview, State], None] = lambda *_: None,
        draft_id: str | None = None,
        batch: str = "",
    ) -> None:
        """Apply edits that belong together, and add them to this reviewer's journal; they are on the disk when it returns.

        Args:
            based_on: the revision that the edits are meant for.
            first: called with the state that the edits give, before anything is written; it may refuse by an exception, or write
                what must be there first.
            draft_id: the draft that they are meant for; None for any.
            batch: a name for these edits; if the last ones have it, they are there already, and nothing is done.

        Raises:
            Stale: it is not the present one.
            Unfit: an edit cannot be; none of them counts.
            OSError: it cannot be written; none of them counts.
        """
        with self._lock:
            store.make_folder(self._places.folder)
            with lease(self._places.folder / "journals"):
                self._refresh()
                if batch and batch == self.batch:
                    return
                if based_on != self.revision:
                    raise Stale(self.revision)
                if draft_id not in (None, self.draft_id):
                    raise Stale(self.revision, " of a new draft")
                state = self.state
                for path, value in edits:
                    state = applied(state, path, value, self.clip.frames)
                first(self, state)
                self._begin()
                entries = self._entries(edits, batch)
                path = journal.journal_of(self._places.folder, self.who)
                self._sizes[path.name] = journal.append(path, entries, self._sizes.get(path.name, 0))
                self.entries += entries
                self.state = state
                self._stamp = self._look()

    def _entries(self, edits: Sequence[tuple[str, Any]], batch: str) -> list[Entry]:
        same = {"who": self.who, "when": now(), "revision": self.revision + 1, "batch": batch}
        return [Entry(path=path, value=value, **same) for path, value in edits]

    def _begin(self) -> None:
        if self.begun is None:
            self.begun = begin(self._places.folder, self.clip, self.draft, self._places.twice)

    def _look(self) -> Stamp:
        """Changes whenever the review begins, or a journal that counts does. Files are opened: NFS then asks the server."""
        found = []
        for path in (self._places.folder / BEGUN, *self._journals()):
            with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
                told = os.fstat(file.fileno())
                found.append((path.name, told.st_size, told.st_mtime_ns))
        return tuple(found)

    def _journals(self) -> list[Path]:
        own = journal.journal_of(self._places.folder, self.who)
        return [own] if self.twice else journals_in(self._places.folder)

    def _refresh(self) -> None:
        if self._stamp is not None and self._stamp == self._look():
            return
        self.begun = read_begun(self._places.folder)
        if self.begun is None:
            self.draft = self._places.drafted()
        elif (self.begun.sha256, self.begun.frames) != (self.clip.sha256, self.clip.frames):
            raise OtherCut(
                f"{self._places.folder}: the review was begun on another cut of clip {self.clip.clip_id}; move this folder "
                "away, and review the clip anew"
            )
        else:
            self.draft = read_draft(self._places.folder)
        self.draft_id = hashlib.sha256(self.draft.model_dump_json().encode()).hexdigest()[:16]
        stamp = self._look()
        reads = {path: journal.read(path) for path in self._journals()}
        self._sizes = {path.name: read.size for path, read in reads.items()}
        self.entries = in_order(reads)
        self.state = state_after(self.draft, self.entries, self.clip.frames, self._places.folder)
        self._stamp = stamp


def in_order(reads: Mapping[Path, Read]) -> list[Entry]:
    """The edits of several journals in the order in which they were made.

    Raises:
        RecordError: two journals have edits of one revision, as when copies of the folder were worked on and then merged.
    """
    made_in: dict[int, Path] = {}
    for path, read in reads.items():
        for entry in read.entries:
            other = made_in.setdefault(entry.revision, path)
            if other != path:
                raise RecordError(
                    f"{path}: has a revision {entry.revision} as {other.name} has, so they were made in two copies of the folder; "
                    "move one of the two files away"
                )
    return sorted((entry for read in reads.values() for entry in read.entries), key=lambda entry: entry.revision)


def state_after(draft: Annotation, entries: Iterable[Entry], frames: int, folder: Path) -> State:
    """What a draft and edits give.

    Args:
        folder: of the journals, for messages.

    Raises:
        RecordError: an edit does not fit what was there before it.
    """
    state = State.of(draft)
    for entry in entries:
        try:
            state = applied(state, entry.path, entry.value, frames)
        except Unfit as error:
            where = f"{journal.journal_of(folder, entry.who)}: revision {entry.revision}"
            raise RecordError(f"{where}: {error}; restore the file as it was, or move it away") from error
    return state


def now() -> str:
    """UTC, 2026-11-30T11:45:00Z."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
