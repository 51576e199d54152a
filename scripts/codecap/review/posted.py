"""What the page posts, checked: sizes are bounded, names are names, and no path of a file is among it."""

from __future__ import annotations

from typing import Any, Literal, TypeVar

from pydantic import Field, ValidationError, field_validator

from codecap.errors import UserError
from codecap.records import in_words
from codecap.review.edits import LONGEST_NOTE
from codecap.review.holds import Tab
from codecap.review.state import Name, Number, Place, Posted, Text

LARGEST_BODY = 4 << 20  # bytes
MOST_EDITS, MOST_POINTS = 200, 100
LONGEST_PATH = 4000  # a draft may have longer names than a person can give

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
    """
    Attributes:
        draft: what the page shows is made of, see `ClipReview.draft_id`.
        revision: that the edits are meant for.
        batch: names these edits, so that they count once, however often they are sent.
    """

    tab: Tab
    draft: str
    revision: int = Field(ge=0)
    batch: Tab
    edits: list[EditPosted] = Field(min_length=1, max_length=MOST_EDITS)


class SegmentPosted(Posted):
    """
    Attributes:
        points: x and y in the clip's pixels, and +1 for a point on the object, -1 for one beside it.
    """

    tab: Tab
    object: Name
    frame: int = Field(ge=0)
    box: Place | None = None
    points: list[tuple[Number, Number, Literal[1, -1]]] = Field(default=[], max_length=MOST_POINTS)

    @field_validator("box")
    @classmethod
    def _is_a_box(cls, box: Place | None) -> Place | None:
        if box is not None and not (box[0] < box[2] and box[1] < box[3]):
            raise ValueError("must be x0 < x1 and y0 < y1, in pixels of the clip")
        return box


class DecidePosted(Posted):
    tab: Tab
    draft: str
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
