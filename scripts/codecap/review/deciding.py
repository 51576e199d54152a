"""What ends the review of a clip: approving, which writes the annotation, rejecting, and reopening.

Where two people review a clip, an approval ends the part of one of them and writes nothing. When both have ended theirs, a third
step settles whose version holds: anybody approves one of the two, or rejects the clip as one of them did.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codecap.annotate.changes import Changes
from codecap.annotate.validate import Problem, problems
from codecap.errors import UserError
from codecap.records import Annotation, Review, write_whole
from codecap.review.clip_review import ClipReview, now
from codecap.review.edits import STATUSES, Ended, Unfit
from codecap.review.journal import Entry
from codecap.review.posted import DecidePosted
from codecap.review.standing import FINISHED, Standing, both_finished
from codecap.review.state import State, Status

A_SECOND, A_THIRD_STEP = "a second reviewer", "a third step: approve one of the two versions"


class Blocked(UserError):
    """An annotation with errors, which is not approved.

    Attributes:
        problems: all that were found.
    """

    def __init__(self, found: Sequence[Problem]) -> None:
        errors = [problem for problem in found if problem.severity == "error"]
        more = f" (and {len(errors) - 1} more errors)" if len(errors) > 1 else ""
        super().__init__(f"{errors[0].place}: {errors[0].message}{more}")
        self.problems = list(found)


@dataclass(frozen=True)
class Decided:
    """What came of a decision.

    Attributes:
        waits_for: what is still missing for the annotation to be written; None where nothing is.
    """

    status: Status
    problems: list[Problem]
    waits_for: str | None = None


@dataclass(frozen=True)
class Around:
    """What a decision is made within.

    Attributes:
        standings: of all who work on the clip, before the decision.
        version: another reviewer's version of it.
        file: where the approved annotation is written.
        changes: what was measured of the clip, if it was.
    """

    standings: Mapping[str, Standing]
    version: Callable[[str], ClipReview]
    file: Path
    changes: Changes | None


def decide(review: ClipReview, told: DecidePosted, around: Around) -> Decided:
    """Carry out what a person decided on a clip.

    Raises:
        Blocked: it cannot be approved.
        Stale: it is based on another revision.
        Unfit: it is decided already, or there is no such version.
    """
    if told.decision != "reopen" and review.twice and both_finished(around.standings):
        return _settle(review, told, around)
    if told.of is not None and told.of != review.who:
        raise Unfit(f"the version of {told.of} can be approved when two reviewers have finished this clip, not before")
    if told.decision == "reopen":
        return _end(review, told, around, lambda _: None)
    if told.decision == "reject":
        return _end(review, told, around, lambda _: None if review.twice else around.file.unlink(missing_ok=True))

    def write(found: Annotation) -> None:
        if not review.twice:
            _write(around.file, found, review.draft.reviews, [*review.entries, *_last(review, told)])

    return _end(review, told, around, write)


def _end(review: ClipReview, told: DecidePosted, around: Around, write: Callable[[Annotation], None]) -> Decided:
    found: list[Problem] = []

    def first(_: ClipReview, after: State) -> None:
        ended = review.state.status in FINISHED
        if ended is not (told.decision == "reopen"):
            raise Unfit(f"the clip is {review.state.status}" + ("; reopen it first" if ended else ", so it cannot be reopened"))
        annotation = review.converted(after)
        found.extend(problems(annotation, review.clip, around.changes))
        if told.decision == "approve":
            _must_be_right(found)
        write(annotation)

    value = told.model_dump(include={"decision", "note"})
    review.change([("status", value)], told.revision, first, told.draft)
    others = any(standing.has_finished for who, standing in around.standings.items() if who != review.who)
    waits = (A_THIRD_STEP if others else A_SECOND) if review.twice and told.decision != "reopen" else None
    return Decided(STATUSES[told.decision], found, waits)


def _settle(review: ClipReview, told: DecidePosted, around: Around) -> Decided:
    """Let one of two versions hold: write it, or reject the clip as it does."""
    of, status = told.of or review.who, STATUSES[told.decision]
    if of not in around.standings or around.standings[of].status != status:
        those = " and ".join(f"{who} has {one.status} it" for who, one in around.standings.items() if one.has_finished)
        raise Unfit(f"there is no version of {of} that is {status}: {those}")
    found: list[Problem] = []

    def first(*_: object) -> None:
        if told.decision == "reject":
            around.file.unlink(missing_ok=True)
            return
        with around.version(of).now() as chosen:
            annotation = chosen.annotation()
            found.extend(problems(annotation, review.clip, around.changes))
            _must_be_right(found)
            _write(around.file, annotation, chosen.draft.reviews, [*chosen.entries, *_last(review, told)])

    value = {**told.model_dump(include={"decision", "note"}), "of": of}
    review.change([("status", value)], told.revision, first, told.draft)
    return Decided(status, found)


def _must_be_right(found: Sequence[Problem]) -> None:
    if any(problem.severity == "error" for problem in found):
        raise Blocked(found)


def _write(file: Path, annotation: Annotation, before: Sequence[Review], entries: Sequence[Entry]) -> None:
    reviews = [*before, *reviews_of(entries)]
    approved = Annotation.model_validate({**annotation.model_dump(), "reviews": [review.model_dump() for review in reviews]})
    write_whole(file, [approved.model_dump_json() + "\n"])


def _last(review: ClipReview, told: DecidePosted) -> list[Entry]:
    """The edit that is about to be made."""
    value = told.model_dump(include={"decision", "note", "of"})
    return [Entry(who=review.who, when=now(), revision=review.revision + 1, path="status", value=value)]


def reviews_of(entries: Sequence[Entry]) -> list[Review]:
    """One review a person: when, and in words what the edits were."""
    people = dict.fromkeys(entry.who for entry in entries)
    return [_review([entry for entry in entries if entry.who == who]) for who in people]


def _review(entries: Sequence[Entry]) -> Review:
    said = []
    for kind, singular in (("objects", "object"), ("focal_points", "focal point")):
        edited = {entry.path for entry in entries if entry.path.startswith(f"{kind}/")}
        if edited:
            said.append(f"edited {_counted(len(edited), singular)}")
    choices = {entry.path: entry.value for entry in entries if entry.path.startswith("decision/")}
    for choice, word in (("accept", "accepted"), ("reject", "rejected")):
        count = sum(value == choice for value in choices.values())
        if count:
            said.append(f"{word} {count}")
    if entries[-1].path == "status":
        ended = Ended.model_validate(entries[-1].value)
        of = "" if ended.of == entries[-1].who else ended.version
        said.append(f"{STATUSES[ended.decision]}{of}" + (f": {ended.note}" if ended.note else ""))
    return Review(who=entries[-1].who, when=entries[-1].when, changed="; ".join(said))


def _counted(count: int, singular: str) -> str:
    return f"{count} {singular}{'' if count == 1 else 's'}"
