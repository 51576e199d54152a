"""An estimate as a cell of a table: its number, the ends of its interval, a bar on the column's scale, and what is not in it."""

from __future__ import annotations

from dataclasses import dataclass

from codecap.compare.columns import SUCCESS
from codecap.compare.comparison import Column, Estimate, SystemRow
from codecap.report.pages import place_on_scale, told


@dataclass(frozen=True)
class Cell:
    """An estimate as a table prints it.

    Attributes:
        sort: the mean itself, None without one.
        low, high, mean: places on the column's scale, 0 to 100.
    """

    text: str
    interval: str
    sort: float | None
    low: float
    high: float
    mean: float
    best: bool
    near_best: bool
    n: int
    missing: str


def cell_of(cell: Estimate, column: Column, scale: tuple[float, float], best: bool = False, near: bool = False) -> Cell:
    """
    Args:
        scale: ends of the column's axis, see `charts.scale_of`.
        best: it is the best of its group.
        near: it is not separated from the best of its group.
    """

    def place(value: float | None) -> float:
        return 0.0 if value is None else place_on_scale(value, *scale)

    measured = cell.mean is not None
    interval = "1 video" if cell.n == 1 else f"{told(cell.low, column)} – {told(cell.high, column)}" if measured else ""
    return Cell(
        text=told(cell.mean, column),
        interval=interval,
        sort=cell.mean,
        low=place(cell.mean if cell.low is None else cell.low),
        high=place(cell.mean if cell.high is None else cell.high),
        mean=place(cell.mean),
        best=best,
        near_best=near and measured and not best,
        n=cell.n,
        missing=missing(cell),
    )


def success_cell(row: SystemRow) -> Cell:
    return cell_of(row.success, SUCCESS, (0.0, 100.0))


def missing(cell: Estimate, with_infra: bool = True) -> str:
    """What is not in a mean, in words; empty where nothing is missing."""
    told_counts = [
        (cell.unscored, "unscored"),
        (cell.infra_error if with_infra else 0, "infra error"),
        (cell.unscored_items, "item unscored" if cell.unscored_items == 1 else "items unscored"),
    ]
    return ", ".join(f"{count} {what}" for count, what in told_counts if count)
