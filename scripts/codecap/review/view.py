"""A clip under review as the page gets it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from codecap.annotate.changes import Changes
from codecap.annotate.examining import cuts_of
from codecap.annotate.quality import Signal
from codecap.annotate.validate import Problem, problems
from codecap.records import Clip
from codecap.review.clip_review import ClipReview
from codecap.review.edits import in_few_words
from codecap.review.journal import Entry
from codecap.review.state import ReviewedObject, State

MOST_TOLD = 1000  # edits of a history; the latest


@dataclass(frozen=True)
class Findings:
    """What is wrong, and what is doubtful, in the present state of a review."""

    problems: list[Problem]
    signals: Mapping[str, Sequence[Signal]]

    @classmethod
    def of(cls, review: ClipReview, changes: Changes | None) -> Findings:
        annotation = review.annotation()
        cuts = () if changes is None else cuts_of(changes)
        found = review.doubts.about(annotation.objects, cuts)
        return cls(problems(annotation, review.clip, changes), found)

    def as_json(self) -> dict[str, Any]:
        return {"problems": problems_of(self.problems), "signals": signals_of(self.signals)}


def as_json(review: ClipReview, changes: Changes | None) -> dict[str, Any]:
    """All but what depends on who asks."""
    return {
        "clip": clip_of(review.clip),
        "draft": review.draft_id,
        "revision": review.revision,
        "batch": review.batch,
        "status": review.state.status,
        "second": review.twice,
        "decided": decided(review.entries),
        "annotation": annotation_of(review.state),
        "history": history(review.entries),
        "changes": [] if changes is None else curve_of(changes),
        **Findings.of(review, changes).as_json(),
    }


def curve_of(changes: Changes) -> list[float]:
    """How much of the picture changes, 0-1 a frame."""
    return [round(float(share), 4) for share in changes.curve()]


def signals_of(found: Mapping[str, Sequence[Signal]]) -> dict[str, list[dict[str, Any]]]:
    return {name: [signal.model_dump() for signal in there] for name, there in found.items()}


def clip_of(clip: Clip) -> dict[str, Any]:
    return clip.model_dump(include={"clip_id", "category", "frames", "width_px", "height_px", "sha256"})


def problems_of(found: Sequence[Problem]) -> list[dict[str, Any]]:
    return [problem.model_dump(exclude={"clip_id"}) for problem in found]


def annotation_of(state: State) -> dict[str, Any]:
    return {
        "objects": [_object(item) for item in state.present_objects()],
        "focal_points": [point.model_dump() for point in state.present_points()],
        "decision": {
            "objects": _chosen(state.chosen_objects, state.objects),
            "focal_points": _chosen(state.chosen_points, state.focal_points),
        },
    }


def decided(entries: Sequence[Entry]) -> dict[str, str] | None:
    """Who ended the review; None where nobody has, or it goes on."""
    if not entries or entries[-1].path != "status" or entries[-1].value["decision"] == "reopen":
        return None
    last = entries[-1]
    return {"who": last.who, "when": last.when, "note": last.value.get("note", "")}


def history(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    return [
        {"who": entry.who, "when": entry.when, "revision": entry.revision, "what": in_few_words(entry.path, entry.value)}
        for entry in entries[-MOST_TOLD:]
    ]


def _object(item: ReviewedObject) -> dict[str, Any]:
    return {
        "name": item.name,
        "description": item.description,
        "visible_s": item.visible_s,
        "base": item.base,
        "keys": {str(frame): box for frame, box in item.keys.items()},
    }


def _chosen(chosen: Mapping[str, str], there: Mapping[str, object]) -> dict[str, str]:
    """Of what is there; what was removed keeps its decision for the case that it comes back."""
    return {name: choice for name, choice in chosen.items() if there.get(name) is not None}
