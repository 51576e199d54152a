"""Which stretches of an original become clips: lively, structured, neither intro nor end card, and nothing that another clip shows.

Frames are *barred* when they may not be taken: those of a shot that the content filter would drop (a talking head, filmed
material), of an intro or an end card, of what another original shows too, and of a stretch that stands still for longer than
`still_s`. Between them lie open stretches. The part that is worth most is taken first, then the next one far enough from it. A part
is worth its liveliness, more where its length is near the typical one, and more where it begins and ends at cuts.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from codecap.clock import FPS
from codecap.collect.alignment import overlaps
from codecap.collect.duplicates import COVERED, sort_out
from codecap.collect.hashes import RATE_HZ, STEP
from codecap.collect.naming import LONGEST_ID
from codecap.errors import UserError
from codecap.filtering.verdict import FilterSettings, keep_chance
from codecap.records import Candidate, Duplicate, Original, Part, PassedOver, Survey, in_words

LIVELY = 0.05  # share of a picture that changes at which a half second counts half as lively as one that changes everywhere
SPREAD = 0.6  # of the logarithm of a part's length around the typical one's
AT_A_CUT = 0.1  # what beginning, or ending, at a cut adds to what a part is worth, which is in 0-1


class PartsError(UserError, ValueError):
    """The settings of `parts` are wrong, or two parts have one id; the message says which."""


class PartSettings(BaseModel):
    """The configuration's section `parts`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    shortest_s: float = Field(default=5.0, gt=0, description="A shorter stretch becomes no clip.")
    longest_s: float = Field(default=60.0, gt=0, description="No clip is longer.")
    typical_s: float = Field(default=17.0, gt=0, description="The length that is preferred.")
    most: int = Field(default=3, ge=1, description="Most clips of one original.")
    apart_s: float = Field(default=5.0, ge=0, description="Between two clips of one original.")
    intro_s: float = Field(default=15.0, ge=0, description="What comes before the last cut within this time is an intro.")
    end_card_s: float = Field(
        default=20.0, ge=0, description="What comes after the first cut within this time of the end is an end card."
    )
    cards_above_s: float = Field(default=60.0, ge=0, description="Shorter originals have neither.")
    still_s: float = Field(default=2.0, ge=0, description="A longer stretch without change is in no clip.")
    still_share: float = Field(
        default=0.005, ge=0, le=1, description="Share of the picture that changes in a half second that is still."
    )
    keep_above: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="A shot is taken when its chance by the content filter is above this; null: the filter's.",
    )
    keep_duplicates: bool = Field(default=False, description="Whether originals that show the same are all kept.")

    @model_validator(mode="after")
    def _in_order(self) -> PartSettings:
        if not self.shortest_s <= self.typical_s <= self.longest_s:
            raise ValueError("shortest_s, typical_s and longest_s must not fall")
        return self

    @staticmethod
    def of(told: Mapping[str, Any]) -> PartSettings:
        """From the configuration. Raises PartsError where a key or a value is wrong."""
        try:
            return PartSettings.model_validate(dict(told))
        except ValidationError as error:
            raise PartsError(f"parts: {in_words(error)}") from error


@dataclass
class Chosen:
    """What becomes of all originals: each has parts, or is passed over."""

    parts: list[Part] = field(default_factory=list)
    passed_over: list[PassedOver] = field(default_factory=list)
    duplicates: list[Duplicate] = field(default_factory=list)


def choose_all(originals: Sequence[Original], surveys: Iterable[Survey], settings: PartSettings, content: FilterSettings) -> Chosen:
    """The parts of all originals that were fetched, by candidate id.

    Raises:
        PartsError: two clips would have the same id.
    """
    surveyed = {survey.candidate_id: survey for survey in surveys}
    chosen = Chosen()
    for survey in surveyed.values():
        if survey.status == "failed":
            chosen.passed_over.append(PassedOver(candidate_id=survey.candidate_id, reason=survey.reason))
    for known in sort_out(originals, surveyed, settings.keep_duplicates):
        if known.twin is not None:
            chosen.duplicates.append(known.twin)
            parts, reason = [], f"shows what {known.twin.twin} shows"
        else:
            parts, reason = choose(known.original.candidate, known.survey, known.barred, settings, content)
        chosen.parts += parts
        if not parts:
            chosen.passed_over.append(PassedOver(candidate_id=known.candidate_id, reason=reason))
    chosen.parts.sort(key=lambda part: (part.candidate_id, part.start))
    _ids_must_differ(chosen.parts)
    for rows in (chosen.passed_over, chosen.duplicates):
        rows.sort(key=lambda row: row.candidate_id)
    return chosen


def _ids_must_differ(parts: Iterable[Part]) -> None:
    """One of another candidate's name may be called as a part is."""
    owners: dict[str, str] = {}
    for part in parts:
        owner = owners.setdefault(part.clip_id, part.candidate_id)
        if owner != part.candidate_id:
            raise PartsError(
                f"clip id {part.clip_id!r} is used twice, of candidates {owner} and {part.candidate_id}; give one another id"
            )


def choose(
    candidate: Candidate, survey: Survey, barred: Sequence[tuple[int, int]], settings: PartSettings, content: FilterSettings
) -> tuple[list[Part], str]:
    """The parts of an original, in order; where there is none, why.

    Args:
        barred: stretches in half seconds that other originals show too.
        content: settings of the content filter.
    """
    name = candidate.candidate_id
    if candidate.whole:
        return [Part(candidate_id=name, clip_id=name, start=0, stop=survey.frames, reasons=["taken whole"])], ""
    shown = _shown(survey, barred, settings, content)
    chosen = sorted(_best(shown, survey, settings))
    parts = [
        Part(candidate_id=name, clip_id=part_id(name, start), start=start, stop=stop, reasons=_reasons(shown, start, stop))
        for start, stop in chosen
    ]
    return parts, "" if parts else f"no stretch of {settings.shortest_s:g} s to take: {shown.in_words()}"


def part_id(candidate_id: str, start: int) -> str:
    """The id of the clip that begins at frame `start`. A long id is shortened, eight digits of its digest keep it apart.

    >>> part_id("E_youtube-abc", 480)
    'E_youtube-abc_f000480'
    """
    suffix = f"_f{start:06d}"
    room = LONGEST_ID - len(suffix)
    if len(candidate_id) > room:
        candidate_id = f"{candidate_id[: room - 9]}-{hashlib.sha256(candidate_id.encode()).hexdigest()[:8]}"
    return candidate_id + suffix


class _Shown:
    """An original frame by frame: what may be taken of it, how lively it is, where it is cut."""

    def __init__(self, survey: Survey) -> None:
        self.frames = survey.frames
        self.cuts = [start for start, _ in survey.shots[1:]]
        self.is_open = np.ones(survey.frames, bool)
        self.activity = np.repeat(survey.activity, STEP)[: survey.frames]
        lively = self.activity / (self.activity + LIVELY)
        self._lively = np.concatenate([[0.0], np.cumsum(lively)])
        self._causes: dict[str, int] = {}

    def bar(self, start: int, stop: int, cause: str) -> None:
        """Frames `start` to before `stop`, as far as they are there and still open."""
        start, stop = max(start, 0), min(stop, self.frames)
        if start < stop:
            self._causes[cause] = self._causes.get(cause, 0) + int(self.is_open[start:stop].sum())
            self.is_open[start:stop] = False

    def open_stretches(self) -> Iterator[tuple[int, int]]:
        edges = np.flatnonzero(np.diff(np.concatenate([[0], self.is_open.astype(np.int8), [0]])))
        yield from zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)

    def liveliness(self, start: int, stops: np.ndarray) -> np.ndarray:
        """Mean over each stretch from one start, in [0, 1)."""
        return (self._lively[stops] - self._lively[start]) / (stops - start)

    def in_words(self) -> str:
        """Which share of it is barred for which cause, the largest first."""
        ranked = sorted(self._causes.items(), key=lambda item: -item[1])
        told = [f"{100 * count / self.frames:.0f} % {cause}" for cause, count in ranked if count]
        return ", ".join(told) or "too short"


def _shown(survey: Survey, barred: Sequence[tuple[int, int]], settings: PartSettings, content: FilterSettings) -> _Shown:
    shown = _Shown(survey)
    if survey.frames > settings.cards_above_s * FPS:
        intro_ends = max((cut for cut in shown.cuts if cut <= settings.intro_s * FPS), default=0)
        card_begins = min((cut for cut in shown.cuts if cut >= survey.frames - settings.end_card_s * FPS), default=survey.frames)
        shown.bar(0, intro_ends, "is an intro")
        shown.bar(card_begins, survey.frames, "is an end card")
    keep_above = settings.keep_above or content.keep_above
    for (start, stop), look in zip(survey.shots, survey.looks, strict=True):
        if look and keep_chance(look, content) <= keep_above:
            shown.bar(start, stop, "does not look like structured 2D content")
    for start, stop in barred:
        shown.bar(start * STEP, stop * STEP, "is shown by another original too")
    for start, stop in _still(survey.activity, settings):
        shown.bar(start * STEP, stop * STEP, "stands still")
    return shown


def _still(activity: Sequence[float], settings: PartSettings) -> Iterator[tuple[int, int]]:
    """Stretches in half seconds that stand still for too long."""
    moves = np.concatenate([[-1], np.flatnonzero(np.asarray(activity) > settings.still_share), [len(activity)]])
    for before, after in pairwise(moves.tolist()):
        if (after - before - 1) / RATE_HZ > settings.still_s:
            yield before + 1, after


def _best(shown: _Shown, survey: Survey, settings: PartSettings) -> Iterator[tuple[int, int]]:
    """The parts that are worth most, one after the other. One that shows a better one again, as in loops, is passed over."""
    chosen: list[tuple[int, int]] = []
    while len(chosen) < settings.most:
        _, start, stop = max(_windows(shown, settings), key=lambda window: window[0], default=(0.0, 0, 0))
        if not stop:
            return
        if any(_repeats(survey, (start, stop), other) for other in chosen):
            shown.bar(start, stop, "repeats itself")
            continue
        apart = math.ceil(settings.apart_s * FPS)
        shown.bar(start - apart, stop + apart, "is taken")
        chosen.append((start, stop))
        yield start, stop


def _windows(shown: _Shown, settings: PartSettings) -> Iterator[tuple[float, int, int]]:
    """For each place where a part could begin, the part that is worth most: worth, start, stop."""
    shortest, longest = math.ceil(settings.shortest_s * FPS), math.floor(settings.longest_s * FPS)
    cuts = {0, *shown.cuts, shown.frames}
    for first, last in shown.open_stretches():
        if last - first < shortest:
            continue
        joints = {first, last, *range(-(-first // STEP) * STEP, last, STEP), *(cut for cut in shown.cuts if first < cut < last)}
        places = np.array(sorted(joints))
        at_cut = AT_A_CUT * np.array([place in cuts for place in places.tolist()])
        for number, start in enumerate(places.tolist()):
            fits = slice(*np.searchsorted(places, [start + shortest, start + longest + 1]).tolist())
            if fits.start >= fits.stop:
                continue
            stops = places[fits]
            lengths = np.exp(-(np.log((stops - start) / FPS / settings.typical_s) ** 2) / (2 * SPREAD**2))
            worth = shown.liveliness(start, stops) * lengths + at_cut[fits] + at_cut[number]
            best = int(np.argmax(worth))
            yield float(worth[best]), start, int(stops[best])


def _repeats(survey: Survey, part: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether most of a part is shown in another one of the same original too."""
    ours, theirs = (survey.hashes[start // STEP : stop // STEP] for start, stop in (part, other))
    shared_s = sum(overlap.shared_s for overlap in overlaps(ours, theirs))
    return shared_s > COVERED * len(ours) / RATE_HZ


def _reasons(shown: _Shown, start: int, stop: int) -> list[str]:
    cuts = sum(start < cut < stop for cut in shown.cuts)
    changes = f"{100 * shown.activity[start:stop].mean():.0f} % of the picture changes in half a second"
    return [changes, f"{cuts} cuts" if cuts != 1 else "1 cut"]
