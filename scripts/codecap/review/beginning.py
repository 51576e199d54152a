"""What the review of a clip began from, kept beside its journals: a new draft of a machine does not change what people work on.

begun.json   which cut of the clip, and whether two people review it, each for himself
draft.json   the draft that all edits start from
"""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from codecap.records import Annotation, Clip, ClipId, Row, read_record, write_whole

BEGUN, DRAFT = "begun.json", "draft.json"


class Begun(Row):
    """A review that has begun.

    Attributes:
        sha256, frames, width_px, height_px: of the clip.
        twice: two people review it, each for himself.
    """

    clip_id: ClipId
    sha256: str
    frames: int = Field(ge=1)
    width_px: int = Field(gt=0)
    height_px: int = Field(gt=0)
    twice: bool


def begin(folder: Path, clip: Clip, draft: Annotation, twice: bool) -> Begun:
    """Keep a draft. The review has begun when the second file is there."""
    facts = {name: getattr(clip, name) for name in Begun.model_fields if name != "twice"}
    begun = Begun(**facts, twice=twice)
    write_whole(folder / DRAFT, [draft.model_dump_json() + "\n"])
    write_whole(folder / BEGUN, [begun.model_dump_json() + "\n"])
    return begun


def read_begun(folder: Path) -> Begun | None:
    """None where no review has begun.

    Raises:
        RecordError: the file cannot be read.
    """
    try:
        return read_record(folder / BEGUN, Begun)
    except FileNotFoundError:
        return None


def read_draft(folder: Path) -> Annotation:
    """The draft that a review began from."""
    return read_record(folder / DRAFT, Annotation)
