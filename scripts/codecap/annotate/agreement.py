"""Do two reviewers make the same of a draft? Measured on clips that both reviewed, each without seeing what the other did.

What both leave of a clip is paired: objects by their names in the draft, those that were added or renamed by their boxes; focal
points by their ids, the others by their times. Of pairs the overlap is told; whether an item of the draft was wanted at all is a
decision, whose agreement is corrected for chance.

Sources: Cohen 1960, "A coefficient of agreement for nominal scales"; Gwet 2008, "Computing inter-rater reliability and its variance
in the presence of high agreement", for AC1, which stays meaningful where nearly everything is wanted, as of a good draft.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from scipy.optimize import linear_sum_assignment

from codecap import stats
from codecap.annotate.tracking import shown_frames
from codecap.boxes import iou_series
from codecap.records import AnnotatedObject, Annotation, FocalPoint, Row

LEAST_OVERLAP = 0.3  # of what two reviewers added or renamed, from which it may be the same

Item = TypeVar("Item", AnnotatedObject, FocalPoint)


@dataclass(frozen=True)
class Work:
    """What one person made of the draft of a clip.

    Attributes:
        annotation: as this person leaves it, without what was rejected.
        rejected: items of the draft that are not wanted, as `objects/NAME` and `focal_points/ID`.
    """

    clip_id: str
    who: str
    draft: Annotation
    annotation: Annotation
    rejected: frozenset[str]


class Measure(Row):
    """One number over all clips, and its 95 % bootstrap interval over clips, which fewer than two clips do not have.

    Attributes:
        n: pairs, or items of drafts, that it is of.
        value: None where there are none, or where it is not defined.
    """

    n: int
    value: float | None = None
    low: float | None = None
    high: float | None = None


class ClipAgreement(Row):
    """How two people agree on one clip.

    Attributes:
        interval_iou: by focal point that both have: overlap of the times.
        visible_iou: by object that both have: overlap of the frames on which it may be visible.
        box_iou: by such an object: mean overlap of the boxes, over the frames on which either has one.
        both, only_first, only_second, neither: how many items of the draft are wanted by whom.
        unpaired_first, unpaired_second: what only one of them has, besides the draft's items that the other rejected.
    """

    clip_id: str
    first: str
    second: str
    interval_iou: dict[str, float]
    visible_iou: dict[str, float]
    box_iou: dict[str, float]
    both: int
    only_first: int
    only_second: int
    neither: int
    unpaired_first: list[str] = []
    unpaired_second: list[str] = []


class Agreement(Row):
    """How two reviewers agree, over all clips that were reviewed twice; names are those of `ClipAgreement`."""

    clips: list[ClipAgreement]
    interval_iou: Measure
    visible_iou: Measure
    box_iou: Measure
    agreed: Measure  # share of the drafts' items that both want, or neither
    cohen_kappa: Measure
    gwet_ac1: Measure


def agreement(pairs: Sequence[tuple[Work, Work]], resamples: int = stats.RESAMPLES, seed: int = stats.SEED) -> Agreement:
    """Compare the two works of each clip.

    Args:
        pairs: of one clip each, made from the same draft.

    Raises:
        ValueError: two works are not of one clip.
    """
    clips = [compare(first, second) for first, second in pairs]
    tables = np.array([(clip.both, clip.only_first, clip.only_second, clip.neither) for clip in clips]).reshape(-1, 4)
    overlaps = {
        name: _mean([list(getattr(clip, name).values()) for clip in clips], resamples, seed)
        for name in ("interval_iou", "visible_iou", "box_iou")
    }
    chances = {
        name: _of_tables(tables, measure, resamples, seed)
        for name, measure in (("agreed", agreed), ("cohen_kappa", cohen_kappa), ("gwet_ac1", gwet_ac1))
    }
    return Agreement(clips=clips, **overlaps, **chances)


def compare(first: Work, second: Work) -> ClipAgreement:
    """The two works of one clip.

    Raises:
        ValueError: they are not of one clip.
    """
    if first.clip_id != second.clip_id:
        raise ValueError(f"works of two clips: {first.clip_id} and {second.clip_id}")
    names = [item.name for item in first.draft.objects]
    ids = [point.focal_id for point in first.draft.focal_points]
    objects, alone = _paired(_objects(first), _objects(second), names, box_overlap)
    points, alone_points = _paired(_points(first), _points(second), ids, _interval_overlap)
    drafted = [*(f"objects/{name}" for name in names), *(f"focal_points/{focal_id}" for focal_id in ids)]
    wants = [(item not in first.rejected, item not in second.rejected) for item in drafted]
    unpaired = [
        [f"objects/{name}" for name in ours] + [f"focal_points/{name}" for name in theirs]
        for ours, theirs in zip(alone, alone_points, strict=True)
    ]
    return ClipAgreement(
        clip_id=first.clip_id,
        first=first.who,
        second=second.who,
        interval_iou={ours.focal_id: _interval_overlap(ours, theirs) for ours, theirs in points},
        visible_iou={ours.name: _visible_overlap(ours, theirs) for ours, theirs in objects},
        box_iou={ours.name: box_overlap(ours, theirs) for ours, theirs in objects},
        both=wants.count((True, True)),
        only_first=wants.count((True, False)),
        only_second=wants.count((False, True)),
        neither=wants.count((False, False)),
        unpaired_first=[name for name in unpaired[0] if name not in second.rejected],
        unpaired_second=[name for name in unpaired[1] if name not in first.rejected],
    )


def agreed(tables: np.ndarray) -> np.ndarray:
    """Share of items on which two agree.

    Args:
        tables: `(..., 4)`, items that are wanted by both, by the first alone, by the second alone, by neither.

    >>> float(agreed(np.array([40, 9, 6, 45])))
    0.85
    """
    tables = np.asarray(tables, np.float64)
    with np.errstate(invalid="ignore"):
        return (tables[..., 0] + tables[..., 3]) / tables.sum(axis=-1)


def cohen_kappa(tables: np.ndarray) -> np.ndarray:
    """Cohen's kappa of two decisions, tables as for `agreed`; NaN where both say the same of everything.

    >>> round(float(cohen_kappa(np.array([40, 9, 6, 45]))), 3)
    0.7
    """
    tables = np.asarray(tables, np.float64)
    with np.errstate(invalid="ignore"):
        first, second = ((tables[..., 0] + tables[..., place]) / tables.sum(axis=-1) for place in (1, 2))
        return _beyond(agreed(tables), first * second + (1 - first) * (1 - second))


def gwet_ac1(tables: np.ndarray) -> np.ndarray:
    """Gwet's AC1 of two decisions, tables as for `agreed`; NaN where there are no items.

    >>> round(float(gwet_ac1(np.array([80, 10, 5, 5]))), 3)
    0.808
    """
    tables = np.asarray(tables, np.float64)
    with np.errstate(invalid="ignore"):
        wanted = (tables[..., 0] + (tables[..., 1] + tables[..., 2]) / 2) / tables.sum(axis=-1)
    return _beyond(agreed(tables), 2 * wanted * (1 - wanted))


def box_overlap(one: AnnotatedObject, other: AnnotatedObject) -> float:
    """Mean IoU over the frames on which either has a box, in [0, 1]; 1 where neither has any."""
    series = iou_series(one.boxes_xyxy, other.boxes_xyxy)
    there = series[~np.isnan(series)]
    return float(there.mean()) if len(there) else 1.0


def _beyond(observed: np.ndarray, by_chance: np.ndarray) -> np.ndarray:
    """Agreement beyond that by chance, as a share of what is possible beyond it."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(by_chance < 1, (observed - by_chance) / (1 - by_chance), np.nan)


def _interval_overlap(one: FocalPoint, other: FocalPoint) -> float:
    shared = max(min(one.end_s, other.end_s) - max(one.start_s, other.start_s), 0.0)
    return shared / (one.end_s - one.start_s + other.end_s - other.start_s - shared)


def _visible_overlap(one: AnnotatedObject, other: AnnotatedObject) -> float:
    ours, theirs = _visible_frames(one), _visible_frames(other)
    return len(ours & theirs) / len(ours | theirs) if ours | theirs else 1.0


def _visible_frames(item: AnnotatedObject) -> set[int]:
    return shown_frames(item.visible_s, len(item.boxes_xyxy))


def _objects(work: Work) -> dict[str, AnnotatedObject]:
    return {item.name: item for item in work.annotation.objects}


def _points(work: Work) -> dict[str, FocalPoint]:
    return {point.focal_id: point for point in work.annotation.focal_points}


def _paired(
    first: Mapping[str, Item], second: Mapping[str, Item], drafted: Sequence[str], overlap: Callable[[Item, Item], float]
) -> tuple[list[tuple[Item, Item]], tuple[list[str], list[str]]]:
    """Items that both have under a name of the draft, then of the others those that overlap most; and the names of those that stay
    alone. What both added may bear one name, the next free one, and be two things."""
    same = [name for name in drafted if name in first and name in second]
    pairs = [(first[name], second[name]) for name in same]
    ours, theirs = ([name for name in one if name not in same] for one in (first, second))
    if ours and theirs:
        shared = np.array([[overlap(first[one], second[other]) for other in theirs] for one in ours])
        places = zip(*linear_sum_assignment(-shared), strict=True)
        found = [(ours[row], theirs[column]) for row, column in places if shared[row, column] >= LEAST_OVERLAP]
        pairs += [(first[one], second[other]) for one, other in found]
        ours = [name for name in ours if name not in {one for one, _ in found}]
        theirs = [name for name in theirs if name not in {other for _, other in found}]
    return pairs, (ours, theirs)


def _mean(by_clip: Sequence[Sequence[float]], resamples: int, seed: int) -> Measure:
    values = [value for clip in by_clip for value in clip]
    clusters = [number for number, clip in enumerate(clip for clip in by_clip if clip) for _ in clip]
    if not values:
        return Measure(n=0)
    found = stats.clustered_mean(values, clusters, resamples, seed=seed)
    return Measure(n=len(values), value=found.mean, low=found.low, high=found.high)


def _of_tables(tables: np.ndarray, measure: Callable[[np.ndarray], np.ndarray], resamples: int, seed: int) -> Measure:
    """A measure of all clips' tables together, and its interval when clips are drawn."""
    total = tables.sum(axis=0)
    value = float(measure(total)) if total.sum() else np.nan
    if np.isnan(value):
        return Measure(n=int(total.sum()))
    drawn = np.random.default_rng(seed).multinomial(len(tables), np.full(len(tables), 1 / len(tables)), size=resamples)
    values = measure(drawn @ tables) if len(tables) > 1 else np.array([])
    known = values[~np.isnan(values)]
    tail = 100 * (1 - stats.CONFIDENCE) / 2
    low, high = np.percentile(known, [tail, 100 - tail]) if len(known) >= stats.CONFIDENCE * resamples else (None, None)
    return Measure(n=int(total.sum()), value=value, low=low, high=high)
