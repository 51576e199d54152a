"""Clips that two people have reviewed, each for himself: what each of them made of the same draft before he saw the other's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from codecap.annotate.agreement import Work
from codecap.records import Annotation
from codecap.review import journal
from codecap.review.beginning import BEGUN, Begun, read_begun, read_draft
from codecap.review.clip_review import state_after
from codecap.review.edits import STATUSES
from codecap.review.journal import Entry
from codecap.review.standing import FINISHED, journals_in, settles
from codecap.review.state import Converter, everything, rejected


def pairs(folder: Path) -> list[tuple[Work, Work]]:
    """What two reviewers made of each clip that both have finished, by clip id; who finished first comes first.

    A version is taken as it was when its reviewer finished it first: what he changed later he may have changed for having seen the
    other one. Of a clip that a reviewer rejected as a whole, all of the draft is rejected.

    Args:
        folder: the configuration's `review.folder`.

    Raises:
        RecordError: a file in it cannot be read.
    """
    found = []
    for place in sorted(path.parent for path in Path(folder).glob(f"*/{BEGUN}")):
        begun = read_begun(place)
        blind = _blind(place) if begun is not None and begun.twice else []
        if begun is not None and len(blind) >= 2:
            draft = read_draft(place)
            first, second = (_work(begun, draft, entries, place) for entries in blind[:2])
            found.append((first, second))
    return found


def _blind(place: Path) -> list[Sequence[Entry]]:
    """The edits of each reviewer who has finished, up to there; in the order in which they finished."""
    finished = []
    for path in journals_in(place):
        entries = [entry for entry in journal.read(path).entries if not settles(entry)]
        ends = [number for number, entry in enumerate(entries) if _ends(entry)]
        if ends:
            finished.append(entries[: ends[0] + 1])
    return sorted(finished, key=lambda entries: (entries[-1].when, entries[-1].who))


def _ends(entry: Entry) -> bool:
    return entry.path == "status" and STATUSES[entry.value["decision"]] in FINISHED


def _work(begun: Begun, draft: Annotation, entries: Sequence[Entry], place: Path) -> Work:
    state = state_after(draft, entries, begun.frames, place)
    convert = Converter(begun.frames, (begun.width_px, begun.height_px))
    annotation, unwanted = convert.annotation(state, draft), rejected(state, draft)
    if state.status == "rejected":
        annotation = annotation.model_copy(update={"objects": [], "focal_points": []})
        unwanted = everything(draft)
    return Work(clip_id=begun.clip_id, who=entries[-1].who, draft=draft, annotation=annotation, rejected=unwanted)
