"""Rules about names and descriptions: something is said, it speaks of what is there, and nothing is said twice."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
from rapidfuzz import fuzz

from codecap.annotate.validate.finding import Finding, of_object, of_point
from codecap.boxes import iou_series
from codecap.records import AnnotatedObject, Annotation, Clip, FocalPoint

SAME_WORD, SAME_FORM = 80.0, 60.0  # likeness (0-100) of two words that begin with the same letter, or the same stem
STEM = 4  # letters
FEWEST_WORDS = 2  # of a text that another one may hold as a whole
TOGETHER = 0.5  # IoU of places or of times from which two things are in the same place, or two points at the same time
SHOWN_LENGTH, MOST_WORDS = 60, 80  # of a text: what is told, in letters, and what is compared
_WORD = re.compile(r"\w+")
_FILLER = re.compile(r"an?|and|are|as|at|be|by|for|from|has|in|into|is|its?|of|on|or|that|the|then|there|to|was|which|with")


def unknown_object(annotation: Annotation, clip: Clip) -> Iterator[Finding]:
    del clip
    known = {item.name for item in annotation.objects}
    for point in annotation.focal_points:
        for name in point.objects:
            if name not in known:
                yield of_point(point.focal_id, f"speaks of the object {name!r}, which is not annotated; add it or correct the name")


def blank_description(annotation: Annotation, clip: Clip) -> Iterator[Finding]:
    del clip
    for point in annotation.focal_points:
        if not _words(point.description):
            yield of_point(point.focal_id, "its description says nothing; a judge has only these words: describe it, or remove it")


def no_description(annotation: Annotation, clip: Clip) -> Iterator[Finding]:
    del clip
    for item in annotation.objects:
        if not _words(item.description):
            yield of_object(item.name, "has no description, by which it is looked for in other videos; say what it looks like")


def missing_kind(annotation: Annotation, clip: Clip) -> Iterator[Finding]:
    del clip
    kinds = {point.kind for point in annotation.focal_points}
    for kind in ("static", "dynamic"):
        if kind not in kinds:
            yield Finding("focal points", f"none is {kind}; the clip then has no {kind} retention score")
    if not annotation.objects:
        yield Finding("objects", "there are none; the clip then has no IoU score")


def said_twice(annotation: Annotation, clip: Clip) -> Iterator[Finding]:
    """The same in other words counts only for what is in the same place, or at the same time: there a person sees it twice."""
    del clip
    objects = {item.name: item for item in annotation.objects}
    points = {point.focal_id: point for point in annotation.focal_points}
    texts = {name: item.description for name, item in objects.items()}
    for name, others in _groups(texts, lambda one, other: _same_place(objects[one], objects[other])):
        yield of_object(name, _twice(texts[name], others))
    texts = {focal_id: point.description for focal_id, point in points.items()}
    for focal_id, others in _groups(texts, lambda one, other: _same_time(points[one], points[other])):
        yield of_point(focal_id, _twice(texts[focal_id], others))


def alike(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether two texts, as words without fillers, say the same but for spelling and forms of words.

    What is told apart by a word or a number is not the same, however long the rest.

    >>> alike(["red", "ball", "bounces"], ["red", "balls", "bouncing"])
    True
    >>> alike(["red", "ball", "left"], ["red", "ball", "right"]), alike(["bar", "1"], ["bar", "2"])
    (False, False)
    """
    return len(first) == len(second) and all(map(_same_word, first, second))


def holds(longer: Sequence[str], shorter: Sequence[str]) -> bool:
    """Whether a text says all that a shorter one says, in any order, and perhaps more.

    >>> holds(["small", "red", "ball", "bounces"], ["ball", "bouncing"])
    True
    """
    initials = Counter(word[0] for word in longer)
    if len(shorter) < FEWEST_WORDS or not Counter(word[0] for word in shorter) <= initials:
        return False  # words that are the same begin with the same letter
    left = list(longer)
    for word in shorter:
        twin = next((other for other in left if _same_word(word, other)), None)
        if twin is None:
            return False
        left.remove(twin)
    return True


def _same_word(one: str, other: str) -> bool:
    """The same word, another form of it, or one of the two misspelt; numbers are what they are.

    >>> _same_word("color", "colour"), _same_word("light", "right"), _same_word("f1", "f2")
    (True, False, False)
    """
    if one == other:
        return True
    if one[0] != other[0] or any(sign.isdigit() for sign in one + other):
        return False
    return fuzz.ratio(one, other) >= (SAME_FORM if one[:STEM] == other[:STEM] else SAME_WORD)


def _groups(texts: Mapping[str, str], together: Callable[[str, str], bool]) -> list[tuple[str, list[str]]]:
    """The first of those that say the same, and the others.

    Args:
        together: whether two of them, by name, are in the same place or at the same time.
    """
    words = {name: _words(text) for name, text in texts.items()}
    told: dict[str, list[str]] = {}
    grouped: set[str] = set()
    for first, second in combinations([name for name, found in words.items() if found], 2):
        if first in grouped or second in grouped:
            continue
        shorter, longer = sorted((words[first], words[second]), key=len)
        if alike(words[first], words[second]) or (holds(longer, shorter) and together(first, second)):
            told.setdefault(first, []).append(second)
            grouped.add(second)
    return list(told.items())


def _same_place(one: AnnotatedObject, other: AnnotatedObject) -> bool:
    series = iou_series(one.boxes_xyxy, other.boxes_xyxy)
    there = ~np.isnan(series)
    return bool(there.any()) and float(series[there].mean()) >= TOGETHER


def _same_time(one: FocalPoint, other: FocalPoint) -> bool:
    if one.kind != other.kind or set(one.objects) != set(other.objects):
        return False
    shared = min(one.end_s, other.end_s) - max(one.start_s, other.start_s)
    return shared >= TOGETHER * (max(one.end_s, other.end_s) - min(one.start_s, other.start_s))


def _twice(text: str, others: Sequence[str]) -> str:
    named = ", ".join(map(repr, others))
    return f"says the same as {named}, or nearly: {text.strip()[:SHOWN_LENGTH]!r}; tell them apart, or remove one"


def _words(text: str) -> list[str]:
    """The words of a text, in small letters, without fillers; all of them where it has nothing else.

    >>> _words("The red ball, at the left."), _words(" ... ")
    (['red', 'ball', 'left'], [])
    """
    found = _WORD.findall(text.casefold())[:MOST_WORDS]
    return [word for word in found if not _FILLER.fullmatch(word)] or found
