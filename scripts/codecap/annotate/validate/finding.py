"""What a rule finds: a place, for people and for programs, and what is wrong there."""

from __future__ import annotations

from typing import NamedTuple


class Finding(NamedTuple):
    """One finding of one rule.

    Attributes:
        place: as a person reads it.
        message: what is wrong, and what to do.
        about: `objects/NAME`, `focal_points/ID`, or "".
        frame: where to look, if anywhere.
    """

    place: str
    message: str
    about: str = ""
    frame: int | None = None


def of_object(name: str, message: str, frame: int | None = None) -> Finding:
    """
    >>> of_object("ball", "is empty", 12).place
    "object 'ball', frame 12"
    """
    at = "" if frame is None else f", frame {frame}"
    return Finding(f"object {name!r}{at}", message, f"objects/{name}", frame)


def of_point(focal_id: str, message: str, frame: int | None = None) -> Finding:
    return Finding(f"focal point {focal_id!r}", message, f"focal_points/{focal_id}", frame)
