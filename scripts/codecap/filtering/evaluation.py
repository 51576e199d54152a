"""How well the filter does on clips whose label is known: counts with their intervals, and the curve over all thresholds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from codecap.filtering.training import Labelled

NORMAL_95 = 1.959964  # quantile of the normal distribution for a two-sided interval of 95 %


def wilson(hits: int, count: int) -> tuple[float, float]:
    """Wilson's interval of 95 % for a share.

    Source: E. B. Wilson, Probable inference, JASA 22, 1927.

    >>> [round(bound, 3) for bound in wilson(27, 30)]
    [0.744, 0.965]
    """
    if not count:
        return 0.0, 1.0
    share, z2 = hits / count, NORMAL_95**2
    middle = (share + z2 / (2 * count)) / (1 + z2 / count)
    half = NORMAL_95 / (1 + z2 / count) * math.sqrt(share * (1 - share) / count + z2 / (4 * count**2))
    return max(0.0, middle - half), min(1.0, middle + half)


@dataclass(frozen=True)
class Curve:
    """The receiver operating characteristic, from the strictest threshold to the laxest.

    Attributes:
        false_kept, true_kept: shares of the clips to drop and of those to keep that are kept.
        thresholds: log-odds at and above which a clip is kept; infinite at the first point.
        area: under it; the chance that a clip to keep has greater log-odds than one to drop, ties counted by half.
    """

    false_kept: tuple[float, ...]
    true_kept: tuple[float, ...]
    thresholds: tuple[float, ...]
    area: float


def curve_of(keep: Sequence[bool], log_odds: Sequence[float]) -> Curve:
    """
    >>> curve_of([True, True, False, False], [3.0, 1.0, 2.0, 0.0]).area
    0.75
    """
    labels, odds = np.asarray(keep, bool), np.asarray(log_odds, float)
    if labels.all() or not labels.any():
        raise ValueError("a curve takes clips to keep and clips to drop")
    cuts = np.unique(odds)[::-1]
    true = [0.0, *(float((odds[labels] >= cut).mean()) for cut in cuts)]
    false = [0.0, *(float((odds[~labels] >= cut).mean()) for cut in cuts)]
    return Curve(tuple(false), tuple(true), (math.inf, *cuts.tolist()), float(np.trapezoid(true, false)))


@dataclass(frozen=True)
class Count:
    """Clips of one label: how many are decided as they should be, and the interval of that share."""

    hits: int
    clips: int

    @property
    def interval(self) -> tuple[float, float]:
        return wilson(self.hits, self.clips)

    @property
    def in_words(self) -> str:
        if not self.clips:
            return "none"
        low, high = self.interval
        share = 100 * self.hits / self.clips
        return f"{self.hits} of {self.clips} ({share:.0f} %, 95 % interval {100 * low:.0f} to {100 * high:.0f} %)"


@dataclass(frozen=True)
class Outcome:
    """What became of labelled clips: how many of each label are right, and which are wrong."""

    kept: Count
    dropped: Count
    wrong: tuple[str, ...]


def outcome_of(clips: Sequence[Labelled], kept: Sequence[bool]) -> Outcome:
    """
    Args:
        kept: whether each clip is kept.
    """
    right = [is_kept == clip.keep for clip, is_kept in zip(clips, kept, strict=True)]

    def count(label: bool) -> Count:
        ours = [hit for hit, clip in zip(right, clips, strict=True) if clip.keep == label]
        return Count(sum(ours), len(ours))

    return Outcome(count(True), count(False), tuple(clip.name for hit, clip in zip(right, clips, strict=True) if not hit))


def as_record(curve: Curve, outcome: Outcome, clips: Sequence[Labelled], log_odds: Sequence[float]) -> dict[str, Any]:
    """What a JSON file says of a cross-validation."""
    return {
        "what": "each family's clips by the scorecard that was trained on all other families",
        "families": len({clip.family for clip in clips}),
        "area": round(curve.area, 4),
        **outcome_record(outcome),
        "curve": {
            "false_kept": [round(value, 4) for value in curve.false_kept],
            "true_kept": [round(value, 4) for value in curve.true_kept],
            "log_odds": [None, *(round(value, 3) for value in curve.thresholds[1:])],
        },
        "clips": [
            {"name": clip.name, "keep": clip.keep, "log_odds": round(odds, 3)} for clip, odds in zip(clips, log_odds, strict=True)
        ],
    }


def outcome_record(outcome: Outcome) -> dict[str, Any]:
    return {"kept": _counted(outcome.kept), "dropped": _counted(outcome.dropped), "wrong": list(outcome.wrong)}


def _counted(count: Count) -> dict[str, Any]:
    return {"right": count.hits, "of": count.clips, "interval_95": [round(bound, 4) for bound in count.interval]}


SIDE_PX, MARGIN_PX = 320, 52


def as_svg(curve: Curve, outcome: Outcome, clips: int) -> str:
    """The curve as a picture."""

    def place(across: float, up: float) -> str:
        return f"{MARGIN_PX + SIDE_PX * across:.1f},{MARGIN_PX + SIDE_PX * (1 - up):.1f}"

    line = " ".join(place(across, up) for across, up in zip(curve.false_kept, curve.true_kept, strict=True))
    here = place(1 - outcome.dropped.hits / outcome.dropped.clips, outcome.kept.hits / outcome.kept.clips).split(",")
    size, middle = SIDE_PX + 2 * MARGIN_PX, MARGIN_PX + SIDE_PX / 2
    ticks = "".join(
        f'<text x="{MARGIN_PX + SIDE_PX * part / 4:.0f}" y="{MARGIN_PX + SIDE_PX + 16}" text-anchor="middle">{25 * part} %</text>'
        f'<text x="{MARGIN_PX - 6}" y="{MARGIN_PX + SIDE_PX * (1 - part / 4) + 4:.0f}" text-anchor="end">{25 * part} %</text>'
        for part in range(5)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size}" height="{size}" viewBox="0 0 {size} {size}" '
        'font-family="sans-serif" font-size="11" fill="#333" role="img">'
        f"<title>Content filter: area under the curve {curve.area:.3f}</title>"
        f'<rect width="{size}" height="{size}" fill="#fff"/>'
        f'<text x="{middle:.0f}" y="20" text-anchor="middle" font-size="13">Content filter, families left out in turn</text>'
        f'<text x="{middle:.0f}" y="38" text-anchor="middle">area {curve.area:.3f}, {clips} clips; '
        f"kept {outcome.kept.hits} of {outcome.kept.clips}, dropped {outcome.dropped.hits} of {outcome.dropped.clips}</text>"
        f'<rect x="{MARGIN_PX}" y="{MARGIN_PX}" width="{SIDE_PX}" height="{SIDE_PX}" fill="none" stroke="#999"/>'
        f'<polyline points="{place(0, 0)} {place(1, 1)}" fill="none" stroke="#bbb" stroke-dasharray="4 4"/>'
        f'<polyline points="{line}" fill="none" stroke="#1f5fbf" stroke-width="2"/>'
        f'<circle cx="{here[0]}" cy="{here[1]}" r="4" fill="#c0392b"/>{ticks}'
        f'<text x="{middle:.0f}" y="{size - 12}" text-anchor="middle">clips to drop that are kept</text>'
        f'<text transform="translate(14 {middle:.0f}) rotate(-90)" text-anchor="middle">clips to keep that are kept</text></svg>\n'
    )
