"""What the first page shows of agreement: for each pair of score sets a scatter of videos, correlations, and means by system."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from codecap.compare.columns import PARTS
from codecap.compare.comparison import Agreement, AgreementRow, Column, Comparison, Interval, ScoreSet
from codecap.report.charts import Scatter, scatter
from codecap.report.pages import told

SCORE = Column(name="retention", metric="retention", label="Retention", lowest=0, highest=100)
CORRELATION = Column(name="r", metric="r", label="r", lowest=-1, highest=1)
LEVELS = {"video": "Videos", "point": "Focal points"}


@dataclass(frozen=True)
class PairView:
    """Two sets of scores.

    Attributes:
        headline: Pearson's correlation over videos, all points, in words.
        correlations: lines of level, kind and what was found.
        means: lines of a system and its means: dynamic, static and overall of the first set, then of the second.
    """

    name: str
    title: str
    first: ScoreSet
    second: ScoreSet
    scatter: Scatter
    headline: str
    correlations: list[dict[str, Any]]
    means: list[dict[str, Any]]


def pair_views(comparison: Comparison) -> list[PairView]:
    """One view a pair, in the order of the comparison; none without agreement."""
    agreement = comparison.agreement
    if agreement is None:
        return []
    return [_view(comparison, agreement, *pair) for pair in dict.fromkeys((row.first, row.second) for row in agreement.rows)]


def _view(comparison: Comparison, agreement: Agreement, first: str, second: str) -> PairView:
    sets = {told_set.name: told_set for told_set in agreement.sets}
    rows = [row for row in agreement.rows if (row.first, row.second) == (first, second)]
    videos = [pair for pair in agreement.videos if (pair.first, pair.second, pair.kind) == (first, second, "overall")]
    headings = {system.name: system for system in comparison.systems}
    shown = list(dict.fromkeys(pair.system for pair in videos))
    colours = {name: number for number, name in enumerate(shown)}
    return PairView(
        name=f"{first}-{second}",
        title=f"{sets[first].label} and {sets[second].label[0].lower()}{sets[second].label[1:]}",
        first=sets[first],
        second=sets[second],
        scatter=scatter(videos, [headings[name] for name in shown], (sets[first].label, sets[second].label)),
        headline=_headline(rows),
        correlations=[_correlation(row) for row in rows if row.system is None],
        means=_means(rows, {name: headings[name].heading for name in shown}, colours, _groups(comparison)),
    )


def _groups(comparison: Comparison) -> dict[str, str]:
    return {system.name: system.group for system in comparison.systems}


def _headline(rows: list[AgreementRow]) -> str:
    row = next(row for row in rows if (row.system, row.level, row.kind) == (None, "video", "overall"))
    if row.pearson.value is None:
        return f"No correlation over videos: {row.reason}."
    return f"Pearson {_number(row.pearson, CORRELATION)} over {row.n} videos of {row.clips} clips."


def _correlation(row: AgreementRow) -> dict[str, Any]:
    return {
        "level": LEVELS[row.level],
        "kind": row.kind,
        "n": row.n,
        "clips": row.clips,
        "pearson": _cell(row.pearson, CORRELATION),
        "spearman": _cell(row.spearman, CORRELATION),
        "reason": row.reason,
    }


def _means(
    rows: list[AgreementRow], headings: dict[str, str], colours: dict[str, int], groups: dict[str, str]
) -> list[dict[str, Any]]:
    """All systems together first, where there are several, then each; a pair's only system has no rows but those of all."""
    lines = []
    of = {(row.system, row.kind): row for row in rows if row.level == "video"}
    compared = [name for name in headings if groups[name] not in ("floor", "ceiling")]
    if len(compared) != 1 and of[None, "overall"].n:
        lines.append(_mean_line("All but floors and ceilings", None, [of[None, kind] for kind in PARTS]))
    for name, heading in headings.items():
        found = [of.get((name, kind)) or of[None, kind] for kind in PARTS]
        lines.append(_mean_line(heading, colours[name], found))
    return lines


def _mean_line(heading: str, colour: int | None, found: list[AgreementRow]) -> dict[str, Any]:
    return {
        "heading": heading,
        "colour": colour,
        "n": found[-1].n,
        "first": [_cell(row.first_mean, SCORE) for row in found],
        "second": [_cell(row.second_mean, SCORE) for row in found],
    }


def _cell(number: Interval, column: Column) -> tuple[str, str]:
    """A number, and its interval in words ("" without one)."""
    if number.value is None:
        return "none", ""
    ends = "" if number.low is None else f"{told(number.low, column)} – {told(number.high, column)}"
    return told(number.value, column), ends


def _number(number: Interval, column: Column) -> str:
    text, ends = _cell(number, column)
    return f"{text} ({ends})" if ends else text
