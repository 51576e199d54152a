"""A clip under review: its draft, the journals of changes that count, and the one way to add to them."""

from __future__ import annotations

import contextlib
import datetime
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codecap import store
from codecap.errors import UserError
from codecap.records import Annotation, Clip
from codecap.review import journal
from codecap.review.beginning import BEGUN, Begun, begin, read_begun, read_draft
from codecap.review.doubts import Doubts
from codecap.review.edits import applied
from codecap.review.journal import Entry, Read
from codecap.review.standing import journals_in
from codecap.review.state import Converter, State
from codecap.store.leases import lease

Stamp = tuple[tuple[str, int, int], ...]


class Stale(UserError):
    """An edit that is based on another revision than the present one.

    Attributes:
        revision: the present one.
    """

    def __init__(self, revision: int) -> None:
        super().__init__(f"the annotation is at revision {revision} by now; load it again, nothing was overwritten")
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

    Other servers may add to the journals: `refresh` reads what they did. It may be used by several threads.

    Args:
        who: whose edits count, where two review the clip.
    """

    def __init__(self, clip: Clip, places: Places, who: str) -> None:
        self.clip, self.who, self._places = clip, who, places
        self.begun: Begun | None = None
        self.draft = Annotation(clip_id=clip.clip_id)
        self.state = State.of(self.draft)
        self.entries: list[Entry] = []
        self._sizes: dict[str, int] = {}
        self._stamp: Stamp | None = None
        self._lock = threading.RLock()
        self._converter = Converter(clip.frames)
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

    def change(
        self, edits: Sequence[tuple[str, Any]], based_on: int, first: Callable[[ClipReview, State], None] = lambda *_: None
    ) -> None:
        """Apply edits that belong together, and add them to this reviewer's journal; they are on the disk when it returns.

        Args:
            based_on: the revision that the edits are meant for.
            first: called with the state that the edits give, before anything is written; it may refuse by an exception, or write
                what must be there first.

        Raises:
            Stale: it is not the present one.
            Unfit: an edit cannot be; none of them counts.
            OSError: it cannot be written; none of them counts.
        """
        with self._lock:
            store.make_folder(self._places.folder)
            with lease(self._places.folder / "journals"):
                self._refresh()
                if based_on != self.revision:
                    raise Stale(self.revision)
                state = self.state
                for path, value in edits:
                    state = applied(state, path, value, self.clip.frames)
                first(self, state)
                self._begin()
                entries = self._entries(edits)
                path = journal.journal_of(self._places.folder, self.who)
                self._sizes[path.name] = journal.append(path, entries, self._sizes.get(path.name, 0))
                self.entries += entries
                self.state = state
                self._stamp = self._look()

    def _entries(self, edits: Sequence[tuple[str, Any]]) -> list[Entry]:
        when, revision = now(), self.revision + 1
        return [Entry(who=self.who, when=when, revision=revision, path=path, value=value) for path, value in edits]

    def _begin(self) -> None:
        if self.begun is None:
            self.begun = begin(self._places.folder, self.clip, self.draft, self._places.twice)

    def _look(self) -> Stamp:
        """Changes whenever the review begins, or a journal that counts does."""
        paths = [path for path in (self._places.folder / BEGUN, *self._journals()) if path.exists()]
        return tuple((path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in paths)

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
        stamp = self._look()
        reads = {path.name: journal.read(path) for path in self._journals()}
        self._sizes = {name: read.size for name, read in reads.items()}
        self.entries = in_order(reads.values())
        self.state = state_after(self.draft, self.entries, self.clip.frames)
        self._stamp = stamp


def in_order(reads: Iterable[Read]) -> list[Entry]:
    """The edits of several journals in the order in which they were made."""
    return sorted((entry for read in reads for entry in read.entries), key=lambda entry: entry.revision)


def state_after(draft: Annotation, entries: Iterable[Entry], frames: int) -> State:
    """What a draft and edits give."""
    state = State.of(draft)
    for entry in entries:
        state = applied(state, entry.path, entry.value, frames)
    return state


def now() -> str:
    """UTC, 2026-11-30T11:45:00Z."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
