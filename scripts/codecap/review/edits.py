"""Edits: one changes, adds, renames or removes an object or a focal point, says what a person thinks of it, or ends the review.

    objects/NAME               {fields that change}, null: removed; a name that is not there yet: added
    focal_points/ID            the same
    decision/objects/NAME      "accept", "edit", "reject", null
    decision/focal_points/ID   the same
    status                     {"decision": "approve", "reject" or "reopen", "note": "...", "of": whose version, or null}

An edit's inverse is an edit, so that undo needs nothing of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from codecap.errors import UserError
from codecap.records import FocalPoint, in_words
from codecap.review.state import MOST_INTERVALS, Choice, Name, Number, Place, Posted, ReviewedObject, Span, State, Status, Text

MOST_OBJECTS, MOST_POINTS = 500, 500
LONGEST_NOTE = 2000

T = TypeVar("T", bound=Posted)
K = TypeVar("K")


class Unfit(UserError, ValueError):
    """An edit that cannot be; the message says why."""


class ObjectFields(Posted):
    """Fields of an object that an edit gives; the others stay."""

    name: Name | None = None
    description: Text | None = None
    visible_s: list[Span] | None = Field(default=None, max_length=MOST_INTERVALS)
    base: list[Place | None] | None = None
    keys: dict[int, Place | None] | None = None


class PointFields(Posted):
    """The same of a focal point."""

    focal_id: Name | None = None
    kind: Literal["static", "dynamic"] | None = None
    description: Text | None = None
    start_s: Number | None = None
    end_s: Number | None = None
    objects: list[Name] | None = Field(default=None, max_length=MOST_OBJECTS)


class Ended(Posted):
    """What a person decides on the whole.

    Attributes:
        of: whose version is approved, where two have reviewed the clip and a third step settles which one holds.
    """

    decision: Literal["approve", "reject", "reopen"]
    note: Text = Field(default="", max_length=LONGEST_NOTE)
    of: Name | None = None

    @property
    def version(self) -> str:
        """Whose version was chosen, in words that follow "approved" or "rejected"; none where there were no two."""
        if self.of is None:
            return ""
        return f" the version of {self.of}" if self.decision == "approve" else f" as {self.of} did"


STATUSES: Mapping[str, Status] = {"approve": "approved", "reject": "rejected", "reopen": "started"}
_CHOICE: TypeAdapter[Choice | None] = TypeAdapter(Choice | None)


def applied(state: State, path: str, value: Any, frames: int) -> State:
    """The state after an edit.

    Args:
        frames: of the clip.

    Raises:
        Unfit: nothing of that name is there, or the value cannot be.
    """
    kind, _, name = path.partition("/")
    if path == "status":
        told = _read(Ended, value, path)
        if told.of is not None:
            return state  # it settles which version holds, and changes none
        return state.with_(status=STATUSES[told.decision], note=told.note)
    if kind not in APPLY or not name:
        raise Unfit(f"{path!r}: is no place of an annotation; there are objects/NAME, focal_points/ID, decision/... and status")
    changed = APPLY[kind](state, name, value, frames)
    return changed.with_(status="started") if changed.status == "open" else changed


def _object(state: State, name: str, value: Any, frames: int) -> State:
    if value is None:
        return state.with_(objects=_removed(state.objects, name, f"objects/{name}"))
    before = state.objects.get(name)
    fields = _fields(ObjectFields, value, f"objects/{name}", {"name": name} if before is None else {})
    if "base" in fields:
        fields["amodal_xyxy"] = None
    after = ReviewedObject.model_construct(**fields) if before is None else before.model_copy(update=fields)
    if after.base is not None and len(after.base) != frames:
        raise Unfit(f"objects/{name}: {len(after.base)} boxes for a clip of {frames} frames")
    beyond = [frame for frame in after.keys if not 0 <= frame < frames]
    if beyond:
        raise Unfit(f"objects/{name}: a key on frame {beyond[0]}, the clip has frames 0 to {frames - 1}")
    objects = _put(state.objects, name, after.name, after, MOST_OBJECTS)
    state = state.with_(objects=objects)
    return state if after.name == name else _renamed(state, "objects", name, after.name)


def _point(state: State, name: str, value: Any, frames: int) -> State:
    del frames
    place = f"focal_points/{name}"
    if value is None:
        return state.with_(focal_points=_removed(state.focal_points, name, place))
    before = state.focal_points.get(name)
    fields = _fields(PointFields, value, place, {"focal_id": name} if before is None else {})
    try:
        after = FocalPoint.model_validate(fields if before is None else {**before.model_dump(), **fields})
    except ValidationError as error:
        raise Unfit(f"{place}: {in_words(error)}") from error
    state = state.with_(focal_points=_put(state.focal_points, name, after.focal_id, after, MOST_POINTS))
    return state if after.focal_id == name else _renamed(state, "focal_points", name, after.focal_id)


def _decision(state: State, name: str, value: Any, frames: int) -> State:
    del frames
    kind, _, name = name.partition("/")
    fields = {"objects": "chosen_objects", "focal_points": "chosen_points"}
    if kind not in fields or not name:
        raise Unfit(f"decision/{kind}: is no place of an annotation; there are decision/objects/NAME and decision/focal_points/ID")
    if getattr(state, kind).get(name) is None:
        raise Unfit(f"decision/{kind}/{name}: there is no {name!r} to decide about")
    try:
        choice = _CHOICE.validate_python(value)
    except ValidationError as error:
        raise Unfit(f"decision/{kind}/{name}: must be accept, edit, reject or null") from error
    chosen = {key: old for key, old in getattr(state, fields[kind]).items() if key != name}
    return state.with_(**{fields[kind]: chosen if choice is None else {**chosen, name: choice}})


APPLY: Mapping[str, Callable[[State, str, Any, int], State]] = {"objects": _object, "focal_points": _point, "decision": _decision}


def _read(kind: type[T], value: Any, place: str) -> T:
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        raise Unfit(f"{place}: {in_words(error)}") from error


def _fields(kind: type[T], value: Any, place: str, more: Mapping[str, str]) -> dict[str, Any]:
    """The fields that an edit gives, checked; none of them may be null that must not be."""
    if not isinstance(value, Mapping):
        raise Unfit(f"{place}: must be an object of fields, or null")
    given = _read(kind, {**more, **value}, place)
    fields = {name: getattr(given, name) for name in given.model_fields_set}
    for name, told in fields.items():
        if told is None and name != "base":
            raise Unfit(f"{place}: {name} cannot be null")
    return fields


def _removed(there: Mapping[str, K | None], name: str, place: str) -> dict[str, K | None]:
    if there.get(name) is None:
        raise Unfit(f"{place}: is not there, so it cannot be removed")
    return {**there, name: None}


def _put(there: Mapping[str, K | None], name: str, new: str, item: K, most: int) -> dict[str, K | None]:
    """With the item in the place of its old name, or at the end."""
    if new != name and there.get(new) is not None:
        raise Unfit(f"the name {new!r} is taken; choose another one")
    if name not in there and len(there) >= most:
        raise Unfit(f"there are {most} already; that is the most")
    others = {key: old for key, old in there.items() if key == name or key != new}
    if name not in others:
        return {**others, new: item}
    return {new if key == name else key: item if key == name else old for key, old in others.items()}


def _renamed(state: State, kind: str, name: str, new: str) -> State:
    """What was said of it, and where it comes from, go along."""
    field = {"objects": "chosen_objects", "focal_points": "chosen_points"}[kind]
    chosen = {new if key == name else key: choice for key, choice in getattr(state, field).items()}
    old_place, place = f"{kind}/{name}", f"{kind}/{new}"
    drafted_as = {key: origin for key, origin in state.drafted_as.items() if key != old_place}
    origin = state.drafted_as.get(old_place, old_place)
    if origin != place:
        drafted_as[place] = origin
    return state.with_(**{field: chosen}, drafted_as=drafted_as)


def in_few_words(path: str, value: Any) -> str:
    """What an edit did, for a history of changes.

    >>> in_few_words("objects/ball", {"keys": {}}), in_few_words("decision/objects/ball", "accept")
    ('object ball: keys', 'object ball: accept')
    """
    kind, _, name = path.partition("/")
    if kind == "status":
        told = Ended.model_validate(value)
        done = {"approve": "approved", "reject": "rejected", "reopen": "reopened"}[told.decision]
        return done + told.version + (f": {told.note}" if told.note else "")
    if kind == "decision":
        kind, _, name = name.partition("/")
        return f"{_SINGULAR.get(kind, kind)} {name}: {value or 'undecided'}"
    what = "removed" if value is None else ", ".join(field.removesuffix("_s").replace("_", " ") for field in value)
    return f"{_SINGULAR.get(kind, kind)} {name}: {what}"


_SINGULAR = {"objects": "object", "focal_points": "focal point"}
