"""Formats of annotation tools and data sets: an annotation is written for them, and read back. One file a format.

Our boxes are `xyxy` floats in pixels of the clip, counted from 0 at the picture's top left corner, x1 and y1 exclusive, one a frame
at 24 frames a second. Each module says how its format counts, and does all of the conversion.

What a format cannot hold is not written; `conversion.merging.onto` takes it from the annotation that was exported.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from codecap.errors import UserError
from codecap.records import Annotation, Clip

Part = Literal["boxes", "names", "descriptions", "visible_s", "amodal", "focal_points"]


class FormatError(UserError):
    """A file that cannot be read as its format says, or an annotation that the format cannot hold; the message says where."""


@dataclass(frozen=True)
class Told:
    """What a person says of a file, because it does not say so itself, or says it wrongly.

    Attributes:
        fps: frames a second of the video that the file counts in.
        first_pixel: 0 or 1: the coordinate of the picture's top left corner, for a format of which both are in use.
    """

    fps: float | None = None
    first_pixel: Literal[0, 1] | None = None


UNTOLD = Told()


class Format(Protocol):
    """A module of this package.

    Attributes:
        SUFFIX: of its files, such as ".xml"; "" where one clip takes a folder.
        HOLDS: the parts of an annotation that it keeps.
    """

    SUFFIX: str
    HOLDS: frozenset[Part]

    def write(self, annotation: Annotation, clip: Clip, path: Path) -> None:
        """Write the annotation of one clip.

        Raises:
            FormatError: something in it cannot be written in this format.
        """
        ...

    def names(self, path: Path) -> list[str]:
        """What a file calls the clips that it is about, without folder and suffix: our clip ids, where it was made by `write`."""
        ...

    def read(self, path: Path, clip: Clip, told: Told = UNTOLD) -> Annotation:
        """The annotation of one clip. Of a file that is about several, the part that bears the clip's id.

        Raises:
            FormatError: the file is not of this format or not of this clip, or does not say what must be known.
        """
        ...
