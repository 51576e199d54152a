"""An annotation under review: what a machine drafted, what people changed, and what becomes of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from pydantic import BeforeValidator, ConfigDict, Field

from codecap.records import AnnotatedObject, Annotation, Box, FocalPoint, Interval, Row, writable
from codecap.review.shown import shown_boxes

LONGEST_NAME, LONGEST_TEXT = 200, 4000
MOST_INTERVALS = 1000
PLACES = 2  # decimals of a pixel that an approved box keeps
FARTHEST = 1e6  # seconds or pixels: nothing of an annotation lies beyond, so that no sum of its numbers is infinite

Name = Annotated[str, BeforeValidator(writable), Field(min_length=1, max_length=LONGEST_NAME)]
Text = Annotated[str, BeforeValidator(writable), Field(max_length=LONGEST_TEXT)]
Number = Annotated[float, Field(ge=-FARTHEST, le=FARTHEST)]
Place = tuple[Number, Number, Number, Number]  # a `Box`
Span = tuple[Number, Number]  # an `Interval`
Choice = Literal["accept", "edit", "reject"]
Status = Literal["open", "started", "approved", "rejected"]


class Posted(Row):
    """What a page or a journal may hold: numbers are finite."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class ReviewedObject(Posted):
    """An object under review.

    Attributes:
        base: the machine's box or None a frame; None where it gave none.
        keys: boxes that a person set, by frame; None hides the object there. What they make of the base, see
            `codecap.review.shown`.
        amodal_xyxy: of the draft; goes with the base and is lost with it.
    """

    name: Name
    description: Text = ""
    visible_s: list[Interval] = Field(default=[], max_length=MOST_INTERVALS)
    base: list[Box | None] | None = None
    keys: dict[int, Box | None] = {}
    amodal_xyxy: list[Box | None] | None = None

    @classmethod
    def of(cls, item: AnnotatedObject) -> ReviewedObject:
        """As drafted; not checked again, since the validator tells what is wrong with a draft."""
        return cls.model_construct(
            name=item.name,
            description=item.description,
            visible_s=list(item.visible_s),
            base=list(item.boxes_xyxy),
            keys={},
            amodal_xyxy=item.amodal_xyxy,
        )

    def annotated(self, frames: int, size_px: tuple[int, int]) -> AnnotatedObject:
        boxes = shown_boxes(self.base, self.keys, self.visible_s, frames, size_px)
        return AnnotatedObject(
            name=self.name,
            description=self.description,
            visible_s=self.visible_s,
            boxes_xyxy=[None if box is None else tuple(round(side, PLACES) for side in box) for box in boxes],
            amodal_xyxy=None if self.keys else self.amodal_xyxy,
        )


@dataclass(frozen=True)
class State:
    """What a draft and some edits give.

    Attributes:
        objects, focal_points: by name and id, in order; None keeps the place of one that was removed.
        chosen_objects, chosen_points: what a person said of each.
        drafted_as: what was renamed, by its place now ("objects/NAME"), and its place in the draft.
        status: of the whole.
        note: of who decided on the whole.
    """

    objects: dict[str, ReviewedObject | None]
    focal_points: dict[str, FocalPoint | None]
    chosen_objects: dict[str, Choice] = field(default_factory=dict)
    chosen_points: dict[str, Choice] = field(default_factory=dict)
    drafted_as: dict[str, str] = field(default_factory=dict)
    status: Status = "open"
    note: str = ""

    @classmethod
    def of(cls, draft: Annotation) -> State:
        return cls(
            objects={item.name: ReviewedObject.of(item) for item in draft.objects},
            focal_points={point.focal_id: point for point in draft.focal_points},
        )

    def with_(self, **changes: object) -> State:
        return replace(self, **changes)

    def present_objects(self) -> list[ReviewedObject]:
        """Those that were not removed; rejected ones are among them."""
        return [item for item in self.objects.values() if item is not None]

    def present_points(self) -> list[FocalPoint]:
        return [point for point in self.focal_points.values() if point is not None]


class Converter:
    """Makes annotations of states, and keeps what it made of each object: most do not change from one state to the next.

    Args:
        frames, size_px: of the clip; width and height.
    """

    def __init__(self, frames: int, size_px: tuple[int, int]) -> None:
        self.frames, self.size_px = frames, size_px
        self._made: dict[str, tuple[ReviewedObject, AnnotatedObject]] = {}

    def annotation(self, state: State, draft: Annotation) -> Annotation:
        """What would be approved: without what is rejected, with the draft's proposer and earlier reviews."""
        kept = [item for item in state.present_objects() if state.chosen_objects.get(item.name) != "reject"]
        points = [point for point in state.present_points() if state.chosen_points.get(point.focal_id) != "reject"]
        objects = [self._annotated(item) for item in kept]
        return Annotation.model_construct(
            clip_id=draft.clip_id, objects=objects, focal_points=points, reviews=draft.reviews, proposer=draft.proposer
        )

    def _annotated(self, item: ReviewedObject) -> AnnotatedObject:
        known = self._made.get(item.name)
        if known is None or known[0] is not item:
            known = self._made[item.name] = item, item.annotated(self.frames, self.size_px)
        return known[1]


def rejected(state: State, draft: Annotation) -> frozenset[str]:
    """What of a draft a reviewer does not want: rejected, or removed. As "objects/NAME" and "focal_points/ID" of the draft."""
    objects = {item.name for item in state.present_objects() if state.chosen_objects.get(item.name) != "reject"}
    points = {point.focal_id for point in state.present_points() if state.chosen_points.get(point.focal_id) != "reject"}
    wanted = {f"objects/{name}" for name in objects} | {f"focal_points/{name}" for name in points}
    wanted = {state.drafted_as.get(place, place) for place in wanted}
    return everything(draft) - wanted


def everything(draft: Annotation) -> frozenset[str]:
    """All objects and focal points, as "objects/NAME" and "focal_points/ID"."""
    objects = (f"objects/{item.name}" for item in draft.objects)
    return frozenset([*objects, *(f"focal_points/{point.focal_id}" for point in draft.focal_points)])
