"""What the page can ask and do: the queue, a clip, its hold, edits, decisions. `app` puts it on HTTP."""

from __future__ import annotations

import contextlib
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from codecap import config as configuration
from codecap.annotate import quality
from codecap.annotate.changes import Changes, kept, kept_already
from codecap.annotate.tracking import chosen_segmenter
from codecap.errors import UserError
from codecap.records import AnnotatedObject, Box, Clip
from codecap.review import computing, deciding, holds, queue, view
from codecap.review.beginning import read_begun
from codecap.review.clip_review import ClipReview, Places
from codecap.review.drafts import Drafts
from codecap.review.edits import Unfit
from codecap.review.holds import Hold
from codecap.review.posted import DecidePosted, EditsPosted, SegmentPosted
from codecap.review.standing import FINISHED, Standing, Standings, both_finished, is_reviewed_twice, settled
from codecap.review.state import State, Status
from codecap.review.view import Findings
from codecap.review.worker import Worker

MOST_OPEN = 8  # clips whose review, and whose changes, are kept in memory
MEASURE_S, SEGMENT_S = 300.0, 900.0  # longest time for measuring a clip, and for following an object
STANDS_BACK = 10  # of measuring, as nice(2)
POINT_PX = 8.0  # around points that are given without a box


class NoSuchClip(UserError):
    """A clip that is not among those to review."""


class Held(UserError):
    """An edit of a tab that does not hold the clip.

    Attributes:
        hold: who does.
        revision: of the annotation.
    """

    def __init__(self, hold: Hold, revision: int) -> None:
        super().__init__(f"{hold.by} works on this clip in another tab; take it over to work on it here")
        self.hold, self.revision = hold, revision


class Desk:
    """One reviewer's desk over the drafts of a run.

    Args:
        config: checked.
        who: the reviewer; see `journal.reviewer`.
    """

    def __init__(self, config: Mapping[str, Any], drafts: Drafts, who: str) -> None:
        self.config, self.drafts, self.who = config, drafts, who
        section = config.get("review") or {}
        self.folder = configuration.find(section.get("folder", "config/reviews"))
        self.approved_folder = configuration.find(config["annotations_folder"])
        self._twice = section.get("twice", 0.1)
        self._looks = queue.Looks(drafts)
        self._standings = Standings()
        self._reviews: OrderedDict[tuple[str, str], ClipReview] = OrderedDict()
        self._changes: OrderedDict[str, Changes] = OrderedDict()
        self._lock = threading.Lock()
        self._measuring = Worker("measuring what changes", STANDS_BACK)
        self._segmenting = Worker("following an object")

    def close(self) -> None:
        self._looks.close()
        for worker in (self._measuring, self._segmenting):
            worker.close()

    def clip(self, clip_id: str) -> Clip:
        """A clip that is to be reviewed.

        Raises:
            NoSuchClip: it is not.
        """
        if clip_id not in self.drafts.clips:
            raise NoSuchClip(f"{clip_id!r}: there is no such clip to review here")
        return self.drafts.clips[clip_id].clip

    def queue(self) -> dict[str, Any]:
        """All clips, in the order in which they ask for a person."""
        looks, left = self._looks.now()
        rows = [self._row(clip_id, looks.get(clip_id, queue.Look())) for clip_id in self.drafts.clips]
        return {"who": self.who, "from": self.drafts.origin, "left": left, "clips": queue.in_order(rows)}

    def view(self, clip_id: str, tab: str | None, of: str | None = None) -> dict[str, Any]:
        """A clip for the page; `of` another reviewer, where two have finished it."""
        finished = self._finished(clip_id)
        other = of not in (None, self.who)
        if other and of not in {standing.who for standing in finished}:
            raise Unfit(f"{clip_id}: the version of {of} can be seen when two reviewers have finished this clip")
        with self._review(clip_id, of or self.who).now() as review:
            shown = view.as_json(review, self._changes.get(clip_id))
            hold = Hold(False, of, None) if other else self._look_at_hold(review, tab)
        last = settled(self._standings_of(clip_id))
        holds_now = None if last is None else last.settled
        reviews = [{"who": one.who, "status": one.status, "holds": one.who == holds_now} for one in finished]
        return {**shown, "who": self.who, "hold": hold.told(), "reviews": reviews}

    def measured(self, clip_id: str) -> dict[str, Any]:
        """What changes when in a clip, measured in another process if need be; and what is found with it."""
        changes = self._measured(self.clip(clip_id))
        with self._review(clip_id, self.who).now() as review:
            return {"changes": view.curve_of(changes), **Findings.of(review, changes).as_json()}

    def hold(self, clip_id: str, tab: str, take: bool) -> Hold:
        """Hold a clip, or go on holding it."""
        with self._review(clip_id, self.who).now() as review:
            return self._taken(review) or holds.hold(self._hold_file(review), self.who, tab, take)

    def release(self, clip_id: str, tab: str) -> None:
        with self._review(clip_id, self.who).now() as review:
            holds.release(self._hold_file(review), self.who, tab)

    def edit(self, clip_id: str, posted: EditsPosted) -> dict[str, Any]:
        """Apply edits, and keep them.

        Raises:
            Held: another tab holds the clip.
            Stale: the edits are meant for another revision.
            Unfit: one of them cannot be.
        """
        with self._held(clip_id, posted.tab) as review:
            finished = {standing.who for standing in self._finished(clip_id)}
            if finished and self.who not in finished:
                raise Unfit(f"{' and '.join(sorted(finished))} have finished this clip; approve one of their versions")
            edits = [(edit.path, edit.value) for edit in posted.edits]
            review.change(edits, posted.revision, _must_go_on, posted.draft, posted.batch)
            found = Findings.of(review, self._changes.get(clip_id))
            self._looks.renew(clip_id, queue.look_at(review.annotation(), found.signals, found.problems))
            return {"revision": review.revision, "status": review.state.status, **found.as_json()}

    def decide(self, clip_id: str, posted: DecidePosted) -> dict[str, Any]:
        """End a review, or go on with one that was ended. Raises as `edit`, and `deciding.Blocked`."""
        with self._held(clip_id, posted.tab) as review:
            around = deciding.Around(
                standings=self._standings_of(clip_id),
                version=lambda who: self._review(clip_id, who),
                file=self.approved_folder / f"{clip_id}.json",
                changes=self._changes.get(clip_id),
            )
            done = deciding.decide(review, posted, around)
            told = {"status": done.status, "revision": review.revision, "problems": view.problems_of(done.problems)}
            return {**told, "waits_for": done.waits_for}

    def segment(self, clip_id: str, posted: SegmentPosted) -> dict[str, Any]:
        """Boxes of an object followed from where a person showed it; nothing is changed.

        Raises:
            Held: another tab holds the clip.
            Unfit: there is no such object, or nothing that shows it.
            WorkError: it cannot be followed.
        """
        with self._held(clip_id, posted.tab) as review:
            item = review.state.objects.get(posted.object)
            clip = review.clip
        if item is None:
            raise Unfit(f"objects/{posted.object}: is not there; add it first")
        if posted.frame >= clip.frames:
            raise Unfit(f"frame {posted.frame}: the clip has frames 0 to {clip.frames - 1}")
        boxes = {frame: box for frame, box in item.keys.items() if box is not None}
        boxes[posted.frame] = posted.box or around_points(posted)
        points = {posted.frame: posted.points} if posted.points else {}
        base = self._segmenting.ask(
            computing.boxes_of, clip, chosen_segmenter(self.config), item.name, boxes, item.visible_s, points, patience_s=SEGMENT_S
        )
        found = AnnotatedObject(name=item.name, visible_s=item.visible_s, boxes_xyxy=base)
        told = view.signals_of(quality.signals([found], clip)).get(item.name, [])
        return {"base": base, "visible_s": item.visible_s, "signals": told}

    def _row(self, clip_id: str, look: queue.Look) -> dict[str, Any]:
        clip, standings, problem = self.clip(clip_id), {}, []
        twice = is_reviewed_twice(clip_id, self._twice)
        try:
            standings = self._standings_of(clip_id)
            begun = read_begun(self._place(clip_id)) if standings else None
            twice = twice if begun is None else begun.twice
        except (UserError, OSError) as error:  # one damaged journal must not hide the other clips
            problem = [str(error)]
        status, why = _status(standings, twice, self.who)
        if status == "open" and not standings and look.reviewed:
            status = "approved"
        held = holds.look(self._hold_file_of(clip_id, twice), self.who, None).by
        return {
            **view.clip_of(clip),
            "objects": look.objects,
            "focal_points": look.focal_points,
            "status": status,
            "doubt": 1.0 if problem else look.doubt,
            "why": [*problem, *why, *look.why],
            "held_by": held,
            "second": twice,
        }

    def _review(self, clip_id: str, who: str) -> ClipReview:
        clip = self.clip(clip_id)
        with self._lock:
            if (clip_id, who) not in self._reviews:
                drafted = self.drafts.clips[clip_id].draft
                places = Places(self._place(clip_id), drafted, is_reviewed_twice(clip_id, self._twice))
                self._reviews[clip_id, who] = ClipReview(clip, places, who)
            self._reviews.move_to_end((clip_id, who))
            while len(self._reviews) > MOST_OPEN:
                self._reviews.popitem(last=False)
            return self._reviews[clip_id, who]

    @contextlib.contextmanager
    def _held(self, clip_id: str, tab: str) -> Iterator[ClipReview]:
        """The clip's review, held by this tab."""
        with self._review(clip_id, self.who).now() as review:
            hold = self._taken(review) or holds.hold(self._hold_file(review), self.who, tab)
            if not hold.mine:
                raise Held(hold, review.revision)
            yield review

    def _taken(self, review: ClipReview) -> Hold | None:
        """That a clip has its two reviewers, who have not both finished; None where this reviewer may work on it."""
        standings = self._standings_of(review.clip.clip_id) if review.twice else {}
        if len(standings) < 2 or self.who in standings or both_finished(standings):
            return None
        return Hold(False, " and ".join(sorted(standings)), None)

    def _finished(self, clip_id: str) -> list[Standing]:
        """The versions of a clip that two review, where both have finished: one of them is to be approved."""
        with self._review(clip_id, self.who).now() as review:
            standings = self._standings_of(clip_id) if review.twice else {}
        return [standing for standing in standings.values() if standing.has_finished] if both_finished(standings) else []

    def _look_at_hold(self, review: ClipReview, tab: str | None) -> Hold:
        return self._taken(review) or holds.look(self._hold_file(review), self.who, tab)

    def _hold_file(self, review: ClipReview) -> Path:
        return self._hold_file_of(review.clip.clip_id, review.twice)

    def _hold_file_of(self, clip_id: str, twice: bool) -> Path:
        return self._place(clip_id) / (f".hold-{self.who}" if twice else ".hold")

    def _measured(self, clip: Clip) -> Changes:
        found = self._changes.get(clip.clip_id)
        if found is None:
            section = self.config["store"]
            found = kept_already(clip, Path(section["bulk"]))
            if found is None:
                self._measuring.ask(computing.measure, clip, section, patience_s=MEASURE_S)
                found = kept(clip, Path(section["bulk"]))
            with self._lock:
                self._changes[clip.clip_id] = found
                while len(self._changes) > MOST_OPEN:
                    self._changes.popitem(last=False)
        return found

    def _place(self, clip_id: str) -> Path:
        return self.folder / clip_id

    def _standings_of(self, clip_id: str) -> dict[str, Standing]:
        return self._standings.of(self._place(clip_id))


def _status(standings: Mapping[str, Standing], twice: bool, who: str) -> tuple[Status, list[str]]:
    """How far a clip has come for a reviewer, and what to know about that."""
    if not standings:
        return "open", []
    if not twice:
        last = max(standings.values(), key=lambda standing: standing.revision)
        return last.status, []
    holds_now = settled(standings)
    if holds_now is not None:
        return holds_now.settled_as, [f"the version of {holds_now.settled} holds"]
    if both_finished(standings):
        return "started", ["two reviewers have finished: approve one of the two versions"]
    mine = standings.get(who)
    others = sorted(set(standings) - {who})
    if mine is None and len(others) >= 2:
        return "started", [f"{' and '.join(others)} review it"]
    waits = [f"it waits for {deciding.A_SECOND}"] if mine is not None and mine.has_finished else []
    return "open" if mine is None else mine.status, waits


def around_points(posted: SegmentPosted) -> Box:
    """A box around the points that lie on the object."""
    on = [(x, y) for x, y, sign in posted.points if sign > 0]
    if not on:
        raise Unfit("show the object by a box, or by a point on it")
    (left, top), (right, bottom) = (tuple(map(pick, zip(*on, strict=True))) for pick in (min, max))
    return (left - POINT_PX, top - POINT_PX, right + POINT_PX, bottom + POINT_PX)


def _must_go_on(review: ClipReview, _after: State) -> None:
    if review.state.status in FINISHED:
        raise Unfit(f"the clip is {review.state.status}; reopen it to edit it")
