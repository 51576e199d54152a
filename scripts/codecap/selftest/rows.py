"""The rows of the self-test: what must hold for a candidate that is wrong in a known way.

Each row is a generator over one clip's checks, found by its name in `ROWS`. Where stand-ins have another threshold than the
paper's backends, both are written there; they are never loosened in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from codecap import registry
from codecap.clock import FPS
from codecap.records import Clip, Row, Score
from codecap.selftest import fitness
from codecap.selftest.bench import Bench, mean

EXACT = 1e-6
BESIDE = ("lag", "unique_frames", "code_size", "code_tokens")  # metrics that do not say how alike two videos are
SHIFTS = (0.01, 0.02, 0.04, 0.08, 0.16)  # of the width
OPENING_S = 3.0  # of each clip, that is shifted
DELAYS_S = (0.1, 0.25, 0.5, 1.0)
GONE = 2.0  # an IoU, in percent, from which on nothing more can be lost
LARGE = 0.4  # share of the picture from which on an object's box overlaps anything


class Check(Row):
    """One thing that must hold.

    Attributes:
        row: name of the row; `what` is measured of `clip`.
        value: None when it could not be measured.
        threshold: what it must fulfil, in words.
        held: it does, or the clip is not fit for the row.
        fit: the clip can show it; `detail` says why not.
    """

    row: str
    clip: str
    what: str
    value: float | None
    threshold: str
    held: bool
    fit: bool = True
    detail: str = ""


@dataclass(frozen=True)
class Sheet:
    """Writes the checks of one row and clip."""

    row: str
    clip: str

    def at_least(self, what: str, value: float | None, limit: float, detail: str = "") -> Check:
        return self._check(what, value, f">= {limit:g}", value is not None and value >= limit, detail)

    def at_most(self, what: str, value: float | None, limit: float, detail: str = "") -> Check:
        return self._check(what, value, f"<= {limit:g}", value is not None and value <= limit, detail)

    def within(self, what: str, value: float | None, target: float, by: float, detail: str = "") -> Check:
        held = value is not None and abs(value - target) <= by
        return self._check(what, value, f"{target:g} within {by:.3g}", held, detail)

    def below(self, what: str, value: float | None, other: float | None, other_name: str, by: float = 0.0) -> Check:
        """Below another value, strictly, or by at least so much."""
        held = value is not None and other is not None and (value <= other - by if by else value < other)
        than = "unscored" if other is None else f"{other:.4g}"
        return self._check(what, value, f"below {other_name}, {than}" + (f", by >= {by:g}" if by else ""), held)

    def unfit(self, why: str, what: str = "") -> Check:
        return Check(row=self.row, clip=self.clip, what=what, value=None, threshold="", held=True, fit=False, detail=why)

    def _check(self, what: str, value: float | None, threshold: str, held: bool, detail: str = "") -> Check:
        return Check(row=self.row, clip=self.clip, what=what, value=value, threshold=threshold, held=held, detail=detail)


def same_true_boxes(bench: Bench, clip: Clip, sheet: Sheet) -> Iterator[Check]:
    """The same file, true boxes given: every metric its maximum, in every item."""
    names = [name for name in bench.metrics if name not in BESIDE]
    rows = bench.scores(clip, bench.same(clip), names, true_boxes=True)
    for column in dict.fromkeys(score.metric for score in rows):
        name = max((name for name in names if column == name or column.startswith(f"{name}_")), key=len)
        plugin = bench.plugin(name)
        module = registry.load("score", plugin)
        found = [score for score in rows if score.metric == column]
        unscored = [score for score in found if score.value is None]
        if {"objects", "focal_points"} & set(module.NEEDS) and clip.clip_id not in bench.annotations:
            yield sheet.unfit("it has no annotation", column)
        elif plugin == "mps" and unscored:
            yield sheet.unfit(unscored[0].detail, column)
        elif plugin == "retention" and not _stand_in(found):
            yield sheet.at_least(column, mean(rows, column), 90.0)
        elif unscored:
            told = "; ".join(f"{score.item or column}: {score.detail}" for score in unscored)
            yield sheet.within(column, None, module.RANGE[1], EXACT, told)
        else:
            lowest = min(score.value for score in found if score.value is not None)
            yield sheet.within(column, lowest, module.RANGE[1], EXACT, f"the lowest of {len(found)}")


def same(bench: Bench, clip: Clip, sheet: Sheet) -> Iterator[Check]:
    """The same file, boxes found by the backend."""
    rows = bench.scores(clip, bench.same(clip), ("visual_similarity", "appearance", "kss", "mps", "retention"))
    for name in ("visual_similarity", "appearance", "kss"):
        if name in bench.metrics:
            yield sheet.at_least(name, mean(rows, name), 0.999)
    if "mps" in bench.metrics:
        yield from _moving(sheet, rows, lambda value: sheet.at_least("mps", value, 0.99))
    if points := [score for score in rows if score.metric == "retention" and score.item]:
        limit = 100.0 if _stand_in(points) else 90.0
        yield sheet.at_least("retention", mean(rows, "retention"), limit)
    if "object_iou" in bench.metrics and clip.clip_id in bench.annotations:
        yield from _ceiling(bench, clip, sheet)


def _ceiling(bench: Bench, clip: Clip, sheet: Sheet) -> Iterator[Check]:
    rows = bench.scores(clip, bench.same(clip), ("object_iou",))
    limit = 75.0 if _stand_in(rows) else 85.0
    things = {item.name: item for item in bench.annotations[clip.clip_id].objects}
    for score in rows:
        what = f"object_iou of {score.item}"
        if score.kind == "ambiguous":
            yield sheet.unfit("has look-alikes", what)
        elif score.item not in things or not fitness.is_large_enough(things[score.item]):
            yield sheet.unfit(f"under {fitness.LEAST_SIDE_PX} px", what)
        else:
            yield sheet.at_least(what, score.value, limit, score.detail)


def reencoded(bench: Bench, clip: Clip, sheet: Sheet) -> Iterator[Check]:
    """The reference re-encoded as a render is."""
    limits = {"visual_similarity": 0.99, "appearance": 0.99, "kss": 0.98}
    rows = bench.scores(clip, bench.candidate("unchanged", clip), limits)
    for name, limit in limits.items():
        if name in bench.metrics:
            yield sheet.at_least(name, mean(rows, name), limit)


def black(bench: Bench, clip: Clip, sheet: Sheet) -> Iterator[Check]:
    """Black video: nothing may be earned."""
    rows = bench.scores(clip, bench.candidate("black", clip), ("object_iou", "retention", "kss", "appearance"))
    if _has_items(rows, "object_iou"):
        yield sheet.at_most("object_iou", mean(rows, "object_iou"), 0.0)
    if _has_items(rows, "retention"):
        yield sheet.at_most("retention", mean(rows, "retention"), 10.0)
    if "kss" in bench.metrics:
        yield sheet.at_most("kss", mean(rows, "kss"), 0.1)
    if "appearance" in bench.metrics:
        identity = mean(bench.scores(clip, bench.same(clip), ("appearance",)), "appearance")
        yield sheet.below("appearance", mean(rows, "appearance"), identity, "identity", by=0.2)


def frozen(bench: Bench, clip: Clip, sheet: Sheet) -> Iterator[Check]:
    """First frame frozen: what moves must be missed."""
    rows = bench.scores(clip, bench.candidate("frozen", clip), ("unique_frames", "retention", "mps"))
    if "unique_frames" in bench.metrics:
        yield sheet.within("unique_frames", mean(rows, "unique_frames"), 1 / clip.frames, EXACT)
    if _has_items(rows, "retention"):
        why = fitness.unfit_for_freezing(clip, bench.annotations[clip.clip_id])
        yield from _dynamic_below_static(sheet, rows, most=25.0, unfit=why)
    if "mps" in bench.metrics:
        moving = mean(bench.scores(clip, bench.same(clip), ("mps",)), "mps_strict")
        if moving is None:
            yield sheet.unfit("nothing in it can be seen to move", "mps_strict")
        else:
            yield sheet.at_most("mps_strict", mean(rows, "mps_strict"), 0.1)


def reversed_(bench: Bench, clip: Clip, sheet: Sheet) -> Iterator[Check]:
    """Time reversed: the direction of motion must count."""
    if why := fitness.unfit_for_reversal(clip):
        yield sheet.unfit(why)
        return
    rows = bench.scores(clip, bench.candidate("backwards", clip), ("retention", "mps"))
    if "mps" in bench.metrics:
        identity = mean(bench.scores(clip, bench.same(clip), ("mps",)), "mps")
        yield from _moving(sheet, rows, lambda value: sheet.below("mps", value, identity, "identity", by=0.2))
    yield from _dynamic_below_static(sheet, rows)


def other_clip(bench: Bench, clip: Clip, sheet: Sheet) -> Iterator[Check]:
    """Another clip's video: chance must earn little."""
    other = bench.other(clip)
    if other is None:
        yield sheet.unfit("there is no other clip")
        return
    rows = bench.scores(clip, other, ("object_iou", "retention"))
    if _has_items(rows, "object_iou"):
        things = bench.annotations[clip.clip_id].objects
        small = [item.name for item in things if fitness.share_of_picture(item, clip) <= LARGE]
        if small:
            yield sheet.at_most("object_iou", mean(rows, "object_iou", items=small), 25.0)
        else:
            yield sheet.unfit(f"all objects cover over {LARGE:.0%} of the picture", "object_iou")
    if _has_items(rows, "retention"):
        limit = 30.0 if _stand_in(score for score in rows if score.metric == "retention") else 20.0
        yield sheet.at_most("retention", mean(rows, "retention"), limit)


def shifted(bench: Bench, clip: Clip, sheet: Sheet) -> Iterator[Check]:
    """Shifted by 1, 2, 4, 8, 16 % of the width: mean IoU never rises, and falls strictly until nothing is left."""
    if "object_iou" not in bench.metrics or clip.clip_id not in bench.annotations:
        yield sheet.unfit("no annotated objects", "object_iou")
        return
    opening = bench.opening(clip, OPENING_S)
    videos = [bench.candidate("shifted", opening, share) for share in (0.0, *SHIFTS)]
    values = [mean(bench.scores(opening, video, ("object_iou",)), "object_iou") for video in videos]
    known = [value for value in values if value is not None]
    falls = all(after < before or (after <= before and before < GONE) for before, after in pairwise(known))
    told = ", ".join("unscored" if value is None else f"{value:.2f}" for value in values)
    step = max((after - before for before, after in pairwise(known) if before >= GONE), default=None)
    yield Check(
        row=sheet.row,
        clip=sheet.clip,
        what="object_iou, largest step",
        value=step,
        threshold=f"< 0 until the mean is under {GONE:g}",
        held=falls and step is not None and len(known) == len(values),
        detail=f"means {told}, over the first {opening.frames / FPS:g} s",
    )


def late(bench: Bench, clip: Clip, sheet: Sheet) -> Iterator[Check]:
    """Late by 0.1, 0.25, 0.5, 1 s: what depends on time must not rise, and the lag must be told."""
    if why := fitness.unfit_for_delay(clip):
        yield sheet.unfit(why)
        return
    names = ("retention", "mps", "lag")
    runs = [bench.scores(clip, bench.same(clip), names)]
    runs += [bench.scores(clip, bench.candidate("late", clip, delay_s), names) for delay_s in DELAYS_S]
    for metric, kind, scale in (("retention", "dynamic", 100.0), ("mps_strict", None, 1.0)):
        values = [mean(rows, metric, kind) for rows in runs]
        if values[0] is None:
            continue  # no dynamic point, or nothing that can be followed: the rows of identity say so
        known = [value for value in values if value is not None]
        rise = max(after - before for before, after in combinations(known, 2)) if len(known) == len(values) else None
        told = "values " + ", ".join("unscored" if value is None else f"{value:.3g}" for value in values)
        yield sheet.at_most(f"{kind} {metric}, largest rise" if kind else f"{metric}, largest rise", rise, 0.02 * scale, told)
    if "lag" in bench.metrics:
        for delay_s, rows in zip(DELAYS_S, runs[1:], strict=True):
            detail = "; ".join(score.detail for score in rows if score.metric == "lag")
            yield sheet.within(f"lag at {delay_s:g} s", mean(rows, "lag"), delay_s, 1 / FPS + EXACT, detail)


def removed(bench: Bench, clip: Clip, sheet: Sheet) -> Iterator[Check]:
    """One visually unique object removed: it is missed, and no other suffers by it.

    The others are held against the re-encoded reference, so that nothing but the removal is between the two."""
    if "object_iou" not in bench.metrics or clip.clip_id not in bench.annotations:
        yield sheet.unfit("no annotated objects", "object_iou")
        return
    annotation = bench.annotations[clip.clip_id]
    gone, evidence = fitness.most_unique_object(clip, annotation, bench.tracks(clip, bench.candidate("unchanged", clip)))
    if gone is None:
        yield sheet.unfit(evidence, "object_iou")
        return
    whole = bench.scores(clip, bench.candidate("unchanged", clip), ("object_iou",))
    rows = bench.scores(clip, bench.removed(clip, gone.name), ("object_iou",))
    others = [item.name for item in annotation.objects if item.name != gone.name]
    yield sheet.at_most(f"object_iou of {gone.name}", mean(rows, "object_iou", items=[gone.name]), 2.0, evidence)
    if others:
        before, after = (mean(scores, "object_iou", items=others) for scores in (whole, rows))
        yield sheet.within("object_iou of the others", after, before if before is not None else 0.0, 2.0)


Rule = Callable[[Bench, Clip, Sheet], Iterator[Check]]

ROWS: dict[str, Rule] = {
    "same_true_boxes": same_true_boxes,
    "same": same,
    "reencoded": reencoded,
    "black": black,
    "frozen": frozen,
    "reversed": reversed_,
    "other_clip": other_clip,
    "shifted": shifted,
    "late": late,
    "removed": removed,
}


def _dynamic_below_static(sheet: Sheet, rows: Sequence[Score], most: float | None = None, unfit: str = "") -> Iterator[Check]:
    kinds = {score.kind for score in rows if score.metric == "retention"}
    if "dynamic" not in kinds:
        return
    dynamic = mean(rows, "retention", "dynamic")
    if most is not None:
        limit = most if _stand_in(score for score in rows if score.metric == "retention") else 40.0
        yield sheet.at_most("dynamic retention", dynamic, limit)
    if unfit:
        yield sheet.unfit(unfit, "dynamic below static retention")
    elif "static" in kinds:
        yield sheet.below("dynamic retention", dynamic, mean(rows, "retention", "static"), "static")


def _moving(sheet: Sheet, rows: Sequence[Score], check: Callable[[float], Check]) -> Iterator[Check]:
    """The check of MPS, or the clip is not fit because no point can be seen to move in both videos."""
    value = mean(rows, "mps")
    if value is None:
        yield sheet.unfit("; ".join(score.detail for score in rows if score.metric == "mps"), "mps")
    else:
        yield check(value)


def _has_items(rows: Sequence[Score], metric: str) -> bool:
    return any(score.metric == metric and score.item is not None for score in rows)


def _stand_in(rows: Iterable[Score]) -> bool:
    return any(score.proxy for score in rows)
