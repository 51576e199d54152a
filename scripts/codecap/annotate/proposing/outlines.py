"""What a model says is in a clip, and when, read part by part: a wrong object or focal point does not spoil the others.

Forgiven is what hides nothing: a code fence, keys that nobody asked for, and a name that is not quite in the form asked for.
Everything else that is not as asked is a fault, and is asked for again.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from pydantic import ConfigDict, ValidationError

from codecap.annotate.proposing.rounds import Reading
from codecap.clock import FPS, time_of
from codecap.exchange import Reply
from codecap.records import Clip, Interval, Row, Words, in_words
from codecap.score.asking.answers import Unreadable, plain, read_answer

LONGEST_NAME = 40
LONGEST_DESCRIPTION = 600  # characters that are kept
SLACK_S = 0.5 / FPS  # by which a time may pass the clip's end: its length is said in milliseconds


class Said(Row):
    """Part of an answer; keys that nobody asked for are passed over."""

    model_config = ConfigDict(extra="ignore")


class SaidOutline(Said):
    objects: list[Any]
    focal_points: list[Any]


class SaidSpan(Said):
    first_s: float
    last_s: float


class SaidObject(Said):
    name: Words
    description: Words
    visible: list[SaidSpan]
    frames_s: list[float]


class SaidPoint(Said):
    kind: Literal["static", "dynamic"]
    description: Words
    start_s: float
    end_s: float
    objects: list[Words]


S = TypeVar("S", bound=Said)


@dataclass(frozen=True)
class Seen:
    """An interval in which an object is seen, as frames that were shown.

    Attributes:
        first, last: shown frames on which it is seen.
        before, after: the shown ones beside them, on which it is not: -1 and the clip's number of frames where there is none.
    """

    before: int
    first: int
    last: int
    after: int


@dataclass(frozen=True)
class OutlinedObject:
    """An object without its places.

    Attributes:
        frames: representative ones, of those that were shown.
    """

    name: str
    description: str
    seen: tuple[Seen, ...]
    frames: tuple[int, ...]


@dataclass(frozen=True)
class OutlinedPoint:
    kind: Literal["static", "dynamic"]
    description: str
    told_s: Interval
    objects: tuple[str, ...]


@dataclass(frozen=True)
class Outline:
    """What is in a clip, and when. Each point's objects are among the objects."""

    objects: tuple[OutlinedObject, ...]
    points: tuple[OutlinedPoint, ...]

    def told(self) -> dict[str, Any]:
        """As plain values, in the form in which a model is asked for it."""
        objects = [
            {
                "name": item.name,
                "description": item.description,
                "visible": [{"first_s": _ms(time_of(seen.first)), "last_s": _ms(time_of(seen.last))} for seen in item.seen],
                "frames_s": [_ms(time_of(frame)) for frame in item.frames],
            }
            for item in self.objects
        ]
        points = [
            {
                "kind": point.kind,
                "description": point.description,
                "start_s": _ms(point.told_s[0]),
                "end_s": _ms(point.told_s[1]),
                "objects": list(point.objects),
            }
            for point in self.points
        ]
        return {"objects": objects, "focal_points": points}


@dataclass(frozen=True)
class Bounds:
    """What an outline must keep to.

    Attributes:
        shown: frames that the model was shown, in order.
        objects, points: most of them.
        frames_each: most representative frames of an object.
    """

    clip: Clip
    shown: Sequence[int]
    objects: int
    points: int
    frames_each: int


class Wrong(Exception):
    """A part of an answer that cannot be used; the message says what is wrong with it."""


def read_outline(reply: Reply, bounds: Bounds) -> Reading[Outline]:
    """An answer's objects and focal points that can be used, and what is wrong with the others.

    Raises:
        Unreadable: it is no such answer, or no object or no focal point of it can be used.
    """
    told = read_answer(reply, SaidOutline)
    faults: list[str] = []
    make = functools.partial(_object, bounds=bounds)
    objects = _each_once([*_usable("object", told.objects, bounds.objects, SaidObject, make, faults)], faults)
    make = functools.partial(_point, bounds=bounds, names={item.name for item in objects}, faults=faults)
    points = _each_said_once([*_usable("focal point", told.focal_points, bounds.points, SaidPoint, make, faults)], faults)
    for what, there in (("object", objects), ("focal point", points)):
        if not there:
            raise Unreadable(f"no {what} that can be used" + (f": {faults[0]}" if faults else ""))
    kinds = {point.kind for point in points}
    faults += [f"no focal point is {kind}" for kind in ("static", "dynamic") if kind not in kinds]
    return Reading(Outline(tuple(objects), tuple(points)), tuple(faults))


def slug(name: str) -> str:
    """A name in the form in which it is asked for.

    >>> slug("Left window"), slug("play-button #2"), slug("???")
    ('left_window', 'play_button_2', '')
    """
    return re.sub(r"[^a-z0-9]+", "_", name.lower())[: LONGEST_NAME + 1].strip("_")[:LONGEST_NAME]


def nearest_shown(time_s: float, shown: Sequence[int], clip: Clip) -> int:
    """The shown frame that is nearest to a time.

    Raises:
        Wrong: the time is outside of the clip.
    """
    _within(time_s, clip)
    return min(shown, key=lambda frame: abs(time_of(frame) - time_s))


def checked(kind: type[S], told: Any, place: str) -> S:
    """A part of an answer, of the types that were asked for.

    Raises:
        Wrong: it is none.
    """
    try:
        return kind.model_validate(told, strict=True)
    except ValidationError as error:
        raise Wrong(f"{place}: {in_words(error)}") from error


def _usable(what: str, told: list[Any], most: int, kind: type[S], make: Callable[[S], Any], faults: list[str]) -> Iterator[Any]:
    """What can be made of each part; what is wrong with the others goes to the faults."""
    if len(told) > most:
        faults.append(f"{len(told)} {what}s, at most {most} were asked for")
    for number, part in enumerate(told[:most], start=1):
        place = f"{what} {number}"
        try:
            yield make(checked(kind, part, place))
        except Wrong as why:
            faults.append(str(why) if str(why).startswith(place) else f"{place}: {why}")


def _object(said: SaidObject, bounds: Bounds) -> OutlinedObject:
    name = slug(said.name)
    if not name:
        raise Wrong("its name has no lower case letter and no digit")
    if not said.visible or not said.frames_s:
        raise Wrong(f"{name}: is visible in no interval, or has no time in frames_s")
    if len(said.frames_s) > bounds.frames_each:
        raise Wrong(f"{name}: {len(said.frames_s)} times in frames_s, at most {bounds.frames_each} were asked for")
    seen = _joined([_seen(span, name, bounds) for span in said.visible])
    frames = sorted({nearest_shown(time_s, bounds.shown, bounds.clip) for time_s in said.frames_s})
    stray = [frame for frame in frames if not any(part.first <= frame <= part.last for part in seen)]
    if stray:
        raise Wrong(f"{name}: {time_of(stray[0]):.3f} s of frames_s is in none of its intervals")
    return OutlinedObject(name, _description(said.description), tuple(seen), tuple(frames))


def _seen(span: SaidSpan, name: str, bounds: Bounds) -> Seen:
    if span.last_s < span.first_s:
        raise Wrong(f"{name}: an interval ends before it begins")
    first, last = (nearest_shown(time_s, bounds.shown, bounds.clip) for time_s in (span.first_s, span.last_s))
    before, after = bisect_left(bounds.shown, first) - 1, bisect_right(bounds.shown, last)
    return Seen(
        bounds.shown[before] if before >= 0 else -1,
        first,
        last,
        bounds.shown[after] if after < len(bounds.shown) else bounds.clip.frames,
    )


def _joined(parts: Sequence[Seen]) -> list[Seen]:
    """Intervals in order; those without a shown frame between them are one."""
    joined: list[Seen] = []
    for part in sorted(parts, key=lambda part: part.first):
        if joined and part.first <= joined[-1].after:
            last = max(joined[-1], part, key=lambda one: one.last)
            joined[-1] = Seen(joined[-1].before, joined[-1].first, last.last, last.after)
        else:
            joined.append(part)
    return joined


def _point(said: SaidPoint, bounds: Bounds, names: set[str], faults: list[str]) -> OutlinedPoint:
    """A focal point; objects that there are not are left out of it, and told among the faults."""
    _within(said.start_s, bounds.clip)
    _within(said.end_s, bounds.clip)
    if said.end_s <= said.start_s:
        raise Wrong(f"ends at {said.end_s:g} s, which is not after its start, {said.start_s:g} s")
    asked = dict.fromkeys(slug(name) for name in said.objects)
    unknown = [name for name in asked if name not in names]
    if unknown:
        faults.append(f"a focal point speaks of {', '.join(unknown[:3])}, which is not among the objects: {said.description[:60]}")
    known = tuple(name for name in asked if name in names)
    return OutlinedPoint(said.kind, _description(said.description), (said.start_s, said.end_s), known)


def _description(text: str) -> str:
    told = plain(" ".join(text.split()), LONGEST_DESCRIPTION)
    if not told:
        raise Wrong("its description is empty")
    return told


def _within(time_s: float, clip: Clip) -> None:
    length_s = clip.frames / FPS
    if not 0 <= time_s <= length_s + SLACK_S:
        raise Wrong(f"{time_s:g} s is outside of the video, which is {length_s:.3f} s long; times are in seconds")


def _each_once(objects: Sequence[OutlinedObject], faults: list[str]) -> list[OutlinedObject]:
    names, descriptions = set(), set()
    kept = []
    for item in objects:
        if item.name in names:
            faults.append(f"two objects are called {item.name}")
        elif item.description.casefold() in descriptions:
            faults.append(f"{item.name}: another object has the same description; say what tells them apart")
        else:
            kept.append(item)
            names.add(item.name)
            descriptions.add(item.description.casefold())
    return kept


def _each_said_once(points: Sequence[OutlinedPoint], faults: list[str]) -> list[OutlinedPoint]:
    said: dict[str, OutlinedPoint] = {}
    for point in points:
        if point.description.casefold() in said:
            faults.append(f"two focal points say the same: {point.description[:60]}")
        else:
            said[point.description.casefold()] = point
    return list(said.values())


def _ms(time_s: float) -> float:
    return round(time_s, 3)
