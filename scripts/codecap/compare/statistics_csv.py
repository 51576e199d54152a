"""How sure the comparison is, as CSV files: pairs of systems, ranks, correlations, what can be found, the paper's numbers."""

from __future__ import annotations

from pathlib import Path

from codecap.compare.certainty import Pair
from codecap.compare.comparison import Comparison
from codecap.compare.csv_files import Cell, write_csv
from codecap.compare.estimates import Interval


def write_tables(folder: Path, comparison: Comparison) -> None:
    """Write those that have lines."""
    tables = {
        "pairs": [row.model_dump() | {"separated": row.separated} for row in comparison.pairs],
        "ranks": [row.model_dump() for row in comparison.ranks],
        "detectable": _detectable(comparison),
        "correlations": _correlations(comparison),
        "judge_stability": [row.model_dump() for row in comparison.stability],
        "reconstruction": _reconstruction(comparison),
        "published": _published(comparison),
    }
    for name, lines in tables.items():
        if lines:
            write_csv(folder / f"{name}.csv", lines)


def _interval(name: str, told: Interval) -> dict[str, Cell]:
    return {name: told.value, f"{name}_low": told.low, f"{name}_high": told.high}


def _detectable(comparison: Comparison) -> list[dict[str, Cell]]:
    return [
        {"column": row.column, "group": row.group, "pairs": row.pairs, "sd": row.sd, "n": row.n, "difference": row.difference}
        | {f"difference_{videos}": value for videos, value in row.planned.items()}
        for row in comparison.detectable
    ]


def _correlations(comparison: Comparison) -> list[dict[str, Cell]]:
    return [
        {"first": row.first, "second": row.second, "n": row.n, "clips": row.clips}
        | _interval("pearson", row.pearson)
        | _interval("spearman", row.spearman)
        for row in comparison.correlations
    ]


def _reconstruction(comparison: Comparison) -> list[dict[str, Cell]]:
    """One line a pair of systems and a column: both means, and their difference on the same videos."""
    rows = {row.system: row for row in comparison.main}
    pairs = {(pair.column, pair.first, pair.second): pair for pair in comparison.pairs}
    lines = []
    for told in comparison.reconstruction:
        for column in comparison.columns:
            if column.table != "reconstruction":
                continue
            code, filmed = (rows[name].cells[column.name] for name in (told.code, told.filmed))
            line: dict[str, Cell] = {"model": told.model, "code": told.code, "filmed": told.filmed, "column": column.name}
            line |= {"code_mean": code.mean, "code_low": code.low, "code_high": code.high}
            line |= {"filmed_mean": filmed.mean, "filmed_low": filmed.low, "filmed_high": filmed.high}
            lines.append(line | _difference(pairs, column.name, told.code, told.filmed))
    return lines


def _difference(pairs: dict[tuple[str, str, str], Pair], column: str, code: str, filmed: str) -> dict[str, Cell]:
    """Code minus film, whichever of the two the configuration names first."""
    pair, turned = pairs.get((column, code, filmed)), pairs.get((column, filmed, code))
    if pair is not None:
        mean, low, high = pair.mean, pair.low, pair.high
    elif turned is not None:
        mean = -turned.mean
        low, high = (None, None) if turned.low is None or turned.high is None else (-turned.high, -turned.low)
    else:
        return {"difference": None, "difference_low": None, "difference_high": None, "p_value": None, "n": 0}
    found = pair or turned
    return {"difference": mean, "difference_low": low, "difference_high": high, "p_value": found.p_value, "n": found.n}


def _published(comparison: Comparison) -> list[dict[str, Cell]]:
    """One line a number of the paper: ours beside it, and why they cannot be compared ("" where they can)."""
    if comparison.published is None:
        return []
    lines = []
    for table in comparison.published.tables:
        for line in table.lines:
            for cell in line.cells:
                ours = cell.ours
                lines.append(
                    {"table": table.name, "line": ", ".join(line.heads.values()), "system": line.system, "column": cell.column}
                    | {"published": cell.published, "ours": ours and ours.mean, "ours_low": ours and ours.low}
                    | {"ours_high": ours and ours.high, "n": ours and ours.n}
                    | {"not_comparable": "; ".join([*line.reasons, *cell.reasons]) if line.here else "not in this run"}
                )
    return lines
