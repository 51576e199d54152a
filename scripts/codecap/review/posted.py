"""What the page posts, checked: sizes are bounded, names are names, and no path of a file is among it."""

from __future__ import annotations

from typing import Any, Literal, TypeVar

from pydantic import Field, ValidationError, field_validator

from codecap.errors import UserError
from codecap.records import Box, in_words
from codecap.review.edits import LONGEST_NOTE
from codecap.review.holds import Tab
from codecap.review.state import LONGEST_NAME, Name, Posted, Text

LARGEST_BODY = 4 << 20  # bytes
MOST_EDITS, MOST_POINTS = 200, 100
LONGEST_PATH = LONGEST_NAME + 40
FARTHEST_PX = 100_000.0

P = TypeVar("P", bound=Posted)


class NotRead(UserError, ValueError):
    """A body that is not what the address takes; the message says why."""


class HoldPosted(Posted):
    tab: Tab
    take: bool = False


class ReleasePosted(Posted):
    tab: Tab


class EditPosted(Posted):
    path: str = Field(max_length=LONGEST_PATH, pattern=r"^(objects|focal_points|decision)/")
    value: Any = Field(...)


class EditsPosted(Posted):
    tab: Tab
    revision: int = Field(ge=0)
    edits: list[EditPosted] = Field(min_length=1, max_length=MOST_EDITS)


class SegmentPosted(Posted):
    """
    Attributes:
        points: x and y in the clip's pixels, and +1 for a point on the object, -1 for one beside it.
    """

    tab: Tab
    object: Name
    frame: int = Field(ge=0)
    box: Box | None = None
    points: list[tuple[float, float, Literal[1, -1]]] = Field(default=[], max_length=MOST_POINTS)

    @field_validator("box")
    @classmethod
    def _is_a_box(cls, box: Box | None) -> Box | None:
        if box is not None and not (box[0] < box[2] and box[1] < box[3] and max(map(abs, box)) < FARTHEST_PX):
            raise ValueError("must be x0 < x1 and y0 < y1, in pixels of the clip")
        return box


class DecidePosted(Posted):
    tab: Tab
    revision: int = Field(ge=0)
    decision: Literal["approve", "reject", "reopen"]
    note: Text = Field(default="", max_length=LONGEST_NOTE)
    of: Name | None = None


def read(kind: type[P], body: bytes) -> P:
    """A posted body.

    Raises:
        NotRead: it is no JSON, or not what is asked for.
    """
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        raise NotRead(in_words(error)) from error
